"""All documents that programs sent, by source, as they are in the folders of the app. Any thread.

What is said of them is read once and then kept in memory: nobody else writes there.
"""

import shutil
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from desktop_rag.core.domain import Document
from desktop_rag.core.parsed import ParsedDocument
from desktop_rag.core.sent.sent_document import SentDocument
from desktop_rag.ingest.sent import sent_files


class SentFolders:
    """Reads and writes what programs sent. `changing` is held over each change, rows included."""

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
                found = sent_files.read_all(self._folder / source_id)
                self._known[source_id] = {document.own_id: document for document in found}
                self._own_ids[source_id] = {d.document_id: d.own_id for d in found}
            return dict(self._known[source_id])

    def find(self, document: Document) -> SentDocument | None:
        """What its program said of a document, or of the one around it; None for others."""
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
        """Store what is said of a document, and its content if that is new."""
        self.of(source_id)
        sent_files.write(self._folder / source_id, document, content)
        self._known[source_id][document.own_id] = document
        self._own_ids[source_id][document.document_id] = document.own_id

    def drop(self, source_id: str, documents: Sequence[SentDocument]) -> None:
        """Delete documents."""
        known = self.of(source_id)
        for document in documents:
            sent_files.drop(self._folder / source_id, document)
            known.pop(document.own_id, None)
        self._known[source_id] = known
        for document in documents:
            self._own_ids[source_id].pop(document.document_id, None)

    def drop_files(self, source_id: str, names: Sequence[str]) -> None:
        """Delete contents that were replaced."""
        kept = {document.file_name for document in self._known[source_id].values()}
        for name in set(names) - kept:
            sent_files.drop_content(self._folder / source_id, name)

    def drop_others(self, source_id: str) -> None:
        """Delete contents that belong to no document, after a crash."""
        sent_files.drop_others(self._folder / source_id, self.of(source_id).values())

    def forget(self, source_id: str) -> None:
        """Delete all documents of a source."""
        with self.changing:
            self._known.pop(source_id, None)
            shutil.rmtree(self._folder / source_id, ignore_errors=True)

    def reread(self, source_id: str) -> None:
        """Look at the folder again: a backup may have brought documents."""
        with self.changing:
            self._known.pop(source_id, None)

    def round(self, source_id: str) -> int:
        """The number of the last round that began."""
        return sent_files.read_round(self._folder / source_id)

    def set_round(self, source_id: str, number: int) -> None:
        """Begin a round."""
        sent_files.write_round(self._folder / source_id, number)
