"""Measures search on sets with known answers, through the app's own files, chunks and search.

Ranking on a set in BEIR's layout; the share of gold characters that the passages contain (after
Smith and Troynikov, 2024, "Evaluating Chunking Strategies for Retrieval"); whether the evidence
page is among them; and whether what a model would be sent holds the evidence. Everything is indexed
as a person's files are. Runs on the caller's thread.
"""

import re
import time
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.domain import DocumentState, Passage, SearchMode
from desktop_rag.core.quotes import locate
from desktop_rag.core.text import rough_token_counts
from desktop_rag.features.evaluation.measures.metrics import mean, ndcg, percentile, recall, rounded
from desktop_rag.features.evaluation.measures.query_sets import GoldSpan, KnownSet
from desktop_rag.features.evaluation.values.measurement import Measurement
from desktop_rag.ingest.library import Library
from desktop_rag.waiting import Waiting

if TYPE_CHECKING:
    from desktop_rag.app import Services

Say = Callable[[str], None]
Row = dict[str, Any]
# The measures of a query, by its id and what was found, best first.
Judge = Callable[[str, Sequence[Passage]], Row]

MODES: tuple[SearchMode, ...] = ("hybrid", "lexical", "dense")
# For each query. Several chunks of one document may rank before the next: search deep enough for
# ten documents.
PASSAGES = {"retrieval": 50, "spans": 5, "pages": 10}
_SHOWN = 10
_DEPTHS = (1, 5, 10)
_REPORT_S = 5.0
_UNREAD = (DocumentState.FAILED, DocumentState.SKIPPED)


def search(
    known: KnownSet,
    services: "Services",
    say: Say,
    *,
    modes: Sequence[SearchMode] = MODES,
    passages: int | None = None,
) -> Measurement:
    """Index the documents into an empty library, then run the queries of a set in each mode.

    Each search asks for so many `passages`, or as many as is usual for the kind of set. A row's
    `ms` is the time of its search call.
    """
    documents, ids = known.documents, dict[str, str]()
    if known.corpus:
        documents = services.home.root.parent.resolve() / "corpus"
        documents.mkdir(parents=True)
        ids = write_corpus(known.corpus, documents)
    index, count = index_folder(services.library, documents, say), passages or PASSAGES[known.kind]
    make_judge, figures = _KINDS[known.kind]
    judge = make_judge(known, services, ids, say)

    def asked(query_id: str, text: str, mode: SearchMode) -> Row:
        began_at = time.perf_counter()
        found = services.chat.search(text, mode=mode, limit=count)
        ms = 1000 * (time.perf_counter() - began_at)
        return {"query": query_id, "text": text, **judge(query_id, found), "ms": ms}

    searched = {mode: [asked(*query, mode) for query in known.queries] for mode in modes}
    return of_modes(known.kind, searched, lambda rows: figures(rows, count), index)


def of_modes(
    kind: str,
    searched: Mapping[str, Sequence[Row]],
    figures: Callable[[Sequence[Row]], Row],
    index: Row,
) -> Measurement:
    """The figures of each mode, made of its rows, with the cost of indexing."""
    results = [
        {"mode": mode, "queries": len(rows), **rounded(figures(rows)), **_times(rows), **index}
        for mode, rows in searched.items()
    ]
    every = [{"mode": mode, **row} for mode, rows in searched.items() for row in rows]
    return Measurement(kind=kind, results=results, queries=[rounded(row) for row in every])


def _times(rows: Sequence[Row]) -> Row:
    times_ms = [row["ms"] for row in rows]
    return {f"p{n}_ms": round(percentile(times_ms, n / 100), 2) for n in (50, 95)}


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


# --- ranking -------------------------------------------------------------------------------------


def _ranking(known: KnownSet, _: object, ids: Mapping[str, str], _say: Say) -> Judge:
    """Passages count for the documents they are of."""

    def judged(query_id: str, found: Sequence[Passage]) -> Row:
        best: dict[str, float] = {}
        for passage in found:
            # A text of several documents is shown once and names the others.
            for path in (passage.path, *(p for p in passage.also_in if p in ids)):
                best.setdefault(ids[path], passage.score)
        return rank_row(best, known.known[query_id])

    return judged


def write_corpus(corpus: Sequence[Mapping[str, Any]], folder: Path) -> dict[str, str]:
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


def rank_figures(rows: Sequence[Row], _passages: int) -> Row:
    """Means over the queries."""
    return {
        "ndcg@10": mean([row["ndcg@10"] for row in rows]),
        "recall@5": mean([row["recall@5"] for row in rows]),
        "mrr": mean([1 / row["first_relevant"] if row["first_relevant"] else 0.0 for row in rows]),
    }


# --- pages ---------------------------------------------------------------------------------------


def _paging(known: KnownSet, services: "Services", _: object, _say: Say) -> Judge:
    def judged(query_id: str, found: Sequence[Passage]) -> Row:
        pages = [
            {**_pages(p, known.documents, services.library), "score": round(p.score, 6)}
            for p in found
        ]
        return page_row(pages, known.known[query_id])

    return judged


def _pages(found: Passage | SourceRef, files: Path, library: Library) -> Row:
    """What was found by its file (relative to the set) and its first and last page."""
    last = first = found.anchor.page
    if first is not None and found.end > found.start:
        end = library.documents.place(found.document_id, found.end - 1, found.end)
        last = end.page or first
    file = Path(found.path).relative_to(files).as_posix()
    return {"file": file, "page": first, "last_page": last}


def page_row(found: Sequence[Row], evidence: frozenset[tuple[str, int]]) -> Row:
    """The passages, and the rank of the first one on any evidence page; None without one."""
    ranks = (n for n, passage in enumerate(found, start=1) if _is_on(passage, evidence))
    return {
        "evidence": [{"file": file, "page": page} for file, page in sorted(evidence)],
        "found": list(found),
        "first_relevant": next(ranks, None),
    }


def _is_on(found: Row, evidence: Iterable[tuple[str, int]]) -> bool:
    """True when a passage is on an evidence page, in whole or in part."""
    return found["page"] is not None and any(
        found["file"] == file and found["page"] <= page <= found["last_page"]
        for file, page in evidence
    )


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


# What judges the queries of a set, and the figures of a mode.
_KINDS: Mapping[str, tuple[Callable[..., Judge], Callable[[Sequence[Row], int], Row]]] = {
    "retrieval": (_ranking, rank_figures),
    "spans": (_spanning, span_figures),
    "pages": (_paging, page_figures),
}


# --- evidence ------------------------------------------------------------------------------------

CONTEXT_TOKENS = 32_768
_REPORT_EVERY = 20
_SOURCE = re.compile(r"<source-(\w+)>(.*?)</source-\1>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class StatedReader:
    """A reader with a context of this length, by rough counts, whose speed is not known."""

    context_tokens: int
    read_tokens_per_s: float = 0.0

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """As for a model that was not asked yet."""
        return rough_token_counts(texts)

    def ranked(self, question: str, texts: Sequence[str], cancel: Event) -> Sequence[int]:
        """Nothing."""
        return ()


def evidence(
    known: KnownSet, services: "Services", say: Say, context_tokens: int = CONTEXT_TOKENS
) -> Measurement:
    """Index the documents into an empty library, then make the prompt of each question.

    No model is asked: the prompt is made as for an answer, for a model with such a context. A row
    names what would be `missing` of the `groups` of evidence, and the tokens of the prompt.
    """
    index_folder(services.library, known.documents, say)
    reader, rows = StatedReader(context_tokens), list[Row]()
    for number, (query_id, text) in enumerate(known.queries, start=1):
        wanted = known.known[query_id]
        prompt = services.chat.first_prompt(text, reader)
        last = prompt.turns[-1].text
        sent = [_plain(match[2]) for match in _SOURCE.finditer(last)]
        missing = [group[0] for group in wanted.groups if not _is_sent(group, sent)]
        paged = [s for s in prompt.sources if s.anchor.page is not None]
        places = [_pages(source, known.documents, services.library) for source in paged]
        if not any(_is_on(place, wanted.pages) for place in places):
            missing += [f"{file}, page {page}" for file, page in wanted.pages]
        [tokens] = reader.count_tokens([last])
        groups = len(wanted.groups) + bool(wanted.pages)
        rows.append(
            {
                "query": query_id, "text": text, "kind": wanted.kind, "groups": groups,
                "missing": missing, "tokens": tokens,
            }
        )  # fmt: skip
        if number % _REPORT_EVERY == 0:
            say(f"{number} of {len(known.queries)} questions")
    figures = _evidence_figures(rows, context_tokens)
    return Measurement(kind="evidence", results=[figures], queries=rows)


def _evidence_figures(rows: Sequence[Row], context_tokens: int) -> Row:
    """The shares of questions with all, and with any, of their evidence."""
    whole = [float(not row["missing"]) for row in rows]
    by_kind: dict[str, list[float]] = {}
    for row, is_whole in zip(rows, whole, strict=True):
        by_kind.setdefault(row["kind"], []).append(is_whole)
    kinds = {kind: f"{sum(told):.0f}/{len(told)}" for kind, told in by_kind.items()}
    found: Row = {
        "questions": len(rows),
        "all_evidence": int(sum(whole)),
        "any_evidence": sum(len(row["missing"]) < row["groups"] for row in rows),
        "share": round(mean(whole), 4),
        "tokens": round(mean([float(row["tokens"]) for row in rows])),
        "context_tokens": context_tokens,
    }
    return found | ({"kinds": kinds} if len(kinds) > 1 else {})


def _is_sent(group: Sequence[str], sent: Sequence[str]) -> bool:
    """True when one of the strings is sent; `a && b` stand in one source."""
    whole = " ".join(sent)
    for alternative in group:
        parts = [_plain(part) for part in alternative.split("&&")]
        if len(parts) == 1 and parts[0] in whole:
            return True
        if len(parts) > 1 and any(all(part in source for part in parts) for source in sent):
            return True
    return False


def _plain(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).replace("\u00ad", "").replace("\u200b", "")
    return " ".join(plain.split())
