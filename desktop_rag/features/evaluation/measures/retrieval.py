"""Measures ranking on a set in BEIR's layout, through the app's own files, chunks and search.

The set's passages become files in a scratch folder, so parsing and chunking are measured too. Runs
on the caller's thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import SearchMode
from desktop_rag.features.evaluation.measures.measurement import (
    Asked,
    Measurements,
    ModeFigures,
    Say,
    ask_each,
    index_folder,
    mean,
    ndcg,
    recall,
    reciprocal_rank,
)
from desktop_rag.features.evaluation.measures.query_sets import RetrievalSet
from desktop_rag.ingest.library import Library

# Several chunks of one document may rank before the next: search deep enough for ten documents.
PASSAGES = 50
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class RankedQuery:
    """The results of a query: ids with the score of their best passage, best first."""

    query_id: str
    text: str
    ranked: tuple[tuple[str, float], ...]
    relevant: dict[str, int]
    ms: float

    @property
    def ids(self) -> list[str]:
        """The ids alone, best first."""
        return [i for i, _ in self.ranked]

    @property
    def first_relevant(self) -> int | None:
        """The rank of the first relevant id, from 1; None when none was found."""
        ranks = (n for n, i in enumerate(self.ids, start=1) if self.relevant.get(i, 0) > 0)
        return next(ranks, None)

    def to_json(self) -> dict[str, Any]:
        """The first ten ids and the measures."""
        return {
            "query": self.query_id,
            "text": self.text,
            "found": [{"id": i, "score": round(score, 6)} for i, score in self.ranked[:_SHOWN]],
            "ndcg@10": round(ndcg(self.ids, self.relevant), 4),
            "first_relevant": self.first_relevant,
            "ms": round(self.ms, 2),
        }


@dataclass(frozen=True, slots=True)
class ModeResult(ModeFigures[RankedQuery]):
    """The measures of one mode: means over its queries."""

    @property
    def ndcg_at_10(self) -> float:
        """Mean nDCG of the first ten."""
        return mean([ndcg(q.ids, q.relevant) for q in self.queries])

    @property
    def recall_at_5(self) -> float:
        """Mean share of the relevant ids among the first five."""
        return mean([recall(q.ids, q.relevant) for q in self.queries])

    @property
    def mrr(self) -> float:
        """Mean of one over the rank of the first relevant id."""
        return mean([reciprocal_rank(q.ids, q.relevant) for q in self.queries])

    def measures(self) -> dict[str, float]:
        """The measures of ranking."""
        return {
            "ndcg@10": round(self.ndcg_at_10, 4),
            "recall@5": round(self.recall_at_5, 4),
            "mrr": round(self.mrr, 4),
        }


def write_corpus(corpus: Sequence[dict[str, str]], folder: Path) -> dict[str, str]:
    """Write each passage as a Markdown file; returns path → passage id."""
    ids: dict[str, str] = {}
    for number, row in enumerate(corpus):
        path = folder / f"{number:07d}.md"
        title = " ".join(row.get("title", "").split())
        heading = f"# {title}\n\n" if title else ""
        path.write_text(heading + row["text"], encoding="utf-8")
        ids[str(path)] = row["_id"]
    return ids


def evaluate(
    retrieval_set: RetrievalSet,
    modes: Sequence[SearchMode],
    library: Library,
    chat: Chat,
    scratch: Path,
    say: Say,
    *,
    passages: int = PASSAGES,
) -> Measurements:
    """Index the set from `scratch` into an empty library, then run its queries in each mode.

    Each search asks for so many `passages`, which count for the documents they are of.
    """
    folder = scratch.resolve() / "corpus"
    folder.mkdir(parents=True)
    ids = write_corpus(retrieval_set.corpus, folder)
    index = index_folder(library, folder, say)

    def judged(asked: Asked) -> RankedQuery:
        best: dict[str, float] = {}
        for passage in asked.found:
            # A text of several documents is shown once and names the others.
            for path in (passage.path, *(p for p in passage.also_in if p in ids)):
                best.setdefault(ids[path], passage.score)
        relevant = retrieval_set.relevant[asked.query_id]
        return RankedQuery(asked.query_id, asked.text, tuple(best.items()), relevant, asked.ms)

    queries = retrieval_set.queries
    results = [
        ModeResult(mode, passages, tuple(map(judged, ask_each(queries, mode, chat, passages))))
        for mode in modes
    ]
    return Measurements("retrieval", tuple(results), index)
