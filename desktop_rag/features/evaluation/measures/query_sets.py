"""Reads sets with known answers: of queries, of claims, of sentences. Worker threads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_rag.core.errors import AppError
from desktop_rag.features.evaluation.experiments.set_files import json_objects
from desktop_rag.features.rails.intent.intent_recognition import IntentExample

Row = Mapping[str, Any]
# A query: its id and its text.
Query = tuple[str, str]


@dataclass(frozen=True, slots=True)
class KnownSet:
    """Queries over a folder of documents, with what is known of each, by its id.

    That is, by the `kind` of the set: of `retrieval` the grades of relevant passages, whose texts
    are its `corpus`; of `spans` the GoldSpans; of `pages` the (file, page) of the evidence, from 1;
    of `evidence` an Evidence.
    """

    kind: str
    documents: Path
    queries: tuple[Query, ...]
    known: Mapping[str, Any]
    corpus: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """The characters [start, end) of a file that answer a query, and their text."""

    document: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """Of each of the `groups` one string must be sent, and one of the `pages` (file, page)."""

    kind: str = ""
    groups: tuple[tuple[str, ...], ...] = ()
    pages: frozenset[tuple[str, int]] = frozenset()


def load_set(folder: Path, limit: int | None = None, kind: str = "retrieval") -> KnownSet:
    """Read a set of this kind, with its first queries; AppError when it is no such set."""
    named, needed, read = _KINDS[kind]
    try:
        documents, queries, known, *corpus = read(folder)
        asked = tuple([query for query in queries if query[0] in known][:limit])
        return KnownSet(kind, documents.resolve(), asked, known, *corpus)
    except (AppError, OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise AppError(f"{folder} is no {named}.", f"It needs {needed}. {_why(exc)}") from exc


def _why(exc: Exception) -> str:
    match exc:
        case KeyError():
            return f"A row has no {exc.args[0]}."
        case OSError(strerror=str(why)):
            return f"{Path(str(exc.filename)).name}: {why}."
        case _:
            return str(exc) if isinstance(exc, AppError) else f"{exc}."


def has_spans(folder: Path) -> bool:
    """True when the folder can be measured by gold spans too."""
    return (folder / "spans.jsonl").is_file() and (folder / "documents").is_dir()


def _ranked(folder: Path) -> tuple[Any, ...]:
    corpus, grades = tuple(_rows(folder / "corpus.jsonl")), dict[str, dict[str, int]]()
    lines = (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()
    for line in lines[1:]:
        query, passage, grade = line.split("\t")
        grades.setdefault(query, {})[passage] = int(grade)
    return folder, _queries(folder), grades, corpus


def _spans(folder: Path) -> tuple[Any, ...]:
    spans: dict[str, list[GoldSpan]] = {}
    for row in _rows(folder / "spans.jsonl"):
        gold = GoldSpan(row["document"], int(row["start"]), int(row["end"]), row["text"])
        spans.setdefault(str(row["query"]), []).append(gold)
    return _folder(folder / "documents"), _queries(folder), spans


def _pages(folder: Path) -> tuple[Any, ...]:
    pages: dict[str, set[tuple[str, int]]] = {}
    for row in _rows(folder / "evidence.jsonl"):
        pages.setdefault(str(row["query"]), set()).add((str(row["file"]), int(row["page0"]) + 1))
    return _folder(folder / "files"), _queries(folder), pages


def _evidence(folder: Path) -> tuple[Any, ...]:
    """A set of its own, or one of evidence pages, as far as its files are there."""
    if not (folder / "questions.jsonl").exists():
        files, queries, pages = _pages(folder)
        there = {path.name for path in files.iterdir()}
        found = {i: Evidence(pages=frozenset(of)) for i, of in pages.items()}
        return files, queries, {i: e for i, e in found.items() if {f for f, _ in e.pages} <= there}
    known: dict[str, Evidence] = {}
    queries: list[Query] = []
    for row in _rows(folder / "questions.jsonl"):
        if row.get("evidence"):
            queries.append((str(row["id"]), str(row.get("standalone") or row["question"])))
            groups = (tuple(map(str, _listed(group))) for group in _listed(row["evidence"]))
            known[str(row["id"])] = Evidence(str(row.get("kind", "")), tuple(groups))
    return _folder(folder / "files"), queries, known


def _listed(value: str | Sequence[Any]) -> tuple[Any, ...]:
    """The items of a list; a string alone is one, not the letters of it."""
    return (value,) if isinstance(value, str) else tuple(value)


def _queries(folder: Path) -> list[Query]:
    return [(str(row["_id"]), str(row["text"])) for row in _rows(folder / "queries.jsonl")]


def _rows(path: Path) -> list[Row]:
    return [row for _, row, _ in json_objects(path)]


def _folder(folder: Path) -> Path:
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder.name} is no folder")
    return folder


# The name of each kind, its files, and what reads its documents, queries and known answers.
_KINDS: Mapping[str, tuple[str, str, Callable[[Path], tuple[Any, ...]]]] = {
    "retrieval": ("retrieval set", "corpus.jsonl, queries.jsonl and qrels.tsv", _ranked),
    "spans": ("set of gold spans", "documents/, queries.jsonl and spans.jsonl", _spans),
    "pages": ("set of evidence pages", "files/, queries.jsonl and evidence.jsonl", _pages),
    "evidence": ("set of evidence", "files/ and questions.jsonl, or evidence pages", _evidence),
}


# --- claims and sentences --------------------------------------------------------------------

_LABELS = {"supported": True, "unsupported": False}


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A claim, its source, and the label by people: supported or not."""

    claim_id: str
    source: str
    claim: str
    is_supported: bool

    @property
    def label(self) -> str:
        """The label as in a file of claims."""
        return "supported" if self.is_supported else "unsupported"


def load_claims(path: Path) -> list[LabelledClaim]:
    """Read a file of rows {source, claim, label}; AppError names the first bad line.

    The label is "supported" or "unsupported", and both must occur.
    """
    claims: list[LabelledClaim] = []
    for number, row, bad in json_objects(path):
        for key in ("source", "claim", "label"):
            if not isinstance(row.get(key), str):
                raise bad(f"It needs a text as its {key}.")
        if row["label"] not in _LABELS:
            raise bad('Its label must be "supported" or "unsupported".')
        claim_id, is_supported = str(row.get("id", number)), _LABELS[row["label"]]
        claims.append(LabelledClaim(claim_id, row["source"], row["claim"], is_supported))
    if len({claim.is_supported for claim in claims}) < len(_LABELS):
        why = "It needs supported and unsupported claims: nothing can be told from one kind."
        raise AppError(f"{path} is no set of claims.", why)
    return claims


def load_sentences(path: Path, *, needs_intent: bool = True) -> list[IntentExample]:
    """Read rows {text, intent}; AppError names the first line that is none.

    Without `needs_intent` a row may be {text} alone.
    """
    found: list[IntentExample] = []
    for _, row, bad in json_objects(path):
        text, intent = row.get("text"), row.get("intent")
        if not isinstance(text, str) or (needs_intent and not isinstance(intent, str)):
            raise bad(f"It needs {'a text and an intent' if needs_intent else 'a text'}.")
        found.append(IntentExample(text, str(intent or "")))
    if not found:
        raise AppError(f"{path} has no sentences.", 'A line is {"text": …, "intent": …}.')
    return found
