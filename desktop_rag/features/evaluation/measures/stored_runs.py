"""Keeps measurements in the person's own library, so that runs can be compared over time.

Any worker thread.
"""

import time
import uuid
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol

from desktop_rag.core.settings import Settings
from desktop_rag.store.contract.records import Evaluation, EvaluationStore

# Settings that do not affect search.
_LEFT_OUT = ("endpoint", "other_endpoints", "helper", "appearance")


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
        """Every run without its queries, the newest first; or one with them, by its id.

        AppError when no run, or more than one, begins with the id.
        """
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
    """A measurement of the set called `name` as the JSON value that is kept.

    `options` are those of the verb; `seconds` are of the whole run.
    """
    chosen = {key: value for key, value in asdict(settings).items() if key not in _LEFT_OUT}
    return Evaluation(
        evaluation_id=uuid.uuid4().hex,
        kind=measured.kind,
        name=name,
        created_at=time.time(),
        seconds=seconds,
        version=_version(),
        settings={**options, **chosen},
        results=results,
        queries=measured.query_rows(),
    ).to_json()


def _version() -> str:
    try:
        return version("desktop-rag")
    except PackageNotFoundError:
        return "not installed: run from its source"
