"""Vectors, postings and the two searches over them. Any thread; reads take their own cursor.

Lexical: BM25 over the postings (Robertson and Zaragoza, 2009, "The Probabilistic Relevance
Framework", with the idf of Lucene, which is never negative). Dense: the sign bits of a vector
stand beside it; a scan of Hamming distances picks candidates, exact inner products order them.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.anchors import Anchor
from desktop_rag.core.domain import Passage
from desktop_rag.store.database import Connection, Database, insert

_K1 = 1.2
_B = 0.75
_BITS_A_WORD = 64
# Candidates of the Hamming scan: enough for recall@10 ≥ .99 of exact on the sets we measure.
_LEAST_CANDIDATES = 500
_CANDIDATE_SHARE = 0.05
_IN_COLLECTION = (
    " AND {column} IN (SELECT c.{column} FROM chunks c JOIN documents d USING (document_id)"
    " JOIN sources s USING (source_id) WHERE s.collection_id = $collection)"
)
# Files that vanished in great numbers are kept for a while, and found by no one.
_NOT_GONE = (
    " AND {column} IN (SELECT c.{column} FROM chunks c JOIN documents d USING (document_id)"
    " WHERE d.state <> 'gone')"
)


class VectorStore:
    """The vectors of one model, by content hash."""

    def __init__(self, database: Database, model: str, dimensions: int) -> None:
        """Find or make the model's own table, so that models never mix."""
        self._database = database
        self._dimensions = dimensions
        self._words = -(-dimensions // _BITS_A_WORD)
        self._table = database.write(lambda con: _vector_table(con, model, dimensions, self._words))

    def add(self, hashes: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Store unit vectors, shape (len(hashes), dimensions), of hashes that `missing` gave."""
        bits = _sign_bits(vectors, self._words)
        columns: dict[str, Any] = {"content_hash": list(hashes), "embedding": list(vectors)}
        columns |= {f"b{k}": np.ascontiguousarray(bits[:, k]) for k in range(self._words)}
        self._database.write(lambda con: insert(con, self._table, columns))

    def missing(self, limit: int) -> list[tuple[str, str, str]]:
        """Up to `limit` (content hash, context, text) that have no vector yet, each hash once."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT content_hash, any_value(context), any_value(text) FROM"
                f" (SELECT * FROM chunks ANTI JOIN {self._table} USING (content_hash))"
                " GROUP BY content_hash LIMIT ?",
                [limit],
            ).fetchall()
        return [(row[0].hex, row[1], row[2]) for row in rows]

    def lacking(self, hashes: Sequence[str]) -> set[str]:
        """Those of the content hashes that have no vector."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT DISTINCT h FROM (SELECT unnest(?)::UUID AS h) WHERE h NOT IN"
                f" (SELECT content_hash FROM {self._table})",
                [list(hashes)],
            ).fetchall()
        return {row[0].hex for row in rows}

    def counts(self) -> tuple[int, int]:
        """(distinct contents among the chunks, those of them without a vector)."""
        with self._database.read() as con:
            [(total, missing)] = con.execute(
                "SELECT count(DISTINCT content_hash), count(DISTINCT content_hash) FILTER"
                f" (content_hash NOT IN (SELECT content_hash FROM {self._table})) FROM chunks"
            ).fetchall()
        return int(total), int(missing)

    def finish_documents(self) -> list[str]:
        """Mark the documents whose chunks all have vectors as searchable; returns their ids."""

        def work(con: Connection) -> list[str]:
            rows = con.execute(
                "UPDATE documents SET state = 'searchable' WHERE state = 'searchable by words'"
                " AND document_id NOT IN (SELECT c.document_id FROM chunks c"
                f" ANTI JOIN {self._table} v USING (content_hash)) RETURNING document_id"
            ).fetchall()
            return [row[0] for row in rows]

        return self._database.write(work)

    def reopen_documents(self) -> None:
        """Documents that lack vectors of this model are searchable by words only."""
        self._database.write(
            lambda con: con.execute(
                "UPDATE documents SET state = 'searchable by words' WHERE state = 'searchable'"
                " AND document_id IN (SELECT c.document_id FROM chunks c"
                f" ANTI JOIN {self._table} v USING (content_hash))"
            )
        )

    def prune(self) -> None:
        """Drop vectors that no chunk needs any more."""
        with self._database.read() as con:
            [(dead,)] = con.execute(
                f"SELECT count(*) FROM {self._table} ANTI JOIN chunks USING (content_hash)"
            ).fetchall()
        if dead:
            self._database.write(
                lambda con: con.execute(
                    f"DELETE FROM {self._table} WHERE content_hash NOT IN"
                    " (SELECT content_hash FROM chunks)"
                )
            )

    def answer(self, folder: str) -> None:
        """From now on these vectors answer; the model is found again in `folder`."""

        def work(con: Connection) -> None:
            con.execute("UPDATE models SET is_answering = false")
            con.execute(
                "UPDATE models SET is_answering = true, folder = ? WHERE model_id = ?",
                [folder, int(self._table.removeprefix("vectors_"))],
            )

        self._database.write(work)

    def nearest(
        self, query: NDArray[np.float32], limit: int, collection_id: str = ""
    ) -> list[tuple[int, float]]:
        """The `limit` chunks most similar to a unit vector: (chunk id, similarity), best first."""
        candidates = self._candidate_count(limit)
        with self._database.read() as con:
            only_hashes = _only(con, "content_hash", collection_id)
            only_chunks = _only(con, "chunk_id", collection_id)
            return con.execute(
                "SELECT c.chunk_id, v.similarity FROM ("
                f" SELECT content_hash, {self._similarity} AS similarity FROM {self._table}"
                f" WHERE rowid IN (SELECT rowid FROM {self._table} WHERE true{only_hashes}"
                f" ORDER BY {self._hamming} LIMIT {candidates})) v"
                f" JOIN chunks c USING (content_hash) WHERE true{only_chunks}"
                f" ORDER BY v.similarity DESC, c.chunk_id LIMIT {limit}",
                self._parameters(query, collection_id),
            ).fetchall()

    def similarities(
        self, query: NDArray[np.float32], chunk_ids: Sequence[int]
    ) -> dict[int, float]:
        """Exact similarity of given chunks; those without a vector are absent."""
        with self._database.read() as con:
            rows = con.execute(
                f"SELECT c.chunk_id, {self._similarity} FROM chunks c"
                f" JOIN {self._table} USING (content_hash)"
                " WHERE c.chunk_id IN (SELECT unnest($ids))",
                {"query": query.tolist(), "ids": list(chunk_ids)},
            ).fetchall()
        return dict(rows)

    @property
    def _similarity(self) -> str:
        return f"array_inner_product(embedding, $query::FLOAT[{self._dimensions}])"

    @property
    def _hamming(self) -> str:
        return " + ".join(
            f"bit_count(xor(b{k}, $b{k}::UBIGINT))::SMALLINT" for k in range(self._words)
        )

    def _parameters(self, query: NDArray[np.float32], collection_id: str) -> dict[str, Any]:
        bits = _sign_bits(query[np.newaxis, :], self._words)[0]
        parameters: dict[str, Any] = {"query": query.tolist()}
        parameters |= {f"b{k}": int(bits[k]) for k in range(self._words)}
        return parameters | ({"collection": collection_id} if collection_id else {})

    def _candidate_count(self, limit: int) -> int:
        with self._database.read() as con:
            [(count,)] = con.execute(f"SELECT count(*) FROM {self._table}").fetchall()
        return max(_LEAST_CANDIDATES, 4 * limit, int(count * _CANDIDATE_SHARE))


class LexicalStore:
    """BM25 over the postings, and the passages behind chunk ids."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def best(
        self, terms: Sequence[str], limit: int, collection_id: str = ""
    ) -> list[tuple[int, float]]:
        """The `limit` chunks with the highest BM25: (chunk id, score), best first."""
        return self._rank(terms, f"ORDER BY score DESC, chunk_id LIMIT {limit}", collection_id)

    def scores(self, terms: Sequence[str], chunk_ids: Sequence[int]) -> dict[int, float]:
        """BM25 of given chunks; those without any of the terms are absent."""
        return dict(self._rank(terms, "", "", list(chunk_ids)))

    def passages(self, scores: dict[int, float]) -> list[Passage]:
        """The passages of the scored chunks, best first; chunks deleted meanwhile are absent."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT c.chunk_id, c.document_id, d.path, d.title, c.text, c.anchor,"
                " c.start_offset, c.end_offset, d.part, d.url"
                " FROM chunks c JOIN documents d USING (document_id)"
                " WHERE c.chunk_id IN (SELECT unnest(?))",
                [list(scores)],
            ).fetchall()
        found = [
            Passage(i, document, path, title, text, Anchor.from_json(json.loads(anchor)),
                    start, end, scores[i], part, url)
            for i, document, path, title, text, anchor, start, end, part, url in rows
        ]  # fmt: skip
        return sorted(found, key=lambda passage: (-passage.score, passage.chunk_id))

    def _rank(
        self, terms: Sequence[str], tail: str, collection_id: str, ids: list[int] | None = None
    ) -> list[tuple[int, float]]:
        wanted = list(dict.fromkeys(terms))
        if not wanted:
            return []
        parameters: dict[str, Any] = {f"t{k}": term for k, term in enumerate(wanted)}
        if collection_id:
            parameters["collection"] = collection_id
        holes = ", ".join(f"$t{k}" for k in range(len(wanted)))
        with self._database.read() as con:
            only = _only(con, "chunk_id", collection_id)
            if ids is not None:
                only += " AND chunk_id IN (SELECT unnest($ids))"
                parameters["ids"] = ids
            return con.execute(
                "WITH hits AS MATERIALIZED"
                f" (SELECT term, chunk_id, tf FROM postings WHERE term IN ({holes})),"
                " total AS (SELECT count(*) AS n, avg(term_count) AS mean FROM chunks),"
                " idf AS (SELECT term, ln(1 + (any_value(n) - count(*) + 0.5) / (count(*) + 0.5))"
                " AS weight FROM hits, total GROUP BY term)"
                f" SELECT chunk_id, sum(weight * tf * {_K1 + 1} /"
                f" (tf + {_K1} * ({1 - _B} + {_B} * term_count / mean))) AS score"
                " FROM hits JOIN idf USING (term) JOIN chunks USING (chunk_id), total"
                f" WHERE true{only} GROUP BY chunk_id {tail}",
                parameters,
            ).fetchall()


def _only(con: Connection, column: str, collection_id: str) -> str:
    """The condition that keeps chunks in the collection, if one is given, and in sight."""
    [(hidden,)] = con.execute("SELECT count(*) FROM documents WHERE state = 'gone'").fetchall()
    conditions = (_IN_COLLECTION if collection_id else "") + (_NOT_GONE if hidden else "")
    return conditions.format(column=column)


def answering_model(database: Database) -> tuple[str, str]:
    """Name and folder of the model whose vectors answer; empty before any is complete."""
    with database.read() as con:
        rows = con.execute("SELECT name, folder FROM models WHERE is_answering").fetchall()
    return (rows[0][0], rows[0][1]) if rows else ("", "")


def drop_vectors_of_others(database: Database, model: str) -> None:
    """Remove the vectors of every other model. Nothing may be asking them."""

    def work(con: Connection) -> None:
        rows = con.execute("SELECT model_id FROM models WHERE name <> ?", [model]).fetchall()
        for (model_id,) in rows:
            con.execute(f"DROP TABLE IF EXISTS vectors_{model_id}")
        con.execute("DELETE FROM models WHERE name <> ?", [model])

    database.write(work)


def _sign_bits(vectors: NDArray[np.float32], words: int) -> NDArray[np.uint64]:
    """One bit a dimension, 64 to a word, the last word filled with zeros; shape (n, words)."""
    packed = np.packbits(vectors > 0, axis=1)
    padded = np.zeros((len(vectors), words * _BITS_A_WORD // 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


def _vector_table(con: Connection, model: str, dimensions: int, words: int) -> str:
    known = con.execute(
        "SELECT model_id FROM models WHERE name = ? AND dimensions = ?", [model, dimensions]
    ).fetchall()
    if known:
        return f"vectors_{known[0][0]}"
    [(number,)] = con.execute("SELECT coalesce(max(model_id), 0) + 1 FROM models").fetchall()
    con.execute(
        "INSERT INTO models (model_id, name, dimensions) VALUES (?, ?, ?)",
        [number, model, dimensions],
    )
    bits = ", ".join(f"b{k} UBIGINT" for k in range(words))
    table = f"vectors_{number}"
    con.execute(f"CREATE TABLE {table} (content_hash UUID, embedding FLOAT[{dimensions}], {bits})")
    return table
