"""Copies documents with their texts, passages and vectors. Any one worker thread.

A document that is there already and equal is left alone, so that a copy that was interrupted goes
on where it ended. Vectors go first: a document that is searchable here is searchable there at once.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

import numpy as np

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.errors import Cancelled
from desktop_rag.core.terms import term_counts
from desktop_rag.store.contract.documents import IndexingOutcome
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.vectors import ModelRow

_MOST_DOCUMENTS = 64
_MOST_CHUNKS = 4_000
_IN_PROGRESS = (DocumentState.WAITING, DocumentState.READING)


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A source here and there: its ids, and the folder that its paths begin with."""

    source_id: str
    there_id: str
    path: Path
    there_path: Path


class CopiedDocuments:
    """Copies the documents of one source at a time from one open library to another."""

    def __init__(self, here: Engine, there: Engine, cancel: Event) -> None:
        self._here = here
        self._there = there
        self._cancel = cancel
        self._models = here.models.stored()

    def of_source(self, place: SourcePlace) -> Iterator[int]:
        """Copy the documents of a source; yields how many were done, in batches.

        Cancelled on `cancel`, after a whole batch.
        """
        for batch in self._batches(place):
            if self._cancel.is_set():
                raise Cancelled
            self._copy(place, batch)
            yield len(batch)

    def expected(self, place: SourcePlace) -> list[Document]:
        """The rows of a source's documents as they have to be there; without parts."""
        rows = [d for d in self._here.documents.documents(place.source_id) if not d.parent_id]
        taken = self._taken_paths(place, {row.document_id for row in rows})
        expected = (moved_row(row, place) for row in rows)
        return [row for row in expected if str(row.path) not in taken]

    def _taken_paths(self, place: SourcePlace, ids: set[str]) -> set[str]:
        """The files that the source there knows under ids of its own."""
        rows = self._there.documents.documents(place.there_id)
        return {str(row.path) for row in rows if not row.parent_id and row.document_id not in ids}

    def _batches(self, place: SourcePlace) -> Iterator[list[Document]]:
        batch: list[Document] = []
        chunks = 0
        for row in self._missing(place):
            batch.append(row)
            chunks += row.chunk_count
            if len(batch) >= _MOST_DOCUMENTS or chunks >= _MOST_CHUNKS:
                yield batch
                batch, chunks = [], 0
        if batch:
            yield batch

    def _missing(self, place: SourcePlace) -> list[Document]:
        there = {d.document_id: bare(d) for d in self._there.documents.documents(place.there_id)}
        return [row for row in self.expected(place) if there.get(row.document_id) != row]

    def _copy(self, place: SourcePlace, rows: Sequence[Document]) -> None:
        ready = [row for row in rows if row.state not in _IN_PROGRESS]
        outcomes = [self._outcome(row, place) for row in ready]
        families = [each for outcome in outcomes for each in (outcome, *outcome.parts)]
        hashes = {chunk.content_hash for outcome in families for chunk in outcome.chunks}
        for model in self._models:
            copy_vectors(self._here, self._there, model, sorted(hashes))
        known = {d.document_id for d in self._there.documents.get([r.document_id for r in rows])}
        waiting = {r.document_id: replace(r, state=DocumentState.WAITING) for r in rows}
        added = [row for key, row in waiting.items() if key not in known]
        changed = {key: _becomes(row) for key, row in waiting.items() if key in known}
        self._there.documents.apply_changes(place.there_id, added, changed, [])
        self._there.documents.settle(outcomes)

    def _outcome(self, row: Document, place: SourcePlace) -> IndexingOutcome:
        parts = self._here.documents.parts(row.document_id)
        inner = tuple(self._content(moved_row(part, place)) for part in parts)
        return replace(self._content(row), parts=inner)

    def _content(self, row: Document) -> IndexingOutcome:
        text, places = self._here.documents.content(row.document_id)
        chunks = tuple(self._here.documents.chunks(row.document_id))
        counts = tuple(term_counts(chunk.embedded_text, row.language) for chunk in chunks)
        return IndexingOutcome(row, text or "", chunks, counts, places)


def copy_vectors(here: Engine, there: Engine, model: ModelRow, hashes: Sequence[str]) -> None:
    """Copy the vectors and windows of a model that are missing there."""
    made = here.models.vectors(model.name, model.dimensions)
    copied = there.models.vectors(model.name, model.dimensions, model.spec)
    if vectors := made.stored(sorted(copied.missing(hashes))):
        copied.add(list(vectors), np.stack(list(vectors.values())))
    done = copied.stored_windows(hashes).keys()
    windows = made.stored_windows([key for key in hashes if key not in done])
    if windows:
        copied.add_windows(list(windows), list(windows.values()))


def digest(engine: Engine, row: Document) -> str:
    """A checksum of a document's text, places and passages, and of those inside it."""
    checksum = hashlib.sha256()
    for each in (row, *engine.documents.parts(row.document_id)):
        text, places = engine.documents.content(each.document_id)
        chunks = [
            (c.position, c.start, c.end, c.text, c.context, c.content_hash, repr(c.anchor))
            for c in engine.documents.chunks(each.document_id)
        ]
        checksum.update(repr((each.document_id, each.part, text, places, chunks)).encode())
    return checksum.hexdigest()


def bare(row: Document) -> Document:
    """The row as it is stored: without what the library adds when it is read."""
    return replace(row, given_tags=(), site_url="")


def moved_row(row: Document, place: SourcePlace) -> Document:
    """The row as it is in the other library."""
    path = row.path
    if place.path != place.there_path and path.is_relative_to(place.path):
        path = place.there_path / path.relative_to(place.path)
    return replace(bare(row), source_id=place.there_id, path=path)


def _becomes(row: Document) -> Callable[[Document], Document]:
    return lambda _: row
