"""The face of copies: a library into another one, whole or a collection, and whether it arrived.

Between engines and homes alike: it knows the contract of the store only. Any one worker thread; no
other may change the two libraries meanwhile, or the check at the end tells a difference.
"""

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

from desktop_rag.backup.merging import Places
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.library_copy.copied_documents import (
    CopiedDocuments,
    SourcePlace,
    bare,
    digest,
)
from desktop_rag.library_copy.copied_entries import (
    CopiedEntries,
    chosen_entries,
    copied_entries,
)
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.precious import Entry
from desktop_rag.store.contract.vectors import ROUNDING

Tell = Callable[[str], None]
_IMAGE = "image"
_MOST_NAMED = 5
_VECTORS_AT_ONCE = 4_000


@dataclass(frozen=True, slots=True)
class OpenHome:
    """An open library with the home that its pages and sent documents are in."""

    home: Home
    stores: Engine


@dataclass(frozen=True, slots=True)
class Copied:
    """The outcome of a copy: what is in both now, by kind, and what was left out.

    `documents` and `passages` were compared by checksum, `vectors` by value.
    """

    added: Mapping[str, int]
    documents: int = 0
    passages: int = 0
    vectors: int = 0
    left_out: tuple[str, ...] = field(default_factory=tuple[str, ...])

    def to_json(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)


def copy_library(
    here: OpenHome,
    there: OpenHome,
    *,
    collection: str = "",
    tell: Tell,
    cancel: Event | None = None,
) -> Copied:
    """Copy a library, or the collection of this name with its chats, and compare the two.

    What is there already stays, also when it is called for again: a copy that was interrupted goes
    on. AppError when the collection is unknown, a version differs, the disk refuses, or something
    did not arrive as it is here; Cancelled on `cancel`.
    """
    cancel = cancel or Event()
    if here.stores.precious.schema != there.stores.precious.schema:
        raise AppError(
            "The two libraries are of different versions.",
            "Open the older one with this version of the app first.",
        )
    tell("Reading chats and folders…")
    entries, collection_id = _entries_of(here.stores, collection)
    incoming, images = chosen_entries(entries, collection_id)
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
    return Copied(dict(added), *counts, left_out=done.left_out)


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
) -> CopiedEntries:
    done = CopiedEntries()
    places = Places(
        str(here.home.root.absolute()), there.home.root.absolute(), there.home.pages.absolute()
    )

    def plan(present: Sequence[Entry]) -> Sequence[Entry]:
        nonlocal done
        done = copied_entries(present, incoming, places)
        return done.put

    there.stores.precious.merge(plan, lambda: images)
    return done


def _copy_files(here: Home, there: Home, sources: Mapping[str, str]) -> None:
    """Fetched pages and sent documents: the sources of both are folders of the home."""
    try:
        for source_id, there_id in sources.items():
            for folder, copied in ((here.pages, there.pages), (here.sent, there.sent)):
                before, after = folder / source_id, copied / there_id
                if before.is_dir() and before != after:
                    shutil.copytree(before, after, dirs_exist_ok=True)
    except (OSError, shutil.Error) as exc:
        raise AppError("Fetched pages could not be copied.", str(exc)) from exc


def _places(here: Engine, there: Engine, sources: Mapping[str, str]) -> list[SourcePlace]:
    paths, there_paths = _source_paths(here), _source_paths(there)
    return [
        SourcePlace(source_id, there_id, paths[source_id], there_paths[there_id])
        for source_id, there_id in sources.items()
    ]


def _source_paths(engine: Engine) -> dict[str, Path]:
    found: dict[str, Path] = {}

    def take(entry: Entry) -> None:
        if entry.kind == "source":
            found[entry.key] = Path(entry.row["path"])

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
    """Let the same models answer for the collections that came along."""
    copied = {entry.key for entry in incoming if entry.kind == "collection"}
    known = {collection.collection_id for collection in there.sources.collections()}
    answering = there.models.answering()
    for collection_id, model in here.models.answering().items():
        if collection_id in copied & known and collection_id not in answering:
            vectors = there.models.vectors(model.name, model.dimensions, model.spec)
            there.models.answer(vectors.model_id, [collection_id])


# --- whether it arrived --------------------------------------------------------------------------


def _compared(
    copier: CopiedDocuments, places: Sequence[SourcePlace], here: Engine, there: Engine
) -> tuple[int, int, int]:
    """The numbers of documents, passages and vectors that are in both alike; AppError if not."""
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
    """The number of vectors of all models that are in both; AppError when one is missing."""
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
    stored: dict[tuple[str, str], Entry] = {}

    def take(entry: Entry) -> None:
        if entry.kind != _IMAGE:
            stored[entry.kind, entry.key] = entry

    there.precious.read(take)
    for entry in put:
        known = stored.get((entry.kind, entry.key))
        if known is None or known.rows != entry.rows:
            raise AppError(
                f"A {entry.kind} is not in the other library as it is here.",
                "Copy again to complete it.",
            )
