"""Finds out whether a new file is a known one that was moved: between sources, or to another disk.

Runs on the scanner's thread. Moves inside a source that keep the inode are seen without this.
"""

import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from threading import Event

from desktop_rag.core.domain import Source
from desktop_rag.core.errors import Cancelled
from desktop_rag.core.files.file_state import hash_of
from desktop_rag.ingest.scanning.reconcile import Changes, FoundFile, KnownFile, Match, is_same
from desktop_rag.store.contract.documents import DocumentStore, ReadRow
from desktop_rag.store.contract.sources import SourceStore

_Lost = tuple[KnownFile, str]
_Kind = tuple[int, str]


class Moves:
    """Compares new files with known ones that are no longer where they were."""

    def __init__(self, documents: DocumentStore, sources: SourceStore, cancel: Event) -> None:
        self._documents = documents
        self._sources = sources
        self._cancel = cancel

    def find(self, source: Source, changes: Changes) -> Changes:
        """The changes, with new files that are known ones as moved. Raises Cancelled.

        Only files of the size and suffix of a lost one are opened.
        """
        fresh = [file for file in changes.new if not file.reason and file.size_bytes]
        if not fresh:
            return changes
        rows = self._documents.read_files({file.size_bytes for file in fresh})
        lost = self._lost(source, rows)
        if not lost:
            return changes
        matches = [match for file in fresh if (match := self._match(file, lost))]
        come = {match.found.location for match in matches}
        gone = {match.known.document_id for match in matches}
        return replace(
            changes,
            new=tuple(file for file in changes.new if file.location not in come),
            moved=(*changes.moved, *matches),
            vanished=tuple(file for file in changes.vanished if file.document_id not in gone),
        )

    def _lost(self, source: Source, rows: Iterable[ReadRow]) -> dict[_Kind, list[_Lost]]:
        """Files that were read and are not where they were; none of a drive that was pulled."""
        reached = {s.source_id for s in self._sources.sources() if _is_reached(s.path)}
        reached.add(source.source_id)
        lost: dict[_Kind, list[_Lost]] = defaultdict(list)
        for source_id, digest, row in rows:
            file = KnownFile(*row)
            if source_id in reached and not os.path.lexists(file.location):
                lost[(file.size_bytes, _suffix(file.location))].append((file, digest))
        return lost

    def _match(self, found: FoundFile, lost: dict[_Kind, list[_Lost]]) -> Match | None:
        candidates = lost.get((found.size_bytes, _suffix(found.location)))
        if not candidates:
            return None
        if self._cancel.is_set():
            raise Cancelled
        known = next((file for file, _ in candidates if file.inode and is_same(file, found)), None)
        if known is None:
            digest = _digest(found.path)
            known = next((file for file, its_digest in candidates if its_digest == digest), None)
        if known is None:
            return None
        candidates[:] = [lost for lost in candidates if lost[0] is not known]
        return Match(known, found)


def _digest(path: Path) -> str | None:
    try:
        return hash_of(path)
    except OSError:
        return None  # reading it will tell why


def _is_reached(root: Path) -> bool:
    """True for a folder with content: an empty one may be a mount point."""
    try:
        with os.scandir(root) as entries:
            return next(entries, None) is not None
    except OSError:
        return False


def _suffix(location: str) -> str:
    return Path(location).suffix.lower()
