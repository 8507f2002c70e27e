"""The skeleton of every measurement of search: queries are asked in each mode, which gives figures
a mode and a row a query and mode. Runs on the caller's thread.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import Passage, SearchMode
from desktop_rag.features.evaluation.evaluate.indexing import IndexFigures
from desktop_rag.features.evaluation.evaluate.metrics import percentile

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
