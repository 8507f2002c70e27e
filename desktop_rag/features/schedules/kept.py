"""Scheduled questions and their runs in backups. Pure.

Of a question that both sides have, the one changed last wins and keeps its state here. Runs are
kept once each, those of a backup below those here.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from desktop_rag.core.question_scope import ScopeKind
from desktop_rag.core.records import MOST_NUMBER, Id, Within, WrongValueError
from desktop_rag.features.schedules.values.scheduled_question import (
    RUNS_KEPT,
    ScheduledQuestion,
    ScheduledRun,
    ScheduleState,
)
from desktop_rag.store.contract.precious import BackupRules, Entry, Incoming, Json, Present

_COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "standing_questions": {
        "question_id": Id,
        "made_of": Json(ScheduledQuestion),
        "state": Json(ScheduleState),
        "is_deleted": bool,
    },
    "standing_runs": {
        "run_id": Id,
        "question_id": Id,
        "made_of": Json(ScheduledRun),
        "number": Annotated[int, Within(-MOST_NUMBER, MOST_NUMBER)],
    },
}


def _check(entry: Entry, place: str) -> None:
    """WrongValueError unless the ids of a row are those of its value."""
    made_of = _made_of(entry)
    shared = {"question_id", "run_id"} & entry.row.keys()
    if any(made_of[column] != entry.row[column] for column in shared):
        raise WrongValueError(f"{place}, its id")


def _merged(here: Present, new: Incoming, ids: Mapping[str, str]) -> list[Entry]:
    """The questions and runs to put; `ids` are the collections here of those in the backup."""
    questions = here.get("standing", {})
    put = [
        _moved(question, questions.get(question.key), ids)
        for question in new.get("standing", [])
        if _is_newer(question, questions.get(question.key))
    ]
    known = {*questions, *(question.key for question in new.get("standing", []))}
    return [*put, *_runs(here.get("standing_run", {}), new.get("standing_run", []), known)]


def _is_newer(incoming: Entry, present: Entry | None) -> bool:
    if present is None or present.row["is_deleted"]:
        return True
    return bool(_made_of(incoming)["changed_at"] > _made_of(present)["changed_at"])


def _moved(question: Entry, present: Entry | None, ids: Mapping[str, str]) -> Entry:
    """The question with the ids of the collections here, and its state here."""
    made_of = _made_of(question)
    for item in made_of["scope"].get("items", []):
        if item["kind"] == ScopeKind.COLLECTION.value:
            item["key"] = ids.get(item["key"], item["key"])
    row = {**question.row, "made_of": json.dumps(made_of, ensure_ascii=False)}
    if present:
        row["state"] = present.row["state"]
    return replace(question, rows={"standing_questions": [row]})


def _runs(
    present: Mapping[str, Entry], incoming: Sequence[Entry], known: set[str]
) -> Iterator[Entry]:
    """The missing runs, numbered before those here, up to RUNS_KEPT a question."""
    if any(run.row["question_id"] not in known for run in incoming):
        raise WrongValueError("a run of no scheduled question")
    kept: dict[str, int] = {}
    for run in present.values():
        kept[run.row["question_id"]] = kept.get(run.row["question_id"], 0) + 1
    first = min((run.row["number"] for run in present.values()), default=None)
    missing = [run for run in incoming if run.key not in present]
    for place, run in enumerate(sorted(missing, key=lambda r: -r.row["number"]), start=1):
        question_id = run.row["question_id"]
        kept[question_id] = kept.get(question_id, 0) + 1
        if kept[question_id] <= RUNS_KEPT:
            number = run.row["number"] if first is None else first - place
            yield replace(run, rows={"standing_runs": [{**run.row, "number": number}]})


def _made_of(entry: Entry) -> dict[str, Any]:
    return json.loads(entry.row["made_of"])


RULES = BackupRules(_COLUMNS, {"standing": _check, "standing_run": _check}, _merged)
