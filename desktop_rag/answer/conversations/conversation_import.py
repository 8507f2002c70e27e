"""Imports a conversation from exported JSON. Worker threads.

The file may come from anybody. A file that we would not have written is refused as a whole, with
the place of the error; only text and numbers within limits are taken, and no path is ever opened.
"""

import dataclasses
import json
import stat
import uuid
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

from desktop_rag.answer.conversations.conversation_export import FORMAT, VERSION, ExportedMessage
from desktop_rag.core.conversation import Attachment, Message
from desktop_rag.core.errors import AppError
from desktop_rag.core.query import strip_invalid_characters
from desktop_rag.core.records import Within, WrongValueError, checked

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
