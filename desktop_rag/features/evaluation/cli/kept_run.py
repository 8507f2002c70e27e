"""Keeps the figures of a measurement, and prints and writes them."""

import json
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from desktop_rag import app
from desktop_rag.cli.terminal import open_services, say
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import persons_mask
from desktop_rag.core.paths import find_home
from desktop_rag.features.evaluation.services import EvaluationServices
from desktop_rag.running_app import ask_running_app

ID_CHARS = 8


def keep(run: dict[str, Any]) -> None:
    """Store the run, through the window if it has the library open; say so on failure."""
    try:
        with tempfile.TemporaryDirectory(prefix="desktop-rag-eval-") as scratch:
            # Too long for a request; the file belongs to this user, like the library.
            file = Path(scratch) / "run.json"
            file.write_text(json.dumps(run), encoding="utf-8")
            is_kept, _ = ask_running_app(find_home(), "eval_keep", {"file": str(file)})
        if not is_kept:
            with open_services() as services:
                services.wing(EvaluationServices).runs.add(run)
    except AppError as error:
        say(f"This run was not stored. {error.title} {error.hint}")
    else:
        say(f"Stored as run {run['evaluation_id'][:ID_CHARS]}.")


def keep_file(services: app.Services, path: Path) -> None:
    """Store the run in a file, in the running app."""
    try:
        run = json.loads(path.read_bytes())
    except (OSError, ValueError) as exc:
        raise AppError("The run could not be read.", str(exc)) from exc
    services.wing(EvaluationServices).runs.add(run)


@contextmanager
def written_later(path: Path | None) -> Generator[TextIO | None]:
    """The file, opened before the work, so that an unwritable one fails at once."""
    if path is None:
        yield None
        return
    try:
        with persons_mask():
            file = path.open("w", encoding="utf-8")
    except OSError as exc:
        raise AppError(f"{path} cannot be written.", str(exc.strerror)) from exc
    with file:
        yield file


def figure_lines(figures: dict[str, Any]) -> list[str]:
    """The figures of a measurement, one a line."""
    width = max(map(len, figures))
    return [f"{key:<{width}}  {value}" for key, value in figures.items()]
