"""Access to the web, opened for one refresh at a time. Any thread."""

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.web.fetch_limits import WebLimits
from desktop_rag.ingest.web.intranet_hosts import NO_HOSTS, IntranetHosts
from desktop_rag.ingest.web.page_address import Address, is_public

if TYPE_CHECKING:
    from desktop_rag.ingest.web.crawler import Crawler


@dataclass(frozen=True, slots=True)
class WebAccess:
    """The hosts that may be contacted, and the limits.

    `is_allowed` decides if an address may be connected to; `resolve` replaces the system resolver.
    `make_parser` makes the process that reads the links of pages, if any are followed.
    """

    limits: WebLimits = field(default_factory=WebLimits)
    is_allowed: Callable[[Address], bool] = is_public
    resolve: Callable[[str, int], Sequence[str]] | None = None
    make_parser: Callable[[], ParserProcess] = ParserProcess

    @contextmanager
    def crawler(
        self, cancel: threading.Event, intranet: IntranetHosts = NO_HOSTS
    ) -> Generator["Crawler"]:
        """A crawler for the calling thread; its connections are closed at the end.

        It may also reach the hosts of `intranet`.
        """
        # Importing the network libraries takes a while; the window opens without them.
        from desktop_rag.ingest.web.crawler import Crawler  # noqa: PLC0415
        from desktop_rag.ingest.web.transport import WebTransport, resolve_host  # noqa: PLC0415

        transport = WebTransport(
            cancel,
            is_allowed=self.is_allowed,
            intranet=intranet,
            resolve=self.resolve or resolve_host,
        )
        try:
            yield Crawler(transport, cancel, self.limits)
        finally:
            transport.close()
