"""The activity of the app for people: events with their filter and totals, CSV and JSON lines.

`Activity` reads files and the store, on worker threads; the rest is pure.
"""

import csv
import heapq
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from desktop_rag.activity.activity_event import ActivityEvent, EventKind
from desktop_rag.activity.event_files import EventLog
from desktop_rag.activity.event_wording import detail_of, kind_of, title_of
from desktop_rag.core.conversation import Message, Role
from desktop_rag.core.language.translation import count_of, decimal_in_words, tr


@dataclass(frozen=True, slots=True)
class EventFilter:
    """The wanted kinds (none means all), a text in the event's words, and the earliest time."""

    kinds: frozenset[EventKind] = frozenset()
    text: str = ""
    since: float = 0.0

    def fits(self, event: ActivityEvent, chat_title: str = "") -> bool:
        """True when the event passes; the text is found ignoring case."""
        if (self.kinds and event.kind not in self.kinds) or event.at < self.since:
            return False
        wanted = self.text.strip().casefold()
        if not wanted:
            return True
        shown = (kind_of(event), title_of(event, chat_title), detail_of(event))
        return any(wanted in words.casefold() for words in shown)


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over events. The seconds are those spent on questions, and on calls."""

    events: int = 0
    questions: int = 0
    question_seconds: float = 0.0
    calls: int = 0
    call_seconds: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0

    def plus(self, event: ActivityEvent) -> "Totals":
        """The totals with one event more."""
        is_question, is_call = event.kind is EventKind.QUESTION, event.kind is EventKind.CALL
        return Totals(
            self.events + 1,
            self.questions + is_question, self.question_seconds + event.seconds * is_question,
            self.calls + is_call, self.call_seconds + event.seconds * is_call,
            self.tokens_in + event.tokens_in, self.tokens_out + event.tokens_out,
        )  # fmt: skip

    def in_words(self) -> str:
        """`214 events · 12 questions in 41.2 s · 30 calls in 38.0 s, 9,120 tokens in, 311 out`."""
        parts = [count_of(self.events, tr("event"), tr("events"))]
        if self.questions:
            asked = count_of(self.questions, tr("question"), tr("questions"))
            seconds = decimal_in_words(self.question_seconds, 1)
            parts.append(tr("{asked} in {seconds} s", asked=asked, seconds=seconds))
        if self.calls:
            called = tr(
                "{calls} in {seconds} s, {tokens_in:,} tokens in, {tokens_out:,} out",
                calls=count_of(self.calls, tr("call"), tr("calls")),
                seconds=decimal_in_words(self.call_seconds, 1),
                tokens_in=self.tokens_in, tokens_out=self.tokens_out,
            )  # fmt: skip
            parts.append(called)
        return " · ".join(parts)


@dataclass(frozen=True, slots=True)
class FoundEvents:
    """The events that fit, the newest first; `chat_titles` by the ids of the chats that exist."""

    events: list[ActivityEvent]
    chat_titles: Mapping[str, str]
    totals: Totals = field(default_factory=Totals)


_COLUMNS = (
    "time", "kind", "event", "details", "outcome", "model", "host", "tokens_in", "tokens_out",
    "is_estimate", "seconds",
)  # fmt: skip
# A spreadsheet takes a cell that begins like this for a formula and runs it.
_FORMULA = ("=", "+", "-", "@")


def as_csv(found: FoundEvents) -> str:
    """The events as a table with a header. No cell is a formula."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(_COLUMNS)
    for event in found.events:
        title = found.chat_titles.get(event.chat_id, "")
        words = (kind_of(event), title_of(event, title), detail_of(event))
        names = (event.outcome.value, event.model, event.host)
        numbers = (event.tokens_in, event.tokens_out, event.is_estimate, round(event.seconds, 3))
        writer.writerow([_time_of(event), *map(_inert, (*words, *names)), *numbers])
    return file.getvalue()


def as_json_lines(found: FoundEvents) -> str:
    """One JSON object for each event, on a line of its own."""
    lines = (json.dumps(row, ensure_ascii=False) for row in rows_of(found))
    return "".join(f"{line}\n" for line in lines)


def rows_of(found: FoundEvents) -> Iterable[dict[str, Any]]:
    """The events as JSON: as stored, with the local time, their words and the title of the chat."""
    for event in found.events:
        title = found.chat_titles.get(event.chat_id, "")
        words = {"event": title_of(event, title), "details": detail_of(event)}
        named = {"chat_title": title} if title else {}
        yield {"time": _time_of(event), **event.to_json(), **words, **named}


def _time_of(event: ActivityEvent) -> str:
    return datetime.fromtimestamp(event.at).astimezone().isoformat(timespec="seconds")


def _inert(cell: str) -> str:
    line = " ".join(cell.split())
    return f"'{line}" if line.startswith(_FORMULA) else line


class Activity:
    """Finds and deletes events: those of the log, and feedback, which is never deleted here."""

    def __init__(
        self,
        log: EventLog,
        feedback: Callable[[], Sequence[ActivityEvent]],
        chat_titles: Callable[[], Mapping[str, str]],
        messages: Callable[[str], Sequence[Message]] = lambda _chat_id: (),
    ) -> None:
        """`feedback` returns all of it, the newest first; `chat_titles` those that exist by id,
        `messages` those of a chat in order.
        """
        self._log = log
        self._feedback = feedback
        self._chat_titles = chat_titles
        self._messages = messages

    def find(self, wanted: EventFilter) -> FoundEvents:
        """The events that fit, the newest first. AppError when the store can't be read."""
        self._log.flush()
        titles = self._chat_titles()
        # Each of the two keeps its own order, whatever happened to the clock.
        logged, feedback = self._log.newest_first(), self._feedback()
        merged = heapq.merge(logged, feedback, key=lambda event: -event.at)
        events = [e for e in merged if wanted.fits(e, titles.get(e.chat_id, ""))]
        totals = Totals()
        for event in events:
            totals = totals.plus(event)
        return FoundEvents(events, titles, totals)

    def question_of(self, event: ActivityEvent) -> str:
        """What was asked, from its chat: the log has no content. "" for another event, and when
        it is gone. AppError when the store can't be read.
        """
        if event.kind is not EventKind.QUESTION or not event.chat_id:
            return ""
        asked = [m for m in self._messages(event.chat_id) if m.role is Role.USER]
        before = [message.text for message in asked if message.created_at <= event.at]
        return before[-1] if before else ""

    def delete_all(self) -> None:
        """Delete the event log. AppError when a file can't be removed."""
        self._log.delete_all()
