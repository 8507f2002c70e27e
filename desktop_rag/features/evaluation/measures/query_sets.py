"""Reads sets of queries with known answers. Worker threads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_rag.core.errors import AppError
from desktop_rag.features.evaluation.experiments.set_files import json_objects

Row = Mapping[str, Any]
# A query: its id and its text.
Query = tuple[str, str]


@dataclass(frozen=True, slots=True)
class KnownSet:
    """Queries over a folder of documents, with what is known of each, by its id.

    That is, by the `kind` of the set: of `retrieval` the grades of relevant passages, whose texts
    are its `corpus`; of `pages` the (file, page) of evidence, from 1; of `evidence` an Evidence.
    """

    kind: str
    documents: Path
    queries: tuple[Query, ...]
    known: Mapping[str, Any]
    corpus: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Of each of the `groups` one string must be sent, and one of the `pages` (file, page)."""

    kind: str = ""
    groups: tuple[tuple[str, ...], ...] = ()
    pages: frozenset[tuple[str, int]] = frozenset()


# The name of a kind of set, its files, and what reads its documents, queries and known answers.
Form = tuple[str, str, Callable[[Path], tuple[Any, ...]]]


def load_set(
    folder: Path, limit: int | None = None, kind: str = "retrieval", form: Form | None = None
) -> KnownSet:
    """Read a set of this kind, or of another form, with its first queries; AppError for no set."""
    named, needed, read = form or _KINDS[kind]
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


def _ranked(folder: Path) -> tuple[Any, ...]:
    corpus, grades = tuple(rows_of(folder / "corpus.jsonl")), dict[str, dict[str, int]]()
    lines = (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()
    for line in lines[1:]:
        query, passage, grade = line.split("\t")
        grades.setdefault(query, {})[passage] = int(grade)
    return folder, queries_of(folder), grades, corpus


def _pages(folder: Path) -> tuple[Any, ...]:
    pages: dict[str, set[tuple[str, int]]] = {}
    for row in rows_of(folder / "evidence.jsonl"):
        pages.setdefault(str(row["query"]), set()).add((str(row["file"]), int(row["page0"]) + 1))
    return folder_of(folder / "files"), queries_of(folder), pages


def _evidence(folder: Path) -> tuple[Any, ...]:
    """A set of its own, or one of evidence pages, as far as its files are there."""
    if not (folder / "questions.jsonl").exists():
        files, queries, pages = _pages(folder)
        there = {path.name for path in files.iterdir()}
        found = {i: Evidence(pages=frozenset(of)) for i, of in pages.items()}
        return files, queries, {i: e for i, e in found.items() if {f for f, _ in e.pages} <= there}
    known: dict[str, Evidence] = {}
    queries: list[Query] = []
    for row in rows_of(folder / "questions.jsonl"):
        if row.get("evidence"):
            queries.append((str(row["id"]), str(row.get("standalone") or row["question"])))
            groups = (tuple(map(str, _listed(group))) for group in _listed(row["evidence"]))
            known[str(row["id"])] = Evidence(str(row.get("kind", "")), tuple(groups))
    return folder_of(folder / "files"), queries, known


def _listed(value: str | Sequence[Any]) -> tuple[Any, ...]:
    """The items of a list; a string alone is one, not the letters of it."""
    return (value,) if isinstance(value, str) else tuple(value)


def queries_of(folder: Path) -> list[Query]:
    """The queries of a set."""
    return [(str(row["_id"]), str(row["text"])) for row in rows_of(folder / "queries.jsonl")]


def rows_of(path: Path) -> list[Row]:
    """The objects of a .jsonl file. AppError for another one."""
    return [row for _, row, _ in json_objects(path)]


def folder_of(folder: Path) -> Path:
    """The folder. NotADirectoryError when there is none."""
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder.name} is no folder")
    return folder


_KINDS: Mapping[str, Form] = {
    "retrieval": ("retrieval set", "corpus.jsonl, queries.jsonl and qrels.tsv", _ranked),
    "pages": ("set of evidence pages", "files/, queries.jsonl and evidence.jsonl", _pages),
    "evidence": ("set of evidence", "files/ and questions.jsonl, or evidence pages", _evidence),
}
