"""Chunks parsed documents for one embedder and counts their terms.

A chunk never crosses a page, slide or sheet, nor a heading unless the method ignores headings, so
its anchor is valid for all of it. Within such a section a chunk begins with the last sentences of
the previous one. Text that an edit left unchanged keeps its boundaries.

Pure except for counting tokens; the indexer's thread and the rechunker's use one instance each.
"""

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import overload

from desktop_rag.core.parsed import (
    HEADING_SEPARATOR,
    Chunk,
    ChunkMethod,
    ChunkSettings,
    ParsedDocument,
    TableHeader,
    embedded_text,
)
from desktop_rag.core.places import Places
from desktop_rag.core.terms import TERMS_VERSION, term_counts
from desktop_rag.ingest.chunking.text_splitting import (
    BY_STRUCTURE,
    BY_WORDS,
    CountTokens,
    Fill,
    Piece,
    Span,
    Split,
    count_spans,
    fill_characters,
    fill_evenly,
    fill_tightly,
    split_few_words,
    split_lines,
    split_sentences,
    split_to_fit,
    stripped,
)

_WORD = re.compile(r"\w+")
# Moved text is found by its beginning; shorter texts only next to their neighbours.
_KEY_CHARACTERS = 32
# A beginning with more occurrences than this identifies nothing and is ignored.
_MAX_PLACES = 8


@dataclass(frozen=True, slots=True)
class _OwnText:
    """The own text of a previous chunk, without its overlap."""

    start: int
    text: str


def stable_spans(before: Sequence[Chunk], text: str) -> list[Span]:
    """Spans of the text that were a chunk's own text before, sorted and without overlaps.

    They keep their boundaries: filling the chunks of an edited section evenly would move all.
    """
    own = list(_own_texts(before))
    if not own:
        return []
    found: dict[int, int] = {}
    _extend(found, own, text, range(len(own)), 0)
    # If everything after the edit is unchanged, the end of the text shows how far it moved.
    moved_by = len(text.rstrip()) - own[-1].start - len(own[-1].text)
    _extend(found, own, text, range(len(own) - 1, -1, -1), moved_by)
    for index, place in list(_anchors(found, own, text)):
        found[index] = place
        _extend(found, own, text, range(index + 1, len(own)), place - own[index].start)
        _extend(found, own, text, range(index - 1, -1, -1), place - own[index].start)
    return list(_in_order(found, own, text))


def _own_texts(before: Sequence[Chunk]) -> Iterator[_OwnText]:
    end = 0
    for chunk in before:
        for start, _ in stripped(chunk.text, (max(0, end - chunk.start), len(chunk.text))):
            yield _OwnText(chunk.start + start, chunk.text[start:])
        end = max(end, chunk.end)


def _extend(
    found: dict[int, int], own: Sequence[_OwnText], text: str, indices: Iterable[int], moved_by: int
) -> None:
    """Match chunk after chunk while each occurs at its expected position."""
    for index in indices:
        place = own[index].start + moved_by
        if index in found or place < 0 or not text.startswith(own[index].text, place):
            return
        found[index] = place


def _anchors(
    found: dict[int, int], own: Sequence[_OwnText], text: str
) -> Iterator[tuple[int, int]]:
    """Lost chunks that occur exactly once in the text, with their positions.

    Of these, the longest sequence in the original order, as in a patience diff.
    """
    lost = [index for index in range(len(own)) if index not in found]
    if not lost:
        return
    low = max((found[i] + len(own[i].text) for i in found if i < lost[0]), default=0)
    high = min((found[i] for i in found if i > lost[-1]), default=len(text))
    copies = Counter(own[index].text for index in lost)
    starts = _places_by_key({_key(own[i].text)[1] for i in lost} - {""}, text, (low, high))
    pairs: list[tuple[int, int]] = []
    for index in lost:
        skipped, key = _key(own[index].text)
        candidates = (place - skipped for place in starts.get(key, ()))
        places = [p for p in candidates if p >= 0 and text.startswith(own[index].text, p)]
        if len(places) == 1 and copies[own[index].text] == 1:
            pairs.append((index, places[0]))
    yield from _longest_rising(pairs)


def _key(text: str) -> tuple[int, str]:
    """The beginning of a text from its first word, and the offset of that word."""
    match = _WORD.search(text)
    start = match.start() if match else 0
    key = text[start : start + _KEY_CHARACTERS]
    return start, key if match and len(key) == _KEY_CHARACTERS else ""


def _places_by_key(keys: set[str], text: str, span: Span) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for match in _WORD.finditer(text, *span):
        start = match.start()
        key = text[start : start + _KEY_CHARACTERS]
        if key in keys and len(places.setdefault(key, [])) <= _MAX_PLACES:
            places[key].append(start)
    return {key: starts for key, starts in places.items() if len(starts) <= _MAX_PLACES}


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence of pairs with increasing second numbers."""
    tails: list[int] = []
    tail_indices: list[int] = []
    previous: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(tails, place)
        previous.append(tail_indices[length - 1] if length else -1)
        tails[length : length + 1] = [place]
        tail_indices[length : length + 1] = [index]
    run: list[tuple[int, int]] = []
    index = tail_indices[-1] if tail_indices else -1
    while index >= 0:
        run.append(pairs[index])
        index = previous[index]
    return run[::-1]


def _in_order(found: dict[int, int], own: Sequence[_OwnText], text: str) -> Iterator[Span]:
    cursor = 0
    for index in sorted(found):
        start, end = found[index], found[index] + len(own[index].text)
        if start >= cursor and not (_cuts_word(text, start) or _cuts_word(text, end)):
            yield start, end
            cursor = end


def _cuts_word(text: str, offset: int) -> bool:
    return 0 < offset < len(text) and text[offset - 1].isalnum() and text[offset].isalnum()


_UNDERLINE = re.compile(r"[ \t]*(=+|-+)[ \t]*(?:\n|$)")


@dataclass(frozen=True, slots=True)
class Section:
    """The text [start, end) under the headings of `path`."""

    start: int
    end: int
    path: tuple[str, ...] = ()


def sections_by_heading(document: ParsedDocument, places: Places) -> Iterator[Section]:
    """The sections between headings and page boundaries, without the heading lines."""
    text = document.text
    starts: dict[int, tuple[str, ...]] = {0: ()}
    bodies: dict[int, int] = {}
    for heading in document.headings:
        starts[heading.offset] = places.path(heading.offset)
        bodies[heading.offset] = _end_of_heading(text, heading.offset)
    ordered = sorted(starts)
    for boundary in places.boundaries():
        if boundary not in starts:
            starts[boundary] = starts[ordered[bisect_right(ordered, boundary) - 1]]
    for start, end in pairwise([*sorted(starts), len(text)]):
        body = min(bodies.get(start, start), end)
        if _has_text(text, body, end):
            yield Section(body, end, starts[start])
        elif _is_leaf(starts, start, end) and _has_text(text, start, end):
            # A heading without text below it would otherwise not be searchable.
            yield Section(start, end, starts[start][:-1])


def sections_by_place(document: ParsedDocument, places: Places) -> Iterator[Section]:
    """The sections between page boundaries, headings included."""
    boundaries = sorted({0, *places.boundaries()})
    for start, end in pairwise([*boundaries, len(document.text)]):
        if _has_text(document.text, start, end):
            yield Section(start, end)


def _has_text(text: str, start: int, end: int) -> bool:
    return bool(text[start:end].strip())


def _is_leaf(starts: dict[int, tuple[str, ...]], start: int, end: int) -> bool:
    following = starts.get(end, ())
    return following[: len(starts[start])] != starts[start]


def _end_of_heading(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    if end < 0:
        return len(text)
    underline = _UNDERLINE.match(text, end + 1)
    return underline.end() if underline and underline[0].strip() else end + 1


# A gap that fills less than this share of a chunk is merged with a neighbour.
_MIN_GAP_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class SectionPart:
    """A part of a section: a stable span that stays a chunk's own text, or a gap to be chunked."""

    span: Span
    tokens: int
    is_stable: bool


def merge_small_gaps(parts: Sequence[SectionPart], capacity: int) -> list[SectionPart]:
    """The parts, with each small gap joined to its smaller neighbour, to avoid tiny chunks.

    A stable span that exceeds the capacity becomes a gap; adjacent gaps become one.
    """
    joined: list[SectionPart] = []
    drops_next = False
    for index, part in enumerate(parts):
        is_dropped = drops_next or part.tokens > capacity
        drops_next = False
        if part.is_stable and not is_dropped:
            joined.append(part)
            continue
        _append_gap(joined, part)
        if joined[-1].tokens < _MIN_GAP_SHARE * capacity:
            following = parts[index + 1] if index + 1 < len(parts) else None
            drops_next = _join_with_neighbour(joined, following)
    return joined


def _append_gap(joined: list[SectionPart], part: SectionPart) -> None:
    if joined and not joined[-1].is_stable:
        part = _union(joined.pop(), part)
    joined.append(SectionPart(part.span, part.tokens, is_stable=False))


def _join_with_neighbour(joined: list[SectionPart], following: SectionPart | None) -> bool:
    """Join the last gap with the part before it; True to join it with the next part instead."""
    before = joined[-2] if len(joined) > 1 else None
    if before is None or (following is not None and following.tokens < before.tokens):
        return following is not None
    gap = joined.pop()
    joined.pop()
    _append_gap(joined, _union(before, gap))
    return False


def _union(first: SectionPart, second: SectionPart) -> SectionPart:
    span = first.span[0], second.span[1]
    return SectionPart(span, first.tokens + second.tokens, is_stable=False)


# A token has about four characters; text further back than this cannot fit.
_TOKEN_CHARACTERS = 6
BY_SENTENCES: Sequence[Split] = (split_sentences, split_lines)
BY_FEW_WORDS: Sequence[Split] = (split_few_words,)


@dataclass(frozen=True, slots=True)
class ChunkBoundary:
    """The boundary between two chunks: the starts of their own texts, and `room` in tokens."""

    before: int
    start: int
    room: int


def shared_starts(
    text: str,
    boundaries: Sequence[ChunkBoundary],
    count_tokens: CountTokens,
    units: Sequence[Split],
) -> dict[int, int]:
    """The start of each chunk that shares text with the previous one, by its own start.

    Only whole units are shared; the next kind of unit is tried where none of the first fits. This
    depends only on the text before a chunk, so an edit elsewhere does not change it.
    """
    starts: dict[int, int] = {}
    for split in units:
        open_boundaries = [b for b in boundaries if b.room > 0 and b.start not in starts]
        tails = [_tail(text, boundary, split) for boundary in open_boundaries]
        counts = iter(count_spans(text, [unit for tail in tails for unit in tail], count_tokens))
        for boundary, tail in zip(open_boundaries, tails, strict=True):
            costs = [next(counts) for _ in tail]
            start = _start(tail, costs, boundary)
            if start < boundary.start:
                starts[boundary.start] = start
    return starts


def _tail(text: str, boundary: ChunkBoundary, split: Split) -> list[Span]:
    """The units before a boundary, without a cut one, and never the whole previous chunk."""
    low = max(boundary.before, boundary.start - _TOKEN_CHARACTERS * boundary.room)
    return [unit for unit in split(text, (low, boundary.start)) if unit[0] > low]


def _start(tail: Sequence[Span], costs: Sequence[int], boundary: ChunkBoundary) -> int:
    start, room = boundary.start, boundary.room
    for (unit_start, _), cost in zip(reversed(tail), reversed(costs), strict=True):
        room -= cost
        if room < 0:
            break
        start = unit_start
    return start


# The largest share of the embedder's window for title and headings, and for a table header.
_SHARE = 0.25
_SPECIAL_TOKENS = 2


class ChunkContexts:
    """The contexts before chunks (title, headings, header row), and the tokens left for text."""

    def __init__(
        self,
        document: ParsedDocument,
        paths: Iterable[tuple[str, ...]],
        count_tokens: CountTokens,
        max_tokens: int,
    ) -> None:
        """`paths` are the heading paths of the sections."""
        self._max_tokens = max_tokens
        self._most = int(max_tokens * _SHARE)
        self._count = count_tokens
        self._above = self._fitting_paths(document.title, paths)
        self._tables = document.table_headers
        self._table_starts = [table.start for table in document.table_headers]
        self._headers = self._fitting_headers({table.text for table in document.table_headers})

    def capacity(self, path: tuple[str, ...], span: Span) -> int:
        """The token capacity for the text of a chunk in this section."""
        first = max(0, bisect_right(self._table_starts, span[0]) - 1)
        last = bisect_right(self._table_starts, span[1] - 1)
        tables = [table for table in self._tables[first:last] if table.end > span[0]]
        header = max((self._headers[table.text][1] for table in tables), default=0)
        return max(1, self._max_tokens - _SPECIAL_TOKENS - self._above[path][1] - header)

    def context(self, path: tuple[str, ...], offset: int, text: str) -> str:
        """The context of a chunk whose own text begins at `offset`."""
        lines = [self._above[path][0]]
        if table := self.table(offset):
            # A chunk that contains the header row needs no second one.
            is_there = table.text in " ".join(text.split())
            lines += [] if is_there else [self._headers[table.text][0]]
        return "\n".join(line for line in lines if line)

    def table(self, offset: int) -> TableHeader | None:
        """The table with a row at this offset."""
        index = bisect_right(self._table_starts, offset) - 1
        return self._tables[index] if index >= 0 and offset < self._tables[index].end else None

    def _fitting_paths(
        self, title: str, paths: Iterable[tuple[str, ...]]
    ) -> dict[tuple[str, ...], tuple[str, int]]:
        """Title and heading path with their token count; outer parts are dropped until they fit."""
        parts = {path: _parts(title, path) for path in paths}
        distinct = list({part for found in parts.values() for part in found})
        [separator, *counts] = self._count([HEADING_SEPARATOR, *distinct])
        tokens = dict(zip(distinct, counts, strict=True))
        fitting: dict[tuple[str, ...], tuple[str, int]] = {}
        for path, found in parts.items():
            kept: list[str] = []
            total = -separator
            for part in reversed(found):
                if total + separator + tokens[part] > self._most:
                    break
                total += separator + tokens[part]
                kept.append(part)
            fitting[path] = HEADING_SEPARATOR.join(reversed(kept)), max(0, total)
        return fitting

    def _fitting_headers(self, texts: Iterable[str]) -> dict[str, tuple[str, int]]:
        """Header rows, cut to the words that fit, with their token count."""
        fitting: dict[str, tuple[str, int]] = {}
        for text in texts:
            [cut] = split_to_fit(text, [((0, len(text)), self._most)], self._count, BY_WORDS)
            [((start, end), tokens), *_] = [*fill_tightly(cut, self._most), ((0, 0), 0)]
            fitting[text] = text[start:end], tokens
        return fitting


def _parts(title: str, path: Sequence[str]) -> list[str]:
    parts = [title, *path] if title and (not path or path[0] != title) else path
    return [part for part in (" ".join(part.split()) for part in parts) if part]


# Increased when the same settings yield different chunks.
_VERSION = 2
# At least this share of a chunk's capacity is for its own text; the rest may be overlap.
_OWN_SHARE = 2 / 3
_FindSections = Callable[[ParsedDocument, Places], Iterator[Section]]


@dataclass(frozen=True, slots=True)
class _Method:
    """A chunking method: how to find sections, split them, fill chunks and overlap."""

    sections: _FindSections
    boundaries: Sequence[Split]
    fill: Fill
    shared: Sequence[Split]


_METHODS: dict[ChunkMethod, _Method] = {
    "structure": _Method(sections_by_heading, BY_STRUCTURE, fill_evenly, BY_SENTENCES),
    "tokens": _Method(sections_by_place, BY_WORDS, fill_tightly, BY_FEW_WORDS),
    "words": _Method(sections_by_place, BY_WORDS, fill_characters, ()),
}


def chunk_document(
    document: ParsedDocument,
    settings: ChunkSettings,
    count_tokens: CountTokens,
    max_tokens: int,
    before: Sequence[Chunk] = (),
) -> list[Chunk]:
    """The chunks in reading order. `max_tokens` is the embedder's limit, special tokens included.

    `before` holds the document's previous chunks under the same settings: those whose text still
    exists are kept. `count_tokens` must be (nearly) additive over white space, as the embedder's
    tokenizer is.
    """
    return _DocumentChunking(document, settings, count_tokens, max_tokens).chunks(before)


def chunking_signature(settings: ChunkSettings, max_tokens: int, model_name: str = "") -> str:
    """Identifies the chunk settings and the tokenizer version; stored with each document."""
    shared = settings.overlap_tokens if _METHODS[settings.method].shared else 0
    limit = _limit(settings, max_tokens)
    return f"{settings.method} {limit} {shared} v{_VERSION}.{TERMS_VERSION} {model_name}".strip()


def content_hash(context: str, text: str) -> str:
    """A 128-bit hash of the embedded text, as 32 hexadecimal digits."""
    content = embedded_text(context, text).encode("utf-8")
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _limit(settings: ChunkSettings, max_tokens: int) -> int:
    return min(settings.max_tokens or max_tokens, max_tokens)


class _DocumentChunking:
    """Chunks one document. Tokens are counted for all of it in few calls."""

    def __init__(
        self,
        document: ParsedDocument,
        settings: ChunkSettings,
        count_tokens: CountTokens,
        max_tokens: int,
    ) -> None:
        self._text = document.text
        self._method = _METHODS[settings.method]
        self._count = count_tokens
        self._overlap = settings.overlap_tokens if self._method.shared else 0
        self._places = Places(document.marks, document.headings)
        self._sections = list(self._method.sections(document, self._places))
        paths = {section.path for section in self._sections}
        limit = _limit(settings, max_tokens)
        self._contexts = ChunkContexts(document, paths, count_tokens, limit)
        self._capacities = [self._contexts.capacity(s.path, (s.start, s.end))
                            for s in self._sections]  # fmt: skip

    def chunks(self, before: Sequence[Chunk]) -> list[Chunk]:
        """All chunks in reading order."""
        owned = self._owned(stable_spans(before, self._text))
        starts = self._starts(owned)
        chunks: list[Chunk] = []
        for section, own_spans in zip(self._sections, owned, strict=True):
            for (own, end), _ in own_spans:
                start = starts.get(own, own)
                text = self._text[start:end]
                context = self._contexts.context(section.path, own, text)
                anchor = self._places.anchor(start, end)
                digest = content_hash(context, text)
                chunks.append(Chunk(len(chunks), start, end, text, anchor, context, digest))
        return chunks

    # --- own text of each chunk -------------------------------------------------------------------

    def _owned(self, kept: Sequence[Span]) -> list[list[Piece]]:
        """The own spans of each section's chunks: stable ones, and new ones in the gaps."""
        parts = [
            merge_small_gaps(found, capacity)
            for found, capacity in zip(self._section_parts(kept), self._capacities, strict=True)
        ]
        gaps = [
            (part.span, capacity)
            for found, capacity in zip(parts, self._capacities, strict=True)
            for part in found
            if not part.is_stable
        ]
        cut = iter(split_to_fit(self._text, gaps, self._count, self._method.boundaries))
        return [
            [
                piece
                for index, part in enumerate(found)
                for piece in (
                    [(part.span, part.tokens)]
                    if part.is_stable
                    else self._filled(
                        next(cut), capacity, is_first=not index, is_whole=len(found) == 1
                    )
                )
            ]
            for found, capacity in zip(parts, self._capacities, strict=True)
        ]

    def _section_parts(self, kept: Sequence[Span]) -> list[list[SectionPart]]:
        """Each section as stable spans and the gaps between them."""
        spans = [list(self._in_turn(section, kept)) for section in self._sections]
        asked = [
            span for found in spans for span, is_stable in found if is_stable or len(found) > 1
        ]
        counts = iter(count_spans(self._text, asked, self._count))
        return [
            [
                SectionPart(span, next(counts) if is_stable or len(found) > 1 else 0, is_stable)
                for span, is_stable in found
            ]
            for found in spans
        ]

    def _in_turn(self, section: Section, kept: Sequence[Span]) -> Iterator[tuple[Span, bool]]:
        at = section.start
        for index in range(bisect_left(kept, (section.start, 0)), len(kept)):
            start, end = kept[index]
            if end > section.end:
                break
            for gap in stripped(self._text, (at, start)):
                yield gap, False
            yield (start, end), True
            at = end
        for gap in stripped(self._text, (at, section.end)):
            yield gap, False

    def _filled(
        self, cut: Sequence[Piece], capacity: int, *, is_first: bool, is_whole: bool
    ) -> list[Piece]:
        """Fill a gap with chunks, leaving room for overlap unless one chunk holds all of it.

        Between stable chunks, less overlap is better than an extra chunk.
        """
        if is_first and sum(tokens for _, tokens in cut) <= capacity:
            return list(self._method.fill(cut, capacity))
        left = capacity - self._max_shared(capacity)
        if is_whole or left == capacity:
            return list(self._method.fill(cut, left))
        return list(fill_evenly(cut, left, most=capacity))

    def _max_shared(self, capacity: int) -> int:
        return min(self._overlap, int(capacity * (1 - _OWN_SHARE)))

    # --- overlap ---------------------------------------------------------------------------------

    def _starts(self, owned: Sequence[Sequence[Piece]]) -> dict[int, int]:
        """The starts of chunks that overlap the previous one, by the start of their own text."""
        if not self._overlap:
            return {}
        boundaries = [
            ChunkBoundary(before, own, min(self._max_shared(capacity), capacity - tokens))
            for own_spans, capacity in zip(owned, self._capacities, strict=True)
            for ((before, _), _), ((own, _), tokens) in pairwise(own_spans)
            # Rows of a table share its header instead.
            if not self._contexts.table(own)
        ]
        return shared_starts(self._text, boundaries, self._count, self._method.shared)


# The counted terms of a large document take several times as much memory as its text.
_MOST_COUNTED = 2_000


class TermCounts(Sequence[Counter[str]]):
    """The terms of each chunk, counted when they are read."""

    def __init__(self, chunks: Sequence[Chunk], language: str) -> None:
        self._chunks = chunks
        self._language = language

    def __len__(self) -> int:
        return len(self._chunks)

    @overload
    def __getitem__(self, index: int) -> Counter[str]: ...
    @overload
    def __getitem__(self, index: slice) -> "TermCounts": ...
    def __getitem__(self, index: int | slice) -> "Counter[str] | TermCounts":
        if isinstance(index, slice):
            return TermCounts(self._chunks[index], self._language)
        return term_counts(self._chunks[index].embedded_text, self._language)


@dataclass(frozen=True, slots=True)
class ChunkedDocument:
    """The chunks of a document, the terms of each, and the chunking signature."""

    chunks: tuple[Chunk, ...]
    term_counts: Sequence[Counter[str]]
    chunking: str


class DocumentChunker:
    """Applies `chunk_document` with one tokenizer."""

    def __init__(self, count_tokens: CountTokens, max_tokens: int, model: str = "") -> None:
        """`max_tokens` is the embedder's limit, special tokens included; `model` is its name."""
        self._model = model
        self._count_tokens = count_tokens
        self._max_tokens = max_tokens

    def cut(
        self, document: ParsedDocument, settings: ChunkSettings, before: Sequence[Chunk] = ()
    ) -> ChunkedDocument:
        """Chunk a document; boundaries of `before` stay where the text is unchanged."""
        chunks = tuple(
            chunk_document(document, settings, self._count_tokens, self._max_tokens, before)
        )
        counts: Sequence[Counter[str]] = TermCounts(chunks, document.language)
        if len(chunks) <= _MOST_COUNTED:
            # Here, as storing them is the work of the one thread that writes.
            counts = tuple(counts)
        return ChunkedDocument(chunks, counts, self.signature(settings))

    def signature(self, settings: ChunkSettings) -> str:
        """Identifies this way of chunking."""
        return chunking_signature(settings, self._max_tokens, self._model)
