"""The content of documents on a server: texts, chunks, postings, and what vectors make searchable.

What stores or removes content runs inside the transaction that changes the rows of its documents.
"""

import json
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter

import numpy as np

from desktop_rag.core.parsed import Chunk
from desktop_rag.features.shared_library.postgres.database.partitioning import collections_of
from desktop_rag.features.shared_library.postgres.database.posting_blocks import (
    insert_blocks,
    packed_blocks,
    signed,
)
from desktop_rag.features.shared_library.postgres.database.server_connection import ServerConnection
from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.features.shared_library.postgres.documents.collection_vectors import (
    copy_to_places,
    move_content,
    places_of,
    tables_of,
)
from desktop_rag.store.contract.chunks import ALL_CHUNKS, ChunkStore, Coverage
from desktop_rag.store.contract.database import key_of
from desktop_rag.store.contract.documents import (
    CHUNK,
    Family,
    IndexingOutcome,
    chunk_from,
    chunk_rows,
)
from desktop_rag.store.contract.vectors import vector_table

# Chunks whose terms are in memory at once.
_SLICE = 2_000
# Terms known to be stored take forty megabytes at most.
_MOST_TERMS = 200_000


def signed_key(term: str) -> int:
    """The key of a term as a bigint."""
    return signed(key_of(term))


@dataclass
class _Outcomes:
    """Outcomes to be stored in one transaction, whatever their size."""

    outcomes: list[IndexingOutcome]
    stored_terms: dict[str, int]

    def insert(self, con: ServerConnection, families: Sequence[Family]) -> None:
        """Store the content of these documents in the transaction of their rows."""
        with_chunks = [o for family in families for o in family if o.chunks]
        if with_chunks:
            _insert_content(con, with_chunks, self.stored_terms)


class ServerContent:
    """Texts, chunks and postings of the documents of a library."""

    def __init__(self) -> None:
        # Terms that the server surely has, with their keys: most terms of a new document.
        self._stored_terms: dict[str, int] = {}

    @contextmanager
    def staged(self, outcomes: Sequence[IndexingOutcome]) -> Generator[_Outcomes]:
        """Prepares nothing: transactions of the server may be large."""
        yield _Outcomes(list(outcomes), self._stored_terms)

    def delete(self, con: ServerConnection, document_ids: Sequence[str]) -> None:
        """Remove text, chunks and postings of these documents."""
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
        """Move the content of these documents to the collection of their source."""
        if document_ids:
            move_content(con, document_ids)

    def text_of(self, con: ServerConnection, document_id: str) -> tuple[str | None, str]:
        """The whole text of a document, None without one, and its places as JSON."""
        rows = con.execute(
            "SELECT text, places FROM document_texts WHERE document_id = ?", [document_id]
        ).fetchall()
        return (rows[0][0], rows[0][1]) if rows else (None, "")

    def chunks_of(self, con: ServerConnection, document_id: str) -> list[Chunk]:
        """The chunks of a document in reading order."""
        rows = con.execute(
            f"SELECT {CHUNK} FROM chunks WHERE document_id = ? ORDER BY position", [document_id]
        ).fetchall()
        return list(map(chunk_from, rows))

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
    con: ServerConnection, outcomes: Sequence[IndexingOutcome], stored_terms: dict[str, int]
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
    rows = chunk_rows(outcomes)
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

    def __init__(self, database: ServerDatabase) -> None:
        super().__init__(database)
        self._database = database

    def vector_counts(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> tuple[int, int]:
        condition, parameters = self.within(coverage)
        with self._database.read() as con:
            [(total, missing)] = con.execute(
                "SELECT count(*), count(*) FILTER (WHERE v.content_hash IS NULL) FROM"
                f" (SELECT DISTINCT content_hash FROM chunks WHERE true{condition}) c"
                f" LEFT JOIN (SELECT DISTINCT content_hash FROM {vector_table(model_id)}) v"
                " USING (content_hash)",
                parameters,
            ).fetchall()
        return int(total), int(missing)

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
                    f" {_lacks(model_id)}{condition} LIMIT {limit:d})"
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

    def without_windows(self, model_id: int, limit: int) -> list[tuple[str, str]]:
        with self._database.read() as con:
            rows = con.execute(
                "SELECT DISTINCT ON (content_hash) content_hash, text FROM chunks"
                f" WHERE content_hash IN (SELECT content_hash FROM {vector_table(model_id)} v"
                " WHERE windows IS NULL AND EXISTS (SELECT 1 FROM chunks c WHERE"
                " c.content_hash = v.content_hash AND c.collection_id = v.collection_id)"
                f" LIMIT {limit:d})"
                " ORDER BY content_hash, chunk_id"
            ).fetchall()
        return [(row[0].hex, row[1]) for row in rows]

    def finish_documents(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> list[str]:
        condition, parameters = self.within(coverage)
        return self.update_documents(
            "UPDATE documents SET state = 'searchable' WHERE state = 'searchable by words'"
            f" AND NOT EXISTS (SELECT 1 FROM {_OWN} AND {_lacks(model_id)}){condition}"
            " RETURNING document_id",
            parameters,
        )

    def reopen_documents(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> list[str]:
        condition, parameters = self.within(coverage)
        return self.update_documents(
            "UPDATE documents SET state = 'searchable by words' WHERE state = 'searchable'"
            f" AND EXISTS (SELECT 1 FROM {_OWN} AND {_lacks(model_id)}){condition}"
            " RETURNING document_id",
            parameters,
        )

    def prune_vectors(self, model_id: int, coverage: Coverage = ALL_CHUNKS) -> None:
        condition, parameters = self.within(coverage)
        sql = (
            f"DELETE FROM {vector_table(model_id)} v WHERE NOT EXISTS (SELECT 1 FROM chunks"
            " WHERE chunks.content_hash = v.content_hash"
            f" AND chunks.collection_id = v.collection_id{condition})"
        )
        self._database.write_uncached(lambda con: con.execute(sql, parameters))


# The chunks of a row of `documents` in the same statement.
_OWN = (
    "chunks c WHERE c.document_id = documents.document_id"
    " AND c.collection_id = documents.collection_id"
)


def _lacks(model_id: int) -> str:
    """SQL that holds for a chunk `c` without a vector of a model in its collection."""
    return (
        f"NOT EXISTS (SELECT 1 FROM {vector_table(model_id)} v"
        " WHERE v.content_hash = c.content_hash AND v.collection_id = c.collection_id)"
    )
