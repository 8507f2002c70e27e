"""Stores measurements in the person's library, to compare runs over time. Worker threads."""

import json
import time
import uuid
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import Settings
from desktop_rag.store.contract.database import Database, Entity

# Settings that do not affect search.
_LEFT_OUT = ("endpoint", "other_endpoints", "helper", "appearance")
_LISTED = "evaluation_id, kind, name, created_at, seconds, version, settings, results"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One run of a measurement.

    `kind` is the thing measured, `name` the data set, `version` that of the app. `settings`,
    `results` (one object per mode) and `queries` (one object per query and mode) are JSON values.
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
        """Store a run permanently; it comes back equal."""
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
        """All runs without their queries, the last one stored first."""
        with self._database.read() as con:
            rows = con.execute(
                f"SELECT {_LISTED}, '[]' FROM evaluations ORDER BY number DESC"
            ).fetchall()
        return [_evaluation(row) for row in rows]

    def get(self, evaluation_id: str) -> Evaluation:
        """A run with its queries, by a prefix of its id. AppError unless exactly one matches."""
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


class Measurement(Protocol):
    """A measurement with a row for each query or claim."""

    @property
    def kind(self) -> str:
        """The kind, in one word."""
        ...

    def query_rows(self) -> list[dict[str, Any]]:
        """One object for each query or claim."""
        ...


class StoredRuns:
    """The evaluation runs in a library."""

    def __init__(self, store: EvaluationStore) -> None:
        self._store = store

    def add(self, run: dict[str, Any]) -> None:
        """Store a run made by `run_of`."""
        self._store.add(Evaluation.from_json(run))

    def listed(self, evaluation_id: str = "") -> list[dict[str, Any]]:
        """All runs without queries, the newest first; with an id, that of `EvaluationStore.get`."""
        if evaluation_id:
            return [self._store.get(evaluation_id).to_json()]
        runs = [evaluation.to_json() for evaluation in self._store.all()]
        return [{key: run[key] for key in run if key != "queries"} for run in runs]


def run_of(
    measured: Measurement,
    name: str,
    settings: Settings,
    options: dict[str, Any],
    *,
    results: list[dict[str, Any]],
    seconds: float,
) -> dict[str, Any]:
    """The JSON value of a measurement of the set `name`; `options` are those of the verb."""
    chosen = {key: value for key, value in asdict(settings).items() if key not in _LEFT_OUT}
    return Evaluation(
        uuid.uuid4().hex, measured.kind, name, time.time(), seconds, _version(),
        settings={**options, **chosen}, results=results, queries=measured.query_rows(),
    ).to_json()  # fmt: skip


def _version() -> str:
    try:
        return version("desktop-rag")
    except PackageNotFoundError:
        return "not installed: run from its source"
