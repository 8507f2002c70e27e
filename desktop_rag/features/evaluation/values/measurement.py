"""Measurements of search, claims and intents as runs, and their queries as answers. Pure.

So they are stored, listed, compared, shown and reported as runs of questions are.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from desktop_rag.core.conversation import MessageState
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.core.records import decoded
from desktop_rag.features.evaluation.values.found_places import Retrieved, in_words, why
from desktop_rag.features.evaluation.values.run import (
    QuestionSet,
    Run,
    RunAnswer,
    RunState,
    SetQuestion,
    SetUp,
)

Row = Mapping[str, Any]

# A page counts as found among so many passages.
_PAGE_DEPTH = 5
_SUPPORTED = "supported"


def app_version() -> str:
    """The version of the app, in words where it runs from its source."""
    try:
        return version("desktop-rag")
    except PackageNotFoundError:
        return "from source"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One measurement; fresh from a measure it has no id, name and settings yet.

    `kind` is the thing measured, `name` the data set, `version` that of the app. `settings`,
    `results` (one object per mode) and `queries` (one object per query and mode) are JSON values.
    """

    evaluation_id: str = ""
    kind: str = ""
    name: str = ""
    created_at: float = 0.0
    seconds: float = 0.0
    version: str = ""
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    results: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    queries: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


def set_of(measured: Measurement) -> QuestionSet:
    """The set of a measurement, the same for all of this kind and data."""
    name = f"{measured.kind} {measured.name}"
    return QuestionSet(_id(name), name, version=0, changed_at=measured.created_at)


def runs_of(measured: Measurement) -> list[tuple[Run, list[RunAnswer]]]:
    """A run for each mode, with an answer for each query; its score is what was measured."""
    modes: dict[str, dict[str, list[Row]]] = {_mode(row): {} for row in measured.results if row}
    for row in measured.queries:
        queries = modes.setdefault(_mode(row), {})
        queries.setdefault(str(row.get("query") or row.get("id") or _text(row)), []).append(row)
    model = next((str(each["model"]) for each in measured.results if each.get("model")), "")
    set_id = set_of(measured).set_id
    found: list[tuple[Run, list[RunAnswer]]] = []
    for mode, queries in modes.items():
        figures = next((row for row in measured.results if _mode(row) == mode), {})
        run = Run(
            _id(measured.evaluation_id, mode), set_id, 0, SetUp(mode or model or measured.kind),
            tuple(_question(key, rows[0]) for key, rows in queries.items()),
            measured.created_at, RunState.DONE, app_version=measured.version,
            settings=measured.settings | {"seconds": measured.seconds}, kind=measured.kind,
            figures=_finite(figures),
        )  # fmt: skip
        found.append((run, [_answer(run, key, rows) for key, rows in queries.items()]))
    return found


def of_comparison(made_of: Mapping[str, Any]) -> Measurement:
    """A comparison of chunk settings as earlier versions stored it."""
    asked = {row["question_id"]: row for row in made_of["questions"]}
    results: list[dict[str, Any]] = []
    queries: list[dict[str, Any]] = []
    for trial in made_of["trials"]:
        mode = in_words(decoded(ChunkSettings, trial["chunking"]))
        found = [row["is_found"] for row in trial["retrieved"]]
        results.append({"mode": mode, "chunks": trial["chunks"], "found": sum(found)})
        queries += [
            {"mode": mode, "query": row["question_id"], "text": asked[row["question_id"]]["text"],
             "expected": asked[row["question_id"]].get("expected", ""),
             "why": why(decoded(Retrieved, row)), **row}
            for row in trial["retrieved"]
        ]  # fmt: skip
    return Measurement(
        made_of["comparison_id"], "chunks", made_of["collection"], made_of["made_at"],
        results=results, queries=queries,
    )  # fmt: skip


def _finite(row: Row) -> Row:
    """The row without NaN, for which JSON has no number."""
    is_nan = lambda value: isinstance(value, float) and math.isnan(value)  # noqa: E731
    return {key: None if is_nan(value) else value for key, value in row.items()}


def _id(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _mode(row: Row) -> str:
    """The mode of search, or how many examples an intent had."""
    return str(row.get("mode") or (f"{row['examples']} examples" if "examples" in row else ""))


def _text(row: Row) -> str:
    texts = (row.get(key) for key in ("text", "question", "claim", "id"))
    return next((str(text) for text in texts if text), "")


def _question(question_id: str, row: Row) -> SetQuestion:
    expected = row.get("expected") or row.get("label") or ()
    texts = expected if isinstance(expected, list) else (expected,) if expected else ()
    return SetQuestion(question_id, _text(row), tuple(map(str, texts)))


def _answer(run: Run, question_id: str, rows: Sequence[Row]) -> RunAnswer:
    """The answer to a query; a query that was asked several times has the mean of its scores."""
    scores = [_score(run.kind, row) for row in rows]
    known = [score for score in scores if score is not None]
    row = rows[0]
    return RunAnswer(
        _id(run.run_id, question_id), run.run_id, question_id, _said(row), run.made_at,
        MessageState.FAILED if row.get("state") == MessageState.FAILED else MessageState.DONE,
        seconds=_number(row.get("seconds")) or _number(row.get("ms")) / 1_000,
        grade=str(row.get("judged") or ""), error_title=str(row.get("error") or ""),
        measured=sum(known) / len(known) if known else -1.0,
        rows=tuple(map(_finite, rows)),
    )  # fmt: skip


def _score(kind: str, row: Row) -> float | None:
    """From 0 to 1; None where it is not known, as of answers, which are scored by their words."""
    told = row.get("model") if row.get("model") is not None else row.get("intent")
    match kind:
        case "retrieval":
            return _number(row.get("ndcg@10"))
        case "spans":
            return _number(row.get("recall"))
        case "pages":
            return float(0 < _number(row.get("first_relevant")) <= _PAGE_DEPTH)
        case "chunks":
            return float(row["is_found"])
        case "evidence":
            return float(not row.get("missing"))
        case "grounding" | "agreement":
            said = row.get("verdict") if kind == "grounding" else told
            return float((said == _SUPPORTED) == (row.get("label") == _SUPPORTED))
        case "rails":
            return float(told == row.get("expected"))
        case _:
            return None


def _said(row: Row) -> str:
    """What was found or answered, in a line."""
    if isinstance(row.get("found"), list):
        return ", ".join(map(_place, row["found"]))
    if row.get("missing"):
        return "missing: " + ", ".join(map(str, row["missing"]))
    told = (row.get(key) for key in ("why", "answer", "model", "verdict", "intent"))
    return next((str(text) for text in told if text), "")


def _place(found: Row) -> str:
    """A document, or a file with the page."""
    name = found.get("id") or found.get("document") or found.get("file") or ""
    return f"{name}, {found['page']}" if found.get("page") else str(name)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
