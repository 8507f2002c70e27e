"""Examines a whole backup before anything of it is used. Any worker thread."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import Event
from typing import TypeVar

from desktop_rag.backup.archive_reader import Archive
from desktop_rag.backup.commands_done import commands_in
from desktop_rag.backup.contents import BackupContents
from desktop_rag.backup.home_files import settings_of
from desktop_rag.backup.manifest import INDEX, PROMPTS, REWRITES
from desktop_rag.backup.merging import merge, path_here, places_of
from desktop_rag.backup.sent_documents import sent_in
from desktop_rag.backup.value_rules import WrongValueError, strict_json
from desktop_rag.core.errors import Cancelled
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.store.contract.precious import Entry

T = TypeVar("T")


def contents_of(archive: Archive, home: Home, cancel: Event | None = None) -> BackupContents:
    """What an open backup holds, after every value of it was checked.

    WrongValueError for the first value that the app does not write; Cancelled on `cancel`.
    """
    cancel = cancel or Event()
    entries = archive.coherent_entries()
    if cancel.is_set():
        raise Cancelled
    counts = Counter(entry.kind for entry in entries)
    counts["image"] = sum(1 for _ in _until(cancel, archive.images()))
    manifest = archive.manifest
    is_promised = {kind: n for kind, n in counts.items() if n} == dict(manifest.counts)
    if not is_promised and not archive.left_out:
        raise WrongValueError("the manifest, counts")
    for name in (*manifest.names(PROMPTS), *manifest.names(REWRITES)):
        archive.text(name)
    if INDEX in manifest.files:
        for _ in _until(cancel, archive.pieces(INDEX)):
            pass
    for _ in _until(cancel, sent_in(archive)):
        pass
    # Into an empty library, to see that everything refers to something.
    merge((), entries, places_of(manifest, home))
    settings = settings_of(archive)
    counts["command"] = len(commands_in(archive))
    counts["prompt"] = len(manifest.names(PROMPTS))
    counts["rewrite"] = len(manifest.names(REWRITES))
    return BackupContents(
        day=manifest.day,
        made_at=manifest.made_at,
        app=manifest.app,
        collection=manifest.collection,
        counts={kind: n for kind, n in counts.items() if n},
        has_index=manifest.has_index,
        has_settings=settings is not None,
        missing=_missing(archive, entries, home),
        addresses=_addresses(entries, settings),
    )


def _until(cancel: Event, items: Iterable[T]) -> Iterable[T]:
    for item in items:
        if cancel.is_set():
            raise Cancelled
        yield item


def _missing(archive: Archive, entries: Sequence[Entry], home: Home) -> tuple[str, ...]:
    places = places_of(archive.manifest, home)
    paths = [
        path_here(entry, places)
        for entry in entries
        if entry.kind == "source"
        and not any(entry.row.get(own) for own in ("is_attached", "links", "program"))
    ]
    return tuple(path for path in paths if not Path(path).exists())


def _addresses(entries: Sequence[Entry], settings: Settings | None) -> tuple[str, ...]:
    """The endpoints that would get questions, or the text of documents."""
    found = [endpoint.base_url for endpoint in settings.endpoints] if settings else []
    found += [settings.index.model_folder] if settings else []
    for entry in entries:
        if entry.kind == "assistant":
            found.append(strict_json(entry.row["made_of"]).get("base_url", ""))
        if entry.kind == "collection":
            found.append(entry.row["embedder"])
    return tuple(sorted({one.partition("#")[0] for one in found if "://" in one}))
