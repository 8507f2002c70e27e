"""Sets of questions, runs, answers, judgements and measurements, each one row. Any thread."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from desktop_rag.core.errors import AppError
from desktop_rag.core.records import decoded
from desktop_rag.features.evaluation.values.chunk_trial import ChunkComparison
from desktop_rag.features.evaluation.values.measurement import Measurement
from desktop_rag.features.evaluation.values.run import Judgement, QuestionSet, Run, RunAnswer
from desktop_rag.store.contract.database import Connection, Database, Entity

T = TypeVar("T")

# The value of each kind, the field with its id, and the one with its owner's.
KINDS: Mapping[str, tuple[type[Any], str, str]] = {
    "set": (QuestionSet, "set_id", ""),
    "run": (Run, "run_id", "set_id"),
    "answer": (RunAnswer, "answer_id", "run_id"),
    "judgement": (Judgement, "judgement_id", "set_id"),
    "comparison": (ChunkComparison, "comparison_id", ""),
}
_NAMES: Mapping[type[Any], str] = {value: kind for kind, (value, _, _) in KINDS.items()}
_INSERT = (
    "INSERT INTO experiments (record_id, kind, owner_id, made_of, number) VALUES (?, ?, ?, ?, ?)"
)
_NEXT = "SELECT coalesce(max(number), 0) + 1 FROM experiments"
_REMOVE = (
    "DELETE FROM experiments WHERE record_id = ? OR owner_id = ? OR owner_id IN"
    " (SELECT record_id FROM experiments WHERE owner_id = ?) OR (kind = 'judgement' AND"
    " (CAST(made_of AS JSON)->>'first_run' = ? OR CAST(made_of AS JSON)->>'second_run' = ?))"
    " RETURNING record_id"
)
_LISTED = "evaluation_id, kind, name, created_at, seconds, version, settings, results"


class ExperimentStore:
    """Reads and writes values of `KINDS`; a run belongs to a set, an answer to a run."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def sets(self) -> list[QuestionSet]:
        """All sets, by name in lower case, then by id."""
        return sorted(self.all(QuestionSet), key=lambda each: (each.name.lower(), each.set_id))

    def all(self, value: type[T], owner_id: str = "") -> list[T]:
        """Those of an owner, or all with "", in the order in which they were first stored."""
        sql = "SELECT made_of FROM experiments WHERE kind = ?"
        values = [_NAMES[value]]
        if owner_id:
            sql += " AND owner_id = ?"
            values.append(owner_id)
        with self._database.read() as con:
            rows = con.execute(f"{sql} ORDER BY number", values).fetchall()
        return [decoded(value, json.loads(made_of)) for (made_of,) in rows]

    def put(self, value: object) -> bool:
        """Store it in place of one with the same id; False when its owner is gone."""
        kind = _NAMES[type(value)]
        _, key_field, owner_field = KINDS[kind]
        key, owner_id = getattr(value, key_field), getattr(value, owner_field or key_field)
        made_of = json.dumps(asdict(value), ensure_ascii=False)  # pyright: ignore[reportArgumentType]

        def work(con: Connection) -> bool:
            owner = "SELECT 1 FROM experiments WHERE record_id = ?"
            if owner_field and not con.execute(owner, [owner_id]).fetchall():
                return False
            known = con.execute(
                "DELETE FROM experiments WHERE record_id = ? RETURNING number", [key]
            ).fetchall()
            [(number,)] = known or con.execute(_NEXT).fetchall()
            con.execute(_INSERT, [key, kind, owner_id if owner_field else "", made_of, number])
            return True

        return self._database.write_uncached(work, changes=[Entity("experiment", key)])

    def remove(self, record_id: str) -> None:
        """Remove one with all that belongs to it and is about it; nothing happens without one."""
        changes: list[Entity] = []

        def work(con: Connection) -> None:
            gone = con.execute(_REMOVE, [record_id] * 5).fetchall()
            changes.extend(Entity("experiment", key) for (key,) in gone)

        self._database.write_uncached(work, changes=changes)

    def measurements(self, set_name: str = "") -> list[Measurement]:
        """Those of a set with their queries, or all without; the last one stored first."""
        if not set_name:
            return self._measured("ORDER BY number DESC", [], queries="'[]'")
        return self._measured("WHERE kind || ' ' || name = ? ORDER BY number DESC", [set_name])

    def measurement(self, beginning: str) -> Measurement:
        """The one whose id begins so, with its queries. AppError unless exactly one does."""
        found = self._measured("WHERE starts_with(evaluation_id, ?)", [beginning])
        if len(found) != 1:
            title = f"No run begins with {beginning}."
            if found:
                title = f"More than one run begins with {beginning}."
            raise AppError(title, "List them: desktop-rag eval runs")
        return found[0]

    def add_measurement(self, added: Measurement) -> None:
        """Store a measurement permanently; it comes back equal."""
        row = [
            json.dumps(v, ensure_ascii=False) if isinstance(v, list | dict) else v
            for v in asdict(added).values()
        ]
        places = ", ".join("?" * len(row))
        number = "(SELECT coalesce(max(number), 0) + 1 FROM evaluations)"
        self._database.write_uncached(
            lambda con: con.execute(
                f"INSERT INTO evaluations ({_LISTED}, queries, number) SELECT {places}, {number}",
                row,
            ),
            changes=[Entity("evaluation", added.evaluation_id)],
        )

    def _measured(
        self, which: str, values: list[str], queries: str = "queries"
    ) -> list[Measurement]:
        with self._database.read() as con:
            sql = f"SELECT {_LISTED}, {queries} FROM evaluations {which}"
            rows = con.execute(sql, values).fetchall()
        return [Measurement(*row[:-3], *map(json.loads, row[-3:])) for row in rows]
