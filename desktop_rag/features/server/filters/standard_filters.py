"""The filters that every request passes, in their order, and the log. Worker threads."""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from desktop_rag.activity.event_files import EventFiles, LogLimits
from desktop_rag.core import conversation
from desktop_rag.core.errors import os_error_as
from desktop_rag.core.markup.inert_markdown import InertStream, inert
from desktop_rag.features.server.access.access_tokens import TokenUses
from desktop_rag.features.server.access.callers import (
    Asked,
    Authority,
    Caller,
    Exchange,
    RateLimits,
)
from desktop_rag.features.server.access.sessions import Sessions
from desktop_rag.features.server.access.user_rights import UserRights
from desktop_rag.features.server.filters.filter_chain import (
    AnswerEvents,
    FilterChain,
    NamedFilter,
    RequestFilter,
)
from desktop_rag.features.server.values.access_values import RequestRecord

log = logging.getLogger(__name__)

_LIMITS = LogLimits(file_bytes=2_000_000, total_bytes=16_000_000, days=90)
_LONGEST_TEXT = 20_000
_LONGEST_NAME = 300


class RequestLog:
    """The latest requests in a folder, bounded in bytes and days. Any thread; processes share it.

    Questions and answers are in it only if the settings want that; keys and tokens never are.
    """

    def __init__(self, folder: Path) -> None:
        """The folder is created with the first record."""
        self._folder = folder
        self._files = EventFiles(folder, _LIMITS)
        self._lock = threading.Lock()

    def write(self, record: RequestRecord) -> None:
        """Append a record. One that can't be written is dropped: nobody waits for it."""
        line = json.dumps(_stored(record), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            with self._lock:
                self._folder.parent.mkdir(mode=0o700, exist_ok=True)
                self._files.append(line)
        except OSError as exc:
            log.warning("a request was not logged: %s", exc.strerror)

    def newest_first(self) -> Iterator[RequestRecord]:
        """The records, read as they are taken; lines that are none are passed over."""
        return self._files.rows(RequestRecord)

    def delete_all(self) -> None:
        """Forget all of them. AppError when a file can't be removed."""
        with os_error_as("The log of requests can't be deleted."), self._lock:
            self._files.delete_all()


def _stored(record: RequestRecord) -> dict[str, Any]:
    """The fields that are not empty, cut to their limits."""
    longest = {"question": _LONGEST_TEXT, "answer": _LONGEST_TEXT}
    return {
        name: value[: longest.get(name, _LONGEST_NAME)] if isinstance(value, str) else value
        for name, value in record.to_json().items()
    }


class AuthoriseFilter(RequestFilter):
    """Lets in whoever has a valid token and is within its rate, and finds what it may read."""

    def __init__(
        self, authority: Authority, rights: UserRights, uses: TokenUses, limits: RateLimits,
        sessions: Sessions,
    ) -> None:  # fmt: skip
        self._authority = authority
        self._sessions = sessions
        self._limits = limits
        self._rights = rights
        self._uses = uses

    def admit(self, exchange: Exchange) -> None:
        """Find out who sent the request."""
        exchange.caller = self._logged_in(exchange) or self._authority.caller(exchange)
        self._uses.note(exchange.caller.token.token_id)
        exchange.caller = self._rights.of(exchange.caller)
        self._limits.count_request(exchange.caller)

    def _logged_in(self, exchange: Exchange) -> Caller | None:
        """The person who asks with the cookie of a session, in place of a token."""
        session = None if exchange.header("authorization") else self._sessions.of(exchange)
        if session is None:
            return None
        return Caller(
            session.token, exchange.address, user=session.user, login=session.login,
            exchange=exchange,
        )  # fmt: skip


class LogFilter(RequestFilter):
    """Writes the log of requests."""

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
                if isinstance(event, conversation.AnswerDone):
                    if event.message.state is conversation.MessageState.FAILED:
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
    """Limits a search to what the caller may read."""

    def prepare(self, asked: Asked) -> Asked:
        """Limit the question; refuses one that may read nothing."""
        return replace(asked, setup=asked.caller.limited(asked.setup))


class ResponseFilter(RequestFilter):
    """Limits how many answers of a token are under way at a time."""

    def __init__(self, limits: RateLimits) -> None:
        self._limits = limits

    def pass_on(self, asked: Asked, events: AnswerEvents) -> AnswerEvents:
        """Count the answer while it is under way."""
        with closing(events), self._limits.streaming(asked.caller):
            yield from events


class InertFilter(RequestFilter):
    """Makes answers inert: a client that renders Markdown would load images and run HTML."""

    def pass_on(self, asked: Asked, events: AnswerEvents) -> AnswerEvents:
        """Pass everything on inert, unless the token wants the markup."""
        with closing(events):
            yield from events if asked.caller.token.passes_markup else _inert(events)


def _inert(events: AnswerEvents) -> AnswerEvents:
    text, thinking = InertStream(), InertStream()
    for event in events:
        match event:
            case conversation.TextDelta():
                yield conversation.TextDelta(text.add(event.text))
            case conversation.ThinkingDelta():
                yield conversation.ThinkingDelta(thinking.add(event.text))
            case conversation.AnswerRestated():
                text, thinking = InertStream(), InertStream()
                yield conversation.AnswerRestated(
                    text.add(event.text), thinking.add(event.thinking)
                )
            case conversation.AnswerDone():
                if rest := text.end():
                    yield conversation.TextDelta(rest)
                yield conversation.AnswerDone(inert_message(event.message))
            case conversation.AnswerChanged():
                yield conversation.AnswerChanged(inert_message(event.message))
            case _:
                yield event


def inert_message(message: conversation.Message) -> conversation.Message:
    """The message with nothing that loads in what a model wrote."""
    claims = [
        replace(c, checked=replace(c.checked, claim=inert(c.checked.claim)), reason=inert(c.reason))
        for c in message.claims
    ]
    return replace(
        message, text=inert(message.text), thinking=inert(message.thinking),
        follow_ups=tuple(map(inert, message.follow_ups)), claims=tuple(claims),
    )  # fmt: skip


def standard_chain(
    authorise: AuthoriseFilter, limits: RateLimits, log: LogFilter, own: Sequence[NamedFilter] = ()
) -> FilterChain:
    """All filters in their order; `own` ones see a question that is limited to what may be read."""
    first = (authorise, InertFilter(), log, RetrieveFilter())
    return FilterChain([("*", each) for each in first], own, [("*", ResponseFilter(limits))])
