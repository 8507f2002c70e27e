"""The layer around the whole server in which a request begins and ends. The server's thread."""

from functools import partial

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from desktop_rag.features.server.access.callers import Exchange
from desktop_rag.features.server.filters.filter_chain import FilterChain
from desktop_rag.features.server.worker_events import Workers

# Asked every few seconds by whatever watches over the server.
_UNSEEN = ("/health",)


class FilteredApp:
    """Tells the filters of every request that has ended, also of one that never reached a route."""

    def __init__(self, app: ASGIApp, chain: FilterChain, workers: Workers) -> None:
        self._app = app
        self._chain = chain
        self._workers = workers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = Exchange.begun(scope)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            if exchange.path not in _UNSEEN:
                self._workers.later(partial(self._chain.finish, exchange))
