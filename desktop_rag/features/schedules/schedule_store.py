"""Scheduled questions and their runs, each one row, as JSON. Any thread."""

import json
from typing import Any

from desktop_rag.features.schedules.values.scheduled_question import (
    ScheduledQuestion,
    ScheduledRun,
    ScheduleState,
)
from desktop_rag.store.contract.database import Connection, Database, Entity

_OLD_RUNS = (
    "DELETE FROM standing_runs WHERE run_id IN (SELECT run_id FROM standing_runs"
    " WHERE question_id = ? ORDER BY number DESC OFFSET ?) RETURNING run_id"
)
_ORPHANS = (
    "DELETE FROM standing_runs WHERE question_id NOT IN (SELECT question_id FROM"
    " standing_questions) RETURNING run_id"
)


class ScheduleStore:
    """Reads and writes scheduled questions; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[tuple[ScheduledQuestion, ScheduleState]]:
        """Questions that are not hidden with their states, by name in lower case, then by id."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT made_of, state FROM standing_questions WHERE NOT is_deleted"
            ).fetchall()
        question, state = ScheduledQuestion.from_json, ScheduleState.from_json
        found = [(question(json.loads(made_of)), state(json.loads(kept))) for made_of, kept in rows]
        return sorted(found, key=lambda pair: (pair[0].name.lower(), pair[0].question_id))

    def put(self, question: ScheduledQuestion) -> None:
        """Store the question in place of one with the same id; its state and runs stay."""
        key = question.question_id

        def work(con: Connection) -> None:
            known = con.execute(
                "DELETE FROM standing_questions WHERE question_id = ? RETURNING state", [key]
            ).fetchall()
            [(state,)] = known or [("{}",)]
            con.execute(
                "INSERT INTO standing_questions (question_id, made_of, state) VALUES (?, ?, ?)",
                [key, _json(question.to_json()), state],
            )

        self._database.write_uncached(work, changes=[Entity("standing", key)])

    def set_state(self, question_id: str, state: ScheduleState) -> None:
        """Store the state of a question; nothing happens when there is none of this id."""
        self._update(question_id, "state", _json(state.to_json()))

    def set_deleted(self, question_id: str, is_deleted: bool) -> None:
        """Hide the question, or undo that."""
        self._update(question_id, "is_deleted", is_deleted)

    def purge_deleted(self) -> None:
        """Remove hidden questions with their runs permanently."""
        changes: list[Entity] = []

        def work(con: Connection) -> None:
            gone = con.execute(
                "DELETE FROM standing_questions WHERE is_deleted RETURNING question_id"
            ).fetchall()
            changes.extend(Entity("standing", key) for (key,) in gone)
            runs = con.execute(_ORPHANS).fetchall()
            changes.extend(Entity("standing_run", key) for (key,) in runs)

        self._database.write_uncached(work, changes=changes)

    def add_run(self, run: ScheduledRun, most: int) -> bool:
        """Store a run and keep the newest `most`. False, storing nothing, without its question."""
        changes: list[Entity] = []

        def work(con: Connection) -> bool:
            known = con.execute(
                "SELECT 1 FROM standing_questions WHERE question_id = ?", [run.question_id]
            ).fetchall()
            if not known:
                return False
            con.execute(
                "INSERT INTO standing_runs (run_id, question_id, made_of, number)"
                " SELECT ?, ?, ?, (SELECT coalesce(max(number), 0) + 1 FROM standing_runs)",
                [run.run_id, run.question_id, _json(run.to_json())],
            )
            old = con.execute(_OLD_RUNS, [run.question_id, most]).fetchall()
            changes.extend(
                Entity("standing_run", key) for key in (run.run_id, *(k for (k,) in old))
            )
            return True

        return self._database.write_uncached(work, changes=changes)

    def runs(self, question_id: str) -> list[ScheduledRun]:
        """The runs of a question, the last added first."""
        with self._database.read() as con:
            rows = con.execute(
                "SELECT made_of FROM standing_runs WHERE question_id = ? ORDER BY number DESC",
                [question_id],
            ).fetchall()
        return [ScheduledRun.from_json(json.loads(made_of)) for (made_of,) in rows]

    def _update(self, question_id: str, column: str, value: object) -> None:
        sql = f"UPDATE standing_questions SET {column} = ? WHERE question_id = ?"
        self._database.write_uncached(
            lambda con: con.execute(sql, [value, question_id]),
            changes=[Entity("standing", question_id)],
        )


def _json(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False)
