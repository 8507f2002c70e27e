"""Measures search on three kinds of sets, through the app's own files, chunks and search.

Ranking on a set in BEIR's layout; the share of gold characters that the passages contain (after
Smith and Troynikov, 2024, "Evaluating Chunking Strategies for Retrieval"); and whether the evidence
page is among them. Everything is indexed as a person's files are. Runs on the caller's thread.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import Passage, SearchMode
from desktop_rag.core.quotes import locate
from desktop_rag.features.evaluation.measures.measurement import (
    MODES,
    Measured,
    Row,
    Say,
    index_folder,
    mean,
    ndcg,
    recall,
    search_each,
)
from desktop_rag.features.evaluation.measures.query_sets import (
    GoldSpan,
    PageSet,
    RetrievalSet,
    SpanSet,
)
from desktop_rag.ingest.library import Library

# Several chunks of one document may rank before the next: search deep enough for ten documents.
RANKED_PASSAGES, SPAN_PASSAGES, PAGE_PASSAGES = 50, 5, 10
_SHOWN = 10
_DEPTHS = (1, 5, 10)


def by_rank(
    ranked: RetrievalSet,
    library: Library,
    chat: Chat,
    scratch: Path,
    say: Say,
    *,
    modes: Sequence[SearchMode] = MODES,
    passages: int = RANKED_PASSAGES,
) -> Measured:
    """Index the set from `scratch` into an empty library, then run its queries in each mode.

    Each search asks for so many `passages`, which count for the documents they are of.
    """
    folder = scratch.resolve() / "corpus"
    folder.mkdir(parents=True)
    ids = write_corpus(ranked.corpus, folder)
    index = index_folder(library, folder, say)

    def judged(query_id: str, found: Sequence[Passage]) -> Row:
        best: dict[str, float] = {}
        for passage in found:
            # A text of several documents is shown once and names the others.
            for path in (passage.path, *(p for p in passage.also_in if p in ids)):
                best.setdefault(ids[path], passage.score)
        return rank_row(best, ranked.relevant[query_id])

    searched = search_each(ranked.queries, modes, chat, passages, judged)
    return Measured.of_modes("retrieval", searched, rank_figures, index)


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


def rank_row(ranked: Mapping[str, float], relevant: Mapping[str, int]) -> Row:
    """The first ten ids, best first, with their scores, and the measures of a query."""
    ids = list(ranked)
    ranks = (n for n, i in enumerate(ids, start=1) if relevant.get(i, 0) > 0)
    return {
        "found": [{"id": i, "score": round(ranked[i], 6)} for i in ids[:_SHOWN]],
        "ndcg@10": ndcg(ids, relevant),
        "recall@5": recall(ids, relevant),
        "first_relevant": next(ranks, None),
    }


def rank_figures(rows: Sequence[Row]) -> Row:
    """Means over the queries."""
    return {
        "ndcg@10": mean([row["ndcg@10"] for row in rows]),
        "recall@5": mean([row["recall@5"] for row in rows]),
        "mrr": mean([1 / row["first_relevant"] if row["first_relevant"] else 0.0 for row in rows]),
    }


# --- pages ---------------------------------------------------------------------------------------


def by_page(
    page_set: PageSet,
    library: Library,
    chat: Chat,
    say: Say,
    *,
    modes: Sequence[SearchMode] = MODES,
    passages: int = PAGE_PASSAGES,
) -> Measured:
    """Index the files into an empty library, then run the queries in each mode."""
    index = index_folder(library, page_set.files, say)

    def judged(query_id: str, found: Sequence[Passage]) -> Row:
        pages = [_pages(passage, page_set.files, library) for passage in found]
        return page_row(pages, page_set.pages[query_id])

    def figures(rows: Sequence[Row]) -> Row:
        return page_figures(rows, passages)

    searched = search_each(page_set.queries, modes, chat, passages, judged)
    return Measured.of_modes("pages", searched, figures, index)


def _pages(passage: Passage, files: Path, library: Library) -> Row:
    """A passage by its file (relative to the set) and its first and last page."""
    last = first = passage.anchor.page
    if first is not None and passage.end > passage.start:
        end = library.documents.place(passage.document_id, passage.end - 1, passage.end)
        last = end.page or first
    file = Path(passage.path).relative_to(files).as_posix()
    return {"file": file, "page": first, "last_page": last, "score": round(passage.score, 6)}


def page_row(found: Sequence[Row], evidence: frozenset[tuple[str, int]]) -> Row:
    """The passages, and the rank of the first one on any evidence page; None without one."""

    def is_there(p: Row) -> bool:
        """True when the passage is on an evidence page, in whole or in part."""
        return p["page"] is not None and any(
            p["file"] == file and p["page"] <= page <= p["last_page"] for file, page in evidence
        )

    return {
        "evidence": [{"file": file, "page": page} for file, page in sorted(evidence)],
        "found": list(found),
        "first_relevant": next((n for n, p in enumerate(found, start=1) if is_there(p)), None),
    }


def page_figures(rows: Sequence[Row], passages: int) -> Row:
    """The share of queries with an evidence page among the first, up to the number asked for."""
    ranks = [row["first_relevant"] or passages + 1 for row in rows]
    depths = [depth for depth in _DEPTHS if depth <= passages]
    return {f"page@{depth}": mean([float(r <= depth) for r in ranks]) for depth in depths}


# --- gold spans ----------------------------------------------------------------------------------

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


def by_span(
    span_set: SpanSet,
    library: Library,
    chat: Chat,
    say: Say,
    *,
    modes: Sequence[SearchMode] = MODES,
    passages: int = SPAN_PASSAGES,
) -> Measured:
    """Index the documents into an empty library, then run the queries in each mode."""
    index = index_folder(library, span_set.documents, say)
    gold = _placed(span_set, library, chat)
    if unplaced := sum(g.unplaced_spans for g in gold.values()):
        say(f"{unplaced} gold spans were not found in the extracted text and count as missed")

    def judged(query_id: str, found: Sequence[Passage]) -> Row:
        return span_row(gold[query_id], found)

    def figures(rows: Sequence[Row]) -> Row:
        return span_figures(rows, passages)

    searched = search_each(span_set.queries, modes, chat, passages, judged)
    return Measured.of_modes("spans", searched, figures, index)


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
