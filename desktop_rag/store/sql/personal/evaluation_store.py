"""Measurements of quality, each with its settings. Any thread."""

import json
from typing import Any

from desktop_rag.core.errors import AppError
from desktop_rag.store.contract.records import Evaluation
from desktop_rag.store.sql.precious_rows import Entity
from desktop_rag.store.sql.sql_engine import Database

_LISTED = "evaluation_id, kind, name, created_at, seconds, version, settings, results"


class EvaluationStore:
    """Reads and writes measurements; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, evaluation: Evaluation) -> None:
        """Store a run permanently."""
        e = evaluation
        values = (e.settings, e.results, e.queries)
        row = [
            e.evaluation_id, e.kind, e.name, e.created_at, e.seconds, e.version,
            *(json.dumps(value, ensure_ascii=False) for value in values),
        ]  # fmt: skip
        places = ", ".join("?" * len(row))
        self._database.write_uncached(
            lambda con: con.execute(
                f"INSERT INTO evaluations ({_LISTED}, queries, number)"
                f" SELECT {places}, (SELECT coalesce(max(number), 0) + 1 FROM evaluations)",
                row,
            ),
            changes=[Entity("evaluation", e.evaluation_id)],
        )

    def all(self) -> list[Evaluation]:
        """All runs without their queries, the newest first."""
        with self._database.read() as con:
            rows = con.execute(
                f"SELECT {_LISTED}, '[]' FROM evaluations ORDER BY number DESC"
            ).fetchall()
        return [_evaluation(row) for row in rows]

    def get(self, evaluation_id: str) -> Evaluation:
        """A run with its queries, by its id or a prefix of it.

        AppError when no run or more than one matches.
        """
        with self._database.read() as con:
            rows = con.execute(
                f"SELECT {_LISTED}, queries FROM evaluations WHERE starts_with(evaluation_id, ?)",
                [evaluation_id],
            ).fetchall()
        if len(rows) != 1:
            title = "More than one run begins" if rows else "No run begins"
            raise AppError(f"{title} with {evaluation_id}.", "List them: desktop-rag eval runs")
        return _evaluation(rows[0])


def _evaluation(row: tuple[Any, ...]) -> Evaluation:
    values = [json.loads(text) for text in row[-3:]]
    return Evaluation(*row[:-3], *values)
