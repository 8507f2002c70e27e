"""What the parser process and its parent say to each other, and the limits both keep.

A request is one line of JSON. An answer is a series of frames: four bytes of length (big endian),
then a JSON object no longer than MAX_FRAME_BYTES, so that decoding one never holds the parent up.
Nothing but JSON is ever decoded. Pure; the parent decodes on the thread that asked.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from desktop_rag.core.domain import Anchor, Heading, Mark, ParsedDocument

MAX_FRAME_BYTES = 256 * 1024
LENGTH_BYTES = 4
MAX_MARKS = 500_000
MAX_HEADINGS = 200_000
# JSON takes six bytes for a control character at worst, so a piece always fits a frame.
_PIECE_CHARS = MAX_FRAME_BYTES // 6 - 100
_PACK_BYTES = MAX_FRAME_BYTES - 1024
# A document below both of these goes out in a single frame.
_SMALL_CHARS = _PIECE_CHARS // 2
_SMALL_ITEMS = 50


Reason = Literal[
    "unsupported",
    "encrypted",
    "empty",
    "damaged",
    "too large",
    "no text",
    "not a file",
    "no access",
    "missing",
    "crashed",
    "timeout",
]
"""Why a file has no text. The first six stay true until the file changes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one file may cost. The parent watches time, answer size and resident memory.

    `address_space_bytes` is enforced by the system, on Linux only, so that no allocation gets far
    enough to disturb anyone. It counts what is mapped, not what is used: 100-200 MB of libraries
    and reserved arenas come on top of `memory_bytes`, and room for what was freed in pieces.
    """

    file_bytes: int = 200 * 1024 * 1024
    text_chars: int = 64_000_000
    answer_bytes: int = 512 * 1024 * 1024
    memory_bytes: int = 1024 * 1024 * 1024
    address_space_bytes: int = 1536 * 1024 * 1024
    base_s: float = 60.0
    seconds_per_mb: float = 2.0
    start_s: float = 60.0

    def seconds_for(self, size_bytes: int) -> float:
        """Wall time for a file of this size."""
        return self.base_s + self.seconds_per_mb * min(size_bytes, self.file_bytes) / 1e6

    def to_json(self) -> dict[str, Any]:
        """All fields, as a request carries them."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Limits":
        """The inverse of `to_json`."""
        return cls(**fields)


class ProtocolError(Exception):
    """The other side said something that is not an answer."""


def encode_frame(message: Mapping[str, Any]) -> bytes:
    """One message with its length before it."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def encode_document(document: ParsedDocument) -> Iterator[bytes]:
    """The frames of a whole answer; a small document is one frame."""
    done: dict[str, Any] = {
        "done": {
            "format": document.format,
            "title": document.title,
            "warnings": list(document.warnings),
        }
    }
    items = len(document.marks) + len(document.headings)
    if len(document.text) < _SMALL_CHARS and items < _SMALL_ITEMS:
        yield encode_frame(
            {
                "text": document.text,
                "marks": list(_mark_items(document.marks)),
                "headings": [_heading_item(heading) for heading in document.headings],
                **done,
            }
        )
        return
    for start in range(0, len(document.text), _PIECE_CHARS):
        yield encode_frame({"text": document.text[start : start + _PIECE_CHARS]})
    for marks in _packed(_mark_items(document.marks)):
        yield encode_frame({"marks": marks})
    for headings in _packed(map(_heading_item, document.headings)):
        yield encode_frame({"headings": headings})
    yield encode_frame(done)


def _heading_item(heading: Heading) -> list[Any]:
    return [heading.offset, heading.level, heading.title]


def _mark_items(marks: Iterable[Mark]) -> Iterator[list[Any]]:
    """[offset, fields that differ from the mark before]: a hundred thousand rows stay small."""
    before: dict[str, Any] = {}
    for mark in marks:
        fields = mark.anchor.to_json()
        changes = {name: value for name, value in fields.items() if before.get(name) != value}
        changes.update((name, None) for name in before if name not in fields)
        yield [mark.offset, changes]
        before = fields


def _packed(items: Iterable[Any]) -> Iterator[list[Any]]:
    """Lists of items that each fit a frame."""
    pack: list[Any] = []
    size_bytes = 0
    for item in items:
        # Six bytes a character at worst, as for text.
        item_bytes = 6 * len(json.dumps(item, ensure_ascii=False)) + 1
        if pack and size_bytes + item_bytes > _PACK_BYTES:
            yield pack
            pack, size_bytes = [], 0
        pack.append(item)
        size_bytes += item_bytes
    if pack:
        yield pack


class Assembly:
    """Puts the frames of one answer together. Trusts nothing in them."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._pieces: list[str] = []
        self._marks: list[Mark] = []
        self._headings: list[Heading] = []
        self._fields: dict[str, Any] = {}
        self._chars = 0
        self._bytes = 0

    def add(self, body: bytes) -> dict[str, Any]:
        """Take in one frame; returns it so that the caller sees `started`, `done` or `error`.

        Raises ProtocolError for anything but a frame of the answer to this request.
        """
        self._bytes += len(body)
        if self._bytes > self._limits.answer_bytes:
            raise ProtocolError("the answer is too long")
        try:
            message = json.loads(body)
            if not isinstance(message, dict):
                raise ProtocolError("a frame is not an object")
            self._take(message)
        except (ValueError, TypeError, KeyError, RecursionError) as exc:
            raise ProtocolError(f"a frame makes no sense: {exc}") from exc
        return message

    def document(self, done: Mapping[str, Any]) -> ParsedDocument:
        """The finished document. Raises ProtocolError if `done` is not what it should be."""
        try:
            return ParsedDocument(
                format=clean_text(done["format"]),
                title=clean_text(done["title"]),
                text="".join(self._pieces),
                marks=tuple(self._marks),
                headings=tuple(self._headings),
                warnings=tuple(clean_text(warning) for warning in done["warnings"]),
            )
        except (TypeError, KeyError) as exc:
            raise ProtocolError(f"the end makes no sense: {exc}") from exc

    def _take(self, message: Mapping[str, Any]) -> None:
        if "text" in message:
            piece = clean_text(message["text"])
            self._chars += len(piece)
            if self._chars > self._limits.text_chars:
                raise ProtocolError("the text is too long")
            self._pieces.append(piece)
        for offset, changes in message.get("marks", ()):
            self._fields = self._fields | {name: _place(changes[name]) for name in changes}
            self._marks.append(Mark(int(offset), Anchor.from_json(self._fields)))
        for offset, level, title in message.get("headings", ()):
            self._headings.append(Heading(int(offset), int(level), clean_text(title)))
        if len(self._marks) > MAX_MARKS or len(self._headings) > MAX_HEADINGS:
            raise ProtocolError("there are too many marks or headings")


def clean_text(value: object) -> str:
    """A text as a database takes it; anything else is a TypeError."""
    if not isinstance(value, str):
        raise TypeError("not a text")
    if value.isascii() and "\0" not in value:
        return value
    # JSON can spell NULs and lone surrogates, which no database takes.
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _place(value: object) -> str | int | None:
    return value if value is None or isinstance(value, int) else clean_text(value)
