"""Assembles the frames of the parser process and validates all that they hold.

Pure; runs in the parent, on the thread that asked.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, get_args

from desktop_rag.core.crawling import MOST_LINK_CHARS, MOST_LINKS, PageLinks
from desktop_rag.core.domain import LONGEST_TAG, MOST_TAGS
from desktop_rag.core.parsed import (
    Anchor,
    Box,
    CodeColour,
    ColourSpan,
    Heading,
    Mark,
    PageView,
    PageWord,
    ParsedDocument,
    ParsedPart,
    TableHeader,
)
from desktop_rag.ingest.parsing.protocol import (
    MAX_ITEMS,
    MAX_NAME_CHARS,
    MAX_PARTS,
    Limits,
    ProtocolError,
)
from desktop_rag.ingest.read.foundation.source_file import (
    MAX_BOXES,
    MAX_COLOUR_SPANS,
    MAX_PAGE_POINTS,
    MAX_PAGE_SIZES,
    MAX_PAGE_WORDS,
    MAX_VIEW_HEIGHT_PX,
    MAX_VIEW_PX,
    MAX_WORD_CHARS,
)

_MAX_NUMBER = 2**31 - 1
_MAX_PNG_BYTES = 48 * 1024 * 1024
_PNG_START = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
_LANGUAGE = re.compile(r"(?:[a-z]{2})?")
_NUMBER_FIELDS = {"page", "slide", "line", "second"}
_FLAG_FIELD = "by_app"


class Assembly:
    """Assembles the frames of one answer.

    The limits apply to the whole answer: a document with all its parts, or a view.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._document = _Content()
        self._parts: list[ParsedPart] = []
        self._part_name = ""
        self._part: _Content | None = None
        self._png: list[bytes] = []
        self._png_bytes = 0
        self._sizes: list[tuple[float, float]] = []
        self._found: list[tuple[Box, ...]] = []
        self._found_boxes = 0
        self._words: list[PageWord] = []
        self._colours: list[ColourSpan] = []
        self._hrefs: list[str] = []
        self._bytes = 0
        self._chars = 0
        self._items = 0

    def add(self, body: bytes) -> dict[str, Any]:
        """Add one frame and return it, so that the caller sees `started`, `done` or `error`.

        Raises ProtocolError for anything but a frame of this answer.
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
        """The finished document. Raises ProtocolError when `done` is invalid."""
        if self._part is not None:
            raise ProtocolError("a part has no end")
        try:
            return self._document.finish(done, tuple(self._parts))
        except (TypeError, ValueError, KeyError) as exc:
            raise ProtocolError(f"the end makes no sense: {exc}") from exc

    def view(self, fields: Mapping[str, Any]) -> PageView:
        """The finished view. Raises ProtocolError when it is invalid."""
        try:
            width_px, height_px = fields["size_px"]
            _check(0 < _number(width_px) <= MAX_VIEW_PX, "its width")
            _check(0 < _number(height_px) <= MAX_VIEW_HEIGHT_PX, "its height")
            png = b"".join(self._png)
            stated = width_px.to_bytes(4, "big") + height_px.to_bytes(4, "big")
            _check(png.startswith(_PNG_START + stated), "the picture")
            page, page_count = _number(fields["page"]), _number(fields["page_count"])
            _check(0 < page <= page_count, "the page")
            _check(len(self._sizes) <= page_count, "the number of sizes")
            return PageView(
                page, page_count, png, width_px, height_px, _boxes(fields["boxes"]),
                tuple(self._found), tuple(self._sizes), tuple(self._words),
            )  # fmt: skip
        except (TypeError, ValueError, KeyError) as exc:
            raise ProtocolError(f"the view makes no sense: {exc}") from exc

    def colours(self, fields: Mapping[str, Any]) -> tuple[str, tuple[ColourSpan, ...]]:
        """The digest of a text and its colours. Raises ProtocolError when they are invalid."""
        try:
            return clean_text(fields["text"]), tuple(self._colours)
        except (TypeError, KeyError) as exc:
            raise ProtocolError(f"the colours make no sense: {exc}") from exc

    def page_links(self, fields: Mapping[str, Any]) -> PageLinks:
        """The links of a page. Raises ProtocolError when they are invalid."""
        try:
            named = [clean_text(fields[n]) for n in ("base", "canonical", "robots", "digest")]
            _check(all(len(text) <= MOST_LINK_CHARS for text in named), "the length of an address")
            return PageLinks(tuple(self._hrefs), *named)
        except (TypeError, ValueError, KeyError) as exc:
            raise ProtocolError(f"the links make no sense: {exc}") from exc

    def _take(self, message: Mapping[str, Any]) -> None:
        if "part" in message:
            self._begin_part(message["part"])
        self._count(message)
        (self._document if self._part is None else self._part).take(message)
        if "png" in message:
            self._take_picture(message["png"])
        self._take_places(message)
        self._hrefs += map(clean_text, message.get("hrefs", ()))
        _check(len(self._hrefs) <= MOST_LINKS, "the number of links")
        if "part_done" in message:
            if self._part is None:
                raise ProtocolError("a part ends that has not begun")
            document = self._part.finish(message["part_done"], ())
            self._parts.append(ParsedPart(self._part_name, document))
            self._part = None

    def _begin_part(self, start: Mapping[str, Any]) -> None:
        if self._part is not None or len(self._parts) >= MAX_PARTS:
            raise ProtocolError("there are parts inside parts, or too many")
        name, refusal = clean_text(start["name"]), clean_text(start["refusal"])
        _check(0 < len(name) <= MAX_NAME_CHARS, "the name of a part")
        if refusal:
            self._parts.append(ParsedPart(name, refusal=refusal[:MAX_NAME_CHARS]))
        else:
            self._part_name, self._part = name, _Content()

    def _count(self, message: Mapping[str, Any]) -> None:
        self._chars += len(message.get("text", ""))
        if self._chars > self._limits.text_chars:
            raise ProtocolError("the text is too long")
        self._items += len(message.get("marks", ())) + len(message.get("headings", ()))
        self._items += len(message.get("table_headers", ()))
        if self._items > MAX_ITEMS:
            raise ProtocolError("there are too many marks or headings")

    def _take_places(self, message: Mapping[str, Any]) -> None:
        for width, height in message.get("sizes", ()):
            self._sizes.append((_size(width), _size(height)))
        _check(len(self._sizes) <= MAX_PAGE_SIZES, "the number of sizes")
        for boxes in message.get("found", ()):
            self._found.append(_boxes(boxes))
            self._found_boxes += len(boxes) + 1
        _check(self._found_boxes <= 2 * MAX_BOXES, "the number of hits")
        self._words += map(_word, message.get("words", ()))
        _check(len(self._words) <= MAX_PAGE_WORDS, "the number of words")
        for start, end, colour in message.get("colours", ()):
            _check_rise(self._colours[-1][1] if self._colours else 0, start)
            _check_rise(start, end)
            _check(colour in get_args(CodeColour), "a colour")
            self._colours.append((start, end, colour))
        _check(len(self._colours) <= MAX_COLOUR_SPANS, "the number of colours")

    def _take_picture(self, piece: str) -> None:
        content = base64.b64decode(piece, validate=True)
        self._png_bytes += len(content)
        if self._png_bytes > _MAX_PNG_BYTES:
            raise ProtocolError("the picture is too large")
        self._png.append(content)


class _Content:
    """The text and locations of one document as they arrive.

    The length of the text is known only at the end, so offsets are checked to increase on arrival
    and compared with the text in `finish`.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._marks: list[Mark] = []
        self._headings: list[Heading] = []
        self._table_headers: list[TableHeader] = []
        self._fields: dict[str, Any] = {}

    def take(self, message: Mapping[str, Any]) -> None:
        """Add the contents of a message; TypeError, KeyError or ValueError if it is invalid."""
        if "text" in message:
            self._pieces.append(clean_text(message["text"]))
        for offset, changes in message.get("marks", ()):
            places = {name: _place(name, changes[name]) for name in changes}
            self._fields = self._fields | places
            _check_rise(self._marks[-1].offset if self._marks else 0, offset)
            self._marks.append(Mark(offset, Anchor.from_json(self._fields)))
        for offset, level, title in message.get("headings", ()):
            _check_rise(self._headings[-1].offset if self._headings else 0, offset)
            self._headings.append(Heading(offset, _number(level), clean_text(title)))
        for start, end, text in message.get("table_headers", ()):
            _check_rise(self._table_headers[-1].start if self._table_headers else 0, start)
            _check_rise(start, end)
            self._table_headers.append(TableHeader(start, end, clean_text(text)))

    def finish(self, done: Mapping[str, Any], parts: tuple[ParsedPart, ...]) -> ParsedDocument:
        """The document. Raises TypeError, KeyError or ValueError when `done` is invalid."""
        text = "".join(self._pieces)
        last = max(
            self._marks[-1].offset if self._marks else 0,
            self._headings[-1].offset if self._headings else 0,
            max((header.end for header in self._table_headers), default=0),
        )
        _check(last <= len(text), "a place behind the end of the text")
        language = clean_text(done["language"]) if "language" in done else ""
        _check(_LANGUAGE.fullmatch(language) is not None, "the language")
        return ParsedDocument(
            format=clean_text(done["format"]),
            title=clean_text(done["title"]),
            text=text,
            marks=tuple(self._marks),
            headings=tuple(self._headings),
            table_headers=tuple(self._table_headers),
            warnings=tuple(clean_text(warning) for warning in done["warnings"]),
            language=language,
            parts=parts,
            dated=_day(done.get("dated", "")),
            tags=_tags(done.get("tags", ())),
            pictures_left=_number(done.get("pictures_left", 0)),
        )


def _day(written: object) -> str:
    day = clean_text(written)
    # Of the several ISO forms one, as dates are compared as texts.
    _check(not day or date.fromisoformat(day).isoformat() == day, "the date")
    return day


def _tags(written: Sequence[object]) -> tuple[str, ...]:
    tags = tuple(map(clean_text, written))
    _check(len(tags) <= MOST_TAGS, "the number of tags")
    _check(all(0 < len(t) <= LONGEST_TAG and "\n" not in t for t in tags), "a tag")
    return tags


def clean_text(value: object) -> str:
    """A string that databases accept; any other value raises TypeError."""
    if not isinstance(value, str):
        raise TypeError("not a text")
    if value.isascii() and "\0" not in value:
        return value
    # JSON can encode NULs and lone surrogates, which databases reject.
    return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _place(name: str, value: object) -> str | int | bool | None:
    if value is None or (name == _FLAG_FIELD and value is True):
        return value
    return _number(value) if name in _NUMBER_FIELDS else clean_text(value)


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MAX_NUMBER:
        raise TypeError("not a number that counts")
    return value


def _fraction(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1:
        raise TypeError("not a fraction")
    return float(value)


def _size(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError("not a size")
    _check(1 <= value <= MAX_PAGE_POINTS, "a size")
    return float(value)


def _boxes(written: Sequence[Sequence[object]]) -> tuple[Box, ...]:
    _check(len(written) <= MAX_BOXES, "the number of boxes")
    return tuple(Box(*(_fraction(side) for side in box)) for box in written)


def _word(written: Sequence[Any]) -> PageWord:
    text, box, ends_line = written
    word = clean_text(text)
    _check(0 < len(word) <= MAX_WORD_CHARS and isinstance(ends_line, bool), "a word")
    [place] = _boxes([box])
    return PageWord(word, place, ends_line)


def _check_rise(before: int, offset: object) -> None:
    _check(before <= _number(offset), "an offset before the one before it")


def _check(is_right: bool, what: str) -> None:
    if not is_right:
        raise ValueError(f"{what} is wrong")
