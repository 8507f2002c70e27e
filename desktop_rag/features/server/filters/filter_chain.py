"""The filters of the server in their order, for each model. Worker threads."""

from collections.abc import Generator, Sequence
from contextlib import closing
from fnmatch import fnmatchcase
from functools import partial
from typing import cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from desktop_rag.core.conversation import AnswerChanged, AnswerEvent
from desktop_rag.features.server.access.callers import Caller, Exchange
from desktop_rag.features.server.asked import Asked
from desktop_rag.features.server.worker_events import Workers

AnswerEvents = Generator[AnswerEvent | AnswerChanged]


class RequestFilter:
    """The base of all filters, which lets everything pass; used by several threads at a time.

    The methods are called in this order, each for all filters in the order of the chain. Each may
    raise `Refusal`, whose message reaches the client.
    """

    def admit(self, exchange: Exchange) -> None:
        """Look at a request before its body is read."""

    def prepare(self, asked: Asked) -> Asked:
        """Look at a question or a search before anything is searched; may return another."""
        return asked

    def pass_on(self, asked: Asked, events: AnswerEvents) -> AnswerEvents:
        """Pass on the events of an answer, from the last filter of the chain to the first.

        To see a whole answer before the client does, hold its text until AnswerDone.
        """
        del asked
        yield from events

    def finish(self, exchange: Exchange) -> None:
        """Look at a request after its last byte was sent. A refusal has no effect here."""


# A pattern of model names, and the filter for them.
NamedFilter = tuple[str, RequestFilter]


class FilterChain:
    """Leads requests through the filters; without any, everything passes."""

    def __init__(
        self,
        first: Sequence[NamedFilter] = (),
        own: Sequence[NamedFilter] = (),
        last: Sequence[NamedFilter] = (),
    ) -> None:
        """Filters, each with a pattern of the models it is for: `*` is every request.

        Others see questions and searches only. `own` ones stand in between, and can be replaced.
        """
        self._first = tuple(first)
        self._last = tuple(last)
        self._filters = (*self._first, *own, *self._last)

    def replace_own(self, own: Sequence[NamedFilter]) -> None:
        """Have these in place of the present own ones; requests under way keep theirs."""
        self._filters = (*self._first, *own, *self._last)

    def admit(self, exchange: Exchange) -> Caller:
        """Who sent the request, if every filter lets it in."""
        for pattern, each in self._of_request(exchange):
            if pattern == "*":
                each.admit(exchange)
        assert exchange.caller is not None, "the first filter tells who it is"
        return exchange.caller

    def prepared(self, asked: Asked) -> Asked:
        """A question or a search as it may be answered."""
        for each in self._of(asked):
            asked = each.prepare(asked)
        return asked

    def passed(self, asked: Asked, events: AnswerEvents) -> AnswerEvents:
        """The events of an answer as the client may have them."""
        with closing(events):
            passing: AnswerEvents = events
            for each in reversed(self._of(asked)):
                passing = each.pass_on(asked, passing)
            yield from passing

    def finish(self, exchange: Exchange) -> None:
        """Note that a request has ended."""
        for pattern, each in self._of_request(exchange):
            if pattern == "*":
                each.finish(exchange)

    def _of(self, asked: Asked) -> list[RequestFilter]:
        named = self._of_request(asked.caller.exchange)
        return [each for pattern, each in named if fnmatchcase(asked.model, pattern)]

    def _of_request(self, exchange: Exchange) -> tuple[NamedFilter, ...]:
        """The filters of a request: those when it came, to its end."""
        if not exchange.filters:
            exchange.filters = self._filters
        return cast("tuple[NamedFilter, ...]", exchange.filters)


# Polled every few seconds by monitoring.
_UNSEEN = ("/health", "/ready")


class FilteredApp:
    """Tells the filters when a request ends, whether routed or not. The server's thread."""

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
