"""How the app reaches the web: opened for one refresh at a time. Any thread may hold one."""

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from desktop_rag.ingest.web.fetch_limits import WebLimits
from desktop_rag.ingest.web.page_address import Address, is_public

if TYPE_CHECKING:
    from desktop_rag.ingest.web.crawler import Crawler


@dataclass(frozen=True, slots=True)
class WebAccess:
    """Which computers may be asked, and how much.

    `is_allowed` says of an address whether it may be connected to, `resolve` gives the addresses
    of a host and port in place of the system.
    """

    limits: WebLimits = field(default_factory=WebLimits)
    is_allowed: Callable[[Address], bool] = is_public
    resolve: Callable[[str, int], Sequence[str]] | None = None

    @contextmanager
    def visit(self, cancel: threading.Event) -> Generator["Crawler"]:
        """A visitor for the thread that asks; its connections are closed at the end."""
        # The network libraries take a while to import; the window shows without them.
        from desktop_rag.ingest.web.crawler import Crawler  # noqa: PLC0415
        from desktop_rag.ingest.web.transport import WebTransport, look_up  # noqa: PLC0415

        transport = WebTransport(
            cancel, is_allowed=self.is_allowed, resolve=self.resolve or look_up
        )
        try:
            yield Crawler(transport, cancel, self.limits)
        finally:
            transport.close()
