"""HTTP/1.1 as uvicorn speaks it, without clients that never finish a request. Its thread."""

import asyncio
from typing import TYPE_CHECKING, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

if TYPE_CHECKING:
    from asyncio import Transport

# From the connection to the end of the headers.
_HEADERS_S = 10.0
# From a response to the end of a body that nothing has read.
_BODY_S = 30.0


class PacedProtocol(H11Protocol):
    """Closes a connection whose first request's headers do not come in time, and one whose body
    goes on long after its response.

    uvicorn limits the pause between two requests, but not how long one may take to arrive.
    """

    def connection_made(self, transport: "Transport") -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Begin to wait for the headers."""
        super().connection_made(transport)
        loop = asyncio.get_running_loop()
        self._waiting = loop.call_later(_HEADERS_S, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._waiting.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the rest of the body, without which no other request can follow."""
        cycle = self.cycle
        super().on_response_complete()
        if cycle.more_body and not self.transport.is_closing():
            self._waiting.cancel()
            loop = asyncio.get_running_loop()
            self._waiting = loop.call_later(_BODY_S, self._give_up_body, cycle)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP; after the last response of a connection there is no other."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def _give_up_body(self, cycle: RequestResponseCycle) -> None:
        # The cycle isn't told of a body that came after its response; another is a later request.
        if self.cycle is cycle and self.conn.their_state is h11.SEND_BODY:
            self.transport.close()

    def _give_up(self) -> None:
        has_request = cast("object", self.cycle) is not None
        if not has_request:
            self.transport.close()
