"""The rows of documents, the sites that folders mirror, and the changes of files.

Functions that take a connection run inside a transaction, or on an open cursor.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from desktop_rag.core.crawling import site_address
from desktop_rag.core.domain import Document, DocumentState, FileStat
from desktop_rag.core.library_events import FileChange, FileChangeKind
from desktop_rag.core.pictures import PICTURES_WAIT, waiting_in
from desktop_rag.store.contract.database import Connection, Database

DOCUMENT = (
    "document_id, source_id, path, title, format, size_bytes, mtime_ns, inode, content_hash,"
    " state, reason, chunk_count, indexed_at, parent_id, part, url, language, chunking, gone_at,"
    " readers, dated, tags"
)


def rows_of(con: Connection, document_ids: Sequence[str]) -> list[Document]:
    """The documents with these ids, in any order."""
    rows = con.execute(
        f"SELECT {DOCUMENT} FROM documents WHERE document_id IN (SELECT unnest(?::VARCHAR[]))",
        [list(document_ids)],
    ).fetchall()
    return [document_from(row) for row in rows]


def taken_rows(database: Database, con: Connection, document_ids: Sequence[str]) -> list[Document]:
    """Remove and return rows that others will replace, in one statement."""
    which, values = database.with_ids(document_ids)
    rows = con.execute(
        f"DELETE FROM documents WHERE {which} RETURNING {DOCUMENT}", values
    ).fetchall()
    return [document_from(row) for row in rows]


def delete_rows(con: Connection, document_ids: Sequence[str]) -> None:
    """Remove rows, without their content."""
    con.execute(
        "DELETE FROM documents WHERE document_id IN (SELECT unnest(?::VARCHAR[]))",
        [list(document_ids)],
    )


def waiting_pictures(con: Connection) -> int:
    """The number of pictures and scanned pages that wait to be read."""
    rows = con.execute(
        "SELECT reason FROM documents WHERE reason LIKE ? AND state <> 'gone'",
        [f"%{PICTURES_WAIT}%"],
    ).fetchall()
    return sum(waiting_in(row[0]) for row in rows)


def insert_rows(database: Database, con: Connection, documents: Sequence[Document]) -> None:
    """Add rows."""
    if not documents:
        return
    rows = [_row_of(document) for document in documents]
    names = [name.strip() for name in DOCUMENT.split(",")]
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    database.insert(con, "documents", columns)


def _row_of(d: Document) -> tuple[object, ...]:
    return (
        d.document_id, d.source_id, str(d.path), d.title, d.format, d.stat.size_bytes,
        d.stat.mtime_ns, d.stat.inode, d.content_hash, d.state.value, d.reason, d.chunk_count,
        d.indexed_at, d.parent_id, d.part, d.url, d.language, d.chunking, d.gone_at, d.readers,
        d.dated, "\n".join(d.tags),
    )  # fmt: skip


def document_from(row: tuple[object, ...]) -> Document:
    """The document of a row with the columns of DOCUMENT."""
    document_id, source_id, path, title, form, size, mtime, inode, digest, state, *rest, tags = row
    return Document(
        document_id, source_id, Path(str(path)), title, form,  # type: ignore[arg-type]
        FileStat(size, mtime, inode), digest, DocumentState(state), *rest,  # type: ignore[arg-type]
        tags=tuple(str(tags).split("\n")) if tags else (),
    )  # fmt: skip


# The folder and the base address of each source that mirrors a site, by the id of the source.
Sites = Mapping[str, tuple[Path, str]]


def read_sites(con: Connection) -> Sites:
    """The folders that mirror sites."""
    rows = con.execute(
        "SELECT source_id, path, base_address FROM sources WHERE base_address <> ''"
    ).fetchall()
    return {source_id: (Path(path), base) for source_id, path, base in rows}


def address_of(sites: Sites, source_id: str, path: str) -> str:
    """The address of a file on the site that its folder mirrors; "" if it mirrors none."""
    site = sites.get(source_id)
    return site_address(site[1], site[0], Path(path)) if site else ""


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
