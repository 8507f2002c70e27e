"""Documents: a row per file, with text and chunks. Any thread; writes take the lane.

Functions that take a connection run inside a transaction, or on an open cursor.

A document inside another one (an attachment) has a `parent_id`; it is added, moved and removed with
its parent, in the same transaction.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from desktop_rag.core.crawling import site_address
from desktop_rag.core.domain import Document, DocumentState, FileStat
from desktop_rag.core.library_events import (
    DocumentCounts,
    FileChange,
    FileChangeKind,
    LibraryFacets,
)
from desktop_rag.core.parsed import Chunk
from desktop_rag.core.pictures import PICTURES_WAIT, waiting_in
from desktop_rag.core.question import Readable
from desktop_rag.store.contract.database import Connection, Database, Entity
from desktop_rag.store.contract.documents import DocumentClaims, IndexingOutcome, KnownRow, ReadRow
from desktop_rag.store.sql.documents.tag_store import follow_moves
from desktop_rag.store.sql.scope_filters import readable_documents
from desktop_rag.store.sql.sql_engine import DocumentContent, StagedOutcomes, fetched, sql_in

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


def is_current(now: Document | None, outcome: IndexingOutcome) -> bool:
    """True when the document still waits, with the file that was read."""
    if now is None or now.state is not DocumentState.WAITING:
        return False
    return outcome.taken_stat in (None, now.stat)


def merged(now: Document, outcome: IndexingOutcome) -> IndexingOutcome:
    """The outcome with the current source and path of its document."""
    count = now.chunk_count if outcome.keeps_content else outcome.document.chunk_count
    row = replace(outcome.document, source_id=now.source_id, path=now.path, chunk_count=count)
    return replace(outcome, document=row)


def parts_of(
    outcome: IndexingOutcome, before: Mapping[tuple[str, str], str]
) -> list[IndexingOutcome]:
    """The parts of an outcome, placed with their parent; one with a known name keeps its id."""
    parent = outcome.document
    placed: list[IndexingOutcome] = []
    for part in outcome.parts:
        known = before.get((parent.document_id, part.document.part))
        row = replace(
            part.document, source_id=parent.source_id, path=parent.path,
            parent_id=parent.document_id, document_id=known or part.document.document_id,
        )  # fmt: skip
        placed.append(replace(part, document=row))
    return placed


def following(part: Document, parent: Document) -> Document:
    """The row of a part once its parent has moved, is gone or came back."""
    state = part.state
    if parent.state is DocumentState.GONE:
        state = DocumentState.GONE
    elif state is DocumentState.GONE:
        has_content = part.chunk_count > 0
        state = DocumentState.SEARCHABLE_BY_WORDS if has_content else DocumentState.SKIPPED
    return replace(
        part, path=parent.path, source_id=parent.source_id, state=state, gone_at=parent.gone_at
    )


_ORPHANS = "chunks WHERE document_id NOT IN (SELECT document_id FROM documents)"
# Files attached to chats are no part of the library.
_OF_LIBRARY = "source_id NOT IN (SELECT source_id FROM sources WHERE is_attached)"
_OF_ONE_OR_ALL = f"(source_id = $source OR ($source = '' AND {_OF_LIBRARY}))"


class DocumentStore:
    """The rows of documents, their texts and chunks; one store per open file."""

    def __init__(
        self, database: Database, content: DocumentContent, claims: DocumentClaims
    ) -> None:
        self._database = database
        self._content = content
        self.claims = claims

    # --- reading -----------------------------------------------------------------------------

    def documents(
        self,
        source_id: str = "",
        state: DocumentState | None = None,
        readable: Readable | None = None,
    ) -> list[Document]:
        """The documents of a source (else the library), or in one state, by path and part."""
        inside, parameters = readable_documents(readable)
        parameters |= {"source": source_id, "state": state.value if state else ""}
        which = f"{_OF_ONE_OR_ALL}{inside} AND ($state = '' OR state = $state)"
        return self.with_sites(self._selected(f"{which} ORDER BY path, part", parameters))

    def of_sources(self, source_ids: Sequence[str]) -> list[Document]:
        """The documents of these sources, by path and part."""
        which = "source_id IN (SELECT unnest(?::VARCHAR[])) ORDER BY path, part"
        return self.with_sites(self._selected(which, [list(source_ids)]))

    def _selected(self, which: str, parameters: object) -> list[Document]:
        sql = f"SELECT {DOCUMENT} FROM documents WHERE {which}"
        return [document_from(row) for row in fetched(self._database, sql, parameters)]

    def counts(self, source_id: str = "", readable: Readable | None = None) -> DocumentCounts:
        """The number of files and web pages of the source (or of all) in each state."""
        inside, parameters = readable_documents(readable)
        rows = fetched(
            self._database,
            "SELECT state, count(*) FROM documents WHERE parent_id = ''"
            f" AND {_OF_ONE_OR_ALL}{inside} GROUP BY state",
            parameters | {"source": source_id},
        )
        return DocumentCounts({DocumentState(state): n for state, n in rows})

    def counts_by_source(self) -> dict[str, DocumentCounts]:
        """As `counts`, for each source that has files or web pages."""
        rows = fetched(
            self._database,
            "SELECT source_id, state, count(*) FROM documents WHERE parent_id = ''"
            " GROUP BY source_id, state",
        )
        found: dict[str, dict[DocumentState, int]] = {}
        for source_id, state, n in rows:
            found.setdefault(source_id, {})[DocumentState(state)] = n
        return {source_id: DocumentCounts(by_state) for source_id, by_state in found.items()}

    def facets(self) -> LibraryFacets:
        """The formats and folders of the documents that searches may find."""
        counted = (
            "count(*) FILTER (WHERE parent_id = ''), count(*) FILTER (WHERE parent_id <> '')"
            f" FROM documents WHERE chunk_count > 0 AND state <> 'gone' AND {_OF_LIBRARY}"
        )
        with self._database.read() as con:
            formats = con.execute(f"SELECT format, {counted} GROUP BY format").fetchall()
            folders = con.execute(
                f"SELECT parse_dirpath(path), {counted} AND url = '' GROUP BY 1"
            ).fetchall()
        return LibraryFacets(*(
            {name: row[at] for name, *row in rows if row[at]}
            for at in (0, 1) for rows in (formats, folders)
        ))  # fmt: skip

    def known_files(self, source_id: str) -> list[KnownRow]:
        """The rows that a scan compares with the disk; plain tuples, as there may be 50,000."""
        return fetched(
            self._database,
            "SELECT document_id, path, size_bytes, mtime_ns, inode, CASE WHEN state = 'skipped'"
            " AND content_hash = '' THEN reason ELSE '' END, gone_at"
            " FROM documents WHERE source_id = ? AND parent_id = ''",
            [source_id],
        )

    def read_files(self, sizes_bytes: Collection[int]) -> list[ReadRow]:
        """Files of all sources that were read and have one of these sizes."""
        rows = fetched(
            self._database,
            "SELECT source_id, content_hash, document_id, path, size_bytes, mtime_ns, inode,"
            " '', gone_at FROM documents WHERE parent_id = '' AND url = ''"
            f" AND content_hash <> '' AND size_bytes IN (SELECT unnest(?::BIGINT[]))"
            f" AND {_OF_LIBRARY}",
            [list(sizes_bytes)],
        )
        return [(row[0], row[1], row[2:]) for row in rows]

    def get(self, document_ids: Sequence[str]) -> list[Document]:
        """The rows of these documents; unknown ids are ignored."""
        with self._database.read() as con:
            found = rows_of(con, document_ids)
        return self.with_sites(found)

    def parts(self, document_id: str) -> list[Document]:
        """The documents inside this one, in order of their parts."""
        return self.with_sites(self._selected("parent_id = ? ORDER BY part", [document_id]))

    def with_sites(self, documents: Sequence[Document]) -> list[Document]:
        """The documents with their addresses on the sites that their folders mirror."""
        sites = self._database.cached(read_sites)
        return [
            replace(d, site_url=address_of(sites, d.source_id, str(d.path)))
            if d.source_id in sites
            else d
            for d in documents
        ]

    def text(self, document_id: str) -> str | None:
        """The whole extracted text; None when the document is unknown."""
        return self.content(document_id)[0]

    def content(self, document_id: str) -> tuple[str | None, str]:
        """The whole extracted text, None without one, and its places as JSON."""
        with self._database.read() as con:
            return self._content.text_of(con, document_id)

    def chunks(self, document_id: str) -> list[Chunk]:
        """The chunks of a document in reading order."""
        with self._database.snapshot() as snapshot:
            return self._content.chunks_of(snapshot.con, document_id)

    def outdated(self, collection_id: str, chunking: str, limit: int) -> list[Document]:
        """Up to `limit` documents of a collection whose chunks were made with other settings."""
        return self._selected(
            "chunk_count > 0 AND chunking <> ? AND state IN ('searchable', 'searchable by words')"
            " AND source_id IN (SELECT source_id FROM sources WHERE collection_id = ?)"
            " ORDER BY document_id LIMIT ?",
            [chunking, collection_id, limit],
        )

    def with_reason(self, words: str) -> list[Document]:
        """Files whose reason, or that of a document inside them, has these words."""
        return self._selected(
            f"{_OF_LIBRARY} AND document_id IN (SELECT CASE WHEN parent_id = '' THEN document_id"
            " ELSE parent_id END FROM documents WHERE reason LIKE ?)",
            [f"%{words}%"],
        )

    def content_hashes(self) -> set[str]:
        """The hashes of the content of all documents."""
        rows = fetched(self._database, "SELECT DISTINCT content_hash FROM documents")
        return {row[0] for row in rows}

    def changes_since(self, at: float) -> list[FileChange]:
        """What happened to files of the library from this time on, the newest first."""
        with self._database.read() as con:
            return changes_since(con, at)

    # --- writing -----------------------------------------------------------------------------

    def apply_changes(
        self,
        source_id: str,
        added: Sequence[Document],
        changed: Mapping[str, Callable[[Document], Document]],
        gone: Sequence[str],
    ) -> list[Document]:
        """Store the result of a scan in one transaction; returns the new and the changed rows.

        `changed` maps an id to a function from its current row to the new one.
        """
        entities = list[Entity]()

        def work(con: Connection) -> list[Document]:
            if not con.execute("SELECT 1 FROM sources WHERE source_id = ?", [source_id]).fetchall():
                return []
            before = rows_of(con, list(changed))
            now = [changed[d.document_id](d) for d in before]
            note_scan(self._database, con, added, zip(before, now, strict=True), rows_of(con, gone))
            entities.extend(follow_moves(con, before, {d.document_id: d for d in now}))
            skipped = [d.document_id for d in now if d.state is DocumentState.SKIPPED]
            self._delete_parts(con, [*gone, *skipped])
            self._content.delete(con, [*gone, *skipped])
            delete_rows(con, [*gone, *(d.document_id for d in now)])
            insert_rows(self._database, con, [*added, *now])
            parts = self._parts_following(con, now)
            pairs = zip(now, before, strict=True)
            moved = {a.document_id for a, b in pairs if a.source_id != b.source_id}
            inside = [part.document_id for part in parts if part.parent_id in moved]
            self._content.follow(con, [*moved, *inside])
            return [*added, *now, *parts]

        return self._database.write(work, changes=entities)

    def settle(self, outcomes: Sequence[IndexingOutcome]) -> list[Document]:
        """Store the outcomes of reading in one transaction, in place of the old content.

        The chunks of a large document are written before, unseen, in transactions of their own.
        """
        ids = [outcome.document.document_id for outcome in outcomes]
        assert len(set(ids)) == len(ids), "two outcomes for one document"

        def work(con: Connection, staged: StagedOutcomes) -> list[Document]:
            now = {d.document_id: d for d in taken_rows(self._database, con, ids)}
            kept = [o for o in staged.outcomes if is_current(now.get(o.document.document_id), o)]
            kept = [merged(now.pop(o.document.document_id), o) for o in kept]
            replaced = [o.document.document_id for o in kept if not o.keeps_content]
            before = self._delete_parts(con, replaced)
            self._content.delete(con, replaced)
            families = [(o, *parts_of(o, before)) for o in kept]
            rows = [o.document for family in families for o in family]
            insert_rows(self._database, con, [*rows, *now.values()])
            note_failures(self._database, con, rows)
            staged.insert(con, families)
            return rows

        with self._content.staged(outcomes) as staged:
            return self._database.write(partial(work, staged=staged))

    def recut(self, outcome: IndexingOutcome) -> Document | None:
        """Replace the chunks of a document whose text stays; None when it changed meanwhile."""
        wanted = outcome.document

        def work(con: Connection, staged: StagedOutcomes) -> Document | None:
            found = rows_of(con, [wanted.document_id])
            if not found or found[0].content_hash != wanted.content_hash:
                return None
            if not found[0].state.is_searchable:
                return None
            row = replace(
                found[0], state=DocumentState.SEARCHABLE_BY_WORDS,
                chunk_count=wanted.chunk_count, chunking=wanted.chunking,
            )  # fmt: skip
            delete_rows(con, [row.document_id])
            insert_rows(self._database, con, [row])
            text, places = self._content.text_of(con, row.document_id)
            self._content.delete(con, [row.document_id])
            whole = replace(outcome, document=row, text=text or "", places=places)
            staged.insert(con, [(whole,)])
            return row

        with self._content.staged([outcome]) as staged:
            return self._database.write(partial(work, staged=staged))

    def requeue_failed(self) -> list[Document]:
        """Queue the failed files for reading again; returns their rows."""
        return self._requeue("state = 'failed' AND (url = '' OR content_hash <> '')")

    def requeue_older_than(self, readers: int) -> list[Document]:
        """Queue files again that older readers read or refused; returns their rows."""
        known = "state IN ('searchable', 'searchable by words', 'failed')"
        refused = "(state = 'skipped' AND content_hash <> '')"
        fetched = "(url = '' OR content_hash <> '')"
        paused = "(state = 'waiting' AND reason <> '')"
        which = f"({known} OR {refused} OR {paused})"
        return self._requeue(f"readers < {readers:d} AND {fetched} AND {which}")

    def requeue(self, document_ids: Sequence[str]) -> list[Document]:
        """Queue these files to be read anew, even if unchanged; returns their rows."""
        return self._requeue(
            "document_id IN (SELECT unnest(?::VARCHAR[]))", [list(document_ids)], ", readers = 0"
        )

    def _requeue(self, which: str, values: Sequence[Any] = (), also: str = "") -> list[Document]:
        def work(con: Connection) -> list[Document]:
            rows = con.execute(
                f"UPDATE documents SET state = 'waiting', reason = ''{also}"
                f" WHERE parent_id = '' AND {_OF_LIBRARY} AND {which} RETURNING document_id",
                values,
            ).fetchall()
            return rows_of(con, [row[0] for row in rows])

        return self._database.write(work)

    # --- documents inside others -------------------------------------------------------------

    def _parts_following(self, con: Connection, parents: Sequence[Document]) -> list[Document]:
        """Move and hide the documents inside others with their parents; returns their new rows."""
        by_id = {d.document_id: d for d in parents}
        rows = con.execute(
            f"SELECT {DOCUMENT} FROM documents WHERE parent_id IN (SELECT unnest(?::VARCHAR[]))",
            [list(by_id)],
        ).fetchall()
        now = [following(document_from(row), by_id[row[13]]) for row in rows]
        delete_rows(con, [d.document_id for d in now])
        insert_rows(self._database, con, now)
        return now

    def _delete_parts(
        self, con: Connection, document_ids: Sequence[str]
    ) -> dict[tuple[str, str], str]:
        """Remove the documents inside these; returns their ids by parent and name of the part."""
        if not document_ids:
            return {}
        rows = con.execute(
            "SELECT parent_id, part, document_id FROM documents"
            f" WHERE {sql_in('parent_id', document_ids)}",
            list(document_ids),
        ).fetchall()
        if rows:
            ids = [row[2] for row in rows]
            self._content.delete(con, ids)
            delete_rows(con, ids)
        return {(parent_id, part): document_id for parent_id, part, document_id in rows}

    # --- checks ------------------------------------------------------------------------------

    def count_orphans(self) -> int:
        """The number of chunks without a document: 0 unless the file was damaged."""
        [(count,)] = fetched(self._database, f"SELECT count(*) FROM {_ORPHANS}")
        return int(count)

    def count_inconsistent(self) -> int:
        """The number of documents with two rows, or with other chunks than their row says."""
        [(count,)] = fetched(
            self._database,
            "SELECT count(*) FROM (SELECT document_id, count(*) AS times, sum(chunk_count) AS n"
            " FROM documents GROUP BY document_id) d LEFT JOIN (SELECT document_id, count(*)"
            " AS found, count(DISTINCT position) AS positions, min(chunk_id) AS lowest,"
            " max(chunk_id) AS highest FROM chunks"
            f" WHERE {self._content.finished} GROUP BY document_id) c USING (document_id)"
            " LEFT JOIN document_texts t USING (document_id) WHERE times > 1"
            " OR n <> coalesce(found, 0) OR found <> positions OR lowest <> first_chunk"
            " OR highest <> last_chunk OR coalesce(found, 0) <>"
            " coalesce(last_chunk - first_chunk + 1, 0)",
        )
        return int(count)

    def purge_orphans(self) -> int:
        """Remove content without a document; returns the number of chunks removed."""
        return self._database.write(self._content.purge_orphans)
