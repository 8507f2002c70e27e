"""Collections, sources, documents and their chunks. Any thread may call; writes take the lane."""

import json
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
class Outcome:
    """How reading a document ended: its row, and the content that replaces what it had.

    A document that was refused has none and loses what it had, unless `keeps_content`.
    `term_counts` has one item a chunk. `taken_stat` is what the row said of the file when its
    reading began: a row that says otherwise by now was found changed again.
    """

    document: Document
    text: str = ""
    chunks: tuple[Chunk, ...] = ()
    term_counts: tuple[Counter[str], ...] = ()
    keeps_content: bool = False
    taken_stat: FileStat | None = None


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
            return _rows(con, document_ids)

    def apply_changes(
        self,
        source_id: str,
        added: Sequence[Document],
        changed: Mapping[str, Callable[[Document], Document]],
        gone: Sequence[str],
    ) -> list[Document]:
        """Store what a scan found, in one transaction; returns the new and the changed rows.

        `changed` maps an id to what becomes of its row as it is now. A row that becomes skipped
        loses its content. Nothing is done when the source was removed meanwhile.
        """

        def work(con: Connection) -> list[Document]:
            if not con.execute("SELECT 1 FROM sources WHERE source_id = ?", [source_id]).fetchall():
                return []
            now = [changed[d.document_id](d) for d in _rows(con, list(changed))]
            skipped = [d.document_id for d in now if d.state is DocumentState.SKIPPED]
            _delete_content(con, [*gone, *skipped])
            _delete_rows(con, [*gone, *(d.document_id for d in now)])
            _insert_rows(con, [*added, *now])
            return [*added, *now]

        return self._database.write(work)

    def settle(self, outcomes: Sequence[Outcome]) -> list[Document]:
        """Store how reading ended, in one transaction: old content out, new in.

        Documents are searchable by words once this returns. Left out is one that no longer waits,
        because it was deleted or is to be skipped now, and one that was found changed again; one
        that was moved keeps its new path. Returns the rows as stored. Ids must be distinct.
        """

        def work(con: Connection) -> list[Document]:
            ids = [outcome.document.document_id for outcome in outcomes]
            assert len(set(ids)) == len(ids), "a document is settled once"
            rows_now = {d.document_id: d for d in _rows(con, ids)}
            kept = [o for o in outcomes if _is_awaited(rows_now.get(o.document.document_id), o)]
            now = {o.document.document_id: rows_now[o.document.document_id] for o in kept}
            rows = [_merged(now[o.document.document_id], o) for o in kept]
            replaced = [o.document.document_id for o in kept if not o.keeps_content]
            _delete_content(con, replaced)
            _delete_rows(con, list(now))
            _insert_rows(con, rows)
            _insert_content(con, [outcome for outcome in kept if outcome.chunks])
            return rows

        return self._database.write(work)

    def requeue_failed(self) -> list[Document]:
        """Make the failed documents wait again; returns their rows."""

        def work(con: Connection) -> list[Document]:
            rows = con.execute(
                "UPDATE documents SET state = 'waiting', reason = '' WHERE state = 'failed'"
                " RETURNING document_id"
            ).fetchall()
            return _rows(con, [row[0] for row in rows])

        return self._database.write(work)

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

    def count_inconsistent(self) -> int:
        """How many documents stand twice, or have another number of chunks than their row says."""
        with self._database.read() as con:
            [(count,)] = con.execute(
                "SELECT count(*) FROM (SELECT document_id, count(*) AS times, sum(chunk_count) AS n"
                " FROM documents GROUP BY document_id) d LEFT JOIN (SELECT document_id, count(*)"
                " AS found, count(DISTINCT position) AS places FROM chunks GROUP BY document_id) c"
                " USING (document_id) WHERE times > 1 OR n <> coalesce(found, 0)"
                " OR found <> places"
            ).fetchall()
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


def _rows(con: Connection, document_ids: Sequence[str]) -> list[Document]:
    rows = con.execute(
        f"SELECT {_DOCUMENT} FROM documents WHERE document_id IN (SELECT unnest(?))",
        [list(document_ids)],
    ).fetchall()
    return [_document_from(row) for row in rows]


def _is_awaited(now: Document | None, outcome: Outcome) -> bool:
    if now is None or now.state is not DocumentState.WAITING:
        return False
    return outcome.taken_stat in (None, now.stat)


def _merged(now: Document, outcome: Outcome) -> Document:
    """The outcome's row at the place where the document is now."""
    count = now.chunk_count if outcome.keeps_content else outcome.document.chunk_count
    return replace(outcome.document, source_id=now.source_id, path=now.path, chunk_count=count)


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
    for first, last in _joined(sorted(spans)):
        con.execute("DELETE FROM postings WHERE chunk_id BETWEEN ? AND ?", [first, last])
    if spans:
        con.execute("DELETE FROM chunks WHERE document_id IN (SELECT unnest(?))", [document_ids])
    con.execute(
        "DELETE FROM document_texts WHERE document_id IN (SELECT unnest(?))", [document_ids]
    )


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for first, last in spans:
        if joined and first == joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return joined


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


def _insert_content(con: Connection, batch: Sequence[Outcome]) -> None:
    ids = [item.document.document_id for item in batch]
    texts = [item.text for item in batch]
    insert(con, "document_texts", {"document_id": ids, "text": texts})
    _insert_chunks(con, batch)


def _insert_chunks(con: Connection, batch: Sequence[Outcome]) -> None:
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
