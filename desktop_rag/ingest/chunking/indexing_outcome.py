"""Turns a parsed document and its parts into rows and chunks for the store. Any one thread."""

import uuid
from collections.abc import Sequence
from dataclasses import replace

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.parsed import Chunk, ChunkSettings, ParsedDocument, ParsedPart
from desktop_rag.core.pictures import waiting_words
from desktop_rag.core.places import places_to_json
from desktop_rag.ingest.chunking.document_chunker import DocumentChunker
from desktop_rag.store.contract.documents import IndexingOutcome


def indexing_outcome_of(
    document: Document,
    parsed: ParsedDocument,
    cutter: DocumentChunker,
    chunking: ChunkSettings,
    before: Sequence[Chunk] = (),
) -> IndexingOutcome:
    """The row with its text, chunks and parts; boundaries of `before` stay where possible."""
    names: dict[str, int] = {}
    parts = [_part(document, part, names, cutter, chunking) for part in parsed.parts]
    return replace(_cut(document, parsed, cutter, chunking, before), parts=tuple(parts))


def _cut(
    document: Document,
    parsed: ParsedDocument,
    cutter: DocumentChunker,
    chunking: ChunkSettings,
    before: Sequence[Chunk] = (),
) -> IndexingOutcome:
    cut = cutter.cut(parsed, chunking, before)
    left = parsed.pictures_left
    warnings = (*parsed.warnings, waiting_words(left)) if left else parsed.warnings
    indexed = replace(
        document,
        title=parsed.title,
        format=parsed.format,
        state=DocumentState.SEARCHABLE_BY_WORDS,
        reason="; ".join(warnings),
        chunk_count=len(cut.chunks),
        language=parsed.language,
        chunking=cut.chunking,
        dated=parsed.dated,
        tags=parsed.tags,
    )
    return IndexingOutcome(
        indexed, parsed.text, cut.chunks, cut.term_counts, places_to_json(parsed)
    )


def _part(
    parent: Document,
    part: ParsedPart,
    names: dict[str, int],
    cutter: DocumentChunker,
    chunking: ChunkSettings,
) -> IndexingOutcome:
    """A part as a document of its own; `names` counts parts with equal names."""
    count = names[part.name] = names.get(part.name, 0) + 1
    row = replace(
        parent,
        document_id=uuid.uuid4().hex,
        part=part.name if count == 1 else f"{part.name} ({count})",
        title=part.name,
        chunk_count=0,
        dated="",
        tags=(),
    )
    if part.document is None:
        refused = replace(row, state=DocumentState.SKIPPED, reason=part.refusal, format="")
        return IndexingOutcome(refused)
    return _cut(row, part.document, cutter, chunking)
