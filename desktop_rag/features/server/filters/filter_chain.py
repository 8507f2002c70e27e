"""The filters of the server in their order, for each model, and those of installed packages.

The latter are entry points that the settings name. One that fails refuses the request and is logged
as an error: nothing passes unchecked. Worker threads.
"""

import logging
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from importlib.metadata import entry_points
from typing import cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from desktop_rag.core.conversation import AnswerChanged, AnswerDone, AnswerEvent
from desktop_rag.core.errors import AppError
from desktop_rag.features.server.access.callers import Asked, Caller, Exchange
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.worker_events import Workers
from desktop_rag.models.ports import ToolCall


@dataclass(frozen=True, slots=True)
class CallsMade:
    """A model calls tools of the program that asks; it goes on with their results."""

    calls: tuple[ToolCall, ...]


AnswerEvents = Generator[AnswerEvent | AnswerChanged | CallsMade]


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


# Polled every few seconds by monitoring, or a part of a page.
_UNSEEN = ("/health", "/ready", "/admin/admin.css")


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


log = logging.getLogger(__name__)

GROUP = "desktop_rag.request_filters"


def own_filters(named: Sequence[str]) -> list[NamedFilter]:
    """The named filters in order (`NAME=MODELS` limits one). AppError if one can't be loaded."""
    return [
        (pattern.strip() or "*", GuardedFilter(name.strip(), _loaded(name.strip())))
        for name, _, pattern in (each.partition("=") for each in named)
    ]


def installed_filters() -> list[str]:
    """The names of the filters that installed packages have; nothing of them is loaded."""
    return sorted({each.name for each in entry_points(group=GROUP)})


def _loaded(name: str) -> RequestFilter:
    found = list(entry_points(group=GROUP, name=name))
    if len(found) != 1:
        there = installed_filters()
        said = f"There are: {', '.join(there)}." if there else "No installed package has one."
        many = "Several packages have one of this name." if found else said
        raise AppError(f"There is no filter “{name}”.", many)
    try:
        made = found[0].load()()
    except Exception as exc:
        # The fault of another package, which may do anything.
        log.exception("the filter %s can't be loaded", name)
        hint = f"{type(exc).__name__}: {exc}"
        raise AppError(f"The filter “{name}” can't be loaded.", hint) from exc
    if not isinstance(made, RequestFilter):
        raise AppError(f"The filter “{name}” can't be used.", "It is no RequestFilter.")
    return made


class GuardedFilter(RequestFilter):
    """A filter of another package; its failures become refusals."""

    def __init__(self, name: str, own: RequestFilter) -> None:
        self._name = name
        self._own = own

    def admit(self, exchange: Exchange) -> None:
        """Let the filter look at a request."""
        caller = exchange.caller
        with self._refusing():
            self._own.admit(exchange)
        # Only the filter for that says who it is.
        exchange.caller = caller

    def prepare(self, asked: Asked) -> Asked:
        """Let the filter look at a question. It can narrow what is read, and not widen it."""
        with self._refusing():
            prepared = self._own.prepare(asked)
            if not isinstance(prepared, Asked):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(f"not a question: {type(prepared).__name__}")
        limited = asked.caller.limited(prepared.setup)
        return replace(prepared, caller=asked.caller, model=asked.model, setup=limited)

    def pass_on(self, asked: Asked, events: AnswerEvents) -> AnswerEvents:
        """Let the filter pass the answer on; one that keeps it back refuses."""
        has_ended = False
        with self._refusing(AppError):
            for event in self._own.pass_on(asked, events):
                has_ended = has_ended or isinstance(event, AnswerDone)
                yield event
        if not has_ended:
            log.error("the filter %s kept an answer back", self._name)
            said = f"The filter “{self._name}” keeps this answer back."
            raise Refusal(403, said, code="filtered")

    def finish(self, exchange: Exchange) -> None:
        """Let the filter look at what became of a request."""
        try:
            self._own.finish(exchange)
        except Exception:
            log.exception("the filter %s failed after a request", self._name)

    @contextmanager
    def _refusing(self, *others: type[Exception]) -> Generator[None]:
        """Turn failures into a refusal, but for refusals and the `others`."""
        try:
            yield
        except (Refusal, *others):
            raise
        except Exception as exc:
            log.exception("the filter %s failed", self._name)
            said = f"The filter “{self._name}” failed, so nothing is answered."
            raise Refusal(500, f"{said} The app's log says more.", code="filter_failed") from exc
