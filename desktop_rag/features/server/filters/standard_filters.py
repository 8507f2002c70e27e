"""The filters that every request passes, in their order. Worker threads."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import ClassVar

from desktop_rag.core.conversation import AnswerDone, MessageState
from desktop_rag.features.server.access.authority import Authority
from desktop_rag.features.server.access.callers import Exchange
from desktop_rag.features.server.access.rate_limit import RateLimits
from desktop_rag.features.server.access.token_uses import TokenUses
from desktop_rag.features.server.access.user_rights import UserRights
from desktop_rag.features.server.asked import Asked
from desktop_rag.features.server.filters.filter_chain import FilterChain, NamedFilter
from desktop_rag.features.server.filters.request_filter import AnswerEvents, RequestFilter
from desktop_rag.features.server.filters.request_log import RequestLog
from desktop_rag.features.server.programs.request_record import RequestRecord


class AuthoriseFilter(RequestFilter):
    """Lets in whoever has a valid token, notes when it was used, and finds what it may read."""

    name: ClassVar[str] = "authorise"

    def __init__(self, authority: Authority, rights: UserRights, uses: TokenUses) -> None:
        self._authority = authority
        self._rights = rights
        self._uses = uses

    def admit(self, exchange: Exchange) -> None:
        """Find out who sent the request."""
        exchange.caller = self._authority.caller(exchange)
        self._uses.note(exchange.caller.token.token_id)
        exchange.caller = self._rights.of(exchange.caller)


class RateFilter(RequestFilter):
    """Limits the requests of a token in a minute."""

    name: ClassVar[str] = "rate limit"

    def __init__(self, limits: RateLimits) -> None:
        self._limits = limits

    def admit(self, exchange: Exchange) -> None:
        """Count the request."""
        assert exchange.caller is not None, "the filter before tells who it is"
        self._limits.count_request(exchange.caller)


class LogFilter(RequestFilter):
    """Writes the log of requests."""

    name: ClassVar[str] = "log"

    def __init__(self, log: RequestLog, keeps_text: Callable[[], bool]) -> None:
        """While `keeps_text` says so, questions and answers are in the log."""
        self._log = log
        self._keeps_text = keeps_text

    def prepare(self, asked: Asked) -> Asked:
        """Note the model and the question."""
        exchange = asked.caller.exchange
        exchange.model = asked.model
        exchange.asked_chars = len(asked.question)
        if self._keeps_text():
            exchange.question = asked.question
        return asked

    def pass_on(self, asked: Asked, events: AnswerEvents) -> AnswerEvents:
        """Note the answer, or why there is none."""
        with closing(events):
            for event in events:
                if isinstance(event, AnswerDone):
                    if event.message.state is MessageState.FAILED:
                        asked.caller.exchange.refusal = event.message.error_title
                    asked.caller.exchange.answer_chars = len(event.message.text)
                    if self._keeps_text():
                        asked.caller.exchange.answer = event.message.text
                yield event

    def finish(self, exchange: Exchange) -> None:
        """Write the record of the request."""
        if not exchange.is_logged:
            return
        caller = exchange.caller
        self._log.write(
            RequestRecord(
                exchange.began_at,
                exchange.method,
                exchange.path,
                token=caller.token.name if caller else "",
                token_id=caller.token.token_id if caller else "",
                user=caller.user if caller else "",
                model=exchange.model,
                status=exchange.status,
                ms=round(1000 * max(0.0, time.time() - exchange.began_at)),
                refusal=exchange.refusal,
                question=exchange.question,
                answer=exchange.answer,
                asked_chars=exchange.asked_chars,
                answer_chars=exchange.answer_chars,
            )
        )


class RetrieveFilter(RequestFilter):
    """Limits what is searched to what whoever asks may read."""

    name: ClassVar[str] = "retrieve"

    def prepare(self, asked: Asked) -> Asked:
        """Limit the question; refuses one that may read nothing."""
        return replace(asked, setup=asked.caller.limited(asked.setup))


class ResponseFilter(RequestFilter):
    """Limits the answers of a token that are under way at a time."""

    name: ClassVar[str] = "response"

    def __init__(self, limits: RateLimits) -> None:
        self._limits = limits

    def pass_on(self, asked: Asked, events: AnswerEvents) -> AnswerEvents:
        """Count the answer while it is under way."""
        with closing(events), self._limits.streaming(asked.caller):
            yield from events


def standard_chain(
    authority: Authority,
    rights: UserRights,
    uses: TokenUses,
    limits: RateLimits,
    log: LogFilter,
    own: Sequence[NamedFilter] = (),
) -> FilterChain:
    """All filters in their order; `own` ones see a question that is limited to what may be read."""
    first = (AuthoriseFilter(authority, rights, uses), RateFilter(limits), log, RetrieveFilter())
    return FilterChain([("*", each) for each in first], own, [("*", ResponseFilter(limits))])
