"""`eval set-from-feedback`: a set for `eval answers` from the feedback that the person gave."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from desktop_rag import app
from desktop_rag.cli.argument_types import add_json
from desktop_rag.cli.terminal import open_services, print_document
from desktop_rag.core.paths import find_home
from desktop_rag.evaluate.feedback_set import write_feedback_set
from desktop_rag.running_app import ask_running_app

_VERB = "eval_feedback_set"


def add_feedback_set(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.set_defaults(run=_write)
    parser.add_argument("file", type=Path, metavar="FILE.jsonl", help="a new file")
    add_json(parser)


def feedback_verbs() -> Mapping[str, app.Verb]:
    """The handler of this verb in the running app."""
    return {_VERB: lambda services, asked: _written(services, Path(str(asked["file"])))}


def _write(arguments: argparse.Namespace) -> int:
    file = arguments.file.absolute()
    is_answered, told = ask_running_app(find_home(), _VERB, {"file": str(file)})
    if not is_answered:
        with open_services() as services:
            told = _written(services, file)
    print_document(told, _lines, as_json=arguments.json)
    return 0


def _written(services: app.Services, file: Path) -> dict[str, Any]:
    return write_feedback_set(services.chat, file)


def _lines(told: dict[str, Any]) -> list[str]:
    file, wrong = told["file"], told["wrong"]
    held = f"{told['questions']:,} questions, {told['expected']:,} with expected answers"
    return [
        f"{file}: {held}, {wrong:,} with answers you called wrong.",
        f"It holds your questions and answers. Measure with: desktop-rag eval answers {file}",
    ]
