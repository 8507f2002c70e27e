"""Reads the file of a backup, which may come from anybody. Any worker thread.

Nothing is unpacked before its manifest was checked, no more than that allows is read of anything,
and what is read must have the hash that the manifest names.
"""

import hashlib
import io
import logging
import re
import struct
import zipfile
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Annotated, Any, Literal

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.claims import Claim
from desktop_rag.core.conversation import (
    Attachment,
    Feedback,
    InteractionOutcome,
    MessageState,
    Role,
    SearchNotes,
)
from desktop_rag.core.domain import LONGEST_TAG, MOST_TAGS, SourceRules, WebLinks, distinct_tags
from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.parsed import Anchor, ChunkSettings
from desktop_rag.core.question_scope import QuestionScope
from desktop_rag.core.records import (
    FILLED,
    LONGEST_LABEL,
    LONGEST_PATH,
    MOST_NUMBER,
    Address,
    Count,
    Id,
    IdOrNone,
    Moment,
    Offset,
    Within,
    WrongValueError,
    strict_json,
)
from desktop_rag.features.backup.manifest import (
    ENTRIES,
    IMAGES,
    MANIFEST,
    MOST_MANIFEST,
    Manifest,
    manifest_from,
)
from desktop_rag.features.backup.value_rules import (
    LONGEST_TEXT,
    Base64,
    Check,
    coherent,
    column,
    fields,
    record,
    text,
)
from desktop_rag.store.contract.precious import Entry, Json, backup_rules, kinds

log = logging.getLogger(__name__)

# The rows that a backup may hold. A test demands a rule for each column of the journal.

_MOST_IMAGE_BYTES = 64 * 1024 * 1024
_HOST_LINE = re.compile(r"[\w.:\[\]-]{1,300}(?:/\d{1,3})?(?: [0-9a-fA-F.:]{2,45}/\d{1,3})?")


def _path(value: object, place: str) -> None:
    """An absolute path of this or another system, with no step up."""
    text(LONGEST_PATH)(value, place)
    path = str(value)
    is_absolute = PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute()
    if not is_absolute or ".." in re.split(r"[/\\]", path):
        raise WrongValueError(place)


def _tags(value: object, place: str) -> None:
    """Tags as they are kept, one a line."""
    text(MOST_TAGS * (LONGEST_TAG + 1), is_needed=True)(value, place)
    tags = tuple(str(value).split("\n"))
    if len(tags) > MOST_TAGS or tags != distinct_tags(tags):
        raise WrongValueError(place)


def _hosts(value: object, place: str) -> None:
    """Hosts of the local network, one a line; what they allow is judged at each connection."""
    text(LONGEST_PATH)(value, place)
    if not all(_HOST_LINE.fullmatch(line) for line in str(value).splitlines()):
        raise WrongValueError(place)


_Name = Annotated[str, Within(0, LONGEST_LABEL)]
_Path = Annotated[str, Within(0, LONGEST_PATH)]
_Text = Annotated[str, Within(0, LONGEST_TEXT)]
_Number = Annotated[int, Within(0, MOST_NUMBER)]
_Attachments = Json(tuple[Attachment, ...])

_OF_CORE: Mapping[str, Mapping[str, Any]] = {
    "collections": {
        "collection_id": Id,
        "name": Annotated[_Name, FILLED],
        "created_at": Moment,
        "chunking": Json(ChunkSettings),
        "embedder": _Path,
        "intranet_hosts": _hosts,
    },
    "sources": {
        "source_id": Id,
        "collection_id": IdOrNone,
        "path": _path,
        "added_at": Moment,
        "rules": Json(SourceRules),
        "links": Json(WebLinks, may_be_empty=True),
        "refreshed_at": Moment,
        "program": _Name,
        "is_attached": bool,
        "base_address": Address | Literal[""],
    },
    "file_tags": {"tagging_id": Id, "path": _path, "tags": _tags},
    # An assistant of an earlier version counts passages.
    "assistants": {
        "assistant_id": Id,
        "made_of": Json(Assistant, is_open=True),
        "is_deleted": bool,
    },
    "conversations": {
        "conversation_id": Id,
        "title": _Text,
        "collection_id": IdOrNone,
        "created_at": Moment,
        "updated_at": Moment,
        "is_deleted": bool,
        "is_pinned": bool,
        "assistant_id": IdOrNone,
        "attachments": _Attachments,
        "kept_by": _Name,
        "change_number": _Number,
    },
    "messages": {
        "message_id": Id,
        "conversation_id": Id,
        "position": Count,
        "role": Role,
        "text": _Text,
        "created_at": Moment,
        "state": MessageState,
        "model": _Name,
        "is_excerpts": bool,
        "seconds": Annotated[float, Within(-MOST_NUMBER, MOST_NUMBER)],
        "error_title": _Text,
        "error_hint": _Text,
        "thinking": _Text,
        "notes": Json(SearchNotes, may_be_empty=True),
        "follow_ups": Json(tuple[str, ...]),
        "claims": Json(tuple[Claim, ...]),
        "is_own_knowledge": bool,
        "remembered": Json(tuple[tuple[str, str], ...]),
        "attachments": _Attachments,
        "copy_of": IdOrNone,
        "scope": Json(QuestionScope),
    },
    "citations": {
        "message_id": Id,
        "n": Count,
        "document_id": _Path,
        "path": _Path,
        "title": _Text,
        "anchor": Json(Anchor),
        "text": _Text,
        "score": Annotated[float, Within(-MOST_NUMBER, MOST_NUMBER)],
        "quote": _Text,
        "start_offset": Offset,
        "end_offset": Offset,
        "is_cited": bool,
        "part": _Text,
        "url": _Text,
        "also_in": Json(tuple[str, ...]),
        "is_nearest": bool,
        "query": _Text,
    },
    "feedback": {"number": _Number, "message_id": Id, "value": Feedback, "noted_at": Moment},
    "interactions": {
        "interaction_id": Id,
        "conversation_id": IdOrNone,
        "assistant_id": IdOrNone,
        "question": _Text,
        "asked": _Text,
        "answer": _Text,
        "outcome": InteractionOutcome,
        "ended_at": Moment,
        "model": _Name,
        "has_several_steps": bool,
        "number": _Number,
    },
    "attached_images": {
        "attachment_id": Id,
        "mime": Literal["image/png", "image/jpeg"],
        "data": Annotated[Base64, Within(0, _MOST_IMAGE_BYTES)],
        "kept_at": Moment,
    },
}
# Columns that older backups lack; they get their default.
_LATER: Mapping[str, frozenset[str]] = {
    "messages": frozenset({"scope"}),
    "collections": frozenset({"intranet_hosts"}),
    "sources": frozenset({"base_address", "program"}),
    "conversations": frozenset({"kept_by"}),
}
_LOGS = frozenset({"feedback"})  # several rows each


@cache
def column_rules() -> Mapping[str, Mapping[str, Check]]:
    """A check for each column of each table that a backup may hold."""
    return {
        table: {name: column(kind) for name, kind in columns.items()}
        for tables in (_OF_CORE, *(rules.columns for rules in backup_rules()))
        for table, columns in tables.items()
    }


def check_entry(entry: Entry, place: str) -> None:
    """WrongValueError with the place of the first value that the app does not write."""
    record(Id)(entry.key, f"{place}, its key")
    tables = kinds()[entry.kind].tables
    if entry.rows.keys() != tables.keys():
        raise WrongValueError(f"{place}, its kind")
    for position, (table, key) in enumerate(tables.items()):
        rows, rules = entry.rows[table], column_rules()[table]
        if position == 0 and (not rows or (len(rows) > 1 and entry.kind not in _LOGS)):
            raise WrongValueError(f"{place}, its rows")
        for n, row in enumerate(rows, start=1):
            where = f"{place}, {table} {n}"
            needed = rules.keys() - _LATER.get(table, frozenset())
            fields(rules, sorted(needed))(row, where)
            if row[key] != entry.key:
                raise WrongValueError(f"{where}, {key}")
    _check_together(entry, place)


def _check_together(entry: Entry, place: str) -> None:
    """Checks what spans several columns."""
    if entry.conversation_id != (entry.row["conversation_id"] if entry.kind == "message" else ""):
        raise WrongValueError(f"{place}, its conversation")
    if entry.kind == "message":
        cited: Sequence[Any] = [(row["n"], row["is_nearest"]) for row in entry.rows["citations"]]
        if len(set(cited)) < len(cited):
            raise WrongValueError(f"{place}, sources of one number")
    if entry.kind == "assistant":
        made_of = strict_json(entry.row["made_of"])
        if made_of["assistant_id"] != entry.key:
            raise WrongValueError(f"{place}, its id")
    for rules in backup_rules():
        if check := rules.entries.get(entry.kind):
            check(entry, place)


_PIECE = 1 << 20
_LONGEST_LINE = 128 << 20
# The end of a ZIP, without and with 64-bit sizes, and where the latter is.
_END, _END_64, _LOCATOR = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_END_BYTES, _LOCATOR_BYTES, _LONGEST_COMMENT = 22, 20, 65_535
_MOST_DIRECTORY_BYTES = 16 << 20


class Archive:
    """An open backup with a checked manifest."""

    def __init__(
        self, opened: zipfile.ZipFile, manifest: Manifest, *, leaves_out_wrong: bool = False
    ) -> None:
        self._zip = opened
        self._leaves_out_wrong = leaves_out_wrong
        self.manifest = manifest
        self.left_out: set[str] = set()
        # Kinds and keys of what absent features keep.
        self.of_others: set[tuple[str, str]] = set()

    def entries(self) -> Iterator[Entry]:
        """All entries but images and those of absent features; the last one proves the hash."""
        return self._lines(ENTRIES)

    def coherent_entries(self) -> list[Entry]:
        """All entries but images; where some were left out, without what belongs to these."""
        entries = list(self.entries())
        return coherent(entries) if self.left_out else entries

    def images(self) -> Iterator[Entry]:
        """The images, each checked."""
        return self._lines(IMAGES) if IMAGES in self.manifest.files else iter(())

    def text(self, name: str) -> str:
        """The text of a small file."""
        try:
            return b"".join(self.pieces(name)).decode("utf-8")
        except UnicodeDecodeError:
            raise WrongValueError(name) from None

    def pieces(self, name: str) -> Iterator[bytes]:
        """The content of a file in pieces; WrongValueError when it is another than promised."""
        facts, digest, size = self.manifest.files[name], hashlib.sha256(), 0
        with self._zip.open(name) as member:
            while piece := member.read(_PIECE):
                size += len(piece)
                if size > facts.size:
                    raise WrongValueError(f"the size of {name}")
                digest.update(piece)
                yield piece
        if size != facts.size or digest.hexdigest() != facts.sha256:
            raise WrongValueError(f"the hash of {name}")

    def _lines(self, name: str) -> Iterator[Entry]:
        # An image is one line; everything else in the archive is an entry of another kind.
        rest = b""
        n = 0
        for piece in self.pieces(name):
            *whole, rest = (rest + piece).split(b"\n") if b"\n" in piece else (rest + piece,)
            for line in whole:
                n += 1
                try:
                    entry = _entry(line, f"{name} line {n}", has_images=name == IMAGES)
                except WrongValueError as exc:
                    if not self._leaves_out_wrong:
                        raise
                    self.left_out.add(str(exc))
                    log.info("an entry was left out: %s", exc)
                    continue
                if entry.kind in kinds():
                    yield entry
                else:
                    self.of_others.add((entry.kind, entry.key))
            if len(rest) > _LONGEST_LINE:
                raise WrongValueError(f"{name} line {n + 1}")
        if rest:
            raise WrongValueError(f"{name} line {n + 1}")


@contextmanager
def opened_archive(
    file: Path, schema: int, *, leaves_out_wrong: bool = False
) -> Generator[Archive]:
    """The backup in a file. AppError, also later in the block, if damaged or of another version."""
    unreadable = os_error_as("The backup could not be read.", file)
    with unreadable, file.open("rb") as content, _as_damage(file):
        _refuse_long_directory(content)
        with zipfile.ZipFile(content) as opened:
            manifest = manifest_from(_manifest_of(opened), schema)
            _refuse_other_members(opened, manifest)
            yield Archive(opened, manifest, leaves_out_wrong=leaves_out_wrong)


class DamagedBackupError(AppError):
    """The bytes of a backup are not those of one that the app has made."""

    def __init__(self, file: Path, reason: str) -> None:
        super().__init__(f"{file.name} is no backup that this app has made, or it is damaged.",
                         f"{reason} Nothing was changed.")  # fmt: skip


@contextmanager
def _as_damage(file: Path) -> Generator[None]:
    try:
        yield
    except WrongValueError as exc:
        raise DamagedBackupError(file, f"Something is wrong at {exc}.") from exc
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as exc:
        raise DamagedBackupError(file, "It is no whole ZIP file.") from exc


def _manifest_of(opened: zipfile.ZipFile) -> Any:  # noqa: ANN401  checked by the caller
    names = [info.filename for info in opened.infolist()]
    if names.count(MANIFEST) != 1:
        raise WrongValueError(MANIFEST)
    info = opened.getinfo(MANIFEST)
    _refuse_odd(info)
    with opened.open(info) as member:
        content = member.read(MOST_MANIFEST + 1)
    if len(content) > MOST_MANIFEST:
        raise WrongValueError(f"the size of {MANIFEST}")
    try:
        return strict_json(content)
    except ValueError:
        raise WrongValueError(MANIFEST) from None


def _refuse_other_members(opened: zipfile.ZipFile, manifest: Manifest) -> None:
    members = opened.infolist()
    names = [info.filename for info in members]
    if sorted(names) != sorted([MANIFEST, *manifest.files]):
        raise WrongValueError("the list of files")
    for info in members:
        _refuse_odd(info)


def _refuse_odd(info: zipfile.ZipInfo) -> None:
    is_plain = info.compress_type in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
    if not is_plain or info.flag_bits & 0x1:
        raise WrongValueError(info.filename)


def _refuse_long_directory(content: IO[bytes]) -> None:
    """A list of files far longer than any backup's is not read into memory."""
    size = content.seek(0, io.SEEK_END)
    content.seek(max(0, size - _END_BYTES - _LONGEST_COMMENT))
    tail = content.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_BYTES:
        raise WrongValueError("its end")
    sizes: list[int] = [struct.unpack_from("<L", tail, at + 12)[0]]
    locator = tail[at - _LOCATOR_BYTES : at] if at >= _LOCATOR_BYTES else b""
    if locator.startswith(_LOCATOR):
        # zipfile takes the record from right before the locator.
        content.seek(max(0, size - len(tail) + at - _LOCATOR_BYTES - 56))
        record = content.read(56)
        sizes = [struct.unpack_from("<Q", record, 40)[0]] if record.startswith(_END_64) else sizes
    if max(sizes) > _MOST_DIRECTORY_BYTES:
        raise WrongValueError("its list of files")
    content.seek(0)


def _entry(line: bytes, place: str, *, has_images: bool) -> Entry:
    try:
        found = strict_json(line)
        entry = Entry(found["kind"], found["key"], found["rows"], found.get("conversation_id", ""))
        is_right = isinstance(entry.rows, dict) and all(
            isinstance(rows, list) for rows in entry.rows.values()
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise WrongValueError(place) from None
    is_named = type(found["kind"]) is str and type(found["key"]) is str
    if not is_right or not is_named or (entry.kind == "image") != has_images:
        raise WrongValueError(place)
    if entry.kind in kinds():
        check_entry(entry, place)
    return entry
