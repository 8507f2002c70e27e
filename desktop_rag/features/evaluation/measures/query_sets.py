"""Reads sets of queries with their known answers. Worker threads."""

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_rag.core.errors import AppError

Query = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """Passages, queries (id, text) and the graded relevant passages of each query."""

    corpus: tuple[dict[str, str], ...]
    queries: tuple[Query, ...]
    relevant: dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """The characters [start, end) of a file that answer a query, and their text."""

    document: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class SpanSet:
    """A folder of documents, queries, and the gold spans of each query."""

    documents: Path
    queries: tuple[Query, ...]
    spans: dict[str, tuple[GoldSpan, ...]]


@dataclass(frozen=True, slots=True)
class PageSet:
    """A folder of files, queries, and for each query the (file, page) of its evidence, from 1."""

    files: Path
    queries: tuple[Query, ...]
    pages: dict[str, frozenset[tuple[str, int]]]


@dataclass(frozen=True, slots=True)
class EvidenceQuestion:
    """A question with its evidence: of each of the `groups` one string must be sent, and one of the
    `pages` (file, page).
    """

    query_id: str
    text: str
    kind: str
    groups: tuple[tuple[str, ...], ...] = ()
    pages: frozenset[tuple[str, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class EvidenceSet:
    """A folder of files, and questions with the evidence that their answers rest on."""

    files: Path
    questions: tuple[EvidenceQuestion, ...]


def load_evidence_set(folder: Path, limit: int | None = None) -> EvidenceSet:
    """Read files/ and questions.jsonl, or a set of evidence pages; AppError for anything else."""
    if not (folder / "questions.jsonl").exists():
        pages = load_page_set(folder, limit)
        files = {path.name for path in pages.files.iterdir()}
        found = (EvidenceQuestion(i, t, "", pages=pages.pages[i]) for i, t in pages.queries)
        kept = (q for q in found if {file for file, _ in q.pages} <= files)
        return EvidenceSet(pages.files, tuple(kept))
    with _explaining(folder, "set of evidence", "files/ and questions.jsonl"):
        rows: Sequence[dict[str, Any]] = _rows(folder / "questions.jsonl")
        questions = [
            EvidenceQuestion(
                str(row["id"]),
                str(row.get("standalone") or row["question"]),
                str(row.get("kind", "")),
                tuple(tuple(map(str, _listed(group))) for group in _listed(row["evidence"])),
            )
            for row in rows
            if row.get("evidence")
        ]
        return EvidenceSet(_folder(folder / "files"), tuple(questions[:limit]))


def _listed(value: str | Sequence[Any]) -> tuple[Any, ...]:
    """The items of a list; a string alone is one, not the letters of it."""
    return (value,) if isinstance(value, str) else tuple(value)


def load_set(folder: Path, limit: int | None = None) -> RetrievalSet:
    """Read corpus.jsonl, queries.jsonl and qrels.tsv; AppError when they are no such set."""
    with _explaining(folder, "retrieval set", "corpus.jsonl, queries.jsonl and qrels.tsv"):
        corpus = tuple(_rows(folder / "corpus.jsonl"))
        relevant: dict[str, dict[str, int]] = {}
        lines = (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()
        for line in lines[1:]:
            query, passage, grade = line.split("\t")
            relevant.setdefault(query, {})[passage] = int(grade)
        return RetrievalSet(corpus, _queries(folder, relevant, limit), relevant)


def load_span_set(folder: Path, limit: int | None = None) -> SpanSet:
    """Read documents/, queries.jsonl and spans.jsonl; AppError when they are not such a set."""
    with _explaining(folder, "set of gold spans", "documents/, queries.jsonl and spans.jsonl"):
        documents = _folder(folder / "documents")
        spans: dict[str, list[GoldSpan]] = {}
        for row in _rows(folder / "spans.jsonl"):
            gold = GoldSpan(row["document"], int(row["start"]), int(row["end"]), row["text"])
            spans.setdefault(str(row["query"]), []).append(gold)
        kept = {query: tuple(found) for query, found in spans.items()}
        return SpanSet(documents, _queries(folder, kept, limit), kept)


def load_page_set(folder: Path, limit: int | None = None) -> PageSet:
    """Read files/, queries.jsonl and evidence.jsonl; AppError when they are not such a set."""
    with _explaining(folder, "set of evidence pages", "files/, queries.jsonl and evidence.jsonl"):
        files = _folder(folder / "files")
        pages: dict[str, set[tuple[str, int]]] = {}
        for row in _rows(folder / "evidence.jsonl"):
            place = str(row["file"]), int(row["page0"]) + 1
            pages.setdefault(str(row["query"]), set()).add(place)
        kept = {query: frozenset(places) for query, places in pages.items()}
        return PageSet(files, _queries(folder, kept, limit), kept)


def has_spans(folder: Path) -> bool:
    """True when the folder can be measured by gold spans too."""
    return (folder / "spans.jsonl").is_file() and (folder / "documents").is_dir()


@contextmanager
def _explaining(folder: Path, kind: str, needed: str) -> Generator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        why = f"It needs {needed}. {_in_words(exc)}"
        raise AppError(f"{folder} is no {kind}.", why) from exc


def _in_words(exc: Exception) -> str:
    if isinstance(exc, OSError) and exc.strerror:
        return f"{Path(str(exc.filename)).name}: {exc.strerror}."
    if isinstance(exc, KeyError):
        return f"A row has no {exc.args[0]}."
    return f"{exc}."


def _queries(folder: Path, judged: dict[str, Any], limit: int | None) -> tuple[Query, ...]:
    """The first queries that have a known answer."""
    rows: Sequence[dict[str, Any]] = _rows(folder / "queries.jsonl")
    queries = [(str(row["_id"]), str(row["text"])) for row in rows]
    return tuple([query for query in queries if query[0] in judged][:limit])


def _folder(folder: Path) -> Path:
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder.name} is no folder")
    return folder.resolve()


def _rows(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [_row(path, n, line) for n, line in enumerate(file, 1) if line.strip()]


def _row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        return json.loads(line)
    except ValueError as exc:
        raise ValueError(f"{path.name}, line {number}: {exc}") from exc
