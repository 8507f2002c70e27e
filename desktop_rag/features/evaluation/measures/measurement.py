"""Ranking metrics, indexing, and the figures of each search mode. Runs on the caller's thread."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

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


def reciprocal_rank(ranked: Sequence[str], relevant: Mapping[str, int]) -> float:
    """One over the rank of the first relevant id; 0 when there is none."""
    for rank, i in enumerate(ranked, start=1):
        if relevant.get(i, 0) > 0:
            return 1 / rank
    return 0.0


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

_REPORT_S = 5.0
_UNREAD = (DocumentState.FAILED, DocumentState.SKIPPED)


@dataclass(frozen=True, slots=True)
class IndexFigures:
    """The cost of indexing: seconds in total and until words were searchable, and the passages."""

    seconds: float
    words_seconds: float
    passages: int

    def to_json(self) -> dict[str, Any]:
        """The keys of the command line."""
        return {
            "index_seconds": round(self.seconds, 2),
            "words_seconds": round(self.words_seconds, 2),
            "passages": self.passages,
        }


def index_folder(library: Library, folder: Path, say: Say) -> IndexFigures:
    """Add the folder to a started library, and wait until all of it is searchable.

    AppError when indexing stops, say because the disk is full. `say` hears how far it is.
    """
    with Waiting(library, say, report_s=_REPORT_S) as waiting:
        began_at = time.monotonic()
        library.sources.add(folder)
        waiting.until_idle()
        seconds = time.monotonic() - began_at
    documents = library.documents.all()
    words_seconds = max(0.0, library.indexing.searchable_at - began_at)
    figures = IndexFigures(seconds, words_seconds, sum(d.chunk_count for d in documents))
    say(f"{figures.passages:,} passages of {len(documents):,} documents in {seconds:.1f} s")
    if unread := [d for d in documents if d.state in _UNREAD]:
        say(f"{len(unread):,} were not read, the first: {unread[0].name}: {unread[0].reason}")
    return figures


MODES: tuple[SearchMode, ...] = ("hybrid", "lexical", "dense")


@dataclass(frozen=True, slots=True)
class Asked:
    """A query with its passages, best first; `ms` is the time of the search call."""

    query_id: str
    text: str
    found: tuple[Passage, ...]
    ms: float


class QueryFigures(Protocol):
    """The figures of one query."""

    @property
    def ms(self) -> float:
        """The time of the search call in milliseconds."""
        ...

    def to_json(self) -> dict[str, Any]:
        """The row of this query, to compare two runs."""
        ...


Query_co = TypeVar("Query_co", bound=QueryFigures, covariant=True)


@dataclass(frozen=True, slots=True)
class ModeFigures(ABC, Generic[Query_co]):
    """The queries of one mode, each for the same number of passages."""

    mode: SearchMode
    passages: int
    queries: tuple[Query_co, ...]

    @abstractmethod
    def measures(self) -> dict[str, float]:
        """The measures over all queries, by their keys on the command line."""

    def to_json(self) -> dict[str, Any]:
        """The keys of the command line."""
        return {
            "mode": self.mode,
            "queries": len(self.queries),
            **self.measures(),
            **times_json([query.ms for query in self.queries]),
        }

    def query_rows(self) -> list[dict[str, Any]]:
        """One object for each query."""
        return [{"mode": self.mode, **query.to_json()} for query in self.queries]


@dataclass(frozen=True, slots=True)
class Measurements:
    """One measurement: its kind, the figures of each mode, and the cost of indexing."""

    kind: str
    modes: tuple[ModeFigures[QueryFigures], ...]
    index: IndexFigures

    def to_json(self, index_bytes: int) -> list[dict[str, Any]]:
        """One object for each mode; `index_bytes` is the size of the closed library file."""
        index = {**self.index.to_json(), "index_bytes": index_bytes}
        return [{**figures.to_json(), **index} for figures in self.modes]

    def query_rows(self) -> list[dict[str, Any]]:
        """One object for each query and mode."""
        return [row for figures in self.modes for row in figures.query_rows()]


def ask_each(
    queries: Sequence[tuple[str, str]], mode: SearchMode, chat: Chat, passages: int
) -> Iterator[Asked]:
    """Ask (id, text) one by one, each for the same number of passages."""
    for query_id, text in queries:
        began_at = time.perf_counter()
        found = chat.search(text, mode=mode, limit=passages)
        ms = 1000 * (time.perf_counter() - began_at)
        yield Asked(query_id, text, tuple(found), ms)


def times_json(times_ms: Sequence[float]) -> dict[str, float]:
    """The keys of the command line for the times of search calls."""
    return {
        "p50_ms": round(percentile(times_ms, 0.5), 2),
        "p95_ms": round(percentile(times_ms, 0.95), 2),
    }


def mean(values: Sequence[float]) -> float:
    """The mean; 0 of no values."""
    return sum(values) / len(values) if values else 0.0
