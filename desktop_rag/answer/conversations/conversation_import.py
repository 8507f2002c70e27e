"""Imports a conversation from exported JSON. Worker threads.

The file may come from anybody. A file that we would not have written is refused as a whole, with
the place of the error; only text and numbers within limits are taken, and no path is ever opened.
"""

import json
import math
import stat
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

from desktop_rag.answer.conversations.conversation_export import FORMAT, VERSION
from desktop_rag.core.conversation import (
    Attachment,
    AttachmentKind,
    Feedback,
    FileCounts,
    Message,
    MessageState,
    Role,
    SearchNotes,
    SourceRef,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.query import strip_invalid_characters
from desktop_rag.core.question_scope import QuestionScope, ScopeItem, ScopeKind

LARGEST_BYTES = 32 * 1024 * 1024
_LONGEST_TITLE_CHARS = 300
_MOST_MESSAGES = 5_000
_MOST_ITEMS = 200
_MOST_NUMBER = 2**31 - 1
_LATEST_S = 4_102_444_800.0  # the year 2100
_Kind = TypeVar("_Kind", bound=StrEnum)
_Item = TypeVar("_Item")


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
        document = json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError) as exc:
        raise _no_conversation(name, "It is no JSON.") from exc
    try:
        root = _Fields(document, "the file")
        if root.text("format", 100) != FORMAT:
            raise _no_conversation(name, "It says nothing of a chat.")
        if (version := root.whole("version")) != VERSION:
            raise AppError(
                f"{name} was written by another version of this app.",
                f"Its format is version {version}, this app reads {VERSION}. Update the app.",
            )
        title = " ".join(root.text("title").split())[:_LONGEST_TITLE_CHARS].strip()
        messages = root.each("messages", _message, _MOST_MESSAGES)
    except _WrongError as exc:
        raise _no_conversation(name, f"Something is wrong at {exc}.") from exc
    return ImportedConversation(title or "Imported chat", messages)


def message_from_json(fields: object) -> Message:
    """The inverse of `message_to_json`; ValueError for anything else. The message gets a new id."""
    try:
        return _message(_Fields(fields, "the message"))
    except _WrongError as exc:
        raise ValueError(str(exc)) from exc


def _content(path: Path) -> bytes:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise _no_conversation(path.name, "It is no file.")
        if status.st_size > LARGEST_BYTES:
            raise _no_conversation(path.name, "It is far too large.")
        with path.open("rb") as file:
            # The file may be growing.
            content = file.read(LARGEST_BYTES + 1)
    except OSError as exc:
        raise AppError("The chat could not be read.", f"{path}: {exc.strerror}.") from exc
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


class _WrongError(Exception):
    """A value that an export does not write, with its place."""


class _Fields:
    """The fields of an object, each of a required type. A missing one is empty."""

    def __init__(self, value: object, place: str) -> None:
        if not isinstance(value, dict):
            raise _WrongError(place)
        self._values = cast("Mapping[str, Any]", value)
        self._place = place

    def text(self, name: str, most_chars: int = LARGEST_BYTES) -> str:
        value = self._values.get(name, "")
        if not isinstance(value, str) or len(value) > most_chars:
            raise self._wrong(name)
        return strip_invalid_characters(value)

    def whole(self, name: str, least: int = 0) -> int:
        value = self._values.get(name, 0)
        if type(value) is not int or not least <= value <= _MOST_NUMBER:
            raise self._wrong(name)
        return value

    def number(self, name: str) -> float:
        value = self._values.get(name, 0.0)
        # An integer may be too large for a float.
        if type(value) not in (int, float) or not -_MOST_NUMBER <= value <= _MOST_NUMBER:
            raise self._wrong(name)
        return float(value)

    def flag(self, name: str) -> bool:
        value = self._values.get(name, False)
        if not isinstance(value, bool):
            raise self._wrong(name)
        return value

    def moment(self, name: str) -> float:
        try:
            moment = datetime.fromisoformat(self.text(name, 64)).timestamp()
        except (ValueError, OverflowError, OSError):
            raise self._wrong(name) from None
        if not math.isfinite(moment) or not 0 <= moment <= _LATEST_S:
            raise self._wrong(name)
        return moment

    def kind(self, name: str, kind: type[_Kind], default: _Kind | None = None) -> _Kind:
        if default is not None and name not in self._values:
            return default
        try:
            return kind(self.text(name, 64))
        except ValueError:
            raise self._wrong(name) from None

    def each(
        self, name: str, read: Callable[["_Fields"], _Item], most: int = _MOST_ITEMS
    ) -> tuple[_Item, ...]:
        values = self._list(name, most)
        return tuple(read(_Fields(v, f"{name} {n}")) for n, v in enumerate(values, start=1))

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(_as_text(value, f"{name} {n}") for n, value in enumerate(self._list(name), 1))

    def pairs(self, name: str) -> tuple[tuple[str, str], ...]:
        pairs: list[tuple[str, str]] = []
        for value in self._list(name):
            match value:
                case [str(first), str(second)]:
                    pairs.append(
                        (strip_invalid_characters(first), strip_invalid_characters(second))
                    )
                case _:
                    raise self._wrong(name)
        return tuple(pairs)

    def part(self, name: str) -> "_Fields | None":
        value = self._values.get(name)
        return None if value is None else _Fields(value, f"{self._place}, {name}")

    def names(self) -> frozenset[str]:
        return frozenset(self._values)

    def _list(self, name: str, most: int = _MOST_ITEMS) -> list[Any]:
        value = self._values.get(name, [])
        if not isinstance(value, list) or len(cast("list[Any]", value)) > most:
            raise self._wrong(name)
        return cast("list[Any]", value)

    def _wrong(self, name: str) -> _WrongError:
        return _WrongError(f"{self._place}, {name}")


def _as_text(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise _WrongError(place)
    return strip_invalid_characters(value)


def _message(fields: _Fields) -> Message:
    sources = fields.each("sources", _source)
    if len({source.n for source in sources}) < len(sources):
        raise _WrongError("sources of one number")
    return Message(
        message_id=uuid.uuid4().hex,
        conversation_id="",
        role=fields.kind("role", Role),
        text=fields.text("text"),
        created_at=fields.moment("created_at"),
        state=fields.kind("state", MessageState, MessageState.DONE),
        model=fields.text("model", 1000),
        is_excerpts=fields.flag("is_excerpts"),
        is_own_knowledge=fields.flag("is_own_knowledge"),
        seconds=max(0.0, fields.number("seconds")),
        error_title=fields.text("error_title"),
        error_hint=fields.text("error_hint"),
        thinking=fields.text("thinking"),
        sources=sources,
        nearest=fields.each("nearest", _source),
        notes=_notes(fields.part("notes")),
        feedback=fields.kind("feedback", Feedback, Feedback.NONE),
        follow_ups=fields.texts("follow_ups"),
        attachments=fields.each("attachments", _attachment),
        scope=_scope(fields.part("scope")),
    )


def _scope(given: _Fields | None) -> QuestionScope:
    if given is None:
        return QuestionScope()
    items = given.each("items", _scope_item)
    return QuestionScope(items, is_without_documents=given.flag("is_without_documents"))


def _scope_item(fields: _Fields) -> ScopeItem:
    """An item of a question's scope, which this library need not have."""
    return ScopeItem(
        fields.kind("kind", ScopeKind),
        fields.text("key", 10_000),
        fields.text("name", 10_000),
        fields.text("path", 10_000),
    )


def _attachment(fields: _Fields) -> Attachment:
    """The name and size of an attachment; its content is not in the file."""
    return Attachment(
        uuid.uuid4().hex,
        fields.text("name", 1000),
        fields.kind("kind", AttachmentKind),
        words=fields.whole("words"),
        pages=fields.whole("pages"),
    )


def _source(fields: _Fields) -> SourceRef:
    return SourceRef(
        n=fields.whole("n", least=1),
        document_id=fields.text("document_id", 200),
        path=fields.text("path", 10_000),
        title=fields.text("title"),
        anchor=_anchor(fields.part("anchor")),
        text=fields.text("text"),
        score=fields.number("score"),
        quote=fields.text("quote"),
        start=fields.whole("start"),
        end=fields.whole("end"),
        is_cited=fields.flag("is_cited"),
        part=fields.text("part"),
        url=fields.text("url", 10_000),
        also_in=fields.texts("also_in"),
        query=fields.text("query"),
    )


_NUMBERED = frozenset({"page", "slide", "line"})


def _anchor(given: _Fields | None) -> Anchor:
    if given is None:
        return Anchor()
    known = {field.name for field in fields(Anchor)}
    return Anchor.from_json(
        {
            name: given.whole(name) if name in _NUMBERED else given.text(name)
            for name in given.names() & known
        }
    )


def _notes(given: _Fields | None) -> SearchNotes | None:
    if given is None:
        return None
    return SearchNotes(
        given.pairs("repaired"),
        given.text("filters"),
        given.whole("searched"),
        given.texts("hints"),
        given.text("asked"),
        _file_counts(given.part("files")),
        given.texts("scope"),
    )


def _file_counts(given: _Fields | None) -> FileCounts | None:
    if given is None:
        return None
    return FileCounts(given.whole("matched"), given.whole("read"), given.whole("total"))
