"""Measures search by pages: the share of queries with the evidence page in the top passages.

The files, PDFs say, are indexed as a person's would be. Runs on the caller's thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import Passage, SearchMode
from desktop_rag.features.evaluation.measures.measurement import (
    Asked,
    Measurements,
    ModeFigures,
    Say,
    ask_each,
    index_folder,
    mean,
)
from desktop_rag.features.evaluation.measures.query_sets import PageSet
from desktop_rag.ingest.library import Library

PASSAGES = 10
_DEPTHS = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class FoundPages:
    """A passage by its file (relative to the set) and its first and last page."""

    file: str
    first: int | None
    last: int | None
    score: float

    def holds(self, file: str, page: int) -> bool:
        """True when the passage is on that page, in whole or in part."""
        if self.first is None or self.last is None:
            return False
        return self.file == file and self.first <= page <= self.last


@dataclass(frozen=True, slots=True)
class QueryPages:
    """The results of a query, best first."""

    query_id: str
    text: str
    evidence: frozenset[tuple[str, int]]
    found: tuple[FoundPages, ...]
    ms: float

    @property
    def first_relevant(self) -> int | None:
        """The rank of the first passage on any evidence page, from 1; None without one."""
        for rank, passage in enumerate(self.found, start=1):
            if any(passage.holds(file, page) for file, page in self.evidence):
                return rank
        return None

    def is_found(self, depth: int) -> bool:
        """True when an evidence page is among the first `depth` passages."""
        return self.first_relevant is not None and self.first_relevant <= depth

    def to_json(self) -> dict[str, Any]:
        """The passages by file and page, and the rank of the first evidence."""
        found = [
            {"file": p.file, "page": p.first, "last_page": p.last, "score": round(p.score, 6)}
            for p in self.found
        ]
        return {
            "query": self.query_id,
            "text": self.text,
            "evidence": [{"file": f, "page": page} for f, page in sorted(self.evidence)],
            "found": found,
            "first_relevant": self.first_relevant,
            "ms": round(self.ms, 2),
        }


@dataclass(frozen=True, slots=True)
class PageResult(ModeFigures[QueryPages]):
    """The measures of one mode."""

    def share(self, depth: int) -> float:
        """The share of the queries with an evidence page among the first `depth` passages."""
        return mean([float(q.is_found(depth)) for q in self.queries])

    def measures(self) -> dict[str, float]:
        """The shares by depth, up to the requested number of passages."""
        depths = [depth for depth in _DEPTHS if depth <= self.passages]
        return {f"page@{depth}": round(self.share(depth), 4) for depth in depths}


def evaluate(
    page_set: PageSet,
    modes: Sequence[SearchMode],
    library: Library,
    chat: Chat,
    say: Say,
    *,
    passages: int = PASSAGES,
) -> Measurements:
    """Index the files into an empty library, then run the queries in each mode."""
    index = index_folder(library, page_set.files, say)

    def judged(asked: Asked) -> QueryPages:
        places = tuple(_pages(passage, page_set.files, library) for passage in asked.found)
        evidence = page_set.pages[asked.query_id]
        return QueryPages(asked.query_id, asked.text, evidence, places, asked.ms)

    queries = page_set.queries
    results = [
        PageResult(mode, passages, tuple(map(judged, ask_each(queries, mode, chat, passages))))
        for mode in modes
    ]
    return Measurements("pages", tuple(results), index)


def _pages(passage: Passage, files: Path, library: Library) -> FoundPages:
    """The pages of a passage: the first from its anchor, the last looked up."""
    last = first = passage.anchor.page
    if first is not None and passage.end > passage.start:
        end = library.documents.place(passage.document_id, passage.end - 1, passage.end)
        last = end.page or first
    file = Path(passage.path).relative_to(files).as_posix()
    return FoundPages(file, first, last, passage.score)
