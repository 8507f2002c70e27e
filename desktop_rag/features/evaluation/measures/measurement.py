"""Ranking metrics, indexing, and the figures of each search mode. Runs on the caller's thread."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import DocumentState, Passage, SearchMode
from desktop_rag.ingest.library import Library
from desktop_rag.waiting import Waiting

# Metrics of ranking, as TREC defines them, and of binary classification.


def ndcg(ranked: Sequence[str], relevant: Mapping[str, int], depth: int = 10) -> float:
    """Normalised discounted cumulative gain of the first `depth` (Järvelin and Kekäläinen, 2002).

    `relevant` maps an id to its grade; ids not in it count nothing. 0 when nothing is relevant.
    """
    gained = sum(_discounted(relevant.get(i, 0), rank) for rank, i in enumerate(ranked[:depth]))
    best = sorted(relevant.values(), reverse=True)[:depth]
    ideal = sum(_discounted(grade, rank) for rank, grade in enumerate(best))
    return gained / ideal if ideal else 0.0


def recall(ranked: Sequence[str], relevant: Mapping[str, int], depth: int = 5) -> float:
    """The share of the relevant ids among the first `depth`."""
    wanted = {i for i, grade in relevant.items() if grade > 0}
    return len(wanted & set(ranked[:depth])) / len(wanted) if wanted else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0..1) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def balanced_accuracy(told: Sequence[bool], labels: Sequence[bool]) -> float:
    """The mean of the recalls of both classes; both must occur."""
    shares: list[float] = []
    for kind in (True, False):
        of_kind = [said for said, label in zip(told, labels, strict=True) if label == kind]
        shares.append(sum(said == kind for said in of_kind) / len(of_kind))
    return sum(shares) / len(shares)


def area_under_curve(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """The probability that a positive scores higher than a negative; ties count half.

    The area under the receiver operating characteristic, from the ranks (Mann and Whitney, 1947);
    both kinds must occur.
    """
    ordered = sorted(zip(scores, labels, strict=True))
    wins, others = 0.0, 0
    for _, equals in groupby(ordered, key=lambda pair: pair[0]):
        kinds = [label for _, label in equals]
        true = sum(kinds)
        wins += true * (others + (len(kinds) - true) / 2)
        others += len(kinds) - true
    return wins / (others * (len(ordered) - others))


def _discounted(grade: int, rank: int) -> float:
    return grade / math.log2(rank + 2)


Say = Callable[[str], None]
Row = dict[str, Any]

_REPORT_S = 5.0
_DIGITS = 4
_UNREAD = (DocumentState.FAILED, DocumentState.SKIPPED)


def index_folder(library: Library, folder: Path, say: Say) -> Row:
    """Add the folder to a started library, and wait until all of it is searchable.

    Returns its cost: seconds in total and until words were searchable, and the number of passages.
    AppError when indexing stops, say because the disk is full. `say` hears how far it is.
    """
    with Waiting(library, say, report_s=_REPORT_S) as waiting:
        began_at = time.monotonic()
        library.sources.add(folder)
        waiting.until_idle()
        seconds = time.monotonic() - began_at
    documents = library.documents.all()
    words_seconds = max(0.0, library.indexing.searchable_at - began_at)
    passages = sum(d.chunk_count for d in documents)
    say(f"{passages:,} passages of {len(documents):,} documents in {seconds:.1f} s")
    if unread := [d for d in documents if d.state in _UNREAD]:
        say(f"{len(unread):,} were not read, the first: {unread[0].name}: {unread[0].reason}")
    return {
        "index_seconds": round(seconds, 2),
        "words_seconds": round(words_seconds, 2),
        "passages": passages,
    }


MODES: tuple[SearchMode, ...] = ("hybrid", "lexical", "dense")


@dataclass(frozen=True, slots=True)
class Measured:
    """A measurement: its kind in one word, and its JSON values.

    `results` are the figures, an object for each mode where there are modes, `rows` an object for
    each query or claim, to compare two runs.
    """

    kind: str
    results: list[Row]
    rows: list[Row]

    @classmethod
    def of_modes(
        cls,
        kind: str,
        searched: Mapping[SearchMode, Sequence[Row]],
        figures: Callable[[Sequence[Row]], Row],
        index: Row,
    ) -> "Measured":
        """The figures of each mode, made of its rows, with the cost of indexing."""
        results = [
            {"mode": mode, "queries": len(rows), **rounded(figures(rows)), **_times(rows), **index}
            for mode, rows in searched.items()
        ]
        every = [{"mode": mode, **row} for mode, rows in searched.items() for row in rows]
        return cls(kind, results, [rounded(row) for row in every])


def search_each(
    queries: Sequence[tuple[str, str]],
    modes: Sequence[SearchMode],
    chat: Chat,
    passages: int,
    judged: Callable[[str, Sequence[Passage]], Row],
) -> dict[SearchMode, list[Row]]:
    """Ask (id, text) one by one in each mode, each for so many passages.

    `judged` gives the measures of a query, by its id and what was found, best first. `ms` is the
    time of the search call.
    """

    def asked(query_id: str, text: str, mode: SearchMode) -> Row:
        began_at = time.perf_counter()
        found = chat.search(text, mode=mode, limit=passages)
        ms = 1000 * (time.perf_counter() - began_at)
        return {"query": query_id, "text": text, **judged(query_id, found), "ms": ms}

    return {mode: [asked(*query, mode) for query in queries] for mode in modes}


def _times(rows: Sequence[Row]) -> Row:
    times_ms = [row["ms"] for row in rows]
    return {
        "p50_ms": round(percentile(times_ms, 0.5), 2),
        "p95_ms": round(percentile(times_ms, 0.95), 2),
    }


def rounded(row: Row) -> Row:
    """The numbers of a row with the digits that mean something."""
    return {key: round(v, _DIGITS) if isinstance(v, float) else v for key, v in row.items()}


def mean(values: Sequence[float]) -> float:
    """The mean; 0 of no values."""
    return sum(values) / len(values) if values else 0.0
