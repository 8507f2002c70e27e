"""Conversations in files: exported as Markdown, HTML or JSON, imported from JSON. Any thread.

Untrusted text is escaped, and opening an exported file fetches nothing. A claim that its sources
don't back carries its sign in words. An imported file may come from anybody. One that we would not
have written is refused as a whole, with the place of the error; only text and numbers within limits
are taken, and no path is ever opened.
"""

import dataclasses
import html
import json
import re
import stat
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

from markdown_it import MarkdownIt

from desktop_rag.core.claims import with_signs
from desktop_rag.core.conversation import (
    OWN_KNOWLEDGE,
    Attachment,
    AttachmentKind,
    Conversation,
    Feedback,
    Message,
    MessageState,
    Role,
    SearchNotes,
    SourceRef,
    in_words,
)
from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.markup.inert_markdown import inert_file, safe_address
from desktop_rag.core.markup.own_words import EXPORTED_CHAT
from desktop_rag.core.query import strip_invalid_characters
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.core.records import (
    LONGEST_LABEL,
    MOST_WHOLE,
    Count,
    Within,
    WrongValueError,
    checked,
    encoded,
)

# The marks by which `conversation_import` recognises our files.
FORMAT = EXPORTED_CHAT
VERSION = 1
_OF_QUESTIONS = frozenset(("role", "text", "created_at", "scope", "attachments"))
_IF_ANY = frozenset(("scope", "attachments"))


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """The name and size of an attachment; its content is not in the file."""

    name: Annotated[str, Within(0, LONGEST_LABEL)]
    kind: AttachmentKind
    words: Count = 0
    pages: Count = 0


@dataclass(frozen=True, slots=True)
class ExportedMessage:
    """A message in a file. Its claims are written too, and not read: nobody checked them there."""

    role: Role
    created_at: str
    text: str = ""
    state: MessageState = MessageState.DONE
    model: Annotated[str, Within(0, LONGEST_LABEL)] = ""
    is_excerpts: bool = False
    is_own_knowledge: bool = False
    seconds: Annotated[float, Within(-MOST_WHOLE, MOST_WHOLE)] = 0.0
    error_title: str = ""
    error_hint: str = ""
    thinking: str = ""
    sources: tuple[SourceRef, ...] = ()
    nearest: tuple[SourceRef, ...] = ()
    notes: SearchNotes | None = None
    feedback: Feedback = Feedback.NONE
    follow_ups: tuple[str, ...] = ()
    attachments: tuple[AttachedFile, ...] = ()
    scope: QuestionScope = ALL_DOCUMENTS


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802
        return safe_address(url) is not None


_parser = _Parser("commonmark", {"html": False}).enable(["table", "strikethrough"])
_parser.disable(["image", "html_block", "html_inline", "reference"])
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:46em;margin:2em auto;padding:0 1em}"
    "blockquote{margin:.3em 0 .3em 1em;color:#555}.who{color:#555;margin-top:2em}"
    "pre{overflow:auto;background:#f4f4f4;padding:.6em}table{border-collapse:collapse}"
    "td,th{border:1px solid #ccc;padding:.2em .5em}"
)
_STATES = {
    MessageState.STOPPED: "stopped",
    MessageState.FAILED: "failed",
    MessageState.CUT: "cut off",
}


def export_text(conversation: Conversation, messages: Sequence[Message], ending: str) -> str:
    """The text of a file with this ending: .html, .json, else Markdown."""
    match ending.casefold():
        case ".html" | ".htm":
            return _as_html(conversation, messages)
        case ".json":
            return _as_json(conversation, messages)
        case _:
            return _as_markdown(conversation, messages)


# --- Markdown --------------------------------------------------------------------------------


def _as_markdown(conversation: Conversation, messages: Sequence[Message]) -> str:
    parts = [f"---\ngenerator: {EXPORTED_CHAT}\n---", f"# {_plain(conversation.title)}"]
    for message in messages:
        parts.append(f"## {_plain(_speaker(message))}")
        parts.append(
            "  \n".join(_plain(line) for line in message.text.splitlines())
            if message.role is Role.USER
            else inert_file(with_signs(message.text, message.claims))
        )
        parts += map(_plain, _told(message))
        parts += ["\n\n".join(_markdown_source(s) for s in message.sources if s.is_cited)]
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _markdown_source(source: SourceRef) -> str:
    lines = [f"\\[{source.n}\\] {_plain(source.where)}"]
    lines += [f"> {_plain(line)}" for line in source.quote.splitlines() if line.strip()]
    text = "  \n".join(lines[:1]) + ("\n\n" + "\n".join(lines[1:]) if lines[1:] else "")
    query = "\n".join(f"    {line}" for line in source.query.splitlines())
    return f"{text}\n\n{query}" if source.query else text


def _plain(text: str) -> str:
    """The text as one line of Markdown without formatting."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


# --- HTML ------------------------------------------------------------------------------------


def _as_html(conversation: Conversation, messages: Sequence[Message]) -> str:
    title = html.escape(" ".join(conversation.title.split()))
    body = "\n".join(part for message in messages for part in _html_message(message))
    return (
        '<!doctype html>\n<html><head><meta charset="utf-8">\n'
        f'<meta name="generator" content="{EXPORTED_CHAT}">\n'
        # Nothing is loaded, whatever a model or a document contains.
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>{title}</h1>\n{body}\n</body></html>\n"
    )


def _html_message(message: Message) -> Iterator[str]:
    yield f'<p class="who">{html.escape(_speaker(message))}</p>'
    if message.role is Role.USER:
        yield f'<p style="white-space:pre-wrap">{html.escape(message.text)}</p>'
    else:
        yield _parser.render(with_signs(message.text, message.claims))
    yield from (f"<p>{html.escape(line)}</p>" for line in _told(message) if line)
    for source in message.sources:
        if source.is_cited:
            quote = f"<blockquote>{html.escape(source.quote)}</blockquote>" if source.quote else ""
            query = f"<pre>{html.escape(source.query)}</pre>" if source.query else ""
            yield f"<div>[{source.n}] {html.escape(source.where)}{quote}{query}</div>"


# --- JSON ------------------------------------------------------------------------------------


def _as_json(conversation: Conversation, messages: Sequence[Message]) -> str:
    """All fields, so that an import restores the conversation."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "title": conversation.title,
        "updated_at": _exactly(conversation.updated_at),
        "messages": [message_to_json(message) for message in messages],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def message_to_json(message: Message) -> dict[str, Any]:
    """The message as an object, without its id and conversation."""
    taken: dict[str, Any] = {f.name: getattr(message, f.name) for f in fields(ExportedMessage)}
    taken["created_at"] = _exactly(message.created_at)
    attached = (AttachedFile(a.name, a.kind, a.words, a.pages) for a in message.attachments)
    taken["attachments"] = tuple(attached)
    told: dict[str, Any] = encoded(ExportedMessage(**taken)) | {"claims": encoded(message.claims)}
    if message.role is Role.USER:
        told = {name: value for name, value in told.items() if name in _OF_QUESTIONS}
    return {name: value for name, value in told.items() if value or name not in _IF_ANY}


def _exactly(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


# --- in words --------------------------------------------------------------------------------


def _speaker(message: Message) -> str:
    who = "You" if message.role is Role.USER else message.model or "Excerpts from your documents"
    at = datetime.fromtimestamp(message.created_at, UTC).astimezone()
    parts = [who, f"{at:%Y-%m-%d %H:%M}", _STATES.get(message.state, "")]
    parts += [OWN_KNOWLEDGE] if message.is_own_knowledge else []
    return " · ".join(part for part in parts if part)


def _told(message: Message) -> list[str]:
    """What is said below a message: scope, attachments, steps, why it failed, the opinion of it."""
    steps = [step.said for step in message.notes.steps] if message.notes else []
    failed = f"{message.error_title} {message.error_hint}".strip()
    opinion = message.feedback.capitalize()
    return [message.scope.in_words(), in_words(message.attachments), *steps, failed, opinion]


LARGEST_BYTES = 32 * 1024 * 1024
_LONGEST_TITLE_CHARS = 300
_MOST_MESSAGES = 5_000
_LATEST_S = 4_102_444_800.0  # the year 2100


@dataclass(frozen=True, slots=True)
class _File:
    """The content of a file."""

    title: str = ""
    messages: Annotated[tuple[ExportedMessage, ...], Within(0, _MOST_MESSAGES)] = ()


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    """The content of a file. Its messages belong to no conversation yet."""

    title: str
    messages: tuple[Message, ...]


def read_conversation(path: Path) -> ImportedConversation:
    """The conversation in a file; AppError when it is unreadable, too large, or no export."""
    return imported(_content(path), path.name)


def imported(content: bytes, name: str = "The file") -> ImportedConversation:
    """The conversation in the bytes of a file; AppError as `read_conversation`."""
    try:
        document = _cleaned(json.loads(content, parse_constant=_refuse))
    except (ValueError, RecursionError) as exc:
        raise _no_conversation(name, "It is no JSON.") from exc
    try:
        root = checked(dict[str, Any], document, "the file")
        if root.get("format") != FORMAT:
            raise _no_conversation(name, "It says nothing of a chat.")
        if (version := checked(int, root.get("version"), "the file, version")) != VERSION:
            raise AppError(
                f"{name} was written by another version of this app.",
                f"Its format is version {version}, this app reads {VERSION}. Update the app.",
            )
        file = checked(_File, root, "the file", is_open=True)
        title = " ".join(file.title.split())[:_LONGEST_TITLE_CHARS].strip()
        messages = tuple(map(_message, file.messages))
    except WrongValueError as exc:
        raise _no_conversation(name, f"Something is wrong at {exc}.") from exc
    return ImportedConversation(title or "Imported chat", messages)


def message_from_json(fields: object) -> Message:
    """The inverse of `message_to_json`; ValueError for anything else. The message gets a new id."""
    return _message(checked(ExportedMessage, _cleaned(fields), "the message", is_open=True))


def _content(path: Path) -> bytes:
    with os_error_as("The chat could not be read.", path):
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise _no_conversation(path.name, "It is no file.")
        if status.st_size > LARGEST_BYTES:
            raise _no_conversation(path.name, "It is far too large.")
        with path.open("rb") as file:
            # The file may be growing.
            content = file.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise _no_conversation(path.name, "It is far too large.")
    return content


def _no_conversation(name: str, reason: str) -> AppError:
    return AppError(
        f"{name} is no chat that this app has exported.",
        f"{reason} Choose a file that was exported as JSON.",
    )


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _cleaned(value: Any) -> Any:  # noqa: ANN401  a value of JSON
    """The value with texts that the store takes."""
    if isinstance(value, str):
        return strip_invalid_characters(value)
    if isinstance(value, dict):
        return {name: _cleaned(each) for name, each in cast("dict[str, Any]", value).items()}
    return [*map(_cleaned, cast("list[Any]", value))] if isinstance(value, list) else value


def _message(found: ExportedMessage) -> Message:
    numbers = [source.n for source in found.sources]
    if len(set(numbers)) < len(numbers):
        raise WrongValueError("sources of one number")
    if any(each.n < 1 or each.start < 0 or each.end < 0 for each in found.sources + found.nearest):
        raise WrongValueError("the place of a source")
    fields: dict[str, Any] = {f.name: getattr(found, f.name) for f in dataclasses.fields(found)}
    fields["created_at"] = _moment(found.created_at)
    fields["seconds"] = max(0.0, found.seconds)
    # What waits for the person's word, and what rails did, is of the library that it came from.
    fields["notes"] = found.notes and replace(found.notes, rails=(), proposal="")
    fields["attachments"] = tuple(
        Attachment(uuid.uuid4().hex, each.name, each.kind, words=each.words, pages=each.pages)
        for each in found.attachments
    )
    return Message(message_id=uuid.uuid4().hex, conversation_id="", **fields)


def _moment(written: str) -> float:
    try:
        moment = datetime.fromisoformat(written).timestamp()
    except (ValueError, OverflowError, OSError):
        raise WrongValueError("created_at") from None
    if not 0 <= moment <= _LATEST_S:
        raise WrongValueError("created_at")
    return moment
