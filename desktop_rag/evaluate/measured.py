"""What every measurement of search gives: figures a mode, and a row a query and mode. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from desktop_rag.core.domain import SearchMode
from desktop_rag.evaluate.indexing import IndexFigures
from desktop_rag.evaluate.metrics import percentile

MODES: tuple[SearchMode, ...] = ("hybrid", "lexical", "dense")


class ModeFigures(Protocol):
    """The measures of one mode."""

    @property
    def mode(self) -> SearchMode:
        """The mode that was searched in."""
        ...

    def to_json(self) -> dict[str, Any]:
        """The keys of the command line."""
        ...

    def query_rows(self) -> list[dict[str, Any]]:
        """What was found for each query, so that two runs can be compared."""
        ...


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurement: its kind, the figures of each mode, and what indexing took."""

    kind: str
    modes: tuple[ModeFigures, ...]
    index: IndexFigures

    def to_json(self, index_bytes: int) -> list[dict[str, Any]]:
        """An object a mode; `index_bytes` is the size of the library file once it was closed."""
        index = {**self.index.to_json(), "index_bytes": index_bytes}
        return [{**figures.to_json(), **index} for figures in self.modes]

    def query_rows(self) -> list[dict[str, Any]]:
        """An object a query and mode."""
        return [row for figures in self.modes for row in figures.query_rows()]


def times_json(times_ms: Sequence[float]) -> dict[str, float]:
    """The keys of the command line for the times of whole search calls."""
    return {
        "p50_ms": round(percentile(times_ms, 0.5), 2),
        "p95_ms": round(percentile(times_ms, 0.95), 2),
    }


def mean(values: Sequence[float]) -> float:
    """The mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0
