"""Measurements of quality, each kept with what it was made with. Any thread."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from desktop_rag.core.errors import AppError
from desktop_rag.store.database import Database

_LISTED = "evaluation_id, kind, name, created_at, seconds, version, settings, results"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One run of a measurement.

    `kind` tells what was measured, `name` on which set, `version` by which version of the app.
    `settings`, `results` (an object a mode) and `queries` (an object a query and mode) are JSON
    values.
    """

    evaluation_id: str
    kind: str
    name: str
    created_at: float
    seconds: float
    version: str
    settings: dict[str, Any]
    results: list[dict[str, Any]]
    queries: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def to_json(self) -> dict[str, Any]:
        """The fields by name."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "Evaluation":
        """The inverse of `to_json`. Unknown fields raise TypeError."""
        return cls(**fields)


class EvaluationStore:
    """Reads and writes measurements; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, evaluation: Evaluation) -> None:
        """Keep a run for good."""
        e = evaluation
        values = (e.settings, e.results, e.queries)
        row = [
            e.evaluation_id, e.kind, e.name, e.created_at, e.seconds, e.version,
            *(json.dumps(value, ensure_ascii=False) for value in values),
        ]  # fmt: skip
        places = ", ".join("?" * len(row))
        self._database.write(
            lambda con: con.execute(
                f"INSERT INTO evaluations ({_LISTED}, queries) VALUES ({places})", row
            )
        )

    def all(self) -> list[Evaluation]:
        """Every run without its queries, the newest first."""
        with self._database.read() as con:
            rows = con.execute(
                f"SELECT {_LISTED}, '[]' FROM evaluations ORDER BY created_at DESC, evaluation_id"
            ).fetchall()
        return [_evaluation(row) for row in rows]

    def get(self, evaluation_id: str) -> Evaluation:
        """A run with its queries, by its id or the beginning of it.

        AppError when none or more than one begins so.
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
