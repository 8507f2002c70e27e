"""Collections, sources, documents and their chunks. Any thread may call; writes take the lane."""

import json
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from desktop_rag.core.domain import (
    Chunk,
    Collection,
    Document,
    DocumentCounts,
    DocumentState,
    FileStat,
    Source,
)
from desktop_rag.core.errors import AppError
from desktop_rag.store.database import Connection, Database, insert

_DOCUMENT = (
    "document_id, source_id, path, title, format, size_bytes, mtime_ns, inode, content_hash,"
    " state, reason, chunk_count, indexed_at"
)

_ORPHANS = "chunks ANTI JOIN documents USING (document_id)"


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A parsed and chunked document, ready to be stored. `term_counts` has one item a chunk."""

    document: Document
    text: str
    chunks: tuple[Chunk, ...]
    term_counts: tuple[Counter[str], ...]


class DocumentStore:
    """What the app knows of files, and their words. Vectors are in `search.VectorStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # --- collections and sources ---------------------------------------------------------

    def add_collection(self, name: str) -> Collection:
        """A new collection; AppError when the name is empty or taken."""
        collection = Collection(uuid.uuid4().hex, name.strip())

        def work(con: Connection) -> None:
            taken = con.execute(
                "SELECT 1 FROM collections WHERE lower(name) = lower(?)", [collection.name]
            ).fetchall()
            if taken or not collection.name:
                raise AppError(f"There is no room for a collection “{collection.name}”.",
                               "Choose a name that is not empty and not in use.")  # fmt: skip
            row = [collection.collection_id, collection.name, time.time()]
            con.execute("INSERT INTO collections VALUES (?, ?, ?)", row)

        self._database.write(work)
        return collection

    def default_collection(self, name: str) -> Collection:
        """The oldest collection, made with this name when there is none yet."""

        def work(con: Connection) -> Collection:
            rows = con.execute(
                "SELECT collection_id, name FROM collections ORDER BY created_at LIMIT 1"
            ).fetchall()
            if rows:
                return Collection(*rows[0])
            made = Collection(uuid.uuid4().hex, name)
            row = [made.collection_id, made.name, time.time()]
            con.execute("INSERT INTO collections VALUES (?, ?, ?)", row)
            return made

        return self._database.write(work)

    def collections(self) -> list[Collection]:
        """All collections, the oldest first."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT collection_id, name FROM collections ORDER BY created_at"
            ).fetchall()
        return [Collection(*row) for row in rows]

    def add_source(self, path: Path, collection_id: str) -> Source:
        """Record a folder or file as a source of a collection."""
        source = Source(uuid.uuid4().hex, collection_id, path, time.time())
        row = [source.source_id, collection_id, str(path), source.added_at]
        self._database.write(
            lambda con: con.execute("INSERT INTO sources VALUES (?, ?, ?, ?)", row)
        )
        return source

    def sources(self) -> list[Source]:
        """All sources, the oldest first."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT source_id, collection_id, path, added_at FROM sources ORDER BY added_at"
            ).fetchall()
        return [Source(sid, cid, Path(path), at) for sid, cid, path, at in rows]

    def remove_source(self, source_id: str) -> None:
        """Forget the source with all its documents; the files themselves are not touched."""

        def work(con: Connection) -> None:
            ids = con.execute(
                "SELECT document_id FROM documents WHERE source_id = ?", [source_id]
            ).fetchall()
            _delete_content(con, [row[0] for row in ids])
            con.execute("DELETE FROM documents WHERE source_id = ?", [source_id])
            con.execute("DELETE FROM sources WHERE source_id = ?", [source_id])

        self._database.write(work)

    # --- documents -----------------------------------------------------------------------

    def documents(self, source_id: str = "", state: DocumentState | None = None) -> list[Document]:
        """Known documents, optionally of one source or in one state, by path."""
        with self._database.read() as con:
            rows = con.execute(
                f"SELECT {_DOCUMENT} FROM documents WHERE ($1 = '' OR source_id = $1)"
                " AND ($2 = '' OR state = $2) ORDER BY path",
                [source_id, state.value if state else ""],
            ).fetchall()
        return [_document_from(row) for row in rows]

    def counts(self, source_id: str = "") -> DocumentCounts:
        """How many documents of the source (or of all) are in each state."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT state, count(*) FROM documents WHERE ($1 = '' OR source_id = $1)"
                " GROUP BY state",
                [source_id],
            ).fetchall()
        return DocumentCounts({DocumentState(state): n for state, n in rows})

    def get(self, document_ids: Sequence[str]) -> list[Document]:
        """The rows of these documents; unknown ids are left out."""
        with self._database.read() as con:
            rows = con.execute(
                f"SELECT {_DOCUMENT} FROM documents WHERE document_id IN (SELECT unnest(?))",
                [list(document_ids)],
            ).fetchall()
        return [_document_from(row) for row in rows]

    def put_documents(self, documents: Sequence[Document]) -> None:
        """Insert or replace the rows alone; text and chunks of known ones stay searchable."""

        def work(con: Connection) -> None:
            _delete_rows(con, [d.document_id for d in documents])
            _insert_rows(con, documents)

        self._database.write(work)

    def settle(
        self,
        indexed: Sequence[IndexedDocument] = (),
        refused: Sequence[Document] = (),
        unchanged: Sequence[Document] = (),
    ) -> None:
        """Store how reading ended, in one transaction: old content out, new in.

        `indexed` are searchable by words once this returns; `refused` (skipped, failed) keep
        their row and lose their content; `unchanged` keep both. Documents that were deleted
        while they were being read are left out.
        """

        def work(con: Connection) -> None:
            rows = [*(item.document for item in indexed), *refused, *unchanged]
            known = _known(con, [d.document_id for d in rows])
            kept = [item for item in indexed if item.document.document_id in known]
            replaced = [item.document.document_id for item in kept]
            _delete_content(con, [*replaced, *(d.document_id for d in refused)])
            _delete_rows(con, list(known))
            _insert_rows(con, [d for d in rows if d.document_id in known])
            texts = [item.text for item in kept]
            insert(con, "document_texts", {"document_id": replaced, "text": texts})
            _insert_chunks(con, kept)

        self._database.write(work)

    def delete_documents(self, document_ids: Sequence[str]) -> None:
        """Forget the documents, their text and their words."""

        def work(con: Connection) -> None:
            _delete_content(con, document_ids)
            _delete_rows(con, document_ids)

        self._database.write(work)

    def text(self, document_id: str) -> str | None:
        """The whole extracted text; None when the document is not known (any more)."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT text FROM document_texts WHERE document_id = ?", [document_id]
            ).fetchall()
        return rows[0][0] if rows else None

    def count_orphans(self) -> int:
        """How many chunks belong to no document: always none unless the file was damaged."""
        with self._database.read() as con:
            [(count,)] = con.execute(f"SELECT count(*) FROM {_ORPHANS}").fetchall()
        return int(count)

    def purge_orphans(self) -> int:
        """Remove content that belongs to no document; returns how many chunks it was."""

        def work(con: Connection) -> int:
            rows = con.execute(
                f"SELECT document_id, count(*) FROM {_ORPHANS} GROUP BY document_id"
            ).fetchall()
            _delete_content(con, [row[0] for row in rows])
            return sum(row[1] for row in rows)

        return self._database.write(work)


def _known(con: Connection, document_ids: Sequence[str]) -> set[str]:
    rows = con.execute(
        "SELECT document_id FROM documents WHERE document_id IN (SELECT unnest(?))",
        [document_ids],
    ).fetchall()
    return {row[0] for row in rows}


def _delete_rows(con: Connection, document_ids: Sequence[str]) -> None:
    con.execute("DELETE FROM documents WHERE document_id IN (SELECT unnest(?))", [document_ids])


def _delete_content(con: Connection, document_ids: Sequence[str]) -> None:
    if not document_ids:
        return
    # The chunks of a document were numbered in one go, and DuckDB skips whole row groups by
    # range: this finds the postings of a document without reading the table.
    spans = con.execute(
        "SELECT min(chunk_id), max(chunk_id) FROM chunks"
        " WHERE document_id IN (SELECT unnest(?)) GROUP BY document_id",
        [document_ids],
    ).fetchall()
    for first, last in _merged(sorted(spans)):
        con.execute("DELETE FROM postings WHERE chunk_id BETWEEN ? AND ?", [first, last])
    if spans:
        con.execute("DELETE FROM chunks WHERE document_id IN (SELECT unnest(?))", [document_ids])
    con.execute(
        "DELETE FROM document_texts WHERE document_id IN (SELECT unnest(?))", [document_ids]
    )


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in spans:
        if merged and first == merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return merged


def _insert_rows(con: Connection, documents: Sequence[Document]) -> None:
    insert(
        con,
        "documents",
        {
            "document_id": [d.document_id for d in documents],
            "source_id": [d.source_id for d in documents],
            "path": [str(d.path) for d in documents],
            "title": [d.title for d in documents],
            "format": [d.format for d in documents],
            "size_bytes": [d.stat.size_bytes for d in documents],
            "mtime_ns": [d.stat.mtime_ns for d in documents],
            "inode": [d.stat.inode for d in documents],
            "content_hash": [d.content_hash for d in documents],
            "state": [d.state.value for d in documents],
            "reason": [d.reason for d in documents],
            "chunk_count": [d.chunk_count for d in documents],
            "indexed_at": [d.indexed_at for d in documents],
        },
    )


def _insert_chunks(con: Connection, batch: Sequence[IndexedDocument]) -> None:
    [(last,)] = con.execute("SELECT coalesce(max(chunk_id), 0) FROM chunks").fetchall()
    first = last + 1
    rows = [(item.document.document_id, chunk) for item in batch for chunk in item.chunks]
    counts = [count for item in batch for count in item.term_counts]
    ids = range(first, first + len(rows))
    insert(
        con,
        "chunks",
        {
            "chunk_id": list(ids),
            "document_id": [document_id for document_id, _ in rows],
            "position": [chunk.position for _, chunk in rows],
            "start_offset": [chunk.start for _, chunk in rows],
            "end_offset": [chunk.end for _, chunk in rows],
            "text": [chunk.text for _, chunk in rows],
            "heading": [chunk.heading for _, chunk in rows],
            "anchor": [json.dumps(chunk.anchor.to_json()) for _, chunk in rows],
            "content_hash": [chunk.content_hash for _, chunk in rows],
            "term_count": [count.total() for count in counts],
        },
    )
    postings = [(t, i, n) for i, count in zip(ids, counts, strict=True) for t, n in count.items()]
    insert(
        con,
        "postings",
        {
            "term": [term for term, _, _ in postings],
            "chunk_id": [chunk_id for _, chunk_id, _ in postings],
            "tf": [min(tf, 65_535) for _, _, tf in postings],
        },
    )


def _document_from(row: tuple[object, ...]) -> Document:
    document_id, source_id, path, title, form, size, mtime, inode, digest, state, *rest = row
    return Document(
        document_id, source_id, Path(str(path)), title, form,  # type: ignore[arg-type]
        FileStat(size, mtime, inode), digest, DocumentState(state), *rest,  # type: ignore[arg-type]
    )  # fmt: skip
