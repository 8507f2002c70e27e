"""Events and settings in words, for the window, the command line and exports. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from desktop_rag.activity.activity_event import (
    ActivityEvent,
    EventKind,
    IndexChange,
    Opinion,
    Outcome,
    Purpose,
)
from desktop_rag.core.language.translation import (
    count_of,
    decimal_in_words,
    number_in_words,
    told,
    tr,
    translated,
)
from desktop_rag.core.setting_text import TEXT, SettingText, marked
from desktop_rag.core.settings import SETTING_TEXTS

# What is recorded of the settings and is none of them. Constants are only marked: a terminal that
# asks the app of the window is answered in English.
_MORE_NAMES = {
    "API key": marked("API key"),
    "other_endpoints": marked("Endpoints"),
    "shared_library": marked("Shared library"),
}


def text_of(section: type, name: str) -> SettingText:
    """What people read of a setting of this section, in their language."""
    return shown(section.__dataclass_fields__[name].metadata[TEXT])


def shown(text: SettingText) -> SettingText:
    """What people read of a setting, in their language."""
    names = ("name", "label", "words", "about", "empty", "unit")
    texts: dict[str, Any] = {name: translated(getattr(text, name)) for name in names}
    choices = {value: translated(name) for value, name in text.choices.items()}
    return replace(text, **texts, choices=choices)


def setting_name(key: str) -> str:
    """What a setting such as `answers.checks_claims` is called; other names are kept."""
    section, _, name = key.partition(".")
    if text := SETTING_TEXTS.get(key):
        return translated(text.name)
    return translated(_MORE_NAMES.get(key) or _MORE_NAMES.get(section) or name or key)


KIND_NAMES = {
    EventKind.QUESTION: marked("Questions"),
    EventKind.CALL: marked("Endpoint calls"),
    EventKind.REFUSED: marked("Refused"),
    EventKind.INDEX: marked("Index"),
    EventKind.NOTICE: marked("Errors and notices"),
    EventKind.REPAIR: marked("Repairs"),
    EventKind.SETTINGS: marked("Settings"),
    EventKind.FEEDBACK: marked("Feedback"),
}
_PURPOSES: Mapping[str, str] = {
    Purpose.ANSWER: marked("Answer"),
    Purpose.HELPER: marked("Background request"),
    Purpose.EMBEDDING: marked("Embedding"),
    Purpose.TRANSCRIPTION: marked("Transcription"),
    Purpose.EXAMINATION: marked("Examination of the model"),
    Purpose.TEST: marked("Test of the endpoint"),
}
_OPINIONS: Mapping[str, str] = {
    Opinion.LIKED: marked("Liked an answer"),
    Opinion.DISLIKED: marked("Disliked an answer"),
    Opinion.WITHDRAWN: marked("Withdrew the feedback on an answer"),
    Opinion.REWRITTEN: marked("Rewrote an answer"),
}
_OUTCOMES = {Outcome.STOPPED: marked("stopped"), Outcome.FAILED: marked("failed")}
_COUNTS = {
    "added": marked("added"), "changed": marked("changed"), "failed": marked("failed"),
    "moved": marked("moved"), "read": marked("read"), "removed": marked("removed"),
    "skipped": marked("skipped"), "sources": marked("sources"),
}  # fmt: skip
_CHANGES: Mapping[str, str] = {
    IndexChange.SCANNED: marked("was scanned"),
    IndexChange.READ: marked("was read"),
}


def title_of(event: ActivityEvent, chat_title: str = "") -> str:
    """The event in a few words. Without a `chat_title` the chat is not named."""
    chat = f"“{chat_title}”" if chat_title else tr("a chat")
    match event.kind:
        case EventKind.QUESTION:
            return tr("Question in {chat}", chat=chat)
        case EventKind.CALL:
            what = translated(_PURPOSES.get(event.subject, marked("Request")))
            return tr("{what} by {value}", what=what, value=event.model or tr("an endpoint"))
        case EventKind.INDEX:
            change = translated(_CHANGES.get(event.detail, marked("was changed")))
            subject = event.subject or tr("A source")
            return f"{subject} {change}"
        case EventKind.SETTINGS:
            return tr("Settings changed")
        case EventKind.FEEDBACK:
            value = translated(_OPINIONS.get(event.subject, marked("Feedback")))
            return tr("{value} in {chat}", value=value, chat=chat)
        case _:
            return event.subject


def detail_of(event: ActivityEvent) -> str:
    """The rest of the event on one line; "" when its title says all."""
    match event.kind:
        case EventKind.QUESTION:
            by = event.model or tr("excerpts")
            sources = count_of(event.count("sources"), tr("source"), tr("sources"))
            seconds = f"{decimal_in_words(event.seconds, 1)} s"
            return _joined(outcome_in_words(event), told(event.detail), sources, seconds, by)
        case EventKind.CALL:
            tokens = tokens_in_words(event)
            at = tr("at {host}", host=event.host) if event.host else ""
            seconds = f"{decimal_in_words(event.seconds, 1)} s"
            return _joined(outcome_in_words(event), told(event.detail), tokens, seconds, at)
        case EventKind.INDEX:
            return counts_in_words(event)
        case EventKind.SETTINGS:
            return settings_in_words(event)
        case EventKind.FEEDBACK:
            return event.model
        case EventKind.REFUSED:
            return _joined(event.host, told(event.detail))
        case _:
            return told(event.detail)


def kind_of(event: ActivityEvent) -> str:
    """The kind as one word or two for the row of an event."""
    if event.kind is EventKind.NOTICE:
        return tr("Error") if event.outcome is Outcome.FAILED else tr("Notice")
    return {
        EventKind.QUESTION: tr("Question"),
        EventKind.CALL: tr("Endpoint call"),
        EventKind.REPAIR: tr("Repair"),
    }.get(event.kind) or translated(KIND_NAMES[event.kind])


def counts_in_words(event: ActivityEvent) -> str:
    """`3 added, 1 removed`."""
    return ", ".join(
        f"{number_in_words(number)} {translated(_COUNTS.get(name, name))}"
        for name, number in event.counts
    )


def settings_in_words(event: ActivityEvent) -> str:
    """The settings that were changed, as the rows where they are set call them."""
    return ", ".join(dict.fromkeys(map(setting_name, event.detail.split(", "))))


def outcome_in_words(event: ActivityEvent) -> str:
    """How it ended; "" when all went well."""
    return translated(_OUTCOMES.get(event.outcome, ""))


def tokens_in_words(event: ActivityEvent) -> str:
    """`812 tokens in, 41 out`, with "about" for an estimate; "" when none are known."""
    if not event.tokens_in and not event.tokens_out:
        return ""
    about = tr("about ") if event.is_estimate else ""
    return tr(
        "{about}{tokens_in:,} tokens in, {tokens_out:,} out",
        about=about, tokens_in=event.tokens_in, tokens_out=event.tokens_out,
    )  # fmt: skip


def _joined(*parts: str) -> str:
    return " · ".join(part for part in parts if part)
