"""Sets of questions with what belongs to them, and figures of measurements, in backups. Pure.

Of a set that both sides have, the one changed last wins. Everything else is kept once.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from desktop_rag.core.records import (
    LONGEST_LABEL,
    MOST_NUMBER,
    Id,
    IdOrNone,
    Matching,
    Moment,
    Within,
    WrongValueError,
    checked,
    encoded,
)
from desktop_rag.features.evaluation.experiments.experiment_store import COMPARISON, KINDS
from desktop_rag.features.evaluation.values.measurement import Measurement, of_comparison, runs_of
from desktop_rag.store.contract.precious import BackupRules, Entry, Incoming, Json, Present

_Number = Annotated[int, Within(0, MOST_NUMBER)]
_Label = Annotated[str, Within(0, LONGEST_LABEL)]
_COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "experiments": {
        "record_id": Id,
        "kind": Annotated[str, Matching("|".join((*KINDS, COMPARISON)))],
        "owner_id": IdOrNone,
        "made_of": Json(Any),
        "number": _Number,
    },
    "evaluations": {
        "evaluation_id": Id,
        "kind": _Label,
        "name": Annotated[str, Within(0, 10 * LONGEST_LABEL)],
        "created_at": Moment,
        "seconds": Annotated[float, Within(-MOST_NUMBER, MOST_NUMBER)],
        "version": _Label,
        "settings": Json(Any, takes_nan=True),
        "results": Json(Any, takes_nan=True),
        "queries": Json(Any, takes_nan=True),
        "number": _Number,
    },
}

_PLAIN = ("evaluation_id", "kind", "name", "created_at", "seconds", "version")


def _check(entry: Entry, place: str) -> None:
    """WrongValueError unless it is a value of its kind, with the ids that its row has."""
    row = entry.row
    try:
        made_of = json.loads(row["made_of"])
        if row["kind"] == COMPARISON:
            _check_runs(of_comparison(made_of), place)
            ids = made_of["comparison_id"], ""
        else:
            value, key, owner = KINDS[row["kind"]]
            found = checked(value, made_of, place)
            ids = getattr(found, key), getattr(found, owner) if owner else ""
    except (KeyError, TypeError, ValueError, AttributeError):
        raise WrongValueError(f"{place}, its content") from None
    if ids != (entry.key, row["owner_id"]):
        raise WrongValueError(f"{place}, its id")


def _check_measured(entry: Entry, place: str) -> None:
    """WrongValueError unless the runs that it becomes are right."""
    row = entry.row
    try:
        texts = (row[name] for name in ("settings", "results", "queries"))
        plain = (row[name] for name in _PLAIN)
        _check_runs(Measurement(*plain, *map(json.loads, texts)), place)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise WrongValueError(f"{place}, its content") from None


def _check_runs(measured: Measurement, place: str) -> None:
    for run, answers in runs_of(measured):
        for each in (run, *answers):
            checked(type(each), encoded(each), place)


def _merged(here: Present, new: Incoming, _ids: Mapping[str, str]) -> list[Entry]:
    """What is missing here, after what is here, and sets that were changed since."""
    present, incoming = here.get("experiment", {}), new.get("experiment", [])
    known = {*present, *(entry.key for entry in incoming)}
    if any(entry.row["owner_id"] not in {"", *known} for entry in incoming):
        raise WrongValueError("a run of no set")
    both = [(present[entry.key], entry) for entry in incoming if entry.key in present]
    return [
        *_appended(present, incoming),
        *(_numbered(n, h.row["number"]) for h, n in both if _is_newer_set(h, n)),
        *_appended(here.get("evaluation", {}), new.get("evaluation", [])),
    ]


def _appended(present: Mapping[str, Entry], incoming: Sequence[Entry]) -> list[Entry]:
    """Those that are missing, in their own order after those here."""
    last = max((entry.row["number"] for entry in present.values()), default=0)
    missing = [entry for entry in incoming if entry.key not in present]
    missing.sort(key=lambda entry: entry.row["number"])
    return [_numbered(entry, last + place) for place, entry in enumerate(missing, start=1)]


def _numbered(entry: Entry, place: int) -> Entry:
    [table] = entry.rows
    return replace(entry, rows={table: [{**entry.row, "number": place}]})


def _is_newer_set(present: Entry, incoming: Entry) -> bool:
    if (present.row["kind"], incoming.row["kind"]) != ("set", "set"):
        return False
    times = [json.loads(e.row["made_of"]).get("changed_at", 0.0) for e in (present, incoming)]
    return bool(times[1] > times[0])


RULES = BackupRules(_COLUMNS, {"experiment": _check, "evaluation": _check_measured}, _merged)
