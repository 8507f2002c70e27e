"""The share of gold characters that passages contain, whole documents being cut by the app.

After Smith and Troynikov, 2024, "Evaluating Chunking Strategies for Retrieval".
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop_rag.core.domain import Passage, SearchMode
from desktop_rag.core.quotes import locate
from desktop_rag.features.evaluation.measures.metrics import mean
from desktop_rag.features.evaluation.measures.query_sets import (
    Form,
    KnownSet,
    folder_of,
    load_set,
    queries_of,
    rows_of,
)
from desktop_rag.features.evaluation.measures.search import MODES, Judge, Row, Say, search
from desktop_rag.features.evaluation.values.measurement import Measurement

if TYPE_CHECKING:
    from desktop_rag.app import Services

PASSAGES = 5


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """The characters [start, end) of a file that answer a query, and their text."""

    document: str
    start: int
    end: int
    text: str


def load_spans(folder: Path) -> KnownSet:
    """Read a set of gold spans; AppError when it is none."""
    return load_set(folder, kind="spans", form=_FORM)


def measured(
    known: KnownSet, services: "Services", say: Say, modes: Sequence[SearchMode] = MODES
) -> Measurement:
    """Search the queries of a set in each mode, and measure the passages by its gold spans."""
    judging = (_spanning, span_figures)
    return search(known, services, say, modes=modes, passages=PASSAGES, judging=judging)


def has_spans(folder: Path) -> bool:
    """True when the folder can be measured by gold spans too."""
    return (folder / "spans.jsonl").is_file() and (folder / "documents").is_dir()


def _spans(folder: Path) -> tuple[Any, ...]:
    spans: dict[str, list[GoldSpan]] = {}
    for row in rows_of(folder / "spans.jsonl"):
        gold = GoldSpan(row["document"], int(row["start"]), int(row["end"]), row["text"])
        spans.setdefault(str(row["query"]), []).append(gold)
    return folder_of(folder / "documents"), queries_of(folder), spans


_FORM: Form = ("set of gold spans", "documents/, queries.jsonl and spans.jsonl", _spans)

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


def span_row(gold: PlacedGold, found: Sequence[Passage]) -> Row:
    """The passages, the share of the gold characters in them, and the share of theirs in gold."""
    retrieved: dict[str, list[Span]] = defaultdict(list)
    for passage in found:
        retrieved[passage.path].append((passage.start, passage.end))
    covered, chars = overlap(gold.spans, retrieved), length(retrieved)
    passages = [
        {"document": Path(p.path).name, "start": p.start, "end": p.end,
         "score": round(p.score, 6)}
        for p in found
    ]  # fmt: skip
    return {
        "found": passages,
        "recall": covered / gold.chars if gold.chars else 0.0,
        "precision": covered / chars if chars else 0.0,
        "gold_chars": gold.chars,
        "unplaced": gold.unplaced_spans,
    }


def span_figures(rows: Sequence[Row], passages: int) -> Row:
    """Means over the queries, the share of all characters together, and the spans not found."""
    gold = sum(row["gold_chars"] for row in rows)
    covered = sum(row["recall"] * row["gold_chars"] for row in rows)
    return {
        f"span_recall@{passages}": mean([row["recall"] for row in rows]),
        f"span_precision@{passages}": mean([row["precision"] for row in rows]),
        # Long spans weigh more.
        f"pooled_recall@{passages}": covered / gold if gold else 0.0,
        "unplaced": sum(row["unplaced"] for row in rows),
    }


def _spanning(known: KnownSet, services: "Services", _: object, say: Say) -> Judge:
    """By the gold spans, mapped from offsets in files to offsets in texts."""
    texts = {
        str(d.path): services.chat.document_text(d.document_id)
        for d in services.library.documents.all()
        if d.chunk_count and not d.parent_id
    }
    lengths = {name: len(Path(name).read_bytes().decode("utf-8", "replace")) for name in texts}
    placed: dict[str, PlacedGold] = {}
    for query_id, _text in known.queries:
        spans: dict[str, list[Span]] = defaultdict(list)
        lost: list[GoldSpan] = []
        for gold in known.known[query_id]:
            path = str(known.documents / gold.document)
            span = place(gold, texts[path], lengths[path]) if path in texts else None
            if span:
                spans[path].append(span)
            else:
                lost.append(gold)
        placed[query_id] = PlacedGold(spans, len(lost), sum(len(gold.text) for gold in lost))
    if unplaced := sum(gold.unplaced_spans for gold in placed.values()):
        say(f"{unplaced} gold spans were not found in the extracted text and count as missed")
    return lambda query_id, found: span_row(placed[query_id], found)


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
