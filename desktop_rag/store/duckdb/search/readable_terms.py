"""The vocabulary of what somebody may read. Any thread, on an open snapshot."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from desktop_rag.core.question import Readable
from desktop_rag.store.duckdb.search.bm25 import counts_within
from desktop_rag.store.duckdb.search.index_cache import IndexSnapshot
from desktop_rag.store.sql.text_sql import key_of

_ALL = "(SELECT term FROM terms UNION SELECT term FROM recent_postings)"
# Nobody means one of so many terms, and each is counted.
_COUNTED_AT_ONCE = 500


def nearest_within(snapshot: IndexSnapshot, term: str, errors: int, readable: Readable) -> str:
    """As `LexicalStore.nearest_term`, among the terms of readable chunks."""
    rows = snapshot.con.execute(
        f"SELECT term, damerau_levenshtein(term, $term) AS errors FROM {_ALL}"
        " WHERE starts_with(term, $first) AND abs(length(term) - length($term)) <= $errors"
        " AND damerau_levenshtein(term, $term) <= $errors ORDER BY errors, term",
        {"term": term, "errors": errors, "first": term[:1]},
    ).fetchall()
    for _, group in groupby(rows, key=lambda row: row[1]):
        counts = _counts(snapshot, [found for found, _ in group], readable)
        if counts:
            return min(counts, key=lambda found: (-counts[found], found))
    return ""


def completing_within(
    snapshot: IndexSnapshot, word: str, stems: Sequence[str], limit: int, readable: Readable
) -> tuple[str, ...]:
    """As `LexicalStore.terms_completing`, among the terms of readable chunks."""
    rows = snapshot.con.execute(
        f"SELECT term, starts_with(term, $word) FROM {_ALL}"
        " WHERE starts_with(term, $word) OR list_contains($stems, term)",
        {"word": word, "stems": list(stems)},
    ).fetchall()
    counts = _counts(snapshot, [term for term, _ in rows], readable)
    longer = [term for term, is_longer in rows if is_longer and term in counts]
    if longer:
        return tuple(sorted(longer, key=lambda term: (-counts[term], term))[:limit])
    return tuple(sorted(counts, key=len, reverse=True)[:1])


def _counts(snapshot: IndexSnapshot, terms: Sequence[str], readable: Readable) -> dict[str, int]:
    """The number of readable chunks of each term; without those that are in none."""
    found: dict[Any, int] = {}
    keys = {term: key_of(term) for term in terms}
    for begin in range(0, len(terms), _COUNTED_AT_ONCE):
        some = [keys[term] for term in terms[begin : begin + _COUNTED_AT_ONCE]]
        found |= counts_within(snapshot, some, readable)
    return {term: found[key] for term, key in keys.items() if found[key]}
