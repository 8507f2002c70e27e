"""The rows of documents as values and back. Inside a transaction or on an open cursor."""

from collections.abc import Sequence
from pathlib import Path

from desktop_rag.core.domain import Document, DocumentState, FileStat
from desktop_rag.core.pictures.waiting_pictures import PICTURES_WAIT, waiting_in
from desktop_rag.store.sql.sql_engine import Connection, Database

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
    """Remove rows that others will replace, and return them: one statement does both."""
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
