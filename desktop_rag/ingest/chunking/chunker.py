"""Cuts a parsed document into chunks that fit the embedder and know their location. Pure.

A chunk never crosses a page, slide or sheet, nor a heading unless the method ignores headings, so
its anchor is valid for all of it. Within such a section a chunk begins with the last sentences of
the previous one. Text that an edit left unchanged keeps its boundaries.
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
from desktop_rag.ingest.chunking.chunk_context import ChunkContexts
from desktop_rag.ingest.chunking.gap_merging import SectionPart, merge_small_gaps
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
    count_spans,
    fill_characters,
    fill_evenly,
    fill_tightly,
    split_to_fit,
    stripped,
)

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
            chunk_overlap.ChunkBoundary(
                before, own, min(self._max_shared(capacity), capacity - tokens)
            )
            for own_spans, capacity in zip(owned, self._capacities, strict=True)
            for ((before, _), _), ((own, _), tokens) in pairwise(own_spans)
            # Rows of a table share its header instead.
            if not self._contexts.table(own)
        ]
        return chunk_overlap.shared_starts(self._text, boundaries, self._count, self._method.shared)
