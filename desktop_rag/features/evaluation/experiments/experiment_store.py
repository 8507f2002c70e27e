"""Sets of questions, runs, answers and judgements, each one row. Any thread."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, TypeVar

from desktop_rag.core.errors import AppError
from desktop_rag.core.records import decoded
from desktop_rag.features.evaluation.values.measurement import (
    Measurement,
    of_comparison,
    runs_of,
    set_of,
)
from desktop_rag.features.evaluation.values.run import Judgement, QuestionSet, Run, RunAnswer
from desktop_rag.store.contract.database import Connection, Database, Entity, fetched

T = TypeVar("T")

# The value of each kind, the field with its id, and the one with its owner's.
KINDS: Mapping[str, tuple[type[Any], str, str]] = {
    "set": (QuestionSet, "set_id", ""),
    "run": (Run, "run_id", "set_id"),
    "answer": (RunAnswer, "answer_id", "run_id"),
    "judgement": (Judgement, "judgement_id", "set_id"),
}
# A kind of earlier versions, whose rows are moved.
COMPARISON = "comparison"
_NAMES: Mapping[type[Any], str] = {value: kind for kind, (value, _, _) in KINDS.items()}
_OF = "record_id IN (SELECT unnest(?::VARCHAR[]))"
_NEXT = "SELECT coalesce(max(number), 0) + 1 FROM experiments"
_REMOVE = (
    "DELETE FROM experiments WHERE record_id = ? OR owner_id = ? OR owner_id IN"
    " (SELECT record_id FROM experiments WHERE owner_id = ?) OR (kind = 'judgement' AND"
    " (CAST(made_of AS JSON)->>'first_run' = ? OR CAST(made_of AS JSON)->>'second_run' = ?))"
    " RETURNING record_id"
)
_MEASURED = (
    "SELECT evaluation_id, kind, name, created_at, seconds, version, settings, results, queries"
    " FROM evaluations ORDER BY number"
)


class ExperimentStore:
    """Reads and writes values of `KINDS`; a run belongs to a set, an answer to a run."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._is_moved = False

    def sets(self) -> list[QuestionSet]:
        """All sets, those from disk last; by name in lower case, then by id."""
        key = lambda each: (each.is_measured, each.name.lower(), each.set_id)  # noqa: E731
        return sorted(self.all(QuestionSet), key=key)

    def all(self, value: type[T], owner_id: str = "") -> list[T]:
        """Those of an owner, or all with "", in the order in which they were first stored."""
        return self._read(value, " AND owner_id = ?", owner_id) if owner_id else self._read(value)

    def get(self, value: type[T], record_id: str) -> T | None:
        """The one with this id; None when it is gone."""
        return next(iter(self._read(value, " AND record_id = ?", record_id)), None)

    def _read(self, value: type[T], which: str = "", *values: str) -> list[T]:
        if not self._is_moved:
            # Who may not write in a shared library leaves it to those who may.
            with suppress(AppError):
                self._move_earlier()
            self._is_moved = True
        sql = f"SELECT made_of FROM experiments WHERE kind = ?{which} ORDER BY number"
        rows = fetched(self._database, sql, [_NAMES[value], *values])
        return [decoded(value, json.loads(made_of)) for (made_of,) in rows]

    def put(self, *values: object) -> bool:
        """Store each in place of one with the same id, all or none; False when an owner is gone."""
        rows = {row[0]: row for row in map(_row, values)}
        owners = sorted({owner for _, _, owner, _ in rows.values()} - {"", *rows})

        def work(con: Connection) -> bool:
            found = con.execute(f"SELECT record_id FROM experiments WHERE {_OF}", [owners])
            if len(found.fetchall()) < len(owners):
                return False
            known = con.execute(
                f"DELETE FROM experiments WHERE {_OF} RETURNING record_id, number", [[*rows]]
            ).fetchall()
            numbers: dict[str, int] = dict(known)
            [(following,)] = con.execute(_NEXT).fetchall()
            for record_id in rows.keys() - numbers.keys():
                numbers[record_id] = following + [*rows].index(record_id)
            names = ("record_id", "kind", "owner_id", "made_of")
            columns: dict[str, Any] = dict(zip(names, map(list, zip(*rows.values(), strict=True)),
                                               strict=True))  # fmt: skip
            columns["number"] = [numbers[record_id] for record_id in rows]
            self._database.insert(con, "experiments", columns)
            return True

        changes = [Entity("experiment", record_id) for record_id in rows]
        return self._database.write_uncached(work, changes=changes)

    def remove(self, record_id: str) -> None:
        """Remove one with all that belongs to it and is about it; nothing happens without one."""
        changes: list[Entity] = []

        def work(con: Connection) -> None:
            gone = con.execute(_REMOVE, [record_id] * 5).fetchall()
            changes.extend(Entity("experiment", key) for (key,) in gone)

        self._database.write_uncached(work, changes=changes)

    def keep(self, measured: Measurement) -> None:
        """Store a measurement permanently, as runs of its set."""
        of_runs = [value for run, answers in runs_of(measured) for value in (run, *answers)]
        self.put(set_of(measured), *of_runs)

    def _move_earlier(self) -> None:
        """Move what earlier versions stored in other forms; interrupted, it is done again."""
        sql = "SELECT record_id, made_of FROM experiments WHERE kind = ? ORDER BY number"
        for key, made_of in fetched(self._database, sql, [COMPARISON]):
            measured = of_comparison(json.loads(made_of))
            self._move(measured, Entity("experiment", key), "experiments WHERE record_id = ?")
        for *plain, settings, results, queries in fetched(self._database, _MEASURED):
            measured = Measurement(*plain, *map(json.loads, (settings, results, queries)))
            former = Entity("evaluation", measured.evaluation_id)
            self._move(measured, former, "evaluations WHERE evaluation_id = ?")

    def _move(self, measured: Measurement, former: Entity, rows: str) -> None:
        self.keep(measured)
        sql = f"DELETE FROM {rows}"
        self._database.write_uncached(lambda con: con.execute(sql, [former.key]), changes=[former])


def _row(value: object) -> tuple[str, str, str, str]:
    """The id, kind, owner's id and content of a value."""
    kind = _NAMES[type(value)]
    _, key, owner = KINDS[kind]
    made_of = json.dumps(asdict(value), ensure_ascii=False)  # pyright: ignore[reportArgumentType]
    return getattr(value, key), kind, getattr(value, owner) if owner else "", made_of
