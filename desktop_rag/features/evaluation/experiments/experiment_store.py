"""Sets of questions, runs, answers and judgements, each one row, as JSON. Any thread."""

import json
from dataclasses import asdict
from typing import Any, TypeVar

from desktop_rag.features.evaluation.values.chunk_trial import ChunkComparison
from desktop_rag.features.evaluation.values.record_json import decoded
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
