"""Cuts a parsed document into chunks that fit the embedder and know their place. Pure.

A chunk never crosses a page, a slide or a sheet, nor a heading unless the method looks at words
only, so its anchor is the place of all of it. Inside such a section a chunk begins with the last
sentences of the one before. What an edit left alone keeps its borders.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from desktop_rag.core.parsed import (
    Chunk,
    ChunkMethod,
    ChunkSettings,
    ParsedDocument,
    embedded_text,
)
from desktop_rag.core.places import Places
from desktop_rag.core.terms import TERMS_VERSION
from desktop_rag.ingest.chunking import chunk_overlap
from desktop_rag.ingest.chunking.chunk_context import Contexts
from desktop_rag.ingest.chunking.gap_merging import Stretch, without_crumbs
from desktop_rag.ingest.chunking.sections import Section, sections_by_heading, sections_by_place
from desktop_rag.ingest.chunking.stable_boundaries import stable_spans
from desktop_rag.ingest.chunking.text_splitting import (
    BY_STRUCTURE,
    BY_WORDS,
    CountTokens,
    Fill,
    Piece,
    Span,
    Split,
    counted,
    fill_characters,
    fill_evenly,
    fill_tightly,
    pieces,
    stripped,
)

# Raised when the same settings make other chunks than before.
_VERSION = 2
# What is shared with the chunk before leaves at least this share of the room to the chunk's own.
_OWN_SHARE = 2 / 3
_FindSections = Callable[[ParsedDocument, Places], Iterator[Section]]


@dataclass(frozen=True, slots=True)
class _Method:
    """How sections are found, cut and filled into chunks, and in which units neighbours overlap."""

    sections: _FindSections
    borders: Sequence[Split]
    fill: Fill
    shared: Sequence[Split]


_METHODS: dict[ChunkMethod, _Method] = {
    "structure": _Method(
        sections_by_heading, BY_STRUCTURE, fill_evenly, chunk_overlap.BY_SENTENCES
    ),
    "tokens": _Method(sections_by_place, BY_WORDS, fill_tightly, chunk_overlap.BY_WORDS),
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

    `before` are all chunks the document had, cut by the same settings: those whose text is still
    there stay as they are. `count_tokens` must be (nearly) additive over white space, as that of
    the embedder is.
    """
    return _Cutting(document, settings, count_tokens, max_tokens).chunks(before)


def chunking_signature(settings: ChunkSettings, max_tokens: int, model_name: str = "") -> str:
    """Tells one way of cutting and finding the terms from another; kept with each document."""
    shared = settings.overlap_tokens if _METHODS[settings.method].shared else 0
    limit = _limit(settings, max_tokens)
    return f"{settings.method} {limit} {shared} v{_VERSION}.{TERMS_VERSION} {model_name}".strip()


def content_hash(context: str, text: str) -> str:
    """128 bits of what is embedded, as 32 hexadecimal digits."""
    content = embedded_text(context, text).encode("utf-8")
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _limit(settings: ChunkSettings, max_tokens: int) -> int:
    return min(settings.max_tokens or max_tokens, max_tokens)


class _Cutting:
    """One document on its way to chunks. Tokens are counted for all of it in few calls."""

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
        self._contexts = Contexts(document, paths, count_tokens, limit)
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

    # --- what each chunk has for itself ----------------------------------------------------------

    def _owned(self, kept: Sequence[Span]) -> list[list[Piece]]:
        """For each section the spans that are its chunks' own: kept ones, and new ones between."""
        stretches = [
            without_crumbs(found, capacity)
            for found, capacity in zip(self._stretches(kept), self._capacities, strict=True)
        ]
        gaps = [
            (stretch.span, capacity)
            for found, capacity in zip(stretches, self._capacities, strict=True)
            for stretch in found
            if not stretch.is_kept
        ]
        cut = iter(pieces(self._text, gaps, self._count, self._method.borders))
        return [
            [
                piece
                for index, stretch in enumerate(found)
                for piece in (
                    [(stretch.span, stretch.tokens)]
                    if stretch.is_kept
                    else self._filled(
                        next(cut), capacity, is_first=not index, is_whole=len(found) == 1
                    )
                )
            ]
            for found, capacity in zip(stretches, self._capacities, strict=True)
        ]

    def _stretches(self, kept: Sequence[Span]) -> list[list[Stretch]]:
        """Each section as kept spans and the gaps between them."""
        spans = [list(self._in_turn(section, kept)) for section in self._sections]
        asked = [span for found in spans for span, is_kept in found if is_kept or len(found) > 1]
        counts = iter(counted(self._text, asked, self._count))
        return [
            [
                Stretch(span, next(counts) if is_kept or len(found) > 1 else 0, is_kept)
                for span, is_kept in found
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
        """A gap as chunks, with room for what they share unless one chunk does for all of it.

        Between kept chunks, one more would cost more than sharing less.
        """
        if is_first and sum(tokens for _, tokens in cut) <= capacity:
            return list(self._method.fill(cut, capacity))
        left = capacity - self._most_shared(capacity)
        if is_whole or left == capacity:
            return list(self._method.fill(cut, left))
        return list(fill_evenly(cut, left, most=capacity))

    def _most_shared(self, capacity: int) -> int:
        return min(self._overlap, int(capacity * (1 - _OWN_SHARE)))

    # --- what neighbours share -------------------------------------------------------------------

    def _starts(self, owned: Sequence[Sequence[Piece]]) -> dict[int, int]:
        """Where chunks start that share the end of the one before, by where their own begins."""
        if not self._overlap:
            return {}
        seams = [
            chunk_overlap.Seam(before, own, min(self._most_shared(capacity), capacity - tokens))
            for own_spans, capacity in zip(owned, self._capacities, strict=True)
            for ((before, _), _), ((own, _), tokens) in pairwise(own_spans)
            # The rows of a table share its header.
            if not self._contexts.table(own)
        ]
        return chunk_overlap.shared_starts(self._text, seams, self._count, self._method.shared)
