"""What comes of fetching a source, counted as it goes on. Written by one thread, read by any."""

from dataclasses import replace

from desktop_rag.core.crawling.crawl_report import (
    MOST_REFUSALS,
    CrawlRefusal,
    CrawlReport,
    CrawlState,
)


class CrawlLog:
    """Holds the report of a fetching under way; each change replaces it whole."""

    def __init__(self, began_at: float) -> None:
        self._report = CrawlReport(began_at=began_at)
        self._refused: dict[str, CrawlRefusal] = {}

    @property
    def report(self) -> CrawlReport:
        """The report as of now. Any thread."""
        return self._report

    def refuse(self, url: str, reason: str) -> None:
        """Note an address that was not read."""
        if url in self._refused:
            return
        count = self._report.refused_count + 1
        if len(self._refused) < MOST_REFUSALS:
            self._refused[url] = CrawlRefusal(url, reason)
        refused = tuple(self._refused.values())
        self._report = replace(self._report, refused_count=count, refused=refused)

    def count(self, *, requests: int, pages: int, fresh: int, copies: int, waiting: int) -> None:
        """Set the counts."""
        self._report = replace(
            self._report, requests=requests, pages=pages, fresh=fresh, copies=copies,
            waiting=waiting,
        )  # fmt: skip

    def set_state(self, state: CrawlState) -> None:
        """Set whether it runs or is held."""
        self._report = replace(self._report, state=state)

    def end(self, state: CrawlState, at: float, *, is_cut_off: bool) -> CrawlReport:
        """The final report."""
        self._report = replace(
            self._report, state=state, ended_at=at, waiting=0, is_cut_off=is_cut_off
        )
        return self._report
