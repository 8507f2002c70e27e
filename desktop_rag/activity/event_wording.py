"""Events and settings in words, for the window, the command line and exports. Pure."""

from collections.abc import Mapping

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
)

# Settings that the form names in other words.
_MORE_NAMES = {
    "API key": tr("API key"),
    "endpoint.base_url": tr("Address"),
    "other_endpoints": tr("Endpoints"),
}
SETTING_NAMES = {
    "answers.asks_few_files": tr("Read few files in full when passages don't answer"),
    "answers.checks_claims": tr("Check each sentence against the sources"),
    "answers.model_check": tr("Also check with the model"),
    "answers.hides_unsupported": tr("Hide unsupported answers"),
    "answers.stores_chats": tr("Store new chats"),
    "answers.suggests_questions": tr("Suggest follow-up questions"),
    "answers.uses_memory": tr("Learn from earlier answers"),
    "activity.is_recorded": tr("Record what the app does"),
    "appearance.language": tr("Language"),
    "appearance.scheme": tr("Theme"),
    "appearance.text_percent": tr("Text size"),
    "background.hotkey": tr("Hotkey of the quick ask"),
    "background.notifies": tr("Show notifications"),
    "background.selection_hotkey": tr("Hotkey to ask about selected text"),
    "background.starts_at_login": tr("Start at login, in the background"),
    "background.when_closed": tr("Closing the window"),
    "endpoint.ask_above": tr("Ask before a run above"),
    "endpoint.context_tokens": tr("Context size"),
    "endpoint.model": tr("Model"),
    "endpoint.name": tr("Name"),
    "endpoint.price_in": tr("Input price"),
    "endpoint.price_out": tr("Output price"),
    "endpoint.requests_per_minute": tr("Rate limit"),
    "endpoint.spend_per_day": tr("Daily budget"),
    "endpoint.timeout_s": tr("Timeout"),
    "endpoint.tokens_per_minute": tr("Rate limit"),
    "helper.base_url": tr("Helper endpoint"),
    "helper.model": tr("Helper model"),
    "index.embedding_threads": tr("Processor threads"),
    "index.long_pictures": tr("Many pictures"),
    "index.makes_windows": tr("Also search parts of long passages"),
    "index.max_file_mb": tr("Maximum file size"),
    "index.model_folder": tr("Embedding model"),
    "index.pauses_on_battery": tr("Pause indexing on battery power"),
    "index.reads_pictures": tr("Read text in scanned pages and images"),
    "preferences.language": tr("Language of answers"),
    "preferences.length": tr("Length of answers"),
    "preferences.tone": tr("Tone of answers"),
    "retrieval.later_sources": tr("Follow-up questions"),
    "retrieval.lexical_weight": tr("Balance between words and meaning"),
    "retrieval.room": tr("What a model reads"),
    "server.certificate": tr("Certificate"),
    "server.certificate_key": tr("Its key"),
    "server.exposes_models": tr("Expose the models of the endpoints"),
    "server.host": tr("Reached by"),
    "server.host_names": tr("Names"),
    "server.is_on": tr("Let other programs ask"),
    "server.logs_text": tr("Keep questions and answers in the log"),
    "server.port": tr("Port"),
    "shared_library": tr("Shared library"),
    "transcription.base_url": tr("Server address"),
    "transcription.dialect": tr("Kind of server"),
    "transcription.has_consent": tr("Send my recordings to this server"),
    "transcription.language": tr("Spoken language"),
    "transcription.max_upload_mb": tr("Largest request"),
    "transcription.model": tr("Speech model"),
    "transcription.timeout_s": tr("Timeout"),
}


def setting_name(key: str) -> str:
    """What a setting such as `answers.checks_claims` is called; other names are kept."""
    section, _, name = key.partition(".")
    if key in _MORE_NAMES:
        return _MORE_NAMES[key]
    return SETTING_NAMES.get(key) or SETTING_NAMES.get(section) or name or key


KIND_NAMES = {
    EventKind.QUESTION: tr("Questions"),
    EventKind.CALL: tr("Endpoint calls"),
    EventKind.REFUSED: tr("Refused"),
    EventKind.INDEX: tr("Index"),
    EventKind.NOTICE: tr("Errors and notices"),
    EventKind.REPAIR: tr("Repairs"),
    EventKind.SETTINGS: tr("Settings"),
    EventKind.FEEDBACK: tr("Feedback"),
}
_PURPOSES: Mapping[str, str] = {
    Purpose.ANSWER: tr("Answer"),
    Purpose.HELPER: tr("Background request"),
    Purpose.EMBEDDING: tr("Embedding"),
    Purpose.TRANSCRIPTION: tr("Transcription"),
    Purpose.EXAMINATION: tr("Examination of the model"),
    Purpose.TEST: tr("Test of the endpoint"),
}
_OPINIONS: Mapping[str, str] = {
    Opinion.LIKED: tr("Liked an answer"),
    Opinion.DISLIKED: tr("Disliked an answer"),
    Opinion.WITHDRAWN: tr("Withdrew the feedback on an answer"),
    Opinion.REWRITTEN: tr("Rewrote an answer"),
}
_OUTCOMES = {Outcome.STOPPED: tr("stopped"), Outcome.FAILED: tr("failed")}
_COUNTS = {
    "added": tr("added"), "changed": tr("changed"), "failed": tr("failed"), "moved": tr("moved"),
    "read": tr("read"), "removed": tr("removed"), "skipped": tr("skipped"),
    "sources": tr("sources"),
}  # fmt: skip
_CHANGES: Mapping[str, str] = {
    IndexChange.SCANNED: tr("was scanned"),
    IndexChange.READ: tr("was read"),
}
_NO_TITLE = tr("a chat")


def title_of(event: ActivityEvent, chat_title: str = "") -> str:
    """The event in a few words. Without a `chat_title` the chat is not named."""
    chat = f"“{chat_title}”" if chat_title else _NO_TITLE
    match event.kind:
        case EventKind.QUESTION:
            return tr("Question in {chat}", chat=chat)
        case EventKind.CALL:
            what = _PURPOSES.get(event.subject) or tr("Request")
            return tr("{what} by {value}", what=what, value=event.model or tr("an endpoint"))
        case EventKind.INDEX:
            change = _CHANGES.get(event.detail) or tr("was changed")
            subject = event.subject or tr("A source")
            return f"{subject} {change}"
        case EventKind.SETTINGS:
            return tr("Settings changed")
        case EventKind.FEEDBACK:
            value = _OPINIONS.get(event.subject) or tr("Feedback")
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
    }.get(event.kind, KIND_NAMES[event.kind])


def counts_in_words(event: ActivityEvent) -> str:
    """`3 added, 1 removed`."""
    return ", ".join(
        f"{number_in_words(number)} {_COUNTS.get(name, name)}" for name, number in event.counts
    )


def settings_in_words(event: ActivityEvent) -> str:
    """The settings that were changed, as the rows where they are set call them."""
    return ", ".join(dict.fromkeys(map(setting_name, event.detail.split(", "))))


def outcome_in_words(event: ActivityEvent) -> str:
    """How it ended; "" when all went well."""
    return _OUTCOMES.get(event.outcome, "")


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
