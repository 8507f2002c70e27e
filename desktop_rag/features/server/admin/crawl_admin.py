"""Crawls: web pages as sources, when they are fetched, and what was refused. Worker threads."""

from collections.abc import Sequence

from desktop_rag.core.crawling import CrawlReport
from desktop_rag.core.domain import Document, DocumentState, Source, WebLinks
from desktop_rag.features.server.admin.admin_visits import Handled, Moved, Shown, Visit
from desktop_rag.features.server.admin.page_parts import (
    button,
    chip,
    form,
    note,
    pager,
    rows_of_page,
    section,
    stacked,
    table,
    when,
)
from desktop_rag.features.server.html_writer import Child, tag
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.ingest.library import Library

_PATH = "/admin/crawls"
_HOUR_S = 3600.0
_MOST_REFUSALS = 100
_REFUSED = (DocumentState.FAILED, DocumentState.SKIPPED)


class CrawlAdmin:
    """The links of the library."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def handlers(self) -> Sequence[Handled]:
        """The list, and one crawl with the pages that were refused."""
        one = f"{_PATH}/{{source_id}}"
        return [
            (_PATH, "GET", self._list),
            (one, "GET", self._show),
            (f"{one}/run", "POST", self._run),
        ]

    def _list(self, visit: Visit) -> Shown:
        names = {c.collection_id: c.name for c in self._library.collections.all()}
        rows = [
            self._row(visit, source, links, names.get(source.collection_id, ""))
            for source in self._library.sources.all()
            if (links := source.links)
        ]
        heads = ("Link", "Collection", "State", "Pages", "Refused", "Last run", "Next run", "")
        return Shown(
            "Crawls",
            stacked(
                table(heads, rows, empty="No web pages are in the library."),
                note("Links are added in the window, on the command line or by the API."),
            ),
        )

    def _row(
        self, visit: Visit, source: Source, links: WebLinks, collection: str
    ) -> Sequence[Child]:
        counts = self._library.documents.counts(source.source_id)
        refused = sum(counts.of(state) for state in _REFUSED)
        path = f"{_PATH}/{source.source_id}"
        return [
            tag("a", source.name, href=path),
            collection,
            chip("waiting", "wait") if not source.refreshed_at else source.state.value,
            f"{counts.searchable:,} of at most {links.page_limit:,}",
            f"{refused:,}",
            when(source.refreshed_at),
            _next_run(source, links),
            form(visit, f"{path}/run", button("Run now", about=source.name)),
        ]

    def _show(self, visit: Visit) -> Shown:
        source, links = self._of(visit)
        path = f"{_PATH}/{source.source_id}"
        pages = self._library.documents.all(source_id=source.source_id)
        refused = [d for d in pages if d.state in _REFUSED]
        rows = [_refused_row(d) for d in refused[rows_of_page(visit, refused)]]
        body = stacked(
            tag(
                "p",
                "Last run: ",
                when(source.refreshed_at),
                ". Next: ",
                _next_run(source, links),
                ".",
            ),
            form(visit, f"{path}/run", tag("p", button("Run now"))),
            section("Links", tag("ul", [tag("li", url) for url in links.urls])),
            *_report(self._library.sources.crawls().get(source.source_id)),
            section(
                "Refused pages",
                table(("Page", "State", "Reason"), rows, empty="No page was refused."),
                pager(visit, len(refused)),
            ),
        )
        return Shown(source.name, body)

    def _run(self, visit: Visit) -> Moved:
        source, _ = self._of(visit)
        self._library.sources.rescan(source.source_id)
        return Moved(_PATH, f"“{source.name}” is fetched now.")

    def _of(self, visit: Visit) -> tuple[Source, WebLinks]:
        for source in self._library.sources.all():
            if source.source_id == visit.parts["source_id"] and source.links:
                return source, source.links
        raise Refusal(404, "There is no such crawl.")


def _next_run(source: Source, links: WebLinks) -> Child:
    if not links.refresh_hours:
        return "only on request"
    if not source.refreshed_at:
        return "soon"
    return when(source.refreshed_at + links.refresh_hours * _HOUR_S)


def _report(report: CrawlReport | None) -> Sequence[Child]:
    """What came of the last fetching, or how far the one under way is."""
    if report is None:
        return ()
    cut = "A limit left pages out." if report.is_cut_off else ""
    rows: list[Sequence[Child]] = [
        ("State", report.state.value),
        ("Began", when(report.began_at)),
        ("Ended", when(report.ended_at) if report.ended_at else "–"),
        ("Requests", f"{report.requests:,}"),
        ("Pages read", f"{report.pages:,}, of them {report.fresh:,} new or changed"),
        ("Copies", f"{report.copies:,}"),
        ("Waiting", f"{report.waiting:,}"),
        ("Left out", f"{report.refused_count:,}. {cut}".strip()),
    ]
    refused = [(refusal.url, refusal.reason) for refusal in report.refused[:_MOST_REFUSALS]]
    more = report.refused_count - len(refused)
    found: list[Child] = [section("Last fetching", table(("", ""), rows, empty=""))]
    if refused:
        rest = note(f"and {more:,} more") if more > 0 else None
        addresses = table(("Address", "Reason"), refused, empty="")
        found.append(section("Addresses that were not read", addresses, rest))
    return found


def _refused_row(document: Document) -> Sequence[Child]:
    return [document.url or str(document.path), document.state.value, document.reason]
