"""BM25 in SQL over the postings that a transaction sees, by the formula of the contract.

Each word is a branch of one statement, with its numbers written out: the server then estimates each
word by itself. The contributions of words are added in a fixed order, the rarest first. On an open
snapshot.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.contract.search import K1, B, Weights, Words
from desktop_rag.store.postgres.database.server_database import ServerSnapshot
from desktop_rag.store.postgres.documents.server_content import signed_key
from desktop_rag.store.postgres.search.server_scope import chunk_condition
from desktop_rag.store.postgres.search.server_statistics import read_statistics
from desktop_rag.store.sql.neighbour_scores import neighbour_scores

# Words in at most this many chunks are always read whole.
CHEAP = 2_000
# SQL that begins with AND, and its parameters.
Condition = tuple[str, dict[str, Any]]


def counts_of(snapshot: ServerSnapshot, keys: Sequence[int]) -> dict[int, int]:
    """The number of chunks that each term occurs in."""
    if not keys:
        return {}
    each = " UNION ALL ".join(
        f"SELECT {key:d}::bigint, count(*) FROM postings WHERE key = {key:d}" for key in set(keys)
    )
    return dict(snapshot.con.execute(each).fetchall())


def weights_of(snapshot: ServerSnapshot, words: Words) -> Weights:
    """The weight of each distinct word, the rarest first."""
    distinct = list(dict.fromkeys(words))
    statistics = snapshot.cached(read_statistics)
    found = counts_of(snapshot, [signed_key(term) for word in distinct for term in word])
    counts = {word: sum(found[signed_key(term)] for term in word) for word in distinct}
    order = sorted(distinct, key=lambda word: (counts[word], word))
    total = statistics.chunk_count
    return Weights(
        tuple(order),
        tuple(math.log(1 + max(0.5, total - counts[w] + 0.5) / (counts[w] + 0.5)) for w in order),
        tuple(counts[word] for word in order),
        statistics.mean_length,
    )


def best(
    snapshot: ServerSnapshot, weights: Weights, limit: int, scope: Scope
) -> list[tuple[int, float]]:
    """The `limit` chunks with the highest score: (chunk id, score), best first. Exact.

    When the words up to some point give enough chunks that the rest can't displace, the rest is
    looked up for these chunks only (Turtle and Flood, 1995).
    """
    inside = condition_within(snapshot, scope)
    count = len(weights.words)
    if not count:
        return []
    end = _first_end(weights)
    while end < count:
        rows = _ranked(snapshot, weights, range(end), None, inside)
        scores = np.array([score for _, score in rows])
        rest = weights.greatest(end)
        if len(scores) >= limit and scores[limit - 1] > rest:
            kept = [chunk_id for chunk_id, score in rows if score >= scores[limit - 1] - rest]
            return _ranked(snapshot, weights, range(count), kept, limit=limit)
        end += 1
    return _ranked(snapshot, weights, range(count), None, inside, limit)


def condition_within(snapshot: ServerSnapshot, scope: Scope) -> Condition:
    """SQL that begins with AND, for rows of `chunks` in a scope, and its parameters."""
    statistics = snapshot.cached(read_statistics)
    return chunk_condition(
        scope, has_gone=statistics.has_gone, has_attached=statistics.has_attached
    )


def _first_end(weights: Weights) -> int:
    """The number of words to begin with: the rarest, and all that are cheap."""
    cheap = sum(count <= CHEAP for count in weights.counts)
    # A few words more would be read for all chunks anyway.
    return len(weights.counts) if max(weights.counts) <= 4 * CHEAP else max(1, cheap)


def _ranked(
    snapshot: ServerSnapshot,
    weights: Weights,
    numbers: range,
    only: Sequence[int] | None,
    inside: Condition = ("", {}),
    limit: int | None = None,
) -> list[tuple[int, float]]:
    """Chunks with their scores by some of the words, best first; of the chunks `only`, if given."""
    condition, parameters = inside
    values = dict(parameters)
    which = ""
    if only is not None:
        which, values["only"] = " AND chunk_id = ANY ($only::bigint[])", list(only)
    branches = [_branch(weights, n, keys, which) for n, keys in _keys(weights, numbers)]
    added = " + ".join(
        f"coalesce(max(s) FILTER (WHERE n = {n}), 0)" for n, _ in _keys(weights, numbers)
    )
    within = ""
    if condition:
        within = f" WHERE chunk_id IN (SELECT chunk_id FROM chunks WHERE true{condition})"
    rows = snapshot.con.execute(
        f"SELECT chunk_id, {added or '0'} AS score FROM ({' UNION ALL '.join(branches)}) found"
        f"{within} GROUP BY chunk_id ORDER BY score DESC, chunk_id"
        + ("" if limit is None else f" LIMIT {limit:d}"),
        values,
    ).fetchall()
    return [(chunk_id, float(score)) for chunk_id, score in rows]


def _branch(weights: Weights, n: int, keys: Sequence[int], which: str) -> str:
    """SQL for the contribution of a word to the score of each chunk that has it."""
    base, slope = K1 * (1 - B), K1 * B / weights.mean_length
    score = (
        f"{weights.idf[n] * (K1 + 1)!r}::float8 * tf::float8"
        f" / (tf::float8 + ({base!r}::float8 + {slope!r}::float8 * term_count::float8))"
    )
    if len(keys) == 1:
        where = f"key = {keys[0]:d}{which}"
        return f"SELECT chunk_id, {n} AS n, {score} AS s FROM postings WHERE {where}"
    listed = ", ".join(f"{key:d}" for key in keys)
    summed = (
        "SELECT chunk_id, sum(tf) AS tf, max(term_count) AS term_count FROM postings"
        f" WHERE key IN ({listed}){which} GROUP BY chunk_id"
    )
    return f"SELECT chunk_id, {n} AS n, {score} AS s FROM ({summed}) alternatives"


def _keys(weights: Weights, numbers: range) -> list[tuple[int, list[int]]]:
    """The terms of each word by number; a term of several words belongs to the last of them."""
    owner = {term: n for n, word in enumerate(weights.words) for term in word}
    each = {n: [signed_key(t) for t in weights.words[n] if owner[t] == n] for n in numbers}
    return [(n, keys or [0]) for n, keys in each.items()]


def scores_of(
    snapshot: ServerSnapshot, weights: Weights, chunk_ids: Sequence[int]
) -> dict[int, float]:
    """The scores of given chunks read with their neighbours; those without any word are absent."""
    near = sorted({i + step for i in chunk_ids for step in (-1, 0, 1)})
    rows = snapshot.con.execute(
        "SELECT chunk_id, term_count, position > 0 FROM chunks WHERE chunk_id = ANY (?::bigint[])"
        " ORDER BY chunk_id",
        [near],
    ).fetchall()
    if not rows or not weights.words:
        return {}
    ids = np.array([row[0] for row in rows], np.int64)
    keys = {key: n for n, each in _keys(weights, range(len(weights.words))) for key in each}
    found = snapshot.con.execute(
        "SELECT key, chunk_id, tf FROM postings WHERE key = ANY (?::bigint[])"
        " AND chunk_id = ANY (?::bigint[])",
        [list(keys), ids.tolist()],
    ).fetchall()
    tf = np.zeros((len(ids), len(weights.words)))
    place = {chunk_id: n for n, chunk_id in enumerate(ids.tolist())}
    for key, chunk_id, times in found:
        tf[place[chunk_id], keys[key]] += times
    totals = neighbour_scores(
        weights, ids, np.array([row[1] for row in rows], np.float64),
        np.array([row[2] for row in rows], np.bool_), tf,
    )  # fmt: skip
    wanted = np.isin(ids, np.array(chunk_ids, np.int64)) & (totals > 0)
    return dict(zip(ids[wanted].tolist(), totals[wanted].tolist(), strict=True))
