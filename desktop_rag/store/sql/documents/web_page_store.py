"""The cache validators of web pages, so that an unchanged page is not transferred again, and what
came of fetching.

Any thread may call; writes take the lane.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict

from desktop_rag.core.crawling.crawl_report import CrawlRefusal, CrawlReport, CrawlState
from desktop_rag.store.contract.sources import WebPage
from desktop_rag.store.sql.sql_engine import Connection, Database


class WebPageStore:
    """One row per document that came from the web."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, document_ids: Sequence[str]) -> dict[str, WebPage]:
        """The validators of these documents; absent for documents without any."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT document_id, etag, last_modified, fetched_at, listed_in FROM web_pages"
                " WHERE document_id IN (SELECT unnest(?::VARCHAR[]))",
                [list(document_ids)],
            ).fetchall()
        return {document_id: WebPage(*known) for document_id, *known in rows}

    def put(self, document_id: str, page: WebPage) -> None:
        """Store the validators of a document in place of earlier ones."""

        def work(con: Connection) -> None:
            con.execute("DELETE FROM web_pages WHERE document_id = ?", [document_id])
            con.execute(
                "INSERT INTO web_pages"
                " (document_id, etag, last_modified, fetched_at, listed_in) VALUES (?, ?, ?, ?, ?)",
                [document_id, page.etag, page.last_modified, page.fetched_at, page.listed_in],
            )

        self._database.write(work)

    def purge(self) -> None:
        """Remove the rows of documents, and the reports of sources, that no longer exist."""

        def work(con: Connection) -> None:
            con.execute(
                "DELETE FROM web_pages WHERE document_id NOT IN (SELECT document_id FROM documents)"
            )
            con.execute(
                "DELETE FROM crawl_reports WHERE source_id NOT IN (SELECT source_id FROM sources)"
            )

        self._database.write(work)

    def reports(self) -> dict[str, CrawlReport]:
        """What came of the last fetching of each source, by its id."""
        with self._database.read() as con:
            rows = con.execute("SELECT source_id, made_of FROM crawl_reports").fetchall()
        return {source_id: _report_from(made_of) for source_id, made_of in rows}

    def put_report(self, source_id: str, report: CrawlReport) -> None:
        """Store what came of fetching a source in place of the last time."""

        def work(con: Connection) -> None:
            con.execute("DELETE FROM crawl_reports WHERE source_id = ?", [source_id])
            con.execute(
                "INSERT INTO crawl_reports VALUES (?, ?)", [source_id, json.dumps(asdict(report))]
            )

        self._database.write_uncached(work)


def _report_from(made_of: str) -> CrawlReport:
    fields = json.loads(made_of)
    refused = tuple(CrawlRefusal(**each) for each in fields.pop("refused"))
    return CrawlReport(CrawlState(fields.pop("state")), **fields, refused=refused)
