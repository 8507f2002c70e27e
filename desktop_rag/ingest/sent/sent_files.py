"""The folder with the documents that one program sent: their contents, and what it said of them.

Any thread; `SentFolders` lets one write at a time. A description is written after its content and
names the content's file, so that a crash between the two leaves the document as it was.
"""

import contextlib
import hashlib
import json
import logging
import os
import re
from collections.abc import Generator, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.atomic_file import read_object, write_atomically
from desktop_rag.core.sent.sent_document import SentDocument

log = logging.getLogger(__name__)

_ABOUT = "about"
_ROUND = "round.json"
_NAME_CHARS = 40
_NO_NAME = re.compile(r"[^\w]+")
_FILE_NAME = re.compile(r"[\w-]{1,80}\.[a-z0-9]{1,10}")
_SUFFIX = re.compile(r"\.[a-z0-9]{1,10}")


def content_hash(content: bytes) -> str:
    """The hash by which equal content is known."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def file_name(own_id: str, name: str, digest: str) -> str:
    """The name of a content's file: readable, and of its own for each content of each document."""
    mark = hashlib.blake2b(f"{own_id}\0{digest}".encode(), digest_size=8).hexdigest()
    suffix = Path(name).suffix.lower()
    stem = _NO_NAME.sub("-", Path(name).stem)[:_NAME_CHARS].strip("-") or "document"
    return f"{stem}-{mark}{suffix if _SUFFIX.fullmatch(suffix) else '.txt'}"


def read_all(folder: Path) -> list[SentDocument]:
    """What is known of the documents in the folder. A damaged description is left out."""
    found: list[SentDocument] = []
    for file in sorted((folder / _ABOUT).glob("*.json")):
        try:
            found.append(_document(json.loads(file.read_text(encoding="utf-8"))))
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as exc:
            log.warning("a sent document can't be read (%s): %s", file.name, type(exc).__name__)
    return found


def read_round(folder: Path) -> int:
    """The number of the last round of sending that began; 0 before the first."""
    number = read_object(folder / _ROUND).get("round", 0)
    return number if isinstance(number, int) else 0


def write_round(folder: Path, number: int) -> None:
    """Store the number of a round that begins. AppError when the disk refuses."""
    with _saving(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(folder / _ROUND, json.dumps({"round": number}))


def write(folder: Path, document: SentDocument, content: bytes | None) -> None:
    """Store a description, after new content if there is any. AppError when the disk refuses."""
    with _saving(folder):
        (folder / _ABOUT).mkdir(mode=0o700, parents=True, exist_ok=True)
        if content is not None:
            _write_content(folder / document.file_name, content)
        made_of = json.dumps(asdict(document), ensure_ascii=False)
        write_atomically(_about(folder, document.own_id), made_of)


def drop(folder: Path, document: SentDocument) -> None:
    """Delete a document; without effect when it is gone."""
    with _saving(folder):
        _about(folder, document.own_id).unlink(missing_ok=True)
        if document.file_name:
            (folder / document.file_name).unlink(missing_ok=True)


def drop_content(folder: Path, name: str) -> None:
    """Delete the file of a content, if it can be; otherwise the next check does."""
    with contextlib.suppress(OSError):
        (folder / name).unlink(missing_ok=True)


def drop_others(folder: Path, known: Iterable[SentDocument]) -> None:
    """Delete contents that no description names."""
    kept = {_ROUND, _ABOUT, *(document.file_name for document in known)}
    for file in folder.iterdir() if folder.is_dir() else ():
        if file.name not in kept:
            with contextlib.suppress(OSError):
                file.unlink()


def _document(made_of: dict[str, Any]) -> SentDocument:
    """A description; a backup of somebody else may have brought it, so nothing is trusted."""
    texts = ("own_id", "document_id", "name", "title", "language", "url", "content_hash")
    if not all(isinstance(made_of[name], str) for name in (*texts, "file_name")):
        raise TypeError("not a text")
    if not all(isinstance(made_of[name], int | float) for name in ("sent_at", "round")):
        raise TypeError("not a number")
    if not _FILE_NAME.fullmatch(made_of["file_name"]) or not isinstance(made_of["metadata"], dict):
        raise ValueError("not the name of a file of this folder")
    return SentDocument(**made_of)


def _about(folder: Path, own_id: str) -> Path:
    return folder / _ABOUT / f"{content_hash(own_id.encode())}.json"


def _write_content(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.new")
    with temporary.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


@contextlib.contextmanager
def _saving(folder: Path) -> Generator[None]:
    try:
        yield
    except OSError as exc:
        raise AppError("A sent document could not be saved.", f"{folder}: {exc.strerror}.") from exc
