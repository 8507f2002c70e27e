"""Sets of questions, runs, answers, judgements and measurements, each one row. Any thread."""

import json
from dataclasses import asdict
from typing import Any, TypeVar

from desktop_rag.core.errors import AppError
from desktop_rag.core.records import decoded
from desktop_rag.features.evaluation.values.chunk_trial import ChunkComparison
from desktop_rag.features.evaluation.values.measurement import Measurement
from desktop_rag.features.evaluation.values.run import Judgement, QuestionSet, Run, RunAnswer
from desktop_rag.store.contract.database import Connection, Database, Entity

T = TypeVar("T")

_SET, _RUN, _ANSWER, _JUDGEMENT = "set", "run", "answer", "judgement"
_COMPARISON = "comparison"
_INSERT = (
    "INSERT INTO experiments (record_id, kind, owner_id, made_of, number) VALUES (?, ?, ?, ?, ?)"
)
_NEXT = "SELECT coalesce(max(number), 0) + 1 FROM experiments"
_OF_SET = (
    "DELETE FROM experiments WHERE record_id = ? OR owner_id = ? OR owner_id IN"
    " (SELECT record_id FROM experiments WHERE owner_id = ?) RETURNING record_id"
)
_OF_RUN = (
    "DELETE FROM experiments WHERE record_id = ? OR owner_id = ? OR (kind = 'judgement' AND"
    " (CAST(made_of AS JSON)->>'first_run' = ? OR CAST(made_of AS JSON)->>'second_run' = ?))"
    " RETURNING record_id"
)
_LISTED = "evaluation_id, kind, name, created_at, seconds, version, settings, results"


class ExperimentStore:
    """Reads and writes them; a run belongs to a set, an answer to a run, a judgement to a set."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def sets(self) -> list[QuestionSet]:
        """All sets, by name in lower case, then by id."""
        found = self._read(QuestionSet, _SET)
        return sorted(found, key=lambda each: (each.name.lower(), each.set_id))

    def put_set(self, question_set: QuestionSet) -> None:
        """Store the set in place of one with the same id; its runs stay."""
        self._put(_SET, question_set.set_id, "", question_set)

    def remove_set(self, set_id: str) -> None:
        """Remove a set with its runs, answers and judgements; nothing happens without one."""
        self._remove(_OF_SET, [set_id] * 3)

    def runs(self, set_id: str = "") -> list[Run]:
        """The runs of a set, or all with "", in the order in which they were first stored."""
        return self._read(Run, _RUN, set_id)

    def put_run(self, run: Run) -> bool:
        """Store the run in place of one with the same id; False when its set is gone."""
        return self._put(_RUN, run.run_id, run.set_id, run)

    def remove_run(self, run_id: str) -> None:
        """Remove a run with its answers and the judgements of them."""
        self._remove(_OF_RUN, [run_id] * 4)

    def answers(self, run_id: str) -> list[RunAnswer]:
        """The answers of a run, in the order in which they were first stored."""
        return self._read(RunAnswer, _ANSWER, run_id)

    def put_answer(self, answer: RunAnswer) -> bool:
        """Store the answer in place of one with the same id; False when its run is gone."""
        return self._put(_ANSWER, answer.answer_id, answer.run_id, answer)

    def judgements(self, set_id: str) -> list[Judgement]:
        """All judgements about a set, in the order in which they were first stored."""
        return self._read(Judgement, _JUDGEMENT, set_id)

    def put_judgement(self, judgement: Judgement) -> bool:
        """Store the judgement in place of one with the same id; False when its set is gone."""
        return self._put(_JUDGEMENT, judgement.judgement_id, judgement.set_id, judgement)

    def comparisons(self) -> list[ChunkComparison]:
        """All comparisons of chunk settings, in the order in which they were first stored."""
        return self._read(ChunkComparison, _COMPARISON)

    def put_comparison(self, comparison: ChunkComparison) -> None:
        """Store the comparison in place of one with the same id."""
        self._put(_COMPARISON, comparison.comparison_id, "", comparison)

    def remove_comparison(self, comparison_id: str) -> None:
        """Remove a comparison; nothing happens without one."""
        self._remove(_OF_SET, [comparison_id] * 3)

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

    def _read(self, value: type[T], kind: str, owner_id: str = "") -> list[T]:
        sql = "SELECT made_of FROM experiments WHERE kind = ?"
        values = [kind]
        if owner_id:
            sql += " AND owner_id = ?"
            values.append(owner_id)
        with self._database.read() as con:
            rows = con.execute(f"{sql} ORDER BY number", values).fetchall()
        return [decoded(value, json.loads(made_of)) for (made_of,) in rows]

    def _put(self, kind: str, key: str, owner_id: str, value: Any) -> bool:  # noqa: ANN401
        made_of = json.dumps(asdict(value), ensure_ascii=False)

        def work(con: Connection) -> bool:
            owner = "SELECT 1 FROM experiments WHERE record_id = ?"
            if owner_id and not con.execute(owner, [owner_id]).fetchall():
                return False
            known = con.execute(
                "DELETE FROM experiments WHERE record_id = ? RETURNING number", [key]
            ).fetchall()
            [(number,)] = known or con.execute(_NEXT).fetchall()
            con.execute(_INSERT, [key, kind, owner_id, made_of, number])
            return True

        return self._database.write_uncached(work, changes=[Entity("experiment", key)])

    def _remove(self, sql: str, values: list[str]) -> None:
        changes: list[Entity] = []

        def work(con: Connection) -> None:
            gone = con.execute(sql, values).fetchall()
            changes.extend(Entity("experiment", key) for (key,) in gone)

        self._database.write_uncached(work, changes=changes)
