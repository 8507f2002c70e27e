"""What happened to files in the last days. Inside a transaction, or on an open cursor."""

import time
from collections.abc import Iterable, Sequence
from typing import Any

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.library_events import FileChange, FileChangeKind
from desktop_rag.store.sql.sql_engine import Connection, Database

_KEPT_S = 8 * 86_400.0
_COLUMNS = ("noted_at", "kind", "document_id", "source_id", "name", "reason")


def changes_since(con: Connection, at: float) -> list[FileChange]:
    """The changes from this time on, the newest first."""
    rows = con.execute(
        f"SELECT {', '.join(_COLUMNS)} FROM file_changes WHERE noted_at >= ? AND source_id IN"
        " (SELECT source_id FROM sources WHERE NOT is_attached) ORDER BY noted_at DESC, name",
        [at],
    ).fetchall()
    return [FileChange(row[0], FileChangeKind(row[1]), *row[2:]) for row in rows]


def note_scan(
    database: Database,
    con: Connection,
    added: Iterable[Document],
    changed: Iterable[tuple[Document, Document]],
    gone: Iterable[Document],
) -> None:
    """Note the result of a scan; `changed` has each row before and after."""
    notes = [(FileChangeKind.ADDED, document) for document in added]
    for before, after in changed:
        if kind := _kind_of(before, after):
            notes.append((kind, after))
    # What was kept for a while was noted when it went.
    notes += [(FileChangeKind.REMOVED, document) for document in gone if not document.gone_at]
    _note(database, con, notes)


def note_failures(database: Database, con: Connection, read: Iterable[Document]) -> None:
    """Note the files that could not be read."""
    failed = [document for document in read if document.state is DocumentState.FAILED]
    _note(database, con, [(FileChangeKind.FAILED, document) for document in failed])


def _kind_of(before: Document, after: Document) -> FileChangeKind | None:
    if before.state is DocumentState.GONE:
        return FileChangeKind.ADDED
    if after.state is DocumentState.GONE:
        return FileChangeKind.REMOVED
    if before.path != after.path:
        return FileChangeKind.MOVED
    return FileChangeKind.CHANGED if before.stat != after.stat else None


def _note(
    database: Database, con: Connection, notes: Sequence[tuple[FileChangeKind, Document]]
) -> None:
    notes = [(kind, document) for kind, document in notes if not document.parent_id]
    if not notes:
        return
    now = time.time()
    con.execute("DELETE FROM file_changes WHERE noted_at < ?", [now - _KEPT_S])
    rows = [
        (now, kind.value, d.document_id, d.source_id, d.url or str(d.path), d.reason)
        for kind, d in notes
    ]
    columns: dict[str, Any] = dict(zip(_COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    database.insert(con, "file_changes", columns)
