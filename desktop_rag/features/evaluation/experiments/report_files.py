"""Writes the runs of a set into a file, whose ending says in which form. Worker threads."""

from collections.abc import Callable, Mapping
from pathlib import Path

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.atomic_file import write_atomically
from desktop_rag.features.evaluation.experiments.experiments import SetResults
from desktop_rag.features.evaluation.experiments.reports import (
    as_csv,
    as_jsonl,
    raw_rows,
    report_html,
)

_FORMS: Mapping[str, Callable[[SetResults], str]] = {
    ".html": report_html,
    ".csv": lambda results: as_csv(raw_rows(results)),
    ".jsonl": as_jsonl,
}


def write_report(results: SetResults, file: Path) -> None:
    """Write or replace the file. AppError for another ending, or when it can't be written."""
    form = _FORMS.get(file.suffix.casefold())
    if form is None:
        hint = f"It may end in {', '.join(_FORMS)}; the window also makes a PDF."
        raise AppError(f"{file.name} has another ending.", hint)
    try:
        write_atomically(file, form(results))
    except OSError as exc:
        raise AppError(f"{file} can't be written.", f"{exc.strerror}.") from exc
