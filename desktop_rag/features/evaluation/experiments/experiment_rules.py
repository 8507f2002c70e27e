"""Sets of questions, runs, answers, judgements and chunk comparisons in a backup. Pure.

Of a set that both have, the one changed last wins. Everything else is kept once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop_rag.backup.value_rules import (
    MOST_NUMBER,
    Check,
    WrongValueError,
    any_json,
    exactly,
    identifier,
    json_of,
    strict_json,
    whole,
)
from desktop_rag.features.evaluation.values.chunk_trial import ChunkComparison
from desktop_rag.features.evaluation.values.record_json import decoded
from desktop_rag.features.evaluation.values.run import Judgement, QuestionSet, Run, RunAnswer
from desktop_rag.store.contract.precious import Entry

# The value of each kind, the field with its id, and the one with its owner's.
_KINDS: Mapping[str, tuple[type[Any], str, str]] = {
    "set": (QuestionSet, "set_id", ""),
    "run": (Run, "run_id", "set_id"),
    "answer": (RunAnswer, "answer_id", "run_id"),
    "judgement": (Judgement, "judgement_id", "set_id"),
    "comparison": (ChunkComparison, "comparison_id", ""),
}

EXPERIMENT_RULES: Mapping[str, Mapping[str, Check]] = {
    "experiments": {
        "record_id": identifier(),
        "kind": exactly(*_KINDS),
        "owner_id": identifier(may_be_empty=True),
        "made_of": json_of(any_json),
        "number": whole(0, MOST_NUMBER),
    }
}


def check_experiment(entry: Entry, place: str) -> None:
    """WrongValueError unless it is a value of its kind, with the ids that its row has."""
    row = entry.row
    value, key, owner = _KINDS[row["kind"]]
    try:
        found = decoded(value, strict_json(row["made_of"]))
    except (TypeError, ValueError):
        raise WrongValueError(f"{place}, its content") from None
    ids = getattr(found, key), getattr(found, owner) if owner else ""
    if ids != (entry.key, row["owner_id"]):
        raise WrongValueError(f"{place}, its id")


def merged_experiments(here: Mapping[str, Entry], new: Sequence[Entry]) -> list[Entry]:
    """What is missing here, after what is here, and sets that were changed since."""
    known = {*here, *(entry.key for entry in new)}
    if any(entry.row["owner_id"] not in {"", *known} for entry in new):
        raise WrongValueError("a run of no set")
    last = max((entry.row["number"] for entry in here.values()), default=0)
    missing = sorted((e for e in new if e.key not in here), key=lambda e: e.row["number"])
    put = [_numbered(entry, last + place) for place, entry in enumerate(missing, start=1)]
    both = [(here[entry.key], entry) for entry in new if entry.key in here]
    return [*put, *(_numbered(n, h.row["number"]) for h, n in both if _is_newer_set(h, n))]


def coherent_experiments(entries: Sequence[Entry]) -> list[Entry]:
    """Without what belongs to nothing; other kinds are passed through."""
    owners = {entry.key for entry in entries if entry.kind == "experiment"}
    kept = [e for e in entries if e.kind != "experiment" or e.row["owner_id"] in {"", *owners}]
    return kept if len(kept) == len(entries) else coherent_experiments(kept)


def _numbered(entry: Entry, number: int) -> Entry:
    return replace(entry, rows={"experiments": [{**entry.row, "number": number}]})


def _is_newer_set(present: Entry, incoming: Entry) -> bool:
    if (present.row["kind"], incoming.row["kind"]) != ("set", "set"):
        return False
    times = [strict_json(e.row["made_of"]).get("changed_at", 0.0) for e in (present, incoming)]
    return bool(times[1] > times[0])
