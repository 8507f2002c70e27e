"""Scans of sources: of the disk, the web, or what programs sent. Any thread.

The scans run on their own threads.
"""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from desktop_rag.core.crawling.crawl_report import CrawlReport
from desktop_rag.core.domain import Source
from desktop_rag.ingest.scanning.scanner import Scanner
from desktop_rag.ingest.sources.sent_check import SentCheck
from desktop_rag.ingest.web.link_refresher import LinkRefresher


class SourceScans:
    """Sends each source to the scanner of the disk, the fetcher of web links, or the check of what
    was sent.
    """

    def __init__(
        self,
        scanner: Scanner,
        links: LinkRefresher,
        sent: SentCheck,
        *,
        forgotten: Callable[[], None],
    ) -> None:
        """`forgotten` is called when the documents of a source are gone."""
        self._forgotten = forgotten
        self._scanner = scanner
        self._links = links
        self._sent = sent

    def request(self, source: Source, places: frozenset[Path] | None = None) -> None:
        """Compare a source, or only these places of it, with the disk or the web."""
        if source.links is not None:
            self._links.request(source)
        elif source.program:
            self._sent.request(source)
        else:
            self._scanner.request(source, places)

    def refused_links(
        self, urls: Sequence[str], collection_id: str, cancel: threading.Event
    ) -> list[tuple[str, str]]:
        """Those of the first addresses that can't be fetched now, with their reasons."""
        return self._links.refused(urls, collection_id, cancel)

    @property
    def reports(self) -> dict[str, CrawlReport]:
        """What came of fetching each source of links, or how far it is, by its id."""
        return self._links.reports

    def stop(self, source_id: str) -> None:
        """End the fetching of a source of links where it is."""
        self._links.stop(source_id)

    def let_go(self) -> None:
        """End the process that reads links, unless it is at work."""
        self._links.let_go()

    def forget(self, source_id: str) -> None:
        """Remove a source and all its documents from the store."""
        self._scanner.forget(source_id)
        self._links.forget(source_id)
        self._sent.forget(source_id)
        self._forgotten()

    @property
    def is_idle(self) -> bool:
        """True when no scan is due or running."""
        return self._scanner.is_idle and self._links.is_idle and self._sent.is_idle
