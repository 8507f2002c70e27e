"""One refresh of a source with its connections, which a pause can hold. Thread of the refresher."""

from collections.abc import Callable
from contextlib import ExitStack
from threading import Event

from desktop_rag.core.crawling.crawl_report import CrawlReport
from desktop_rag.core.domain import Source
from desktop_rag.ingest.web.following.follower import Following
from desktop_rag.ingest.web.following.link_reader import LinkReader
from desktop_rag.ingest.web.intranet_hosts import IntranetHosts
from desktop_rag.ingest.web.refresh_pass import RefreshPass
from desktop_rag.ingest.web.source_pages import SourcePages, Stores
from desktop_rag.ingest.web.web_access import WebAccess


class RefreshRun:
    """A refresh from its begin to its end. It must be closed.

    Setting `stop`, from any thread, ends a running request and the refresh with Cancelled.
    """

    def __init__(
        self,
        source: Source,
        stores: Stores,
        web: WebAccess,
        intranet: IntranetHosts,
        *,
        reader: LinkReader,
        clock: Callable[[], float],
        may_go_on: Callable[[], bool],
    ) -> None:
        assert source.links is not None, "a source of links"
        self.source = source
        self.stop = Event()
        self._stack = ExitStack()
        pages = SourcePages(source, stores, clock)
        self.log = pages.log
        self._crawler = self._stack.enter_context(web.crawler(self.stop, intranet))
        work = Following(self._crawler, pages, reader, source.path, self.stop, clock)
        self.refresh = RefreshPass(source.links, work, may_go_on)

    @property
    def report(self) -> CrawlReport:
        """How far it is. Any thread."""
        return self.log.report

    @property
    def is_offline(self) -> bool:
        """True when servers were asked and none answered."""
        return self._crawler.is_offline

    def close(self) -> None:
        """Close the connections."""
        self._stack.close()
