"""The face of backups: everything that can't be made again, in one file and back. Worker threads.

The same format serves for a file that the person keeps or moves, and for the daily snapshot.
"""

import errno
import json
import os
import secrets
import shutil
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Event
from typing import Annotated, TypeVar

from desktop_rag.core.changes import Changes
from desktop_rag.core.domain import Collection
from desktop_rag.core.errors import IMPORT_AGAIN, AppError, Cancelled, os_error_as
from desktop_rag.core.paths import Home
from desktop_rag.core.records import (
    Id,
    Matching,
    Moment,
    Record,
    Within,
    WrongValueError,
    checked,
    strict_json,
)
from desktop_rag.core.settings import Settings
from desktop_rag.features.backup.archive_reader import Archive, opened_archive
from desktop_rag.features.backup.home_files import (
    ArchiveWriter,
    TakenFiles,
    Write,
    add_home_files,
    settings_of,
    taken_files,
)
from desktop_rag.features.backup.manifest import (
    ENTRIES,
    IMAGES,
    INDEX,
    PROMPTS,
    REWRITES,
    SENT,
    BackupContents,
    BackupMerged,
    Imported,
    Manifest,
)
from desktop_rag.features.backup.merging import Merge, merge, path_here, places_of
from desktop_rag.features.backup.value_rules import Base64, Selection, selected
from desktop_rag.store.contract.precious import Entry, KeptFile, PreciousStore, backup_rules

# What programs sent, which nothing else has: a line for each file, by source and name.

_MOST_BYTES = 64 << 20
# A content, or its description; no path leads out of the folder of its source.
_NAME = r"(?:about/)?[\w-](?!.*\.\.)[\w.-]{0,150}"


@dataclass(frozen=True, slots=True)
class SentFile(Record):
    """A file of what a program sent: a content or its description, in the folder of its source."""

    source_id: Id
    name: Annotated[str, Matching(_NAME)]
    changed_at: Moment
    content: Annotated[Base64, Within(0, _MOST_BYTES)]


def add_sent(archive: ArchiveWriter, home: Home, source_ids: Sequence[str], cancel: Event) -> None:
    """Add what was sent to these sources, if there is anything."""
    folders = [home.sent / source_id for source_id in source_ids]
    if not any(folder.is_dir() for folder in folders):
        return
    with archive.stream(SENT) as write:
        for folder in folders:
            # Descriptions first: a content that changes meanwhile is then sent again.
            for file in (*sorted(folder.glob("about/*.json")), *sorted(folder.glob("*.*"))):
                if cancel.is_set():
                    raise Cancelled
                write(_document_line(folder, file))


def sent_in(archive: Archive) -> Iterator[SentFile]:
    """What programs sent, each value checked; WrongValueError for what the app does not write."""
    if SENT not in archive.manifest.files:
        return
    rest, n = b"", 0
    for piece in archive.pieces(SENT):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            n += 1
            yield _file(line, f"{SENT} line {n}")
        if len(rest) > 2 * _MOST_BYTES:
            raise WrongValueError(f"{SENT} line {n + 1}")
    if rest:
        raise WrongValueError(f"{SENT} line {n + 1}")


def take_sent(archive: Archive, home: Home, cancel: Event) -> None:
    """Write what is missing or newer. AppError when the disk refuses: import it again then."""
    title = "Not all documents that programs sent could be written."
    with os_error_as(title, home.sent, IMPORT_AGAIN):
        for sent in sent_in(archive):
            if cancel.is_set():
                raise Cancelled
            path = home.sent / sent.source_id / sent.name
            if not path.exists() or path.stat().st_mtime < sent.changed_at:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.write_bytes(sent.content.content)
                os.utime(path, (sent.changed_at, sent.changed_at))


def _document_line(folder: Path, file: Path) -> bytes:
    try:
        content, changed_at = file.read_bytes(), max(0.0, file.stat().st_mtime)
    except FileNotFoundError:
        # Replaced or removed since the folder was listed.
        return b""
    name = file.relative_to(folder).as_posix()
    line = SentFile(folder.name, name, changed_at, Base64(content)).to_json()
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def _file(line: bytes, place: str) -> SentFile:
    try:
        found = strict_json(line)
    except ValueError:
        raise WrongValueError(place) from None
    return checked(SentFile, found, place)


T = TypeVar("T")


def contents_of(archive: Archive, home: Home, cancel: Event | None = None) -> BackupContents:
    """What an open backup holds. WrongValueError for the first bad value; Cancelled on `cancel`."""
    cancel = cancel or Event()
    entries = archive.coherent_entries()
    if cancel.is_set():
        raise Cancelled
    counts = Counter(entry.kind for entry in entries)
    counts["image"] = sum(1 for _ in _until(cancel, archive.images()))
    manifest = archive.manifest
    promised = counts + Counter(kind for kind, _ in archive.of_others)
    is_promised = dict(+promised) == dict(manifest.counts)
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
    for kept in _kept_files_in(archive):
        counts[kept.kind] = kept.count(archive.text(kept.name))
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


def _kept_files() -> list[KeptFile]:
    return [rules.file for rules in backup_rules() if rules.file]


def _kept_files_in(archive: Archive) -> list[KeptFile]:
    return [kept for kept in _kept_files() if kept.name in archive.manifest.files]


def has_news_of_features(archive: Archive, home: Home) -> bool:
    """True when a file of a feature is not the one in the backup."""
    before = {kept.name: archive.text(kept.name) for kept in _kept_files_in(archive)}
    return any(before.get(k.name, "") != k.text_of(home) for k in _kept_files())


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


Tell = Callable[[str], None]
_PIECE = 1 << 20
_HAS_DOCUMENTS = "The library has documents already, and an index fits into an empty library only."
_OTHER_SCHEMA = "It was made by an older version of the app."
_RUNNING = "The app is running. Close it and import the file with: desktop-rag backup import"


def silent(_said: str) -> None:
    """Ignores progress."""


class Backups:
    """Exports, examines and imports backups of one library."""

    def __init__(
        self,
        home: Home,
        store: PreciousStore,
        collections: Callable[[], Sequence[Collection]],
        changes: Changes | None = None,
        takers: Mapping[str, Callable[[str], int]] | None = None,
    ) -> None:
        """`collections` gives the current ones. Imports publish a BackupMerged to `changes`.

        `takers` let an open feature take the text of its file; each returns how much was new.
        """
        self._home = home
        self._store = store
        self._collections = collections
        self._changes = changes or Changes()
        self._takers = {} if takers is None else takers

    def collections(self) -> list[Collection]:
        """The collections that can be backed up alone, the oldest first."""
        return list(self._collections())

    def collection(self, name: str) -> Collection:
        """The collection of this name; AppError when there is none."""
        known = self.collections()
        for collection in known:
            if collection.name.casefold() == name.strip().casefold():
                return collection
        names = ", ".join(f"“{each.name}”" for each in known) or "none yet"
        raise AppError(f"There is no collection “{name}”.", f"Collections: {names}.")

    def export(
        self,
        file: Path,
        *,
        collection: Collection | None = None,
        with_index: bool = False,
        is_checked: bool = True,
        tell: Tell = silent,
        cancel: Event | None = None,
    ) -> BackupContents | None:
        """Write everything, or one collection with its chats, to a file, complete or not at all.

        It is read back if it `is_checked`. AppError when the disk refuses, Cancelled on `cancel`.
        """
        cancel = cancel or Event()
        with self._scratch() as scratch, ArchiveWriter(file) as archive:
            index = scratch if with_index else None
            tell("Reading chats and settings…")
            collection_id = collection.collection_id if collection else ""
            chosen, images = _write_entries(archive, self._store, collection_id, index, cancel)
            message_ids = chosen.message_ids if collection else None
            add_home_files(archive, self._home, message_ids=message_ids)
            if not collection:
                for kept in _kept_files():
                    if text_now := kept.text_of(self._home):
                        archive.add(kept.name, [text_now.encode()])
            if is_checked:
                # Not in a snapshot, which lies beside them on the same disk.
                sent = [e.key for e in chosen.entries if e.kind == "source" and e.row["program"]]
                add_sent(archive, self._home, sent, cancel)
            if index:
                size = index.stat().st_size
                archive.add(INDEX, _told(_pieces(index), size, "Writing the index", tell, cancel))
            counts = Counter(entry.kind for entry in chosen.entries)
            counts["image"] = images
            archive.finish(self._manifest(archive, collection.name if collection else "", counts))
        if not is_checked:
            return None
        tell("Checking the file…")
        return self.examine(file, cancel=cancel)

    def examine(self, file: Path, *, cancel: Event | None = None) -> BackupContents:
        """What a backup holds, with every value checked. AppError when it is no sound backup."""
        with opened_archive(file, self._store.schema) as archive:
            return contents_of(archive, self._home, cancel)

    def import_file(
        self,
        file: Path,
        *,
        takes_index: bool = False,
        leaves_out_wrong: bool = False,
        tell: Tell = silent,
        cancel: Event | None = None,
    ) -> Imported:
        """Merge a backup into the library: all of it, or nothing when one value is wrong.

        `takes_index` is for a library that nothing else uses. With `leaves_out_wrong`, for a
        snapshot that has the last copy, a wrong value costs only its entry. AppError, with nothing
        changed, for a bad file and when the disk refuses; Cancelled on `cancel`.
        """
        cancel = cancel or Event()
        schema = self._store.schema
        with (
            opened_archive(file, schema, leaves_out_wrong=leaves_out_wrong) as archive,
            self._scratch() as scratch,
        ):
            tell("Checking every value…")
            contents = contents_of(archive, self._home, cancel)
            no_index = self._reason_without_index(archive.manifest, takes_index=takes_index)
            index = scratch if contents.has_index and not no_index else None
            if index:
                _unpack(archive, index, tell, cancel)
            files = taken_files(archive, self._home)
            of_features = [(k, archive.text(k.name)) for k in _kept_files_in(archive)]
            tell("Merging…")
            if cancel.is_set():
                raise Cancelled
            done, added = self._merge(archive, index)
            files.write(self._home)
            for kept, content in of_features:
                take = self._takers.get(kept.name, partial(kept.take, self._home))
                added[kept.kind] = take(content)
            take_sent(archive, self._home, cancel)
        self._changes.publish(BackupMerged(files.settings))
        return Imported(
            contents, _added(added, files, self._home), tuple(done.overlapping),
            bool(index), no_index if contents.has_index else "", files.settings is not None,
        )  # fmt: skip

    def _merge(self, archive: Archive, index: Path | None) -> tuple[Merge, Counter[str]]:
        done, added = Merge(), Counter[str]()
        places = places_of(archive.manifest, self._home)
        # Before writing begins: checking every value takes the longest.
        incoming = archive.coherent_entries()

        def plan(present: Iterable[Entry]) -> list[Entry]:
            known = {(entry.kind, entry.key): entry for entry in present}
            merged = merge(list(present), incoming, places)
            done.overlapping = merged.overlapping
            added.clear()
            for entry in merged.put:
                added[entry.kind] += _is_new(entry, known.get((entry.kind, entry.key)))
            return merged.put

        added["image"] = self._store.merge(plan, archive.images, index)
        return done, added

    def _reason_without_index(self, manifest: Manifest, *, takes_index: bool) -> str:
        """Why an index can't be taken; "" when it can."""
        if self._store.has_index():
            return _HAS_DOCUMENTS
        if manifest.schema != self._store.schema:
            return _OTHER_SCHEMA
        return "" if takes_index else _RUNNING

    def _manifest(self, archive: ArchiveWriter, collection: str, counts: Counter[str]) -> Manifest:
        now = time.time()
        return Manifest(
            schema=self._store.schema,
            app=_app_version(),
            made_at=max(0.0, now),
            day=time.strftime("%Y-%m-%d", time.localtime(now)),
            home=str(self._home.root.absolute()),
            collection=collection,
            change_number=self._store.change_number(),
            counts={kind: count for kind, count in counts.items() if count},
            files=archive.facts,
        )

    @contextmanager
    def _scratch(self) -> Generator[Path]:
        """A place for an index, in the one folder that the engine may use; removed at the end."""
        scratch = self._home.backups / f"index-{secrets.token_hex(6)}"
        try:
            yield scratch
        finally:
            for left in self._home.backups.glob(f"{scratch.name}*"):
                left.unlink(missing_ok=True)


def remove_scratch(home: Home) -> None:
    """Remove what an interrupted export or import left. None may be running."""
    for left in home.backups.glob("index-*"):
        left.unlink(missing_ok=True)


def _write_entries(
    archive: ArchiveWriter,
    store: PreciousStore,
    collection_id: str,
    index: Path | None,
    cancel: Event,
) -> tuple[Selection, int]:
    """Write the entries, then the images, which come last; returns the number of images."""
    found: list[Entry] = []
    chosen: list[Selection] = []
    image_ids: list[str] = []

    def choose() -> Selection:
        if not chosen:
            chosen.append(selected(found, collection_id))
            archive.add(ENTRIES, map(_line, chosen[0].entries))
        return chosen[0]

    with ExitStack() as stack:
        streams: list[Write] = []

        def take(entry: Entry) -> None:
            if cancel.is_set():
                raise Cancelled
            if entry.kind != "image":
                found.append(entry)
            elif entry.key in choose().image_ids:
                if not streams:
                    streams.append(stack.enter_context(archive.stream(IMAGES)))
                streams[0](_line(entry))
                image_ids.append(entry.key)

        store.read(take, index=index)
    return choose(), len(image_ids)


def _line(entry: Entry) -> bytes:
    content = {"kind": entry.kind, "key": entry.key, "rows": entry.rows}
    if entry.conversation_id:
        content["conversation_id"] = entry.conversation_id
    return json.dumps(content, ensure_ascii=False).encode() + b"\n"


def _pieces(file: Path) -> Iterator[bytes]:
    with file.open("rb") as content:
        while piece := content.read(_PIECE):
            yield piece


def _told(
    pieces: Iterable[bytes], size: int, what: str, tell: Tell, cancel: Event
) -> Iterator[bytes]:
    """The pieces, with progress at each tenth; Cancelled on `cancel`."""
    done, tenths = 0, 0
    for piece in pieces:
        if cancel.is_set():
            raise Cancelled
        yield piece
        done += len(piece)
        if (now := 10 * done // max(1, size)) > tenths:
            tenths = now
            tell(f"{what}: {10 * tenths} %")


def _unpack(archive: Archive, to: Path, tell: Tell, cancel: Event) -> None:
    size = archive.manifest.files[INDEX].size
    with os_error_as("The index could not be unpacked.", to.parent):
        # Room for the file, and for its copy inside the library.
        if shutil.disk_usage(to.parent).free < 2 * size:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        descriptor = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            for piece in _told(archive.pieces(INDEX), size, "Unpacking the index", tell, cancel):
                file.write(piece)


def _is_new(entry: Entry, present: Entry | None) -> bool:
    """False for a chat that only moved in the list."""
    if present is None or entry.kind != "conversation":
        return True
    number = entry.row["change_number"]
    return {**present.row, "change_number": number} != entry.row


def _added(counts: Counter[str], files: TakenFiles, home: Home) -> dict[str, int]:
    counts["prompt"] = sum(path.parent == home.prompts for path, *_ in files.texts)
    counts["rewrite"] = sum(path.parent == home.rewrites for path, *_ in files.texts)
    return {kind: count for kind, count in counts.items() if count}


def _app_version() -> str:
    try:
        return version("desktop-rag")
    except PackageNotFoundError:
        return "not installed"
