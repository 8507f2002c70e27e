"""The documents that programs sent, in a backup: nothing else has them. Worker threads.

Each line of their file is one file of the app's folder for them, by source and name.
"""

import base64
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from desktop_rag.backup.archive_reader import Archive
from desktop_rag.backup.archive_writer import ArchiveWriter
from desktop_rag.backup.manifest import SENT
from desktop_rag.backup.value_rules import (
    WrongValueError,
    data,
    fields,
    identifier,
    moment,
    strict_json,
    text,
)
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.paths import Home

_MOST_BYTES = 64 << 20
# A content, or what is said of one; no path leads out of the folder of its source.
_NAME = re.compile(r"(?:about/)?[\w-][\w.-]{0,150}")
_LINE = fields(
    {
        "source_id": identifier(),
        "name": text(200, is_needed=True),
        "changed_at": moment(),
        "content": data(_MOST_BYTES),
    }
)


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file of what a program sent."""

    source_id: str
    name: str
    changed_at: float
    content: bytes


def add_sent(archive: ArchiveWriter, home: Home, source_ids: Sequence[str], cancel: Event) -> None:
    """Add what was sent to these sources, if there is anything."""
    folders = [home.sent / source_id for source_id in source_ids]
    if not any(folder.is_dir() for folder in folders):
        return
    with archive.stream(SENT) as write:
        for folder in folders:
            # What is said first: a content that changes meanwhile is then sent again.
            for file in (*sorted(folder.glob("about/*.json")), *sorted(folder.glob("*.*"))):
                if cancel.is_set():
                    raise Cancelled
                write(_line(folder, file))


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
    """Write what is missing here, and newer descriptions.

    AppError when the disk refuses; the same import then goes on. Cancelled on `cancel`.
    """
    try:
        for sent in sent_in(archive):
            if cancel.is_set():
                raise Cancelled
            path = home.sent / sent.source_id / sent.name
            if not path.exists() or path.stat().st_mtime < sent.changed_at:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.write_bytes(sent.content)
                os.utime(path, (sent.changed_at, sent.changed_at))
    except OSError as exc:
        raise AppError(
            "Not all documents that programs sent could be written.",
            f"{exc.filename}: {exc.strerror}. Import the backup again to complete it.",
        ) from exc


def _line(folder: Path, file: Path) -> bytes:
    try:
        content, changed_at = file.read_bytes(), max(0.0, file.stat().st_mtime)
    except FileNotFoundError:
        # Replaced or removed since the folder was listed.
        return b""
    line = {
        "source_id": folder.name,
        "name": file.relative_to(folder).as_posix(),
        "changed_at": changed_at,
        "content": {"base64": base64.b64encode(content).decode()},
    }
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def _file(line: bytes, place: str) -> SentFile:
    try:
        found = strict_json(line)
    except ValueError:
        raise WrongValueError(place) from None
    _LINE(found, place)
    if not _NAME.fullmatch(found["name"]) or ".." in found["name"]:
        raise WrongValueError(place)
    content = base64.b64decode(found["content"]["base64"])
    return SentFile(found["source_id"], found["name"], found["changed_at"], content)
