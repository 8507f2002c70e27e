"""What is known of web pages, and the reports of fetching them, in each engine."""

from pathlib import Path

import pytest

from desktop_rag.core.crawling import CrawlRefusal, CrawlReport, CrawlState
from desktop_rag.core.domain import WebLinks
from desktop_rag.features.web_pages.crawler import CacheValidators
from desktop_rag.features.web_pages.source_pages import WebPage, WebPageStore
from desktop_rag.ingest.sources.fetched_documents import FetchReports
from desktop_rag.store.contract.engine import Engine
from tests.stored_rows import add, document


def said(etag: str, last_modified: str = "") -> WebPage:
    return WebPage(CacheValidators(etag, last_modified), "https://a.example/feed")


def test_what_was_said_last_of_a_page_is_known(engine: Engine) -> None:
    add(engine, document("a"), document("b"))
    pages = engine.store(WebPageStore)
    pages.put("a", said('"1"', "Mon, 01 Jan 2024 00:00:00 GMT"))
    pages.put("a", said('"2"'))
    pages.put("b", WebPage())
    assert pages.get(["a", "b", "c"]) == {"a": said('"2"'), "b": WebPage()}
    assert pages.get([]) == {}


@pytest.mark.slow
def test_pages_go_with_their_documents(engine: Engine) -> None:
    add(engine, document("kept"), document("gone"))
    pages = engine.store(WebPageStore)
    pages.put("kept", said('"1"'))
    pages.put("gone", said('"2"'))
    [gone] = engine.documents.get(["gone"])
    engine.documents.apply_changes(gone.source_id, [], {}, ["gone"])
    pages.purge()
    assert set(pages.get(["kept", "gone"])) == {"kept"}


def test_the_report_of_fetching_is_kept_as_long_as_its_source(
    engine: Engine, tmp_path: Path
) -> None:
    reports = engine.store(FetchReports)
    source = engine.sources.add_links(WebLinks(("https://b.example/",)), tmp_path / "pages", "c")
    refusals = (CrawlRefusal("https://a.example/x", "No."),)
    report = CrawlReport(CrawlState.STOPPED, 1.0, 2.0, 7, 5, 4, 1, 9, 1, True, refusals)
    reports.put("gone", CrawlReport())
    for each in (CrawlReport(), report):
        reports.put(source.source_id, each)
    reports.purge()
    assert reports.all() == {source.source_id: report}
