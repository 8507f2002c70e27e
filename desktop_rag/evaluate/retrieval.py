"""Measures retrieval on a set in BEIR's layout, through the app's own files, chunks and search.

The set's passages become files in a scratch folder, so that everything a person's documents go
through is measured too. Runs on the caller's thread.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import SearchMode
from desktop_rag.core.errors import AppError
from desktop_rag.evaluate.metrics import ndcg, percentile, recall, reciprocal_rank
from desktop_rag.ingest.library import Library

MODES: tuple[SearchMode, ...] = ("hybrid", "lexical", "dense")
# Several chunks of one document may stand before the next: look deep enough for ten documents.
_CHUNKS = 50


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """Passages, queries (id, text) and the graded relevant passages of each query."""

    corpus: tuple[dict[str, str], ...]
    queries: tuple[tuple[str, str], ...]
    relevant: dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class ModeResult:
    """The measures of one mode. Times are of the whole search call."""

    mode: SearchMode
    queries: int
    ndcg_at_10: float
    recall_at_5: float
    mrr: float
    p50_ms: float
    p95_ms: float

    def to_json(self) -> dict[str, Any]:
        """The keys of the command line."""
        return {
            "mode": self.mode,
            "queries": self.queries,
            "ndcg@10": round(self.ndcg_at_10, 4),
            "recall@5": round(self.recall_at_5, 4),
            "mrr": round(self.mrr, 4),
            "p50_ms": round(self.p50_ms, 2),
            "p95_ms": round(self.p95_ms, 2),
        }


def load_set(folder: Path, limit: int | None = None) -> RetrievalSet:
    """Read corpus.jsonl, queries.jsonl and qrels.tsv; AppError when they are not such a set."""
    try:
        corpus = tuple(_rows(folder / "corpus.jsonl"))
        queries = [(str(q["_id"]), str(q["text"])) for q in _rows(folder / "queries.jsonl")]
        relevant: dict[str, dict[str, int]] = {}
        lines = (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()
        for line in lines[1:]:
            query, passage, grade = line.split("\t")
            relevant.setdefault(query, {})[passage] = int(grade)
    except (OSError, ValueError, KeyError) as exc:
        raise AppError(
            f"{folder} is no retrieval set.",
            f"It needs corpus.jsonl, queries.jsonl and qrels.tsv ({exc}).",
        ) from exc
    judged = [query for query in queries if query[0] in relevant]
    return RetrievalSet(corpus, tuple(judged[:limit]), relevant)


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
    say: Callable[[str], None],
) -> list[ModeResult]:
    """Index the set from `scratch` into an empty library, then run its queries in each mode."""
    folder = scratch.resolve() / "corpus"
    folder.mkdir(parents=True)
    ids = write_corpus(retrieval_set.corpus, folder)
    began_at = time.monotonic()
    library.add_source(folder)
    while not library.wait_until_quiet(5.0):
        say(f"{100 * library.progress().fraction:.1f} % indexed")
    say(f"{len(ids)} passages indexed in {time.monotonic() - began_at:.1f} s")
    return [_measure(retrieval_set, mode, chat, ids) for mode in modes]


def _measure(
    retrieval_set: RetrievalSet, mode: SearchMode, chat: Chat, ids: dict[str, str]
) -> ModeResult:
    rankings: list[tuple[list[str], dict[str, int]]] = []
    times_ms: list[float] = []
    for query_id, text in retrieval_set.queries:
        began_at = time.perf_counter()
        passages = chat.search(text, mode=mode, limit=_CHUNKS)
        times_ms.append(1000 * (time.perf_counter() - began_at))
        ranked = list(dict.fromkeys(ids[passage.path] for passage in passages))
        rankings.append((ranked, retrieval_set.relevant[query_id]))
    count = len(rankings) or 1
    return ModeResult(
        mode=mode,
        queries=len(rankings),
        ndcg_at_10=sum(ndcg(ranked, wanted) for ranked, wanted in rankings) / count,
        recall_at_5=sum(recall(ranked, wanted) for ranked, wanted in rankings) / count,
        mrr=sum(reciprocal_rank(ranked, wanted) for ranked, wanted in rankings) / count,
        p50_ms=percentile(times_ms, 0.5),
        p95_ms=percentile(times_ms, 0.95),
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]
