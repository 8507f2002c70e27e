"""Reads sets of questions with their expected answers, if any. Any thread."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_rag.core.errors import AppError

_QUESTIONS = "questions.jsonl"
_DOCUMENTS = "documents"
_NO_TEXTS = "Its {} must be a text, or a list of texts."


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """A question; each of `expected` is a complete right answer, each of `wrong` a wrong one.

    `sources` are paths and addresses that a right answer rests on.
    """

    question_id: str
    text: str
    expected: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """Questions, and the folder of their documents; None means the person's own library."""

    name: str
    questions: tuple[AnswerQuestion, ...]
    documents: Path | None


def load_answer_set(path: Path, limit: int | None = None) -> AnswerSet:
    """Read a .jsonl file of {question, answer}, or a folder of questions.jsonl and documents/.

    `answer`, `wrong` and `sources` may be a text, a list of them, or left out. AppError naming the
    first bad line.
    """
    is_folder = path.is_dir()
    file = path / _QUESTIONS if is_folder else path
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as exc:
        why = exc.strerror if isinstance(exc, OSError) else "It is no text in UTF-8"
        raise AppError(f"{file} cannot be read.", f"{why}.") from exc
    documents = (path / _DOCUMENTS).resolve() if is_folder else None
    if documents and not documents.is_dir():
        raise AppError(f"{path} is no set of answers.", f"It has no folder {_DOCUMENTS}.")
    numbered = [(n, line) for n, line in enumerate(lines, 1) if line.strip()]
    questions = tuple(_question(file, number, line) for number, line in numbered[:limit])
    if not questions:
        raise AppError(f"{file} has no questions.", "It needs a row {question, answer} a line.")
    whole = path.resolve()
    name = whole.name if is_folder else f"{whole.parent.name}/{whole.name}"
    return AnswerSet(name, questions, documents)


def _question(path: Path, number: int, line: str) -> AnswerQuestion:
    try:
        row: Any = json.loads(line)
    except ValueError as exc:
        raise _bad_row(path, number, f"It is no JSON: {exc}.") from exc
    if not isinstance(row, dict):
        raise _bad_row(path, number, "It is no object.")
    text: Any = row.get("question")
    if not isinstance(text, str) or not text.strip():
        raise _bad_row(path, number, "It needs a text as its question.")
    expected, wrong, sources = (
        _texts(row.get(name), lambda name=name: _bad_row(path, number, _NO_TEXTS.format(name)))
        for name in ("answer", "wrong", "sources")
    )
    return AnswerQuestion(str(row.get("id", number)), text, expected, wrong, sources)


def _texts(given: object, wrong: Callable[[], AppError]) -> tuple[str, ...]:
    """The texts of a field that is one, a list of them, or missing; raises what `wrong` gives."""
    listed: list[Any] = [] if given is None else given if isinstance(given, list) else [given]
    if not all(isinstance(text, str) for text in listed):
        raise wrong()
    return tuple(text for text in listed if text.strip())


def _bad_row(path: Path, number: int, why: str) -> AppError:
    return AppError(f"Line {number} of {path} is no question.", why)
