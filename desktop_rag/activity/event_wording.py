"""Events in words, for the window, the command line and exports. Pure."""

from collections.abc import Mapping
from typing import Any

from desktop_rag.activity.activity_event import (
    ActivityEvent,
    EventKind,
    IndexChange,
    Opinion,
    Outcome,
    Purpose,
)

KIND_NAMES = {
    EventKind.QUESTION: "Questions",
    EventKind.CALL: "Endpoint calls",
    EventKind.REFUSED: "Refused",
    EventKind.INDEX: "Index",
    EventKind.NOTICE: "Errors and notices",
    EventKind.REPAIR: "Repairs",
    EventKind.SETTINGS: "Settings",
    EventKind.FEEDBACK: "Feedback",
}
_PURPOSES = {
    Purpose.ANSWER: "Answer",
    Purpose.HELPER: "Background request",
    Purpose.EMBEDDING: "Embedding",
    Purpose.EXAMINATION: "Examination of the model",
    Purpose.TEST: "Test of the endpoint",
}
_OPINIONS = {
    Opinion.LIKED: "Liked an answer",
    Opinion.DISLIKED: "Disliked an answer",
    Opinion.WITHDRAWN: "Withdrew the feedback on an answer",
    Opinion.REWRITTEN: "Rewrote an answer",
}
_CHANGES = {IndexChange.SCANNED: "was scanned", IndexChange.READ: "was read"}
_NO_TITLE = "a chat"


def title_of(event: ActivityEvent, chat_title: str = "") -> str:
    """The event in a few words. Without a `chat_title` the chat is not named."""
    chat = f"“{chat_title}”" if chat_title else _NO_TITLE
    match event.kind:
        case EventKind.QUESTION:
            return f"Question in {chat}"
        case EventKind.CALL:
            what = _named(_PURPOSES, event.subject) or "Request"
            return f"{what} by {event.model or 'an endpoint'}"
        case EventKind.INDEX:
            change = _named(_CHANGES, event.detail) or "changed"
            subject = event.subject or "A source"
            return f"{subject} {change}"
        case EventKind.SETTINGS:
            return "Settings changed"
        case EventKind.FEEDBACK:
            return f"{_named(_OPINIONS, event.subject) or 'Feedback'} in {chat}"
        case _:
            return event.subject


def detail_of(event: ActivityEvent) -> str:
    """The rest of the event on one line; "" when its title says all."""
    match event.kind:
        case EventKind.QUESTION:
            by = event.model or "excerpts"
            sources = _counted(event.count("sources"), "source")
            return _joined(*_ending(event), event.detail, sources, f"{event.seconds:.1f} s", by)
        case EventKind.CALL:
            tokens = tokens_in_words(event)
            at = f"at {event.host}" if event.host else ""
            return _joined(*_ending(event), event.detail, tokens, f"{event.seconds:.1f} s", at)
        case EventKind.INDEX:
            return ", ".join(f"{number:,} {name}" for name, number in event.counts)
        case EventKind.FEEDBACK:
            return event.model
        case EventKind.REFUSED:
            return _joined(event.host, event.detail)
        case _:
            return event.detail


def kind_of(event: ActivityEvent) -> str:
    """The kind as one word or two for the row of an event."""
    if event.kind is EventKind.NOTICE:
        return "Error" if event.outcome is Outcome.FAILED else "Notice"
    return {
        EventKind.QUESTION: "Question",
        EventKind.CALL: "Endpoint call",
        EventKind.REPAIR: "Repair",
    }.get(event.kind, KIND_NAMES[event.kind])


def tokens_in_words(event: ActivityEvent) -> str:
    """`812 tokens in, 41 out`, with "about" for an estimate; "" when none are known."""
    if not event.tokens_in and not event.tokens_out:
        return ""
    about = "about " if event.is_estimate else ""
    return f"{about}{event.tokens_in:,} tokens in, {event.tokens_out:,} out"


def _ending(event: ActivityEvent) -> tuple[str, ...]:
    return () if event.outcome is Outcome.DONE else (event.outcome.value,)


def _named(names: Mapping[Any, str], value: str) -> str:
    return names.get(value, "")


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
