"""The filters of the server in their order, for each model. Worker threads."""

from collections.abc import Sequence
from contextlib import closing
from fnmatch import fnmatchcase
from typing import cast

from desktop_rag.features.server.access.callers import Caller, Exchange
from desktop_rag.features.server.asked import Asked
from desktop_rag.features.server.filters.request_filter import AnswerEvents, RequestFilter

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
        """Each filter with the names of the models it is for, as a pattern: `*` is every request.

        A filter for some models sees questions and searches only, not the other requests. The `own`
        ones stand between the `first` and the `last`, and can be replaced.
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
