"""Cuts a parsed document into chunks that fit the embedder and know their place. Pure.

A chunk never crosses a heading, a page, a slide or a sheet, so its anchor is the place of all of
it. Inside such a section the text is cut at paragraphs; a paragraph too long for one chunk at
lines, then sentences, then words; the pieces are packed into chunks of about equal size.
"""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from desktop_rag.core.anchors import HEADING_SEPARATOR, Anchor
from desktop_rag.core.parsed import Chunk, Heading, Mark, ParsedDocument, embedded_text
from desktop_rag.core.text import sentences

CountTokens = Callable[[Sequence[str]], list[int]]
Span = tuple[int, int]

_SPECIAL_TOKENS = 2
_HEADING_SHARE = 0.25
_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_LINE = re.compile(r"\n")
_WORD_END = re.compile(r"\s+")
_UNDERLINE = re.compile(r"[ \t]*(=+|-+)[ \t]*(?:\n|$)")
_RANGE = re.compile(r"^([A-Z]+)(\d+)(?::([A-Z]+)(\d+))?$")
# Even one character can be several tokens; this many characters always fit.
_ATOM_CHARACTERS = 24


@dataclass(frozen=True, slots=True)
class _Section:
    start: int
    end: int
    path: tuple[str, ...]


def chunk_document(
    document: ParsedDocument, count_tokens: CountTokens, max_tokens: int
) -> list[Chunk]:
    """The chunks in reading order. `max_tokens` is the embedder's limit, special tokens included.

    `count_tokens` must be (nearly) additive over white space, as that of the embedder is.
    """
    chunks: list[Chunk] = []
    marks = _Marks(document.marks)
    for section in _sections(document, marks):
        prefix = _prefix(document.title, section.path, count_tokens, max_tokens)
        capacity = max_tokens - _SPECIAL_TOKENS
        if prefix:
            capacity -= count_tokens([prefix])[0]
        for start, end in _pack(document.text, section, count_tokens, capacity):
            text = document.text[start:end]
            anchor = marks.anchor(start, end, section.path)
            digest = content_hash(prefix, text)
            chunks.append(Chunk(len(chunks), start, end, text, anchor, prefix, digest))
    return chunks


def content_hash(heading: str, text: str) -> str:
    """128 bits of what is embedded, as 32 hexadecimal digits."""
    content = embedded_text(heading, text).encode("utf-8")
    return hashlib.blake2b(content, digest_size=16).hexdigest()


class _Marks:
    """The anchors of a document, by offset."""

    def __init__(self, marks: Sequence[Mark]) -> None:
        self._anchors = [mark.anchor for mark in marks]
        self._offsets = [mark.offset for mark in marks]

    def at(self, offset: int) -> Anchor:
        index = bisect_right(self._offsets, offset) - 1
        return self._anchors[index] if index >= 0 else Anchor()

    def borders(self) -> Iterator[int]:
        """Offsets at which another page, slide or sheet begins."""
        before = None
        for offset, anchor in zip(self._offsets, self._anchors, strict=True):
            here = (anchor.page, anchor.slide, anchor.sheet)
            if before is not None and here != before:
                yield offset
            before = here

    def anchor(self, start: int, end: int, path: tuple[str, ...]) -> Anchor:
        """The place of the text [start, end): cells are joined to a range, the heading added."""
        first, last = self.at(start), self.at(max(start, end - 1))
        if first.cells and last.cells and first.sheet == last.sheet:
            return replace(first, cells=join_cells(first.cells, last.cells))
        if path and first.page is None and first.slide is None and first.sheet is None:
            return replace(first, heading=HEADING_SEPARATOR.join(path))
        return first


def join_cells(first: str, last: str) -> str:
    """The smallest range that holds both: `A5:D5` and `A9:E9` → `A5:E9`."""
    one, two = _RANGE.match(first), _RANGE.match(last)
    if not one or not two:
        return first
    columns = [group for m in (one, two) for group in (m[1], m[3] or m[1])]
    rows = [int(group) for m in (one, two) for group in (m[2], m[4] or m[2])]
    # Columns compare by length first: Z comes before AA.
    ordered = sorted(columns, key=lambda column: (len(column), column))
    return f"{ordered[0]}{min(rows)}:{ordered[-1]}{max(rows)}"


def _sections(document: ParsedDocument, marks: _Marks) -> Iterator[_Section]:
    """The text between two headings or page borders, without the heading lines themselves."""
    text = document.text
    starts: dict[int, tuple[str, ...]] = {0: ()}
    path: list[Heading] = []
    bodies: dict[int, int] = {}
    for heading in document.headings:
        path = [h for h in path if h.level < heading.level] + [heading]
        starts[heading.offset] = tuple(h.title for h in path)
        bodies[heading.offset] = _end_of_heading(text, heading.offset)
    ordered = sorted(starts)
    for border in marks.borders():
        if border not in starts:
            starts[border] = starts[ordered[bisect_right(ordered, border) - 1]]
    offsets = [*sorted(starts), len(text)]
    for start, end in pairwise(offsets):
        body = min(bodies.get(start, start), end)
        if text[body:end].strip():
            yield _Section(body, end, starts[start])
        elif _is_leaf(starts, start, end) and text[start:end].strip():
            # A heading with nothing under it would otherwise be found by no one.
            yield _Section(start, end, starts[start][:-1])


def _is_leaf(starts: dict[int, tuple[str, ...]], start: int, end: int) -> bool:
    following = starts.get(end, ())
    return following[: len(starts[start])] != starts[start]


def _end_of_heading(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    if end < 0:
        return len(text)
    underline = _UNDERLINE.match(text, end + 1)
    return underline.end() if underline and underline[0].strip() else end + 1


def _prefix(title: str, path: tuple[str, ...], count_tokens: CountTokens, max_tokens: int) -> str:
    """Title and heading path, the outermost parts dropped until it takes a quarter at most."""
    parts = [title, *path] if title and (not path or path[0] != title) else list(path)
    parts = [" ".join(part.split()) for part in parts]
    limit = int(max_tokens * _HEADING_SHARE)
    while parts:
        prefix = HEADING_SEPARATOR.join(part for part in parts if part)
        if count_tokens([prefix])[0] <= limit:
            return prefix
        parts = parts[1:]
    return ""


def _pack(text: str, section: _Section, count_tokens: CountTokens, capacity: int) -> Iterator[Span]:
    """Spans of about equal token count, none above the capacity."""
    pieces = list(_pieces(text, (section.start, section.end), count_tokens, capacity, level=0))
    total = sum(tokens for _, tokens in pieces)
    target = total / max(1, -(-total // capacity))
    start: int | None = None
    end = packed = done = 0
    for (piece_start, piece_end), tokens in pieces:
        # Close the chunk where the running total comes nearest to its fair share.
        if start is not None and (packed + tokens > capacity or packed + tokens / 2 > target):
            yield start, end
            done += packed
            start, packed = None, 0
            left = total - done
            target = left / max(1, -(-left // capacity))
        if start is None:
            start = piece_start
        end = piece_end
        packed += tokens
    if start is not None:
        yield start, end


def _pieces(
    text: str, span: Span, count_tokens: CountTokens, capacity: int, level: int
) -> Iterator[tuple[Span, int]]:
    """Cut at the coarsest border that makes every piece fit: (span, tokens) in order."""
    spans = list(_BORDERS[level](text, span))
    counts = count_tokens([text[start:end] for start, end in spans])
    for piece, tokens in zip(spans, counts, strict=True):
        if tokens <= capacity:
            yield piece, tokens
        elif level + 1 < len(_BORDERS):
            yield from _pieces(text, piece, count_tokens, capacity, level + 1)
        else:
            yield piece, capacity


def _split_at(pattern: re.Pattern[str]) -> Callable[[str, Span], Iterator[Span]]:
    def split(text: str, span: Span) -> Iterator[Span]:
        start, end = span
        for match in pattern.finditer(text, start, end):
            yield from _stripped(text, start, match.start())
            start = match.end()
        yield from _stripped(text, start, end)

    return split


def _split_sentences(text: str, span: Span) -> Iterator[Span]:
    start, end = span
    for first, last in sentences(text[start:end]):
        yield start + first, start + last


def _split_atoms(text: str, span: Span) -> Iterator[Span]:
    for start in range(span[0], span[1], _ATOM_CHARACTERS):
        yield start, min(start + _ATOM_CHARACTERS, span[1])


def _stripped(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end


_BORDERS: list[Callable[[str, Span], Iterator[Span]]] = [
    _split_at(_PARAGRAPH),
    _split_at(_LINE),
    _split_sentences,
    _split_at(_WORD_END),
    _split_atoms,
]
