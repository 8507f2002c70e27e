"""Measures search by characters: the share of the gold text that the passages contain.

The documents are indexed as files, so the app's own chunker is measured too (after Smith and
Troynikov, 2024, "Evaluating Chunking Strategies for Retrieval"). Runs on the caller's thread.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import Passage, SearchMode
from desktop_rag.core.quotes import locate
from desktop_rag.features.evaluation.measures.measurement import (
    Asked,
    Measurements,
    ModeFigures,
    Say,
    ask_each,
    index_folder,
    mean,
)
from desktop_rag.features.evaluation.measures.query_sets import GoldSpan, SpanSet
from desktop_rag.ingest.library import Library

PASSAGES = 5

Span = tuple[int, int]
# Spans by document.
Spans = Mapping[str, Sequence[Span]]


@dataclass(frozen=True, slots=True)
class PlacedGold:
    """The gold spans of a query in the extracted texts, and the characters that were not found."""

    spans: Spans
    unplaced_spans: int = 0
    unplaced_chars: int = 0

    @property
    def chars(self) -> int:
        """All gold characters, including those that were not found in the text."""
        return length(self.spans) + self.unplaced_chars


@dataclass(frozen=True, slots=True)
class QuerySpans:
    """The results of a query, and the gold characters in them."""

    query_id: str
    text: str
    gold: PlacedGold
    found: tuple[Passage, ...]
    ms: float

    @property
    def retrieved(self) -> Spans:
        """The spans of the passages."""
        spans: dict[str, list[Span]] = defaultdict(list)
        for passage in self.found:
            spans[passage.path].append((passage.start, passage.end))
        return spans

    @property
    def covered_chars(self) -> int:
        """Gold characters that are in a passage."""
        return overlap(self.gold.spans, self.retrieved)

    @property
    def recall(self) -> float:
        """The share of the gold characters that are in a passage."""
        return self.covered_chars / self.gold.chars if self.gold.chars else 0.0

    @property
    def precision(self) -> float:
        """The share of the passages' characters that are gold."""
        retrieved = length(self.retrieved)
        return self.covered_chars / retrieved if retrieved else 0.0

    def to_json(self) -> dict[str, Any]:
        """The passages by file and span, and the measures."""
        passages = [
            {"document": Path(p.path).name, "start": p.start, "end": p.end,
             "score": round(p.score, 6)}
            for p in self.found
        ]  # fmt: skip
        return {
            "query": self.query_id,
            "text": self.text,
            "found": passages,
            "recall": round(self.recall, 4),
            "precision": round(self.precision, 4),
            "gold_chars": self.gold.chars,
            "unplaced": self.gold.unplaced_spans,
            "ms": round(self.ms, 2),
        }


@dataclass(frozen=True, slots=True)
class SpanResult(ModeFigures[QuerySpans]):
    """The measures of one mode: means over its queries, and of all characters together."""

    @property
    def recall(self) -> float:
        """Mean share of a query's gold characters that are in a passage."""
        return mean([q.recall for q in self.queries])

    @property
    def precision(self) -> float:
        """Mean share of the passages' characters that are gold."""
        return mean([q.precision for q in self.queries])

    @property
    def pooled_recall(self) -> float:
        """The share of all gold characters that are in a passage: long ones weigh more."""
        gold = sum(q.gold.chars for q in self.queries)
        return sum(q.covered_chars for q in self.queries) / gold if gold else 0.0

    @property
    def unplaced(self) -> int:
        """Gold spans that were not found in the extracted text; they count as missed."""
        return sum(q.gold.unplaced_spans for q in self.queries)

    def measures(self) -> dict[str, float]:
        """Shares of characters, and the gold spans that were not found."""
        return {
            f"span_recall@{self.passages}": round(self.recall, 4),
            f"span_precision@{self.passages}": round(self.precision, 4),
            f"pooled_recall@{self.passages}": round(self.pooled_recall, 4),
            "unplaced": self.unplaced,
        }


def evaluate(
    span_set: SpanSet,
    modes: Sequence[SearchMode],
    library: Library,
    chat: Chat,
    say: Say,
    *,
    passages: int = PASSAGES,
) -> Measurements:
    """Index the documents into an empty library, then run the queries in each mode."""
    index = index_folder(library, span_set.documents, say)
    gold = _placed(span_set, library, chat)
    if unplaced := sum(g.unplaced_spans for g in gold.values()):
        say(f"{unplaced} gold spans were not found in the extracted text and count as missed")

    def judged(asked: Asked) -> QuerySpans:
        return QuerySpans(asked.query_id, asked.text, gold[asked.query_id], asked.found, asked.ms)

    queries = span_set.queries
    results = [
        SpanResult(mode, passages, tuple(map(judged, ask_each(queries, mode, chat, passages))))
        for mode in modes
    ]
    return Measurements("spans", tuple(results), index)


# --- gold spans in the extracted text ------------------------------------------------------------


def _placed(span_set: SpanSet, library: Library, chat: Chat) -> dict[str, PlacedGold]:
    """The gold spans of each query, mapped from offsets in files to offsets in texts."""
    texts = {
        str(d.path): chat.document_text(d.document_id)
        for d in library.documents.all()
        if d.chunk_count and not d.parent_id
    }
    lengths = {name: len(Path(name).read_bytes().decode("utf-8", "replace")) for name in texts}
    placed: dict[str, PlacedGold] = {}
    for query_id, _ in span_set.queries:
        spans: dict[str, list[Span]] = defaultdict(list)
        lost: list[GoldSpan] = []
        for gold in span_set.spans[query_id]:
            path = str(span_set.documents / gold.document)
            span = place(gold, texts[path], lengths[path]) if path in texts else None
            if span:
                spans[path].append(span)
            else:
                lost.append(gold)
        placed[query_id] = PlacedGold(spans, len(lost), sum(len(gold.text) for gold in lost))
    return placed


def place(gold: GoldSpan, text: str, file_chars: int) -> Span | None:
    """The position of a gold span in the extracted text of its file; None when it is absent.

    As it is written, else with other white space, else by alignment; of several places, the one
    nearest to where the file of `file_chars` characters has it.
    """
    expected = gold.start * len(text) / max(1, file_chars)

    def nearest(pattern: str) -> Span | None:
        spans = (match.span() for match in re.finditer(pattern, text))
        return min(spans, key=lambda span: abs(span[0] - expected), default=None)

    words = gold.text.split()
    if not words:
        return None
    spaced = r"\s+".join(map(re.escape, words))
    return nearest(re.escape(gold.text)) or nearest(spaced) or locate(gold.text, text)


# --- spans ---------------------------------------------------------------------------------------


def length(spans: Spans) -> int:
    """The number of characters in the spans, each counted once."""
    return sum(end - start for of in spans.values() for start, end in _union(of))


def overlap(a: Spans, b: Spans) -> int:
    """The number of characters in spans of both."""
    both = {name: [*a[name], *b[name]] for name in a.keys() & b.keys()}
    alone = ({name: spans[name] for name in both} for spans in (a, b))
    return sum(map(length, alone)) - length(both)


def _union(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined
