"""Cuts a parsed document into chunks that fit the embedder and know their place. Pure.

A chunk never crosses a page, a slide or a sheet, nor a heading unless the method looks at words
only, so its anchor is the place of all of it. Neighbours inside such a section share a sentence or
two. What an edit left alone keeps its borders.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from desktop_rag.core.anchors import HEADING_SEPARATOR
from desktop_rag.core.parsed import (
    Chunk,
    ChunkMethod,
    ChunkSettings,
    ParsedDocument,
    TableHeader,
    embedded_text,
)
from desktop_rag.core.places import Places
from desktop_rag.ingest.kept_spans import kept_spans
from desktop_rag.ingest.pieces import (
    BY_STRUCTURE,
    BY_WORDS,
    CountTokens,
    Piece,
    Span,
    Split,
    fill_characters,
    fill_evenly,
    fill_tightly,
    pieces,
    split_lines,
    split_sentences,
    split_words,
    stripped,
)
from desktop_rag.ingest.sections import Section, sections_by_heading, sections_by_place

_VERSION = 2
_SPECIAL_TOKENS = 2
# Of the embedder's room, the most that title and headings take, and the header of a table.
_CONTEXT_SHARE = 0.25
# A gap smaller than this share of a chunk is cut together with the chunk behind it.
_CRUMB_SHARE = 0.25
_CRUMB_CHARACTERS = 1000
# How much of a chunk's end is looked at for sentences to share.
_TAIL_CHARACTERS = 1200
Fill = Callable[[Sequence[Piece], int], Iterator[Span]]


@dataclass(frozen=True, slots=True)
class _Method:
    """How sections are found, cut and filled into chunks, and in which units neighbours overlap."""

    by_heading: bool
    borders: Sequence[Split]
    fill: Fill
    shared: Split | None


_METHODS: dict[ChunkMethod, _Method] = {
    "structure": _Method(True, BY_STRUCTURE, fill_evenly, split_sentences),
    "tokens": _Method(False, BY_WORDS, fill_tightly, split_words),
    "words": _Method(False, BY_WORDS, fill_characters, None),
}


@dataclass(frozen=True, slots=True)
class _Room:
    """What stands above the chunks of a section, and how many tokens it leaves them."""

    section: Section
    context: str
    header: TableHeader | None
    capacity: int


def chunk_document(
    document: ParsedDocument,
    settings: ChunkSettings,
    count_tokens: CountTokens,
    max_tokens: int,
    before: Sequence[Chunk] = (),
) -> list[Chunk]:
    """The chunks in reading order. `max_tokens` is the embedder's limit, special tokens included.

    `before` are the chunks the document had, cut by the same settings.
    """
    limit = min(settings.max_tokens or max_tokens, max_tokens)
    return _Cutting(document, settings, count_tokens, limit, before).chunks()


def chunking_signature(settings: ChunkSettings, max_tokens: int) -> str:
    """Tells one way of cutting from another; kept with each document."""
    limit = min(settings.max_tokens or max_tokens, max_tokens)
    return f"{settings.method} {limit} {settings.overlap_tokens} v{_VERSION}"


def content_hash(context: str, text: str) -> str:
    """128 bits of what is embedded, as 32 hexadecimal digits."""
    content = embedded_text(context, text).encode("utf-8")
    return hashlib.blake2b(content, digest_size=16).hexdigest()


class _Cutting:
    """One document on its way to chunks."""

    def __init__(
        self,
        document: ParsedDocument,
        settings: ChunkSettings,
        count_tokens: CountTokens,
        limit: int,
        before: Sequence[Chunk],
    ) -> None:
        self._document = document
        self._text = document.text
        self._method = _METHODS[settings.method]
        self._count = count_tokens
        self._limit = limit
        self._overlap = settings.overlap_tokens if self._method.shared else 0
        self._places = Places(document.marks, document.headings)
        self._kept = kept_spans(before, document.text) if before else []
        self._contexts: dict[tuple[str, ...], tuple[str, int]] = {}

    def chunks(self) -> list[Chunk]:
        """All chunks in reading order."""
        find = sections_by_heading if self._method.by_heading else sections_by_place
        rooms = [self._room(section) for section in find(self._document, self._places)]
        owned = [(room, list(self._spans(room))) for room in rooms]
        starts = self._starts(owned)
        chunks: list[Chunk] = []
        for room, spans in owned:
            for own, end in spans:
                chunks.append(self._chunk(len(chunks), room, starts.get(own, own), own, end))
        return chunks

    # --- what stands above ---------------------------------------------------------------------

    def _room(self, section: Section) -> _Room:
        context, tokens = self._context(section.path)
        capacity = self._limit - _SPECIAL_TOKENS - tokens
        header = next(
            (h for h in self._document.table_headers
             if h.start < section.end and section.start < h.end), None
        )  # fmt: skip
        if header is not None:
            text, header_tokens = self._fitting(header.text)
            header = TableHeader(header.start, header.end, text)
            capacity -= header_tokens
        return _Room(section, context, header, capacity)

    def _context(self, path: tuple[str, ...]) -> tuple[str, int]:
        """Title and heading path, the outermost parts dropped until they fit; and their tokens."""
        if path not in self._contexts:
            title = self._document.title
            parts = [title, *path] if title and (not path or path[0] != title) else list(path)
            parts = [" ".join(part.split()) for part in parts]
            self._contexts[path] = self._first_fitting(parts)
        return self._contexts[path]

    def _first_fitting(self, parts: list[str]) -> tuple[str, int]:
        while parts:
            context = HEADING_SEPARATOR.join(part for part in parts if part)
            [tokens] = self._count([context])
            if tokens <= int(self._limit * _CONTEXT_SHARE):
                return context, tokens
            parts = parts[1:]
        return "", 0

    def _fitting(self, text: str) -> tuple[str, int]:
        """As many words of a header row as may stand above a chunk, and their tokens."""
        most = int(self._limit * _CONTEXT_SHARE)
        cut = list(pieces(text, (0, len(text)), self._count, most, BY_WORDS))
        for start, end in fill_tightly(cut, most):
            [tokens] = self._count([text[start:end]])
            return text[start:end], tokens
        return "", 0

    # --- where the borders are -------------------------------------------------------------------

    def _spans(self, room: _Room) -> Iterator[Span]:
        """What each chunk of a section has for itself."""
        whole = next(stripped(self._text, room.section.start, room.section.end))
        if whole[1] - whole[0] <= room.capacity:
            # A token has a character at least.
            yield whole
            return
        # Room for what is shared, unless that would be most of it.
        capacity = room.capacity - self._overlap
        if capacity < room.capacity // 2:
            capacity = room.capacity
        if unchanged := self._unchanged(whole, capacity):
            yield from self._around(unchanged, whole, capacity)
            return
        cut = self._cut(whole, capacity)
        if sum(tokens for _, tokens in cut) <= room.capacity and self._overlap:
            yield whole
        else:
            yield from self._method.fill(cut, capacity)

    def _around(self, unchanged: Sequence[Span], whole: Span, capacity: int) -> Iterator[Span]:
        """The spans that stay, and between them what is cut anew."""
        at = whole[0]
        for start, end in [*unchanged, (whole[1], whole[1])]:
            for gap in stripped(self._text, at, start):
                yield from self._method.fill(self._cut(gap, capacity), capacity)
            if start < end:
                yield start, end
            at = end

    def _cut(self, span: Span, capacity: int) -> list[Piece]:
        return list(pieces(self._text, span, self._count, capacity, self._method.borders))

    def _unchanged(self, whole: Span, capacity: int) -> list[Span]:
        """The kept spans of a section that still fit, without those beside a crumb of a gap."""
        first = bisect_left(self._kept, (whole[0], 0))
        inside: list[Span] = []
        for start, end in self._kept[first:]:
            if end > whole[1]:
                break
            inside.append((start, end))
        counts = self._count([self._text[start:end] for start, end in inside])
        kept: list[Span] = []
        at = whole[0]
        for (start, end), tokens in zip(inside, counts, strict=True):
            if tokens <= capacity and not self._is_crumb((at, start), capacity):
                kept.append((start, end))
                at = end
        if kept and self._is_crumb((at, whole[1]), capacity):
            kept.pop()
        return kept

    def _is_crumb(self, span: Span, capacity: int) -> bool:
        """Whether there is text in the span, but too little for a chunk."""
        for start, end in stripped(self._text, *span):
            if end - start > _CRUMB_CHARACTERS:
                return False
            return self._count([self._text[start:end]])[0] < _CRUMB_SHARE * capacity
        return False

    # --- what neighbours share -------------------------------------------------------------------

    def _starts(self, owned: Sequence[tuple[_Room, list[Span]]]) -> dict[int, int]:
        """Where chunks begin that share the end of the one before, by where their own begins."""
        shared = self._method.shared
        if not self._overlap or shared is None:
            return {}
        tails: list[tuple[int, list[Span]]] = []
        for _, spans in owned:
            for (start, end), (own, _) in pairwise(spans):
                low = max(start, end - _TAIL_CHARACTERS)
                units = [u for line in split_lines(self._text, (low, end))
                         for u in shared(self._text, line)]  # fmt: skip
                # Not from its very beginning: then the chunk would hold all of the one before.
                tails.append((own, [u for u in units if u[0] > low]))
        counts = iter(self._count([self._text[a:b] for _, units in tails for a, b in units]))
        starts: dict[int, int] = {}
        for own, units in tails:
            costs = [next(counts) for _ in units]
            room = self._overlap
            for (unit_start, _), cost in zip(reversed(units), reversed(costs), strict=True):
                room -= cost
                if room < 0:
                    break
                starts[own] = unit_start
        return starts

    def _chunk(self, position: int, room: _Room, start: int, own: int, end: int) -> Chunk:
        text = self._text[start:end]
        anchor = self._places.anchor(start, end)
        path = room.section.path
        if self._method.by_heading and anchor.heading:
            anchor = replace(anchor, heading=HEADING_SEPARATOR.join(path) or None)
        context = self._with_header(room, own, text)
        return Chunk(position, start, end, text, anchor, context, content_hash(context, text))

    def _with_header(self, room: _Room, own: int, text: str) -> str:
        """The context, with the header row if the chunk is of the table's rows without it."""
        header = room.header
        if header is None or not header.start <= own < header.end:
            return room.context
        if " ".join(text.split())[: len(header.text)] == header.text:
            return room.context
        return f"{room.context}\n{header.text}" if room.context else header.text
