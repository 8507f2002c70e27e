"""The protocol between the parser process and its parent, and the limits both enforce.

A request is one line of JSON. An answer is a series of frames: four bytes of length (big endian),
then a JSON object of at most MAX_FRAME_BYTES, so that decoding one never blocks the parent for
long. Nothing but JSON is decoded. Pure; answers are assembled in `frame_assembly`.
"""

import base64
import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from typing import Any

from desktop_rag.core.crawling import PageLinks
from desktop_rag.core.parsed import Box, EncodingHints, Mark, PageView, PageWish, ParsedDocument
from desktop_rag.core.pictures import PictureText
from desktop_rag.core.records import decoded, encoded
from desktop_rag.ingest.read.foundation.source_file import MAX_BOXES

MAX_FRAME_BYTES = 256 * 1024
LENGTH_BYTES = 4
# Marks, headings and table headers of a document including its parts.
MAX_ITEMS = 1_000_000
MAX_PARTS = 1000
MAX_NAME_CHARS = 1000
# JSON takes up to six bytes per control character, so a piece always fits a frame.
_PIECE_CHARS = MAX_FRAME_BYTES // 6 - 100
_PACK_BYTES = MAX_FRAME_BYTES - 1024
# Base64 encodes three bytes as four characters.
_PNG_PIECE_BYTES = MAX_FRAME_BYTES // 4 * 3 - 3 * 1024
# A document below both limits is sent as a single frame.
_SMALL_CHARS = _PIECE_CHARS // 2
_SMALL_ITEMS = 50


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for reading one file. The parent enforces time, answer size and resident memory.

    `address_space_bytes` is enforced by the operating system, on Linux only, so that no allocation
    grows large enough to disturb other programs. It counts mapped rather than used memory:
    libraries and reserved arenas add 100-200 MB to `memory_bytes`, and fragmentation needs some
    room. `text_chars` covers a file with all its parts. Up to `ocr_pages` pages are read by OCR,
    each within `ocr_page_s`.
    """

    file_bytes: int = 200 * 1024 * 1024
    text_chars: int = 64_000_000
    answer_bytes: int = 512 * 1024 * 1024
    memory_bytes: int = 1024 * 1024 * 1024
    address_space_bytes: int = 1536 * 1024 * 1024
    base_s: float = 60.0
    seconds_per_mb: float = 2.0
    start_s: float = 60.0
    ocr_pages: int = 500
    ocr_page_s: float = 120.0
    ocr_threads: int = 2

    def seconds_for(self, size_bytes: int) -> float:
        """The wall time for a file of this size."""
        return self.base_s + self.seconds_per_mb * min(size_bytes, self.file_bytes) / 1e6


@dataclass(frozen=True, slots=True)
class PictureWish:
    """How the pictures of a file are read: those at `known` places have been read before.

    With `only_known` the others are counted and left for later. `learned` gets the text of each
    picture as soon as it is read; it may raise to end the reading.
    """

    known: Mapping[str, PictureText] = field(default_factory=dict[str, PictureText])
    only_known: bool = False
    learned: Callable[[str, PictureText], None] = lambda _place, _text: None


@dataclass(frozen=True, slots=True)
class Request:
    """A request of the parent: the text of a file, a view of one page, the colours of code, or the
    links of a page.

    With `is_safe` native code is avoided where there is a choice; `web_page` marks a page fetched
    by the app; with `ocr` pages without text are read from their images, as `pictures` says.
    `passwords` are tried on an encrypted file; with `only_opens` nothing of it is read. `hints`
    tell the encoding of a text; with `only_encoding` it is that which is asked for. A request
    without a path is a health probe.
    """

    path: Path | None
    limits: Limits
    is_safe: bool = False
    web_page: bool = False
    ocr: bool = False
    view: PageWish | None = None
    # Sent over the channel of requests only: never in an argument, the environment or a log.
    passwords: tuple[str, ...] = field(default=(), repr=False)
    only_opens: bool = False
    colours: bool = False
    links: bool = False
    hints: EncodingHints = field(default_factory=EncodingHints)
    only_encoding: bool = False
    pictures: PictureWish = field(default_factory=PictureWish)

    def to_line(self) -> bytes:
        """The request as it is sent, without the newline."""
        return json.dumps(encoded(self)).encode("ascii")

    @classmethod
    def from_line(cls, line: bytes) -> "Request":
        """The inverse of `to_line`. The parent is trusted."""
        return decoded(cls, json.loads(line))


class ProtocolError(Exception):
    """The other side sent something that is not a valid answer."""


def encode_frame(message: Mapping[str, Any]) -> bytes:
    """A message preceded by its length."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def encode_picture(place: str, text: PictureText) -> bytes:
    """The frame of a picture that was read."""
    # A page with more letters is none that a person could read.
    written = PictureText(text.text[: _PIECE_CHARS // 2], text.failure[:MAX_NAME_CHARS])
    return encode_frame({"page_read": [place[:MAX_NAME_CHARS], written.to_json()]})


def encode_document(document: ParsedDocument) -> Iterator[bytes]:
    """The frames of a complete answer; a small document is one frame.

    Parts come first: each starts with `part` and, if it has a document, ends with `part_done`.
    Nested parts are not sent.
    """
    for part in document.parts[:MAX_PARTS]:
        name = part.name[:MAX_NAME_CHARS] or "part"
        if part.document is None:
            refusal = part.refusal[:MAX_NAME_CHARS] or "No text found."
            yield encode_frame({"part": {"name": name, "refusal": refusal}})
        else:
            start = {"part": {"name": name, "refusal": ""}}
            yield from _encode_one(start, part.document, "part_done")
    yield from _encode_one({}, document, "done")


def _encode_one(start: dict[str, Any], document: ParsedDocument, end: str) -> Iterator[bytes]:
    done = {end: _end(document)}
    items = len(document.marks) + len(document.headings) + len(document.table_headers)
    if len(document.text) < _SMALL_CHARS and items < _SMALL_ITEMS:
        contents = list(_contents(document))
        merged = {name: value for content in contents for name, value in content.items()}
        frame = encode_frame({**start, **merged, **done})
        if len(merged) == len(contents) and len(frame) <= MAX_FRAME_BYTES:
            yield frame
            return
    if start:
        yield encode_frame(start)
    yield from map(encode_frame, _contents(document))
    yield encode_frame(done)


def encode_view(view: PageView) -> Iterator[bytes]:
    """The frames of a page view: the image in pieces, then its metadata."""
    for start in range(0, len(view.png), _PNG_PIECE_BYTES):
        piece = base64.b64encode(view.png[start : start + _PNG_PIECE_BYTES])
        yield encode_frame({"png": piece.decode("ascii")})
    for pack in _packed(map(list, view.sizes)):
        yield encode_frame({"sizes": pack})
    for pack in _packed(map(_sides, view.found)):
        yield encode_frame({"found": pack})
    for pack in _packed([word.text, _side(word.box), word.ends_line] for word in view.words):
        yield encode_frame({"words": pack})
    boxes = _sides(view.boxes[:MAX_BOXES])
    fields = {"page": view.page, "page_count": view.page_count, "boxes": boxes}
    yield encode_frame({"done": {**fields, "size_px": [view.width_px, view.height_px]}})


def encode_colours(text_digest: str, spans: Iterable[tuple[int, int, str]]) -> Iterator[bytes]:
    """The frames of a coloured text: [start, end, colour] of each span, then the text's digest."""
    for pack in _packed(map(list, spans)):
        yield encode_frame({"colours": pack})
    yield encode_frame({"done": {"text": text_digest}})


def encode_links(links: PageLinks) -> Iterator[bytes]:
    """The frames of the links of a page: their addresses, then the metadata of the page."""
    for pack in _packed(links.hrefs):
        yield encode_frame({"hrefs": pack})
    fields = {"base": links.base, "canonical": links.canonical, "robots": links.robots}
    yield encode_frame({"done": {**fields, "digest": links.digest}})


def _sides(boxes: Iterable[Box]) -> list[list[float]]:
    return [_side(box) for box in boxes]


def _side(box: Box) -> list[float]:
    return [box.left, box.top, box.right, box.bottom]


def _contents(document: ParsedDocument) -> Iterator[dict[str, Any]]:
    """Messages that each fit a frame; empty ones are left out."""
    for start in range(0, len(document.text), _PIECE_CHARS):
        yield {"text": document.text[start : start + _PIECE_CHARS]}
    for name, items in (
        ("marks", _mark_items(document.marks)),
        ("headings", ([h.offset, h.level, h.title] for h in document.headings)),
        ("table_headers", ([h.start, h.end, h.text] for h in document.table_headers)),
    ):
        for pack in _packed(items):
            yield {name: pack}


def _end(document: ParsedDocument) -> dict[str, Any]:
    return {
        "format": document.format,
        "title": document.title,
        "warnings": list(document.warnings),
        "language": document.language,
        "dated": document.dated,
        "tags": document.tags,
        "pictures_left": document.pictures_left,
    }


def _mark_items(marks: Iterable[Mark]) -> Iterator[list[Any]]:
    """[offset, fields that differ from the previous mark], which keeps many rows small."""
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
        # Up to six bytes per character, as for text.
        item_bytes = 6 * len(json.dumps(item, ensure_ascii=False)) + 1
        if pack and size_bytes + item_bytes > _PACK_BYTES:
            yield pack
            pack, size_bytes = [], 0
        pack.append(item)
        size_bytes += item_bytes
    if pack:
        yield pack


_READ_BYTES = 64 * 1024
_MAX_DESCRIPTORS = 4
CAN_PASS_FILES = sys.platform != "win32"


class RequestSender:
    """The parent's end of the channel that carries requests, each with the opened file to read.

    On Linux and macOS a socket pair, which passes a descriptor, so that the process needs no right
    to open documents. Elsewhere a pipe: the process opens the file by its path.
    """

    def __init__(self) -> None:
        self._ours: socket.socket | None = None
        self._theirs: socket.socket | None = None
        self._process: Popen[bytes] | None = None
        if CAN_PASS_FILES:
            self._ours, self._theirs = socket.socketpair()

    @property
    def stdin(self) -> int:
        """The standard input of the process to start."""
        return self._theirs.fileno() if self._theirs is not None else subprocess.PIPE

    def attach(self, process: "Popen[bytes]") -> None:
        """Send to this process, which was started with `stdin`."""
        self._process = process
        self._close_theirs()

    def send(self, line: bytes, descriptor: int | None) -> None:
        """Send one request and the file it is about. Raises OSError when the process has ended."""
        content = line + b"\n"
        if self._ours is None:
            assert self._process is not None
            assert self._process.stdin is not None
            self._process.stdin.write(content)
            return
        sent = 0
        if CAN_PASS_FILES and descriptor is not None:
            sent = socket.send_fds(self._ours, [content], [descriptor])
        # Usually nothing is left: the process may have ended by now, which its answer tells.
        if sent < len(content):
            self._ours.sendall(content[sent:])

    def close(self) -> None:
        """Close both ends. A process that is still running then ends."""
        self._close_theirs()
        if self._ours is not None:
            self._ours.close()
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    def _close_theirs(self) -> None:
        if self._theirs is not None:
            self._theirs.close()
            self._theirs = None


class RequestReceiver:
    """The end of the parser process: its standard input."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        if CAN_PASS_FILES and stat.S_ISSOCK(os.fstat(0).st_mode):
            self._socket = socket.socket(fileno=0)

    def receive(self) -> tuple[bytes, list[int]]:
        """The next bytes and the descriptors that came with them; no bytes at the end."""
        if CAN_PASS_FILES and self._socket is not None:
            received, descriptors, _, _ = socket.recv_fds(
                self._socket, _READ_BYTES, _MAX_DESCRIPTORS
            )
            return received, descriptors
        # Not through sys.stdin, because its lock would be held while the process ends.
        return os.read(0, _READ_BYTES), []
