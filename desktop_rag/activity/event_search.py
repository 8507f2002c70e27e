"""Events that fit a filter, with their totals. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from desktop_rag.activity.activity_event import ActivityEvent, EventKind
from desktop_rag.activity.event_wording import detail_of, kind_of, title_of
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
            self.questions + is_question,
            self.question_seconds + event.seconds * is_question,
            self.calls + is_call,
            self.call_seconds + event.seconds * is_call,
            self.tokens_in + event.tokens_in,
            self.tokens_out + event.tokens_out,
        )

    def in_words(self) -> str:
        """`214 events · 12 questions in 41.2 s · 30 calls in 38.0 s, 9,120 tokens in, 311 out`."""
        parts = [count_of(self.events, tr("event"), tr("events"))]
        if self.questions:
            asked = count_of(self.questions, tr("question"), tr("questions"))
            parts.append(
                tr(
                    "{asked} in {seconds} s",
                    asked=asked,
                    seconds=decimal_in_words(self.question_seconds, 1),
                )
            )
        if self.calls:
            parts.append(
                tr(
                    "{calls} in {seconds} s, {tokens_in:,} tokens in, {tokens_out:,} out",
                    calls=count_of(self.calls, tr("call"), tr("calls")),
                    seconds=decimal_in_words(self.call_seconds, 1),
                    tokens_in=self.tokens_in,
                    tokens_out=self.tokens_out,
                )
            )
        return " · ".join(parts)


@dataclass(frozen=True, slots=True)
class FoundEvents:
    """The events that fit, the newest first; `chat_titles` by the ids of the chats that exist."""

    events: list[ActivityEvent]
    chat_titles: Mapping[str, str]
    totals: Totals = field(default_factory=Totals)
