"""Finds chunks by words, and the passages behind chunk ids. Any thread; own cursors.

The ranking itself is in `bm25.py`, the postings in `postings.py`.
"""

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from desktop_rag.core.anchors import Anchor
from desktop_rag.core.domain import Passage
from desktop_rag.store.contract.scope import EVERYWHERE, Scope
from desktop_rag.store.contract.search import Weights, Words
from desktop_rag.store.duckdb.database.database import Database, among
from desktop_rag.store.duckdb.search.bm25 import View, best, scores_of, weights_of
from desktop_rag.store.duckdb.search.chunk_cache import ChunkCache
from desktop_rag.store.duckdb.search.document_frequencies import DocumentFrequencies
from desktop_rag.store.duckdb.search.library_statistics import LibraryStatistics, statistics_of
from desktop_rag.store.duckdb.search.posting_cache import PostingCache, RecentPostings
from desktop_rag.store.duckdb.search.postings import key_of, standing_of
from desktop_rag.store.duckdb.search.scope_sql import condition_of

# Of the memory the setting grants: with 2 GB sixty words that stand in every fourth chunk of a
# million, at eight bytes a posting.
_LISTS_SHARE = 1 / 16


class LexicalStore:
    """Ranks chunks by the words of a question.

    A word is a tuple of alternative terms, such as its stems in several languages: any of them
    counts as the word.
    """

    def __init__(self, database: Database, chunks: ChunkCache) -> None:
        self._database = database
        self._chunks = chunks
        self._vocabulary = DocumentFrequencies()
        self._lists = PostingCache(int(_LISTS_SHARE * 1_000_000 * database.memory_mb))
        self._recent = RecentPostings()

    def weigh(self, words: Words) -> Weights:
        """How rare each word is. Once a question, for the searches that follow."""
        with self._view() as view:
            return weights_of(view, words)

    def best(
        self, words: Words | Weights, limit: int, scope: Scope = EVERYWHERE
    ) -> list[tuple[int, float]]:
        """The `limit` chunks with the highest BM25: (chunk id, score), best first. Exact."""
        with self._view() as view:
            return best(view, _weights(view, words), limit, scope)

    def scores(self, words: Words | Weights, chunk_ids: Sequence[int]) -> dict[int, float]:
        """BM25 of given chunks read with their neighbours; those without any word are absent.

        A neighbour is the chunk before or after in the same document. Its words count
        NEIGHBOUR_SHARE: a passage that speaks of "it" is about what the one before names.
        """
        with self._view() as view:
            return scores_of(view, _weights(view, words), chunk_ids)

    def inside(self, chunk_ids: Sequence[int], scope: Scope) -> frozenset[int]:
        """Those of the chunks that lie in the scope."""
        with self._database.read() as con:
            only, parameters = condition_of(scope, con, self._facts, "chunk_id")
            rows = con.execute(
                f"SELECT chunk_id FROM chunks WHERE {among(con, 'chunk_id', chunk_ids)}{only}",
                parameters,
            ).fetchall()
        return frozenset(row[0] for row in rows)

    def documents_of(self, chunk_ids: Sequence[int]) -> frozenset[str]:
        """The documents that the chunks belong to."""
        with self._database.read() as con:
            rows = con.execute(
                f"SELECT DISTINCT document_id FROM chunks WHERE {among(con, 'chunk_id', chunk_ids)}"
            ).fetchall()
        return frozenset(row[0] for row in rows)

    def newest(self, limit: int, scope: Scope) -> dict[int, float]:
        """The first chunks of the documents in the scope that changed last, scored by their age."""
        with self._database.snapshot() as snapshot:
            con, facts = snapshot.con, snapshot.known(statistics_of)
            only, parameters = condition_of(scope, con, facts, "chunk_id")
            rows = con.execute(
                "SELECT chunk_id, mtime_ns / 1e9 FROM chunks JOIN documents USING (document_id)"
                f" WHERE position = 0{only} ORDER BY 2 DESC, 1 LIMIT {limit}",
                parameters,
            ).fetchall()
        return dict(rows)

    def languages(self) -> list[str]:
        """The languages of the documents, the most frequent first; "" is unknown."""
        return list(self._facts.languages)

    def nearest_term(self, term: str, errors: int) -> str:
        """The most frequent term with the fewest letters wrong, up to `errors`, or "".

        Only terms with the same first letter, which spares most of the vocabulary.
        """
        with self._database.read() as con:
            rows = con.execute(
                "SELECT term FROM (SELECT term, chunks FROM terms UNION ALL"
                " SELECT term, count(*) AS chunks FROM recent_postings GROUP BY term)"
                " WHERE starts_with(term, $first) AND abs(length(term) - length($term)) <= $errors"
                " AND damerau_levenshtein(term, $term) <= $errors"
                " GROUP BY term ORDER BY damerau_levenshtein(term, $term), sum(chunks) DESC, term"
                " LIMIT 1",
                {"term": term, "errors": errors, "first": term[:1]},
            ).fetchall()
        return rows[0][0] if rows else ""

    def passages(self, scores: dict[int, float]) -> list[Passage]:
        """The passages of the scored chunks, best first; chunks deleted meanwhile are absent."""
        with self._database.read() as con:
            # Apart: a join reads the texts of all the rows around.
            chunks = con.execute(
                "SELECT chunk_id, document_id, text, anchor, start_offset, end_offset FROM chunks"
                f" WHERE {among(con, 'chunk_id', scores)}"
            ).fetchall()
            keys = [key_of(document_id) for document_id in {row[1] for row in chunks}]
            documents = con.execute(
                "SELECT document_id, path, title, part, url FROM documents"
                f" WHERE {among(con, 'key', keys, 'UBIGINT')}"
            ).fetchall()
        rows = {document_id: rest for document_id, *rest in documents}
        found: list[Passage] = []
        for i, document_id, text, anchor, start, end in chunks:
            if document_id in rows:
                path, title, part, url = rows[document_id]
                place = Anchor.from_json(json.loads(anchor))
                found.append(
                    Passage(
                        i, document_id, path, title, text, place, start, end, scores[i], part, url
                    )
                )
        return sorted(found, key=lambda passage: (-passage.score, passage.chunk_id))

    @contextmanager
    def _view(self) -> Generator[View]:
        with self._database.snapshot() as snapshot:
            yield View(
                snapshot.con,
                snapshot.known(statistics_of),
                snapshot.known(standing_of),
                self._vocabulary,
                self._lists,
                self._recent,
                self._chunks,
                snapshot.changes,
            )

    @property
    def _facts(self) -> LibraryStatistics:
        return self._database.known(statistics_of)


def _weights(view: View, words: Words | Weights) -> Weights:
    return words if isinstance(words, Weights) else weights_of(view, words)
