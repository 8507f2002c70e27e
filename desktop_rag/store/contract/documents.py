"""Documents: rows, texts and chunks; claims on them, and their tags. Any thread."""

import json
import uuid
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from desktop_rag.core.domain import (
    MOST_TAGS,
    Document,
    DocumentState,
    FileStat,
    TagCount,
    with_changes,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import DocumentCounts, FileChange, LibraryFacets
from desktop_rag.core.parsed import Anchor, Chunk
from desktop_rag.core.question import Readable
from desktop_rag.store.contract.database import (
    Connection,
    Database,
    Entity,
    OwnConnection,
    fetched,
    folded,
    readable_documents,
    sql_in,
)
from desktop_rag.store.contract.document_rows import (
    DOCUMENT,
    address_of,
    changes_since,
    delete_rows,
    document_from,
    insert_rows,
    note_failures,
    note_scan,
    read_sites,
    rows_of,
    taken_rows,
)


class DocumentClaims:
    """Which process reads a document, where several share a queue; claims end with the process.

    These are for a library that no other process has open: everything is granted.
    """

    def take(self, document_ids: Sequence[str]) -> list[str]:
        """Claim documents; returns those that no other process has claimed, own claims included."""
        return list(document_ids)

    def release(self, document_ids: Iterable[str]) -> None:
        """Give claims back. Never fails: without the server there are none."""


# document_id, path, size_bytes, mtime_ns, inode, why the scan skipped it, gone_at,
# indexed_at
KnownRow = tuple[str, str, int, int, int, str, float, float]
# source_id, content_hash, and the row
ReadRow = tuple[str, str, KnownRow]


@dataclass(frozen=True, slots=True)
class IndexingOutcome:
    """The result of reading a document: its row, and the content that replaces the old one.

    A refused document has no content and loses the old one, unless `keeps_content`. `term_counts`
    has an item per chunk, computed lazily if there are many; the chunks can be made again from the
    text and `places`. `taken_stat` is the stat in the row when reading began: if the row has
    another one by now, the file has changed again. `parts` are the documents inside this one.
    """

    document: Document
    text: str = ""
    chunks: tuple[Chunk, ...] = ()
    term_counts: Sequence[Counter[str]] = ()
    places: str = ""
    keeps_content: bool = False
    taken_stat: FileStat | None = None
    parts: "tuple[IndexingOutcome, ...]" = ()


# A document with the documents inside it.
Family = Sequence[IndexingOutcome]


@dataclass
class StagedOutcomes(ABC):
    """Outcomes whose content is about to be stored."""

    outcomes: list[IndexingOutcome]

    @abstractmethod
    def insert(self, con: OwnConnection, families: Sequence[Family]) -> None:
        """Store the content of these documents, in the transaction that stores their rows."""


class DocumentContent(ABC):
    """Texts, chunks and postings of documents, as an engine keeps them."""

    def __init__(self, database: Database) -> None:
        self.database = database

    @abstractmethod
    def staged(self, outcomes: Sequence[IndexingOutcome]) -> AbstractContextManager[StagedOutcomes]:
        """Prepare these outcomes; what the block doesn't insert is removed."""

    @abstractmethod
    def delete(self, con: OwnConnection, document_ids: Sequence[str]) -> None:
        """Remove text, chunks and postings of these documents."""

    @abstractmethod
    def follow(self, con: OwnConnection, document_ids: Sequence[str]) -> None:
        """Move content whose documents changed their source, if the engine places it by source."""

    def text_of(self, con: OwnConnection, document_id: str) -> tuple[str | None, str]:
        """The whole text of a document, None without one, and its places as JSON."""
        which, ids = self.database.with_ids([document_id])
        rows = con.execute(f"SELECT text, places FROM document_texts WHERE {which}", ids).fetchall()
        return rows[0] if rows else (None, "")

    @abstractmethod
    def chunks_of(self, con: OwnConnection, document_id: str) -> list[Chunk]:
        """The chunks of a document in reading order."""


def chunk_rows(outcomes: Iterable[IndexingOutcome]) -> Iterator[tuple[str, Chunk, Any]]:
    """(document id, chunk, term counts) of each chunk of these outcomes."""
    for item in outcomes:
        for chunk, count in zip(item.chunks, item.term_counts, strict=True):
            yield item.document.document_id, chunk, count


CHUNK = "position, start_offset, end_offset, text, anchor, context, content_hash"


def chunk_from(row: Sequence[Any]) -> Chunk:
    """The chunk of a row with the columns of CHUNK."""
    position, start, end, text, anchor, context, digest = row
    place = Anchor.from_json(json.loads(anchor))
    return Chunk(position, start, end, text, place, context, digest.hex)


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


# Files attached to chats are no part of the library.
_OF_LIBRARY = "source_id NOT IN (SELECT source_id FROM sources WHERE is_attached)"
_OF_ONE_OR_ALL = f"(source_id = $source OR ($source = '' AND {_OF_LIBRARY}))"


class DocumentStore:
    """Documents with their texts, chunks and postings, stored and removed in one transaction.

    A document inside another one (an attachment) has a `parent_id`; it is added, moved, hidden and
    removed with its parent, in the same transaction. A document that is GONE is listed, but not
    searchable. Files attached to chats are listed only by their source or id.

    Chunk ids are assigned when chunks are stored, from 1 up: those of a document in reading order
    without gaps, so that neighbours differ by one. Replacing a document assigns new ids. Numbers
    are at most 2^63 − 1, also `mtime_ns`; `inode` at most 2^64 − 1.
    """

    def __init__(
        self, database: Database, content: DocumentContent, claims: DocumentClaims
    ) -> None:
        self.database = database
        self.stored_content = content
        self.claims = claims

    # --- reading -----------------------------------------------------------------------------

    def documents(
        self,
        source_id: str = "",
        state: DocumentState | None = None,
        readable: Readable | None = None,
    ) -> list[Document]:
        """All documents, or those of one source, in one state or readable; by path, then part."""
        inside, parameters = readable_documents(readable)
        parameters |= {"source": source_id, "state": state.value if state else ""}
        which = f"{_OF_ONE_OR_ALL}{inside} AND ($state = '' OR state = $state)"
        return self.with_sites(self._selected(f"{which} ORDER BY path, part", parameters))

    def of_sources(self, source_ids: Sequence[str]) -> list[Document]:
        """All documents of these sources, in the order of `documents`; one read for all."""
        which = "source_id IN (SELECT unnest(?::VARCHAR[])) ORDER BY path, part"
        return self.with_sites(self._selected(which, [list(source_ids)]))

    def _selected(self, which: str, parameters: object) -> list[Document]:
        sql = f"SELECT {DOCUMENT} FROM documents WHERE {which}"
        return [document_from(row) for row in fetched(self.database, sql, parameters)]

    def counts(self, source_id: str = "", readable: Readable | None = None) -> DocumentCounts:
        """The number of (readable) files and web pages of the source, or of all, in each state.

        Documents inside others are not counted.
        """
        inside, parameters = readable_documents(readable)
        rows = fetched(
            self.database,
            "SELECT state, count(*) FROM documents WHERE parent_id = ''"
            f" AND {_OF_ONE_OR_ALL}{inside} GROUP BY state",
            parameters | {"source": source_id},
        )
        return DocumentCounts({DocumentState(state): n for state, n in rows})

    def counts_by_source(self) -> dict[str, DocumentCounts]:
        """As `counts`, for each source that has files or web pages."""
        rows = fetched(
            self.database,
            "SELECT source_id, state, count(*) FROM documents WHERE parent_id = ''"
            " GROUP BY source_id, state",
        )
        found: dict[str, dict[DocumentState, int]] = {}
        for source_id, state, n in rows:
            found.setdefault(source_id, {})[DocumentState(state)] = n
        return {source_id: DocumentCounts(by_state) for source_id, by_state in found.items()}

    def facets(self) -> LibraryFacets:
        """The formats and folders of the documents that searches may find, with their numbers.

        Files and documents inside files are counted apart. Without files attached to chats; pages
        of the web are in no folder.
        """
        counted = (
            "count(*) FILTER (WHERE parent_id = ''), count(*) FILTER (WHERE parent_id <> '')"
            f" FROM documents WHERE chunk_count > 0 AND state <> 'gone' AND {_OF_LIBRARY}"
        )
        with self.database.read() as con:
            formats = con.execute(f"SELECT format, {counted} GROUP BY format").fetchall()
            folders = con.execute(
                f"SELECT parse_dirpath(path), {counted} AND url = '' GROUP BY 1"
            ).fetchall()
        return LibraryFacets(*(
            {name: row[at] for name, *row in rows if row[at]}
            for at in (0, 1) for rows in (formats, folders)
        ))  # fmt: skip

    def known_files(self, source_id: str) -> list[KnownRow]:
        """The rows that a scan compares with the disk; plain tuples, as there may be 50,000.

        Without documents inside others, in any order. Only files that the scan skipped, and never
        opened, have a reason here.
        """
        return fetched(
            self.database,
            "SELECT document_id, path, size_bytes, mtime_ns, inode, CASE WHEN state = 'skipped'"
            " AND content_hash = '' THEN reason ELSE '' END, gone_at, indexed_at"
            " FROM documents WHERE source_id = ? AND parent_id = ''",
            [source_id],
        )

    def read_files(self, sizes_bytes: Collection[int]) -> list[ReadRow]:
        """Files of all sources that were read (have a hash) and have one of these sizes.

        Without web pages and documents inside others, in any order; the reason is empty.
        """
        rows = fetched(
            self.database,
            "SELECT source_id, content_hash, document_id, path, size_bytes, mtime_ns, inode,"
            " '', gone_at, indexed_at FROM documents WHERE parent_id = '' AND url = ''"
            f" AND content_hash <> '' AND size_bytes IN (SELECT unnest(?::BIGINT[]))"
            f" AND {_OF_LIBRARY}",
            [list(sizes_bytes)],
        )
        return [(row[0], row[1], row[2:]) for row in rows]

    def get(self, document_ids: Sequence[str]) -> list[Document]:
        """The rows of these documents, in any order; unknown ids are ignored."""
        with self.database.read() as con:
            found = rows_of(con, document_ids)
        return self.with_sites(found)

    def parts(self, document_id: str) -> list[Document]:
        """The rows of the documents inside this one, in order of their parts."""
        return self.with_sites(self._selected("parent_id = ? ORDER BY part", [document_id]))

    def with_sites(self, documents: Sequence[Document]) -> list[Document]:
        """The documents with their addresses on mirrored sites; reading methods add them, too."""
        sites = self.database.cached(read_sites)
        return [
            replace(d, site_url=address_of(sites, d.source_id, str(d.path)))
            if d.source_id in sites
            else d
            for d in documents
        ]

    def text(self, document_id: str) -> str | None:
        """The whole extracted text; None for a document without text, or an unknown one."""
        return self.content(document_id)[0]

    def content(self, document_id: str) -> tuple[str | None, str]:
        """The whole extracted text as in `text`, and its places as stored."""
        with self.database.read() as con:
            return self.stored_content.text_of(con, document_id)

    def chunks(self, document_id: str) -> list[Chunk]:
        """The chunks of a document in reading order."""
        with self.database.snapshot() as snapshot:
            return self.stored_content.chunks_of(snapshot.con, document_id)

    def outdated(self, collection_id: str, chunking: str, limit: int) -> list[Document]:
        """Up to `limit` searchable documents of a collection chunked with other settings, by id."""
        return self._selected(
            "chunk_count > 0 AND chunking <> ? AND state IN ('searchable', 'searchable by words')"
            " AND source_id IN (SELECT source_id FROM sources WHERE collection_id = ?)"
            " ORDER BY document_id LIMIT ?",
            [chunking, collection_id, limit],
        )

    def newest(self, limit: int) -> list[Document]:
        """Up to `limit` searchable files of the library, the last changed first."""
        return self._selected(
            f"{_OF_LIBRARY} AND chunk_count > 0"
            " AND state IN ('searchable', 'searchable by words')"
            " ORDER BY mtime_ns DESC, document_id LIMIT ?",
            [limit],
        )

    def with_reason(self, words: str) -> list[Document]:
        """Files of the library whose reason, or that of a part, contains these words; as LIKE."""
        return self._selected(
            f"{_OF_LIBRARY} AND document_id IN (SELECT CASE WHEN parent_id = '' THEN document_id"
            " ELSE parent_id END FROM documents WHERE reason LIKE ?)",
            [f"%{words}%"],
        )

    def content_hashes(self) -> set[str]:
        """The hashes of the content of all documents."""
        rows = fetched(self.database, "SELECT DISTINCT content_hash FROM documents")
        return {row[0] for row in rows}

    def changes_since(self, at: float) -> list[FileChange]:
        """The changes by scans, and the failures, from this time on, the newest first.

        Kept for a week at least, without documents inside others, attached files and removed
        sources.
        """
        with self.database.read() as con:
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

        `changed` maps an id to a function from its current row to the new one. It is called inside
        the transaction and may not use the store; an exception rolls everything back and is raised
        here. Unknown ids are ignored. A row that becomes skipped loses its content; `gone`
        documents are removed with theirs. Documents inside a changed one follow it and are among
        the rows returned. Tags given to a file follow it to its new path. No effect when the source
        was removed meanwhile.
        """
        entities = list[Entity]()

        def work(con: Connection) -> list[Document]:
            if not con.execute("SELECT 1 FROM sources WHERE source_id = ?", [source_id]).fetchall():
                return []
            before = rows_of(con, list(changed))
            now = [changed[d.document_id](d) for d in before]
            note_scan(self.database, con, added, zip(before, now, strict=True), rows_of(con, gone))
            entities.extend(follow_moves(con, before, {d.document_id: d for d in now}))
            skipped = [d.document_id for d in now if d.state is DocumentState.SKIPPED]
            self._delete_parts(con, [*gone, *skipped])
            self.stored_content.delete(con, [*gone, *skipped])
            delete_rows(con, [*gone, *(d.document_id for d in now)])
            insert_rows(self.database, con, [*added, *now])
            parts = self._parts_following(con, now)
            pairs = zip(now, before, strict=True)
            moved = {a.document_id for a, b in pairs if a.source_id != b.source_id}
            inside = [part.document_id for part in parts if part.parent_id in moved]
            self.stored_content.follow(con, [*moved, *inside])
            return [*added, *now, *parts]

        return self.database.write(work, changes=entities)

    def settle(self, outcomes: Sequence[IndexingOutcome]) -> list[Document]:
        """Store the outcomes of reading in one transaction, in place of the old content.

        Documents are searchable by words once this returns. Skipped are documents that no longer
        wait, because they were deleted or excluded, and those that changed again; one that moved
        keeps its new path and source. A part with a known name keeps its id. Returns the rows as
        stored, with the parts. Ids must be distinct (AssertionError).
        """
        ids = [outcome.document.document_id for outcome in outcomes]
        assert len(set(ids)) == len(ids), "two outcomes for one document"

        def work(con: Connection, staged: StagedOutcomes) -> list[Document]:
            now = {d.document_id: d for d in taken_rows(self.database, con, ids)}
            kept = [o for o in staged.outcomes if is_current(now.get(o.document.document_id), o)]
            kept = [merged(now.pop(o.document.document_id), o) for o in kept]
            replaced = [o.document.document_id for o in kept if not o.keeps_content]
            before = self._delete_parts(con, replaced)
            self.stored_content.delete(con, replaced)
            families = [(o, *parts_of(o, before)) for o in kept]
            rows = [o.document for family in families for o in family]
            insert_rows(self.database, con, [*rows, *now.values()])
            note_failures(self.database, con, rows)
            staged.insert(con, families)
            return rows

        with self.stored_content.staged(outcomes) as staged:
            return self.database.write(partial(work, staged=staged))

    def recut(self, outcome: IndexingOutcome) -> Document | None:
        """Replace the chunks of a searchable document whose text stays; its row as stored.

        `outcome.document` is its row as it was when chunking began, with the new count and
        settings. None, without effect, when its content hash has changed or it is no longer
        searchable. It becomes searchable by words.
        """
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
            insert_rows(self.database, con, [row])
            text, places = self.stored_content.text_of(con, row.document_id)
            self.stored_content.delete(con, [row.document_id])
            whole = replace(outcome, document=row, text=text or "", places=places)
            staged.insert(con, [(whole,)])
            return row

        with self.stored_content.staged([outcome]) as staged:
            return self.database.write(partial(work, staged=staged))

    def requeue_failed(self) -> list[Document]:
        """Queue the failed files, except unfetched pages, for reading again; returns their rows."""
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
        """Queue these files (no parts) to be read anew, even if unchanged; returns their rows."""
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

        return self.database.write(work)

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
        insert_rows(self.database, con, now)
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
            self.stored_content.delete(con, ids)
            delete_rows(con, ids)
        return {(parent_id, part): document_id for parent_id, part, document_id in rows}


# Attached files are no part of the library; gone ones are found by no search.
_FOUND = "state <> 'gone' AND source_id NOT IN (SELECT source_id FROM sources WHERE is_attached)"
_IN_USE = (
    "SELECT path, unnest(string_split(tags, chr(10))) AS tag FROM documents"
    f" WHERE tags <> '' AND {_FOUND} UNION ALL"
    " SELECT path, unnest(string_split(f.tags, chr(10))) AS tag FROM file_tags f"
    f" WHERE path IN (SELECT path FROM documents WHERE {_FOUND})"
)


class TagStore:
    """The tags given to files by their paths, so that they outlive rows, index and sources.

    They hold for the documents inside the file, too. `DocumentStore.apply_changes` takes them along
    when a file moves; where the new path has tags already, both are kept. `Document.tags`, which
    the file states about itself, are not among them; filters by tag find both.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def given(self, paths: Sequence[Path] | None = None) -> Mapping[Path, tuple[str, ...]]:
        """The tags of each tagged file, in the order they were given; of these paths, or of all."""
        with self._database.read() as con:
            found = _tags_at(con, None if paths is None else list(map(str, paths)))
        return {Path(path): tags for path, tags in found.items()}

    def counts(self) -> list[TagCount]:
        """All tags in use, given or stated, with the number of files that searches may find.

        By name, regardless of case; of several spellings one is named.
        """
        rows = fetched(
            self._database,
            f"SELECT min(tag), count(DISTINCT path) FROM ({_IN_USE})"
            f" GROUP BY {folded('tag')} ORDER BY {folded('min(tag)')}",
        )
        return [TagCount(name, files) for name, files in rows]

    def change(self, document_ids: Sequence[str], add: Sequence[str], remove: Sequence[str]) -> int:
        """Add tags to the files of these documents and remove others; unknown ids are ignored.

        Letter case does not tell tags apart. Returns the number of files whose tags changed.
        AppError when a file would have more than MOST_TAGS; then nothing is changed.
        """
        changes: list[Entity] = []

        def work(con: Connection) -> int:
            paths = con.execute(
                "SELECT DISTINCT path FROM documents"
                " WHERE document_id IN (SELECT unnest(?::VARCHAR[]))",
                [list(document_ids)],
            ).fetchall()
            before = _tags_at(con, [path for (path,) in paths])
            now = {path: with_changes(before.get(path, ()), add, remove) for (path,) in paths}
            changed = {path: tags for path, tags in now.items() if tags != before.get(path, ())}
            _refuse_too_many(changed.values())
            changes.extend(_put(con, changed))
            return len(changed)

        return self._database.write(work, changes=changes)


def follow_moves(
    con: Connection, before: Iterable[Document], now: Mapping[str, Document]
) -> list[Entity]:
    """Take tags along to the new paths of files, inside a transaction; returns what changed."""
    moved = {
        str(row.path): str(after.path)
        for row in before
        if (after := now.get(row.document_id)) and after.path != row.path
    }
    if not moved:
        return []
    tags = _tags_at(con, [*moved, *moved.values()])
    arriving = {moved[path]: own for path, own in tags.items() if path in moved}
    if not arriving:
        return []
    # Two files may have changed places.
    left = {path: () if path in moved else own for path, own in tags.items()}
    merged = {path: with_changes(left.get(path, ()), own, ()) for path, own in arriving.items()}
    return _put(con, left | merged)


def _tags_at(con: Connection, paths: Sequence[str] | None) -> dict[str, tuple[str, ...]]:
    which = "" if paths is None else " WHERE path IN (SELECT unnest(?::VARCHAR[]))"
    rows = con.execute(
        f"SELECT path, tags FROM file_tags{which}", [] if paths is None else [list(paths)]
    ).fetchall()
    return {path: tuple(tags.split("\n")) for path, tags in rows}


def _put(con: Connection, tags: Mapping[str, tuple[str, ...]]) -> list[Entity]:
    """Replace the tags of these files, in place: a row keeps its id."""
    known = dict(
        con.execute(
            "DELETE FROM file_tags WHERE path IN (SELECT unnest(?::VARCHAR[]))"
            " RETURNING path, tagging_id",
            [list(tags)],
        ).fetchall()
    )
    changed = [known[path] for path, own in tags.items() if not own and path in known]
    for path, own in tags.items():
        if own:
            tagging_id = known.get(path) or uuid.uuid4().hex
            con.execute(
                "INSERT INTO file_tags (tagging_id, path, tags) VALUES (?, ?, ?)",
                [tagging_id, path, "\n".join(own)],
            )
            changed.append(tagging_id)
    return [Entity("tagging", tagging_id) for tagging_id in changed]


def _refuse_too_many(changed: Iterable[tuple[str, ...]]) -> None:
    if any(len(tags) > MOST_TAGS for tags in changed):
        raise AppError(
            f"A file can have {MOST_TAGS} tags at most.", "Remove some of them and try again."
        )
