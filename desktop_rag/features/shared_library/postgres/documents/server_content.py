"""The content of documents on a server: texts, chunks, postings, and who claims which document.

A model makes the vector of a content once; each further collection with the content gets a copy.
The vector of a content that no chunk has yet is kept without a collection.

What stores or removes content runs inside the transaction that changes the rows of its documents.
A transaction on a connection of its own locks a row for each claimed document until it is stored.
The server ends it when the process dies.
"""

import json
import threading
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, groupby, islice
from operator import itemgetter

import numpy as np

from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import Chunk
from desktop_rag.features.shared_library.postgres.database.posting_blocks import (
    Numbers,
    divided,
    insert_blocks,
    packed_blocks,
    place_in,
    signed,
)
from desktop_rag.features.shared_library.postgres.database.server_connection import (
    Own,
    ServerConnection,
)
from desktop_rag.features.shared_library.postgres.database.server_database import (
    ServerDatabase,
    mapping_server_errors,
)
from desktop_rag.features.shared_library.postgres.database.server_schema import (
    NOWHERE,
    collections_of,
)
from desktop_rag.store.contract import documents
from desktop_rag.store.contract.chunks import ALL_CHUNKS, ChunkStore, Coverage
from desktop_rag.store.contract.database import key_of
from desktop_rag.store.contract.vectors import vector_table

# A content hash and a collection.
Place = tuple[str, str]


def tables_of(con: ServerConnection) -> list[str]:
    """The tables of all models."""
    rows = con.execute("SELECT model_id FROM models ORDER BY model_id").fetchall()
    return [vector_table(model_id) for (model_id,) in rows]


def places_of(con: ServerConnection, table: str, hashes: Collection[str]) -> set[Place]:
    """The collections of these contents in a table with both columns."""
    rows = con.execute(
        f"SELECT DISTINCT content_hash, collection_id FROM {table}"
        " WHERE content_hash = ANY (?::uuid[])",
        [list(hashes)],
    ).fetchall()
    return {(content_hash.hex, collection_id) for content_hash, collection_id in rows}


def copy_to_places(
    con: ServerConnection, tables: Sequence[str], wanted: Iterable[Place]
) -> set[str]:
    """Copy vectors of other collections to these places; returns the contents that got one."""
    wanted, copied = set(wanted), set[str]()
    for table in tables:
        known = places_of(con, table, {content_hash for content_hash, _ in wanted})
        have_any = {content_hash for content_hash, _ in known}
        missing = sorted(place for place in wanted - known if place[0] in have_any)
        if not missing:
            continue
        con.execute(
            f"INSERT INTO {table} (content_hash, collection_id, vector, windows)"
            " SELECT DISTINCT ON (g.content_hash, g.collection_id)"
            " g.content_hash, g.collection_id, v.vector, v.windows"
            f" FROM unnest(?::uuid[], ?::text[]) AS g(content_hash, collection_id) JOIN {table} v"
            " ON v.content_hash = g.content_hash"
            " ORDER BY g.content_hash, g.collection_id, v.windows IS NULL",
            [[content_hash for content_hash, _ in missing], [place for _, place in missing]],
        )
        con.execute(
            f"DELETE FROM {table} WHERE collection_id = ? AND content_hash = ANY (?::uuid[])",
            [NOWHERE, [content_hash for content_hash, place in missing if place != NOWHERE]],
        )
        copied |= {content_hash for content_hash, _ in missing}
    return copied


# Blocks that are divided at a time.
_BLOCKS = 30_000
_BEFORE_ALL = (-(1 << 63), -1)


def misplaced(con: ServerConnection) -> list[str]:
    """The documents whose row is in another collection than their source."""
    rows = con.execute(
        "SELECT document_id FROM documents d JOIN sources s USING (source_id)"
        " WHERE d.collection_id <> s.collection_id"
    ).fetchall()
    return [document_id for (document_id,) in rows]


def move_content(con: ServerConnection, document_ids: Sequence[str]) -> None:
    """Move the content of documents into the collection of their source.

    Chunks keep their numbers, so that searches under way still find their passages, and posting
    lists in memory stay right.
    """
    ids = list(document_ids)
    con.execute(
        "UPDATE documents d SET collection_id = s.collection_id FROM sources s"
        " WHERE d.document_id = ANY (?::text[]) AND s.source_id = d.source_id"
        " AND d.collection_id <> s.collection_id",
        [ids],
    )
    rows = con.execute(
        "SELECT t.collection_id, d.collection_id, t.document_id, t.first_chunk, t.last_chunk"
        " FROM document_texts t JOIN documents d USING (document_id)"
        " WHERE t.document_id = ANY (?::text[]) AND t.collection_id <> d.collection_id"
        " ORDER BY 1, 2, 4",
        [ids],
    ).fetchall()
    for (before, after), moved in groupby(rows, key=itemgetter(0, 1)):
        own = list(moved)
        _move_rows(con, [row[2] for row in own], before, after)
        spans = [(first, last) for *_, first, last in own if first <= last]
        if spans:
            _move_postings(con, np.array(spans, np.int64), before, after)


def _move_rows(con: ServerConnection, ids: list[str], before: str, after: str) -> None:
    for table in ("document_texts", "chunks"):
        con.execute(
            f"UPDATE {table} SET collection_id = ?"
            " WHERE collection_id = ? AND document_id = ANY (?::text[])",
            [after, before, ids],
        )
    rows = con.execute(
        "SELECT DISTINCT content_hash FROM chunks"
        " WHERE collection_id = ? AND document_id = ANY (?::text[])",
        [after, ids],
    ).fetchall()
    # The vectors of the former collection stay until pruned: other documents may need them.
    copy_to_places(con, tables_of(con), ((row[0].hex, after) for row in rows))


def _move_postings(con: ServerConnection, spans: Numbers, before: str, after: str) -> None:
    """Move the postings of these ranges of chunks to blocks of another collection."""
    firsts, lasts = spans[:, 0], spans[:, 1]

    def is_moved(chunk_ids: Numbers) -> Numbers:
        return (place_in(chunk_ids, firsts, lasts) >= 0).astype(np.int64)

    ranges = "{" + ",".join(f"[{first},{last}]" for first, last in spans.tolist()) + "}"
    done: tuple[int, int] = _BEFORE_ALL
    while rows := con.rows_with_arrays(
        "SELECT key, first_chunk, packed FROM posting_blocks WHERE collection_id = ?"
        " AND (key, first_chunk) > (?, ?)"
        " AND int8range(first_chunk, last_chunk, '[]') && ?::int8multirange"
        f" ORDER BY key, first_chunk LIMIT {_BLOCKS}",
        [before, *done, ranges],
    ):
        done = rows[-1][:2]
        con.execute(
            "DELETE FROM posting_blocks b USING unnest(?::bigint[], ?::bigint[])"
            " AS g(key, first_chunk) WHERE b.collection_id = ?"
            " AND b.key = g.key AND b.first_chunk = g.first_chunk",
            [[row[0] for row in rows], [row[1] for row in rows], before],
        )
        for moves, blocks in divided(rows, is_moved).items():
            insert_blocks(con, blocks, after if moves else before)


# Chunks whose terms are in memory at once.
_SLICE = 2_000
# Terms known to be stored take forty megabytes at most.
_MOST_TERMS = 200_000


def signed_key(term: str) -> int:
    """The key of a term as a bigint."""
    return signed(key_of(term))


@dataclass
class _Outcomes(documents.StagedOutcomes):
    """Outcomes to be stored in one transaction, whatever their size."""

    stored_terms: dict[str, int]

    def insert(self, con: ServerConnection, families: Sequence[documents.Family]) -> None:
        with_chunks = [o for family in families for o in family if o.chunks]
        if with_chunks:
            _insert_content(con, with_chunks, self.stored_terms)


class ServerContent(documents.DocumentContent):
    """Texts, chunks and postings of the documents of a library."""

    def __init__(self, database: ServerDatabase) -> None:
        super().__init__(database)
        # Terms that the server surely has, with their keys: most terms of a new document.
        self._stored_terms: dict[str, int] = {}

    @contextmanager
    def staged(self, outcomes: Sequence[documents.IndexingOutcome]) -> Generator[_Outcomes]:
        """Prepares nothing: transactions of the server may be large."""
        yield _Outcomes(list(outcomes), self._stored_terms)

    def delete(self, con: ServerConnection, document_ids: Sequence[str]) -> None:
        if not document_ids:
            return
        spans = con.execute(
            "DELETE FROM document_texts WHERE document_id = ANY (?::text[])"
            " RETURNING first_chunk, last_chunk, collection_id",
            [list(document_ids)],
        ).fetchall()
        for first, last, collection_id in spans:
            if first <= last:
                con.execute(
                    "DELETE FROM chunks WHERE collection_id = ? AND chunk_id BETWEEN ? AND ?",
                    [collection_id, first, last],
                )
                # Maintenance takes them out of the blocks.
                con.execute(
                    "INSERT INTO dead_chunks VALUES (?, ?, ?)", [first, last, collection_id]
                )

    def follow(self, con: ServerConnection, document_ids: Sequence[str]) -> None:
        if document_ids:
            move_content(con, document_ids)

    def chunks_of(self, con: ServerConnection, document_id: str) -> list[Chunk]:
        rows = con.execute(
            f"SELECT {documents.CHUNK} FROM chunks WHERE document_id = ? ORDER BY position",
            [document_id],
        ).fetchall()
        return list(map(documents.chunk_from, rows))

    def purge_orphans(self, con: ServerConnection) -> int:
        """Remove content without a document; returns the number of chunks removed."""
        gone = "document_id NOT IN (SELECT document_id FROM documents)"
        con.execute(f"DELETE FROM document_texts WHERE {gone}")
        removed = con.execute(f"DELETE FROM chunks WHERE {gone}").rowcount
        con.execute(
            "INSERT INTO dead_chunks SELECT DISTINCT chunk_id, chunk_id, collection_id"
            " FROM postings p"
            " WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.chunk_id = p.chunk_id)"
        )
        return removed


def _insert_content(
    con: ServerConnection,
    outcomes: Sequence[documents.IndexingOutcome],
    stored_terms: dict[str, int],
) -> None:
    """Store text, places, chunks and postings, with consecutive chunk ids."""
    count = sum(len(item.chunks) for item in outcomes)
    # Writes have a lock, so that nobody else takes numbers meanwhile.
    [(first,)] = con.execute("SELECT nextval('chunk_numbers')").fetchall()
    con.execute("SELECT setval('chunk_numbers', ?)", [first + count - 1])
    ends = np.cumsum([first - 1, *(len(item.chunks) for item in outcomes)]).tolist()
    owners = collections_of(con, [item.document.source_id for item in outcomes])
    con.copy(
        "document_texts",
        "document_id, text, places, first_chunk, last_chunk, collection_id",
        (
            (item.document.document_id, item.text, item.places, end + 1, last, owner)
            for item, end, last, owner in zip(outcomes, ends[:-1], ends[1:], owners, strict=True)
        ),
    )
    ids = (item.document.document_id for item in outcomes)
    owner_of = dict(zip(ids, owners, strict=True))
    tables = tables_of(con)
    rows = documents.chunk_rows(outcomes)
    while part := list(islice(rows, _SLICE)):
        placed = [owner_of[document_id] for document_id, _, _ in part]
        used = {term for _, _, count in part for term in count}
        # Working out a key takes longer than looking one up.
        terms = {t: stored_terms[t] if t in stored_terms else signed_key(t) for t in used}
        _insert_chunks(con, part, placed, first)
        _insert_postings(con, [count for _, _, count in part], placed, first, terms)
        _insert_terms(con, terms, stored_terms)
        hashes = (chunk.content_hash for _, chunk, _ in part)
        copy_to_places(con, tables, zip(hashes, placed, strict=True))
        first += len(part)


def _insert_chunks(
    con: ServerConnection,
    rows: Sequence[tuple[str, Chunk, Counter[str]]],
    owners: Sequence[str],
    first: int,
) -> None:
    con.copy(
        "chunks",
        "chunk_id, document_id, position, start_offset, end_offset, text, context, anchor,"
        " content_hash, term_count, collection_id",
        (
            (
                chunk_id, document_id, chunk.position, chunk.start, chunk.end, chunk.text,
                chunk.context, json.dumps(chunk.anchor.to_json()), chunk.content_hash,
                count.total(), owner,
            )
            for chunk_id, ((document_id, chunk, count), owner) in enumerate(
                zip(rows, owners, strict=True), first
            )
        ),
    )  # fmt: skip


def _insert_postings(
    con: ServerConnection,
    counts: Sequence[Counter[str]],
    owners: Sequence[str],
    first: int,
    keys: Mapping[str, int],
) -> None:
    sizes = [len(count) for count in counts]
    total = sum(sizes)
    key = np.fromiter(map(keys.__getitem__, chain.from_iterable(counts)), np.int64, total)
    frequencies = chain.from_iterable(count.values() for count in counts)
    tf = np.fromiter(frequencies, np.int64, total)
    lengths = np.repeat([count.total() for count in counts], sizes)
    chunk_ids = np.repeat(np.arange(first, first + len(counts)), sizes)
    # Stable: the chunks of a term stay in order.
    order = np.argsort(key, kind="stable")
    names, numbers = np.unique(np.array(owners), return_inverse=True)
    owner = np.repeat(numbers, sizes)[order]
    for number, name in enumerate(names.tolist()):
        own = order[owner == number]
        insert_blocks(con, packed_blocks(key[own], chunk_ids[own], tf[own], lengths[own]), name)
    con.execute("UPDATE posting_state SET unmerged = unmerged + ?", [total])


def _insert_terms(con: ServerConnection, keys: Mapping[str, int], stored: dict[str, int]) -> None:
    """Add terms to the vocabulary, in the order of its index."""
    new = {term: key for term, key in keys.items() if term not in stored}
    if not new:
        return
    ordered = sorted(new.items(), key=itemgetter(1))
    # Array literals are made much faster than lists are sent.
    con.own.execute(
        "INSERT INTO terms (key, term) SELECT * FROM unnest(%s::bigint[], %s::text[])"
        " ON CONFLICT DO NOTHING",
        [
            f"{{{','.join(str(key) for _, key in ordered)}}}",
            f"{{{','.join(_quoted(term) for term, _ in ordered)}}}",
        ],
    )

    def remember() -> None:
        if len(stored) > _MOST_TERMS:
            stored.clear()
        stored.update(new)

    con.after_commit.append(remember)


def _quoted(term: str) -> str:
    """A term as an element of an array literal."""
    escaped = term.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class ServerChunkStore(ChunkStore):
    """The chunks of all documents, compared with the vectors of one model."""

    in_collections = " AND collection_id = ANY ($collections::text[])"
    same_content = f"{ChunkStore.same_content} AND c.collection_id = v.collection_id"
    of_document = f"{ChunkStore.of_document} AND c.collection_id = documents.collection_id"

    def __init__(self, database: ServerDatabase) -> None:
        super().__init__(database)
        self._database = database

    def without_vectors(
        self, model_id: int, limit: int, coverage: Coverage = ALL_CHUNKS
    ) -> list[tuple[str, str, str]]:
        """Up to `limit` contents without a vector: (content hash, context, text).

        Contents with a vector in another collection get a copy of it instead.
        """
        condition, parameters = self.within(coverage)
        while True:
            with self._database.read() as con:
                rows = con.execute(
                    "SELECT DISTINCT ON (content_hash) content_hash, context, text FROM chunks"
                    " WHERE content_hash IN (SELECT DISTINCT content_hash FROM chunks c WHERE"
                    f" {self.lacks(model_id)}{condition} LIMIT {limit:d})"
                    " ORDER BY content_hash, chunk_id",
                    parameters,
                ).fetchall()
                hashes = [row[0].hex for row in rows]
                known = places_of(con, vector_table(model_id), hashes)
            if not known:
                return [(row[0].hex, row[1], row[2]) for row in rows]
            self._copy(model_id, {content_hash for content_hash, _ in known})

    def _copy(self, model_id: int, hashes: set[str]) -> None:
        """Copy the vectors of contents to all collections that these are in."""

        def work(con: ServerConnection) -> None:
            copy_to_places(con, [vector_table(model_id)], places_of(con, "chunks", hashes))

        self._database.write_uncached(work)


@dataclass(slots=True)
class _Held:
    """Documents that were claimed together, and the connection that locks their rows."""

    document_ids: set[str]
    claimed: list[str]
    connection: Own
    closing: ExitStack


class ServerClaims(documents.DocumentClaims):
    """The claims of this process."""

    def __init__(self, database: ServerDatabase) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._held: list[_Held] = []

    def take(self, document_ids: Sequence[str]) -> list[str]:
        with self._lock:
            granted = {i for held in self._held for i in held.document_ids}
            rest = sorted(set(document_ids) - granted)
            if rest:
                granted |= self._claim(rest)
        return [document_id for document_id in document_ids if document_id in granted]

    def _claim(self, document_ids: list[str]) -> set[str]:
        with ExitStack() as stack, mapping_server_errors():
            connection = stack.enter_context(self._database.outside_transactions())
            # Committed at once, since others that insert the same row wait for it.
            connection.execute(
                "INSERT INTO document_claims SELECT * FROM unnest(%s::text[])"
                " ON CONFLICT DO NOTHING",
                [document_ids],
            )
            connection.execute("BEGIN")
            connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            rows = connection.execute(
                "SELECT document_id FROM document_claims WHERE document_id = ANY (%s::text[])"
                " FOR UPDATE SKIP LOCKED",
                [document_ids],
            ).fetchall()
            claimed = [row[0] for row in rows]
            if claimed:
                self._held.append(_Held(set(claimed), claimed, connection, stack.pop_all()))
            return set(claimed)

    def release(self, document_ids: Iterable[str]) -> None:
        given_back = set(document_ids)
        with self._lock:
            for held in self._held:
                held.document_ids -= given_back
            ended = [held for held in self._held if not held.document_ids]
            self._held = [held for held in self._held if held.document_ids]
        for held in ended:
            _end(held)


def _end(held: _Held) -> None:
    # If the server is away its locks are gone too; rows that are left lock nothing.
    with suppress(AppError), mapping_server_errors():
        try:
            held.connection.execute(
                "DELETE FROM document_claims WHERE document_id = ANY (%s::text[])", [held.claimed]
            )
            held.connection.execute("COMMIT")
        finally:
            held.closing.close()
