"""BM25 over the postings, and the passages behind chunk ids. Any thread; own cursors.

Robertson and Zaragoza, 2009, "The Probabilistic Relevance Framework", with the idf of Lucene,
which is never negative. Postings stand in two tables: `postings`, sorted by term so that a term is
found without reading the rest, and `recent_postings`, what came since they were sorted. Chunks
deleted since then are in `dead_chunks`.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from desktop_rag.core.anchors import Anchor
from desktop_rag.core.domain import Passage
from desktop_rag.store.database import Connection, Database
from desktop_rag.store.scope import Scope

# Short passages gain little from length normalisation: measured against 1.2 and .75.
K1 = 0.9
B = 0.4
# A chunk is read with its neighbours: what they say counts this much of what it says itself.
NEIGHBOUR_SHARE = 0.5
_NEIGHBOUR_LENGTH = 0.25
# Terms are taken in, the rarest first, until this many times the wanted chunks are scored.
_FIRST_DEPTH = 20

_POSTINGS = "(FROM postings UNION ALL FROM recent_postings)"
# Two statements: of a union DuckDB would read the whole vocabulary.
_SORTED_COUNTS = "SELECT term, chunks FROM terms WHERE term IN (SELECT unnest(?))"
_RECENT_COUNTS = (
    "SELECT term, count(*) FROM recent_postings WHERE term IN (SELECT unnest(?)) GROUP BY term"
)
_ALIVE = " AND chunk_id NOT IN (SELECT chunk_id FROM dead_chunks)"

Words = Sequence[tuple[str, ...]]
_EVERYWHERE = Scope()


@dataclass(frozen=True, slots=True)
class Weights:
    """A question's words, the rarest first, with what searches by them need to know."""

    words: tuple[tuple[str, ...], ...]
    idf: tuple[float, ...]
    counts: tuple[int, ...]
    mean_length: float

    def greatest(self, first: int = 0) -> float:
        """More than the words from `first` on can add to a score."""
        return sum(self.idf[first:]) * (K1 + 1)

    def only(self, words: Words) -> "Weights":
        """The same of some of the words."""
        kept = [n for n, word in enumerate(self.words) if word in words]
        return replace(
            self,
            words=tuple(self.words[n] for n in kept),
            idf=tuple(self.idf[n] for n in kept),
            counts=tuple(self.counts[n] for n in kept),
        )


class LexicalStore:
    """Ranks chunks by the words of a question.

    A word is a tuple of alternative terms, such as its stems in several languages: any of them
    counts as the word.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def weigh(self, words: Words) -> Weights:
        """How rare each word is. Once a question: it takes as long as a quick search."""
        with self._database.read() as con:
            return self._weights(con, words)

    def best(
        self, words: Words | Weights, limit: int, scope: Scope = _EVERYWHERE
    ) -> list[tuple[int, float]]:
        """The `limit` chunks with the highest BM25: (chunk id, score), best first. Exact.

        Frequent words are looked up only for the chunks that rare ones leave in the race (Turtle
        and Flood, 1995, "Query evaluation: strategies and optimizations"): a chunk without any of
        the rare words can't reach the last place, or all postings are read.
        """
        with self._database.read() as con:
            weights = self._weights(con, words)
            only, parameters = scope.condition(con, "chunk_id")
            only += _ALIVE if _has_dead(con) else ""
            depth = _FIRST_DEPTH * limit
            for taken in range(1, len(weights.words) + 1):
                if taken < len(weights.words) and sum(weights.counts[:taken]) < depth:
                    continue
                rows = self._ranked(con, weights, taken, limit, only, parameters)
                last = rows[-1][2] if len(rows) == limit else 0.0
                if taken == len(weights.words) or last > weights.greatest(taken):
                    return [(chunk_id, score) for chunk_id, score, _ in rows]
                depth *= _FIRST_DEPTH
        return []

    def scores(self, words: Words | Weights, chunk_ids: Sequence[int]) -> dict[int, float]:
        """BM25 of given chunks read with their neighbours; those without any word are absent.

        A neighbour is the chunk before or after in the same document. Its words count
        NEIGHBOUR_SHARE: a passage that speaks of "it" is about what the one before names.
        """
        if not chunk_ids:
            return {}
        with self._database.read() as con:
            weights = self._weights(con, words)
            lengths, documents = _lengths(con, chunk_ids)
            counts = _counts_of(con, weights.words, list(lengths))
        found: dict[int, float] = {}
        for chunk_id in chunk_ids:
            if chunk_id not in lengths:
                continue
            near = [
                i for i in (chunk_id - 1, chunk_id + 1)
                if documents.get(i) == documents[chunk_id]
            ]  # fmt: skip
            length = lengths[chunk_id] + _NEIGHBOUR_LENGTH * sum(lengths[i] for i in near)
            norm = K1 * (1 - B + B * length / weights.mean_length)
            score = 0.0
            for n, idf in enumerate(weights.idf):
                own = counts.get((chunk_id, n), 0)
                tf = own + NEIGHBOUR_SHARE * sum(counts.get((i, n), 0) for i in near)
                score += idf * tf * (K1 + 1) / (tf + norm)
            if score:
                found[chunk_id] = score
        return found

    def inside(self, chunk_ids: Sequence[int], scope: Scope) -> frozenset[int]:
        """Those of the chunks that lie in the scope."""
        with self._database.read() as con:
            only, parameters = scope.condition(con, "chunk_id")
            rows = con.execute(
                f"SELECT chunk_id FROM chunks WHERE chunk_id IN (SELECT unnest($ids)){only}",
                {"ids": list(chunk_ids), **parameters},
            ).fetchall()
        return frozenset(row[0] for row in rows)

    def newest(self, limit: int, scope: Scope) -> dict[int, float]:
        """The first chunks of the documents in the scope that changed last, scored by their age."""
        with self._database.read() as con:
            only, parameters = scope.condition(con, "chunk_id")
            rows = con.execute(
                "SELECT chunk_id, mtime_ns / 1e9 FROM chunks JOIN documents USING (document_id)"
                f" WHERE position = 0{only} ORDER BY 2 DESC, 1 LIMIT {limit}",
                parameters,
            ).fetchall()
        return dict(rows)

    def languages(self) -> list[str]:
        """The languages of the documents, the most frequent first; "" is unknown."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT language FROM documents GROUP BY language ORDER BY count(*) DESC, language"
            ).fetchall()
        return [row[0] for row in rows]

    def nearest_term(self, term: str, errors: int) -> str:
        """The most frequent term with the fewest letters wrong, up to `errors`, or ""."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT term FROM (SELECT term, chunks FROM terms UNION ALL"
                " SELECT term, count(*) AS chunks FROM recent_postings GROUP BY term)"
                " WHERE abs(length(term) - length($term)) <= $errors"
                " AND damerau_levenshtein(term, $term) <= $errors"
                " GROUP BY term ORDER BY damerau_levenshtein(term, $term), sum(chunks) DESC, term"
                " LIMIT 1",
                {"term": term, "errors": errors},
            ).fetchall()
        return rows[0][0] if rows else ""

    def example(self, term: str) -> tuple[str, str]:
        """The text of a chunk that holds the term, and its language; empty if there is none."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT c.text, d.language FROM chunks c JOIN documents d USING (document_id)"
                f" WHERE c.chunk_id IN (SELECT chunk_id FROM {_POSTINGS} WHERE term = ? LIMIT 5)"
                " LIMIT 1",
                [term],
            ).fetchall()
        return rows[0] if rows else ("", "")

    def passages(self, scores: dict[int, float]) -> list[Passage]:
        """The passages of the scored chunks, best first; chunks deleted meanwhile are absent."""
        with self._database.read() as con:
            # Apart: a join reads the texts of all the rows around.
            chunks = con.execute(
                "SELECT chunk_id, document_id, text, anchor, start_offset, end_offset FROM chunks"
                " WHERE chunk_id IN (SELECT unnest(?))",
                [list(scores)],
            ).fetchall()
            documents = con.execute(
                "SELECT document_id, path, title, part, url FROM documents"
                " WHERE document_id IN (SELECT unnest(?))",
                [list({row[1] for row in chunks})],
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

    def _weights(self, con: Connection, words: Words | Weights) -> Weights:
        if isinstance(words, Weights):
            return words
        different = list(dict.fromkeys(words))
        counts = _document_counts(con, different)
        [(total, mean)] = con.execute("SELECT count(*), avg(term_count) FROM chunks").fetchall()
        order = sorted(range(len(different)), key=lambda i: (counts[i], different[i]))
        idf = [math.log(1 + max(0.5, total - n + 0.5) / (n + 0.5)) for n in counts]
        return Weights(
            tuple(different[i] for i in order),
            tuple(idf[i] for i in order),
            tuple(counts[i] for i in order),
            float(mean or 1.0) or 1.0,
        )

    def _ranked(
        self,
        con: Connection,
        weights: Weights,
        taken: int,
        limit: int,
        only: str,
        parameters: dict[str, Any],
    ) -> list[tuple[int, float, float]]:
        """(chunk id, score, score of the first `taken` words alone) of the best, best first.

        Only chunks that hold one of the first `taken` words.
        """
        rare = _score_of(weights, range(taken))
        if taken == len(weights.words):
            sql = f"SELECT chunk_id, score, score FROM ({rare.format(only=only)})"
        else:
            kept = _score_of(weights, range(taken, len(weights.words)))
            sql = (
                f"WITH rare AS MATERIALIZED ({rare.format(only=only)}),"
                " bar AS (SELECT min(score) AS least FROM"
                f" (SELECT score FROM rare ORDER BY score DESC LIMIT {limit})),"
                " kept AS MATERIALIZED (SELECT chunk_id, score FROM rare, bar"
                f" WHERE score >= least - {weights.greatest(taken)})"
                " SELECT k.chunk_id, k.score + coalesce(f.score, 0) AS total, bar.least FROM kept k"
                f" CROSS JOIN bar LEFT JOIN ("
                f"{kept.format(only=' AND chunk_id IN (SELECT chunk_id FROM kept)')}"
                ") f USING (chunk_id)"
            )
        words = {f"t{n}_{m}": t for n, word in enumerate(weights.words) for m, t in enumerate(word)}
        return con.execute(f"{sql} ORDER BY 2 DESC, 1 LIMIT {limit}", words | parameters).fetchall()


def _has_dead(con: Connection) -> bool:
    [(count,)] = con.execute("SELECT count(*) FROM dead_chunks").fetchall()
    return count > 0


def _score_of(weights: Weights, positions: Iterable[int]) -> str:
    """SQL for (chunk id, score by these words), with {only} for what may be found."""
    places = list(positions)
    terms = {f"$t{n}_{m}": n for n in places for m in range(len(weights.words[n]))}
    which = " ".join(f"WHEN {hole} THEN {n}" for hole, n in terms.items())
    idf = " ".join(f"WHEN {n} THEN {weights.idf[n]}::DOUBLE" for n in places)
    hits = (
        f"SELECT chunk_id, CASE term {which} END AS word, tf, term_count FROM {_POSTINGS}"
        f" WHERE term IN ({', '.join(terms)}){{only}}"
    )
    if len(terms) > len(places):
        hits = (
            "SELECT chunk_id, word, sum(tf) AS tf, any_value(term_count) AS term_count"
            f" FROM ({hits}) GROUP BY chunk_id, word"
        )
    return (
        f"SELECT chunk_id, sum((CASE word {idf} END) * tf * {K1 + 1}"
        f" / (tf + {K1 * (1 - B)} + {K1 * B / weights.mean_length}::DOUBLE * term_count)) AS score"
        f" FROM ({hits}) GROUP BY chunk_id"
    )


def _document_counts(con: Connection, words: Words) -> list[int]:
    """In how many chunks each word stands. Until postings are sorted anew, deleted ones count."""
    terms = sorted({term for word in words for term in word})
    if not terms:
        return []
    counts: Counter[str] = Counter()
    for sql in (_SORTED_COUNTS, _RECENT_COUNTS):
        counts.update(dict(con.execute(sql, [terms]).fetchall()))
    return [sum(counts.get(term, 0) for term in word) for word in words]


def _lengths(con: Connection, chunk_ids: Sequence[int]) -> tuple[dict[int, int], dict[int, str]]:
    """Terms in, and document of, each of the chunks and the ones numbered next to them."""
    wanted = sorted({i + step for i in chunk_ids for step in (-1, 0, 1)})
    rows = con.execute(
        "SELECT chunk_id, term_count, document_id FROM chunks WHERE chunk_id IN (SELECT unnest(?))",
        [wanted],
    ).fetchall()
    return {i: n for i, n, _ in rows}, {i: document for i, _, document in rows}


def _counts_of(
    con: Connection, words: Words, chunk_ids: Sequence[int]
) -> dict[tuple[int, int], int]:
    """(chunk id, number of the word) → how often it stands there."""
    numbers = {term: n for n, word in enumerate(words) for term in word}
    if not numbers or not chunk_ids:
        return {}
    rows = con.execute(
        f"SELECT chunk_id, term, tf FROM {_POSTINGS} WHERE term IN (SELECT unnest($terms))"
        " AND chunk_id IN (SELECT unnest($ids))",
        {"terms": list(numbers), "ids": list(chunk_ids)},
    ).fetchall()
    counts: dict[tuple[int, int], int] = {}
    for chunk_id, term, tf in rows:
        key = (chunk_id, numbers[term])
        counts[key] = counts.get(key, 0) + tf
    return counts
