"""Copies a library or a collection into another library, and compares the two.

Works between engines and homes, by the contract of the store. One worker thread at a time; if
others change the libraries meanwhile, the comparison at the end fails.
"""

import hashlib
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event

import numpy as np

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.errors import AppError, Cancelled, os_error_as
from desktop_rag.core.paths import Home
from desktop_rag.core.terms import term_counts
from desktop_rag.features.backup.merging import Merge, Places, merge
from desktop_rag.features.backup.value_rules import coherent, selected
from desktop_rag.store.contract.documents import IndexingOutcome
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.precious import Entry
from desktop_rag.store.contract.vectors import ROUNDING, ModelRow

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
    """Copies the documents of a source with their texts, passages and vectors.

    Equal documents are left alone, so that an interrupted copy goes on where it ended. Vectors go
    first, so that what is searchable here is searchable there at once.
    """

    def __init__(self, here: Engine, there: Engine, cancel: Event) -> None:
        self._here = here
        self._there = there
        self._cancel = cancel
        self._models = here.models.stored()

    def of_source(self, place: SourcePlace) -> Iterator[int]:
        """Copy the documents of a source; yields the size of each batch, Cancelled between them."""
        for batch in self._batches(place):
            if self._cancel.is_set():
                raise Cancelled
            self._copy(place, batch)
            yield len(batch)

    def expected(self, place: SourcePlace) -> list[Document]:
        """The rows of a source's documents as they should be there, without parts."""
        rows = [d for d in self._here.documents.documents(place.source_id) if not d.parent_id]
        taken = self._taken_paths(place, {row.document_id for row in rows})
        expected = (moved_row(row, place) for row in rows)
        return [row for row in expected if str(row.path) not in taken]

    def _taken_paths(self, place: SourcePlace, ids: set[str]) -> set[str]:
        """The files that the source there has under other ids."""
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
        changed = {k: (lambda _, row=row: row) for k, row in waiting.items() if k in known}
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
    """A checksum of the text, places and passages of a document and of those inside it."""
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
    """The row as it is stored, without what reading adds."""
    return replace(row, given_tags=(), site_url="")


def moved_row(row: Document, place: SourcePlace) -> Document:
    """The row as it is in the other library."""
    path = row.path
    if place.path != place.there_path and path.is_relative_to(place.path):
        path = place.there_path / path.relative_to(place.path)
    return replace(bare(row), source_id=place.there_id, path=path)


Tell = Callable[[str], None]
_MOST_NAMED = 5
_VECTORS_AT_ONCE = 4_000


@dataclass(frozen=True, slots=True)
class OpenHome:
    """An open library with the home that its pages and sent documents are in."""

    home: Home
    stores: Engine


@dataclass(frozen=True, slots=True)
class Copied:
    """The outcome of a copy: what was added, what both have now, and what was left out.

    `documents` and `passages` were compared by checksum, `vectors` by value.
    """

    added: Mapping[str, int]
    documents: int = 0
    passages: int = 0
    vectors: int = 0
    left_out: tuple[str, ...] = field(default_factory=tuple[str, ...])


def copy_library(
    here: OpenHome,
    there: OpenHome,
    *,
    collection: str = "",
    tell: Tell,
    cancel: Event | None = None,
) -> Copied:
    """Copy a library, or the collection of this name with its chats, and compare the two.

    What is there already stays, so that an interrupted copy goes on. AppError when the collection
    is unknown, the disk refuses, or something did not arrive as it is here; Cancelled on `cancel`.
    """
    cancel = cancel or Event()
    tell("Reading chats and folders…")
    entries, collection_id = _entries_of(here.stores, collection)
    chosen = selected(entries, collection_id)
    incoming = coherent(chosen.entries)
    images = [e for e in entries if e.kind == "image" and e.key in chosen.image_ids]
    done = _put_entries(here, there, incoming, images)
    _copy_files(here.home, there.home, done.sources)
    copier = CopiedDocuments(here.stores, there.stores, cancel)
    places = _places(here.stores, there.stores, done.sources)
    _copy_documents(copier, places, here.stores, tell)
    _answer_alike(here.stores, there.stores, incoming)
    tell("Comparing the two libraries…")
    counts = _compared(copier, places, here.stores, there.stores)
    _check_entries(there.stores, done.put)
    added = Counter(entry.kind for entry in done.put)
    return Copied(dict(added), *counts, left_out=tuple(done.overlapping))


def _entries_of(engine: Engine, collection: str) -> tuple[list[Entry], str]:
    entries: list[Entry] = []
    engine.precious.read(entries.append)
    if not collection:
        return entries, ""
    known = {c.name.casefold(): c for c in engine.sources.collections()}
    chosen = known.get(collection.strip().casefold())
    if chosen is None:
        names = ", ".join(f"“{each.name}”" for each in known.values()) or "none yet"
        raise AppError(f"There is no collection “{collection}”.", f"Collections: {names}.")
    return entries, chosen.collection_id


def _put_entries(
    here: OpenHome, there: OpenHome, incoming: Sequence[Entry], images: Iterable[Entry]
) -> Merge:
    """Merge as a backup, but collections keep the hosts they may reach: both are one person's."""
    done = Merge()
    places = Places(
        str(here.home.root.absolute()), there.home.root.absolute(), there.home.pages.absolute()
    )
    hosts = {e.key: e.row["intranet_hosts"] for e in incoming if e.kind == "collection"}

    def with_hosts(entry: Entry) -> Entry:
        if entry.kind != "collection":
            return entry
        row = {**entry.row, "intranet_hosts": hosts[entry.key]}
        return replace(entry, rows={"collections": [row]})

    def plan(present: Sequence[Entry]) -> Sequence[Entry]:
        nonlocal done
        done = merge(present, incoming, places)
        done.put = [with_hosts(entry) for entry in done.put]
        return done.put

    there.stores.precious.merge(plan, lambda: images)
    return done


def _copy_files(here: Home, there: Home, sources: Mapping[str, str]) -> None:
    """Copy fetched pages and sent documents, whose sources are folders of the home."""
    with os_error_as("Fetched pages could not be copied."):
        for source_id, there_id in sources.items():
            for folder, copied in ((here.pages, there.pages), (here.sent, there.sent)):
                before, after = folder / source_id, copied / there_id
                if before.is_dir() and before != after:
                    shutil.copytree(before, after, dirs_exist_ok=True)


def _places(here: Engine, there: Engine, sources: Mapping[str, str]) -> list[SourcePlace]:
    paths, there_paths = _source_paths(here), _source_paths(there)
    return [
        SourcePlace(source_id, there_id, paths[source_id], there_paths[there_id])
        for source_id, there_id in sources.items()
    ]


def _source_paths(engine: Engine) -> dict[str, Path]:
    return {e.key: Path(e.row["path"]) for e in _read_entries(engine) if e.kind == "source"}


def _read_entries(engine: Engine) -> list[Entry]:
    """All entries but images, which may be large."""
    found: list[Entry] = []

    def take(entry: Entry) -> None:
        if entry.kind != "image":
            found.append(entry)

    engine.precious.read(take)
    return found


def _copy_documents(
    copier: CopiedDocuments, places: Sequence[SourcePlace], here: Engine, tell: Tell
) -> None:
    total = sum(here.documents.counts(place.source_id).total for place in places)
    done = 0
    for place in places:
        for count in copier.of_source(place):
            done += count
            tell(f"Copying documents: {done:,} of {total:,}…")


def _answer_alike(here: Engine, there: Engine, incoming: Sequence[Entry]) -> None:
    """Let the same models answer for the copied collections."""
    copied = {entry.key for entry in incoming if entry.kind == "collection"}
    known = {collection.collection_id for collection in there.sources.collections()}
    answering = there.models.answering()
    for collection_id, model in here.models.answering().items():
        if collection_id in copied & known and collection_id not in answering:
            vectors = there.models.vectors(model.name, model.dimensions, model.spec)
            there.models.answer(vectors.model_id, [collection_id])


def _compared(
    copier: CopiedDocuments, places: Sequence[SourcePlace], here: Engine, there: Engine
) -> tuple[int, int, int]:
    """The numbers of documents, passages and vectors, equal in both; AppError if they differ."""
    documents = passages = 0
    wrong: list[str] = []
    hashes: set[str] = set()
    for place in places:
        stored = {d.document_id: bare(d) for d in there.documents.documents(place.there_id)}
        for row in copier.expected(place):
            documents += 1
            same = stored.get(row.document_id) == row
            if not same or digest(here, row) != digest(there, row):
                wrong.append(str(row.path))
                continue
            for each in (row, *there.documents.parts(row.document_id)):
                chunks = there.documents.chunks(each.document_id)
                passages += len(chunks)
                hashes.update(chunk.content_hash for chunk in chunks)
    if wrong:
        raise AppError(
            f"{len(wrong):,} documents are not in the other library as they are here.",
            f"Copy again to complete it. Among them: {', '.join(wrong[:_MOST_NAMED])}",
        )
    return documents, passages, _vectors_alike(here, there, sorted(hashes))


def _vectors_alike(here: Engine, there: Engine, hashes: Sequence[str]) -> int:
    """The number of vectors of all models; AppError when one is missing there or differs."""
    count = 0
    for model in here.models.stored():
        made = here.models.vectors(model.name, model.dimensions)
        copied = there.models.vectors(model.name, model.dimensions)
        for start in range(0, len(hashes), _VECTORS_AT_ONCE):
            some = hashes[start : start + _VECTORS_AT_ONCE]
            before, after = made.stored(some), copied.stored(some)
            for key, vector in before.items():
                if key not in after or float(vector @ after[key]) < 1 - ROUNDING:
                    raise AppError(
                        "A vector is not in the other library as it is here.",
                        "Copy again to complete it.",
                    )
            count += len(before)
    return count


def _check_entries(there: Engine, put: Iterable[Entry]) -> None:
    stored = {(entry.kind, entry.key): entry for entry in _read_entries(there)}
    for entry in put:
        known = stored.get((entry.kind, entry.key))
        if known is None or known.rows != entry.rows:
            raise AppError(
                f"A {entry.kind} is not in the other library as it is here.",
                "Copy again to complete it.",
            )
