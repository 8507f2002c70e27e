"""Finds chunks by words, and the passages of chunk ids, on a server. Any thread."""

from collections.abc import Mapping, Sequence

from desktop_rag.core.domain import Passage
from desktop_rag.core.question import Readable
from desktop_rag.features.shared_library.postgres.database.server_database import (
    ServerDatabase,
    ServerSnapshot,
)
from desktop_rag.features.shared_library.postgres.search.server_bm25 import (
    best,
    condition_within,
    counts_of,
    scores_of,
)
from desktop_rag.features.shared_library.postgres.search.server_postings import PostingsInMemory
from desktop_rag.features.shared_library.postgres.search.server_scope import read_statistics
from desktop_rag.store.contract.document_rows import read_sites
from desktop_rag.store.contract.search import (
    EVERYWHERE,
    SHORTEST_COMPLETED,
    LexicalStore,
    Scope,
    Weights,
    WordCounts,
    Words,
    chosen_nearest,
    chosen_terms,
    passages_of,
    stems_of,
    term_counts_of,
    weighted,
)
from desktop_rag.store.sql.edit_distance import edits

# The share of the memory limit for postings, of eight bytes each: with 2 GB, sixty words that occur
# in every fourth of a million chunks.
_POSTINGS_SHARE = 1 / 16


class ServerLexicalStore(LexicalStore):
    """Ranks chunks by the words of a question."""

    def __init__(self, database: ServerDatabase, memory_mb: int) -> None:
        self._database = database
        self._postings = PostingsInMemory(int(_POSTINGS_SHARE * 1_000_000 * memory_mb))
        database.release_listeners.append(self._postings.clear)

    def count(self, words: Words, readable: Readable | None = None) -> WordCounts:
        """The counts of which weights are made."""
        with self._database.snapshot(readable, search="counts of words") as snapshot:
            return counts_of(snapshot, self._postings, words)

    def best(
        self, words: Words | Weights, limit: int, scope: Scope = EVERYWHERE
    ) -> list[tuple[int, float]]:
        """The `limit` chunks with the highest BM25: (chunk id, score), best first. Exact."""
        with self._database.snapshot(scope.readable, search="words") as snapshot:
            weights = self._weights(snapshot, words)
            return best(snapshot, self._postings, weights, limit, scope)

    def scores(self, words: Words | Weights, chunk_ids: Sequence[int]) -> dict[int, float]:
        """BM25 of given chunks read with their neighbours; those without any word are absent."""
        with self._database.snapshot(search="words of given passages") as snapshot:
            weights = self._weights(snapshot, words)
            return scores_of(snapshot, self._postings, weights, chunk_ids)

    def in_scope(self, chunk_ids: Sequence[int], scope: Scope) -> frozenset[int]:
        """The chunks that are in the scope."""
        with self._database.snapshot(scope.readable) as snapshot:
            condition, parameters = condition_within(snapshot, scope)
            rows = snapshot.con.execute(
                f"SELECT chunk_id FROM chunks WHERE chunk_id = ANY ($asked::bigint[]){condition}",
                parameters | {"asked": list(chunk_ids)},
            ).fetchall()
        return frozenset(row[0] for row in rows)

    def documents_of(self, chunk_ids: Sequence[int]) -> frozenset[str]:
        """The documents that the chunks belong to."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT DISTINCT document_id FROM chunks WHERE chunk_id = ANY (?::bigint[])",
                [list(chunk_ids)],
            ).fetchall()
        return frozenset(row[0] for row in rows)

    def newest(self, limit: int, scope: Scope) -> dict[int, float]:
        """The first chunks of the documents in the scope that changed last, with their times."""
        with self._database.snapshot(scope.readable) as snapshot:
            condition, parameters = condition_within(snapshot, scope)
            rows = snapshot.con.execute(
                "SELECT chunks.chunk_id, documents.mtime_ns::float8 / 1e9 FROM chunks"
                " JOIN documents USING (document_id, collection_id)"
                f" WHERE chunks.position = 0{condition} ORDER BY documents.mtime_ns DESC, 1"
                f" LIMIT {limit:d}",
                parameters,
            ).fetchall()
        return dict(rows)

    def languages(self, readable: Readable | None = None) -> Mapping[str, int]:
        """The number of documents in each language, the most frequent first; "" is unknown."""
        with self._database.snapshot(readable) as snapshot:
            return dict(snapshot.cached(read_statistics).languages)

    def nearest_term(self, term: str, errors: int, readable: Readable | None = None) -> str:
        """The most frequent term at the smallest edit distance, up to `errors`, or ""."""
        # Distances are computed here: few servers have a function for them.
        with self._database.snapshot(readable, search="spelling") as snapshot:
            rows = snapshot.con.execute(
                "SELECT term FROM terms WHERE starts_with(term, $first)"
                " AND abs(length(term) - length($term)) <= $errors",
                {"first": term[:1], "term": term, "errors": errors},
            ).fetchall()
            near = sorted(
                (distance, known)
                for (known,) in rows
                if (distance := edits(term, known, errors)) <= errors
            )
            return chosen_nearest(near, lambda terms: self._counts(snapshot, terms))

    def terms_completing(
        self, word: str, limit: int, readable: Readable | None = None
    ) -> tuple[str, ...]:
        """The terms that begin with the word, most chunks first; else the longest stem of it."""
        if len(word) < SHORTEST_COMPLETED:
            return ()
        with self._database.snapshot(readable, search="completion") as snapshot:
            rows = snapshot.con.execute(
                "SELECT term FROM terms WHERE starts_with(term, $word)"
                " OR term = ANY ($stems::text[])",
                {"word": word, "stems": stems_of(word)},
            ).fetchall()
            counts = self._counts(snapshot, [term for (term,) in rows])
        return chosen_terms(counts, word, limit)

    def passages(self, scores: dict[int, float]) -> list[Passage]:
        """The passages of the scored chunks, best first; chunks deleted meanwhile are absent."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT c.chunk_id, c.document_id, c.text, c.anchor, c.start_offset, c.end_offset,"
                " d.path, d.title, d.part, d.url, d.source_id FROM chunks c"
                " JOIN documents d USING (document_id, collection_id)"
                " WHERE c.chunk_id = ANY (?::bigint[])",
                [list(scores)],
            ).fetchall()
            sites = read_sites(con)
        return passages_of(rows, scores, sites)

    def _weights(self, snapshot: ServerSnapshot, words: Words | Weights) -> Weights:
        if isinstance(words, Weights):
            return words
        return weighted(counts_of(snapshot, self._postings, words))

    def _counts(self, snapshot: ServerSnapshot, terms: Sequence[str]) -> dict[str, int]:
        """The number of visible chunks of each term that has any."""
        return term_counts_of(terms, lambda keys: self._postings.counts(snapshot, keys))
