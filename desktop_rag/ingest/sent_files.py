"""The folders with the documents that programs sent: their contents and their descriptions.

Any thread; `SentFolders` lets one write at a time. A description is written after its content and
names the content's file, so that a crash between the two leaves the document as it was.
"""

import contextlib
import hashlib
import json
import logging
import re
import shutil
import threading
from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from desktop_rag.core.crawling import SentDocument
from desktop_rag.core.domain import Document
from desktop_rag.core.errors import os_error_as
from desktop_rag.core.files.own_files import read_object, write_atomically
from desktop_rag.core.parsed import ParsedDocument
from desktop_rag.core.records import checked, encoded

log = logging.getLogger(__name__)

_ABOUT = "about"
_ROUND = "round.json"
_NAME_CHARS = 40
_NO_NAME = re.compile(r"[^\w]+")
_SUFFIX = re.compile(r"\.[a-z0-9]{1,10}")


def content_hash(content: bytes) -> str:
    """The hash that tells equal contents."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def file_name(own_id: str, name: str, digest: str) -> str:
    """The name of a content's file: readable, and unique for each content of each document."""
    mark = hashlib.blake2b(f"{own_id}\0{digest}".encode(), digest_size=8).hexdigest()
    suffix = Path(name).suffix.lower()
    stem = _NO_NAME.sub("-", Path(name).stem)[:_NAME_CHARS].strip("-") or "document"
    return f"{stem}-{mark}{suffix if _SUFFIX.fullmatch(suffix) else '.txt'}"


def read_all(folder: Path) -> list[SentDocument]:
    """What is known of the documents in the folder. A damaged description is left out."""
    found: list[SentDocument] = []
    for file in sorted((folder / _ABOUT).glob("*.json")):
        try:
            # A backup of somebody else may have brought it.
            found.append(checked(SentDocument, json.loads(file.read_bytes()), "it"))
        except (OSError, ValueError, RecursionError) as exc:
            log.warning("a sent document can't be read (%s): %s", file.name, type(exc).__name__)
    return found


def read_round(folder: Path) -> int:
    """The number of the last round of sending that began; 0 before the first."""
    number = read_object(folder / _ROUND).get("round", 0)
    return number if isinstance(number, int) else 0


def write_round(folder: Path, number: int) -> None:
    """Store the number of a round that begins. AppError when the disk refuses."""
    with _saving(folder):
        _make(folder)
        write_atomically(folder / _ROUND, json.dumps({"round": number}))


def write(folder: Path, document: SentDocument, content: bytes | None) -> None:
    """Store a description, after new content if there is any. AppError when the disk refuses."""
    with _saving(folder):
        _make(folder)
        (folder / _ABOUT).mkdir(mode=0o700, exist_ok=True)
        if content is not None:
            write_atomically(folder / document.file_name, content)
        made_of = json.dumps(encoded(document), ensure_ascii=False)
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


def _about(folder: Path, own_id: str) -> Path:
    return folder / _ABOUT / f"{content_hash(own_id.encode())}.json"


def _make(folder: Path) -> None:
    # Not all its parents: a home whose disk is away must not be made anew.
    for each in (folder.parent, folder):
        each.mkdir(mode=0o700, exist_ok=True)


@contextlib.contextmanager
def _saving(folder: Path) -> Generator[None]:
    with os_error_as("A sent document could not be saved.", folder):
        yield


class SentFolders:
    """The documents that programs sent, by source. `changing` is held over each change, with rows.

    Descriptions are read once and then kept in memory: nobody else writes there.
    """

    def __init__(self, folder: Path) -> None:
        """Each source has a folder of its own in this one, named by its id."""
        self._folder = folder
        self._known: dict[str, dict[str, SentDocument]] = {}
        # The program's id by the library's.
        self._own_ids: dict[str, dict[str, str]] = {}
        self.changing = threading.RLock()

    def of(self, source_id: str) -> dict[str, SentDocument]:
        """The documents of a source by the program's ids."""
        with self.changing:
            if source_id not in self._known:
                found = read_all(self._folder / source_id)
                self._known[source_id] = {document.own_id: document for document in found}
                self._own_ids[source_id] = {d.document_id: d.own_id for d in found}
            return dict(self._known[source_id])

    def find(self, document: Document) -> SentDocument | None:
        """The description of a sent document, or of the one around it; None for others."""
        if not self.holds(document):
            return None
        wanted = document.parent_id or document.document_id
        with self.changing:
            if document.source_id not in self._known:
                self.of(document.source_id)
            own_id = self._own_ids[document.source_id].get(wanted)
            return None if own_id is None else self._known[document.source_id].get(own_id)

    def holds(self, document: Document) -> bool:
        """True for a document that a program sent. Cheap."""
        return document.path.is_relative_to(self._folder)

    def path_of(self, source_id: str, document: SentDocument) -> Path:
        """The file with the content."""
        return self._folder / source_id / document.file_name

    def described(self, row: Document, parsed: ParsedDocument) -> ParsedDocument:
        """The parsed document with the title and language that its program stated."""
        stated = self.find(row)
        if stated is None:
            return parsed
        is_nameless = not parsed.title or parsed.title in (row.path.stem, row.path.name)
        title = stated.title or (stated.name if is_nameless else parsed.title)
        return replace(parsed, title=title, language=stated.language or parsed.language)

    # --- changes, with `changing` held -------------------------------------------------------

    def put(self, source_id: str, document: SentDocument, content: bytes | None) -> None:
        """Store the description of a document, and its content if that is new."""
        self.of(source_id)
        write(self._folder / source_id, document, content)
        self._known[source_id][document.own_id] = document
        self._own_ids[source_id][document.document_id] = document.own_id

    def drop(self, source_id: str, documents: Sequence[SentDocument]) -> None:
        """Delete documents."""
        known = self.of(source_id)
        for document in documents:
            drop(self._folder / source_id, document)
            known.pop(document.own_id, None)
        self._known[source_id] = known
        for document in documents:
            self._own_ids[source_id].pop(document.document_id, None)

    def drop_files(self, source_id: str, names: Sequence[str]) -> None:
        """Delete contents that were replaced."""
        kept = {document.file_name for document in self._known[source_id].values()}
        for name in set(names) - kept:
            drop_content(self._folder / source_id, name)

    def drop_others(self, source_id: str) -> None:
        """Delete contents that belong to no document, after a crash."""
        drop_others(self._folder / source_id, self.of(source_id).values())

    def forget(self, source_id: str) -> None:
        """Delete all documents of a source."""
        with self.changing:
            self._known.pop(source_id, None)
            shutil.rmtree(self._folder / source_id, ignore_errors=True)

    def reread(self, source_id: str) -> None:
        """Read the folder again: a backup may have brought documents."""
        with self.changing:
            self._known.pop(source_id, None)

    def round(self, source_id: str) -> int:
        """The number of the last round that began."""
        return read_round(self._folder / source_id)

    def set_round(self, source_id: str, number: int) -> None:
        """Begin a round."""
        write_round(self._folder / source_id, number)
