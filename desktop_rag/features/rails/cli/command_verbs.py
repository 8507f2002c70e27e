"""The verbs `command list` and `command forget`, and the question about a command in `ask`."""

import argparse
import time
from collections.abc import Sequence
from typing import Any

from desktop_rag import app
from desktop_rag.cli.terminal import add_verb, here, open_services, print_document, prints, say
from desktop_rag.core.errors import AppError
from desktop_rag.features.rails.commands.command import Command, CommandState
from desktop_rag.features.rails.commands.commands import Commands
from desktop_rag.features.rails.services import RailServices


def add_commands(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `command`."""
    verbs = parser.add_subparsers(required=True)
    text = "List what assistants were to change, with your word on it and what came of it."
    prints(add_verb(verbs, "list", text), _list, _lines)
    added = add_verb(verbs, "forget", "Remove commands from the history. What they did stays.")
    added.set_defaults(run=_forget)
    added.add_argument("id", nargs="*", help="as `command list` names it")
    added.add_argument("--all", action="store_true", help="all of them")


def _commands(services: app.Services) -> Commands:
    return services.wing(RailServices).commands


def completed(services: app.Services, answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with the command that it proposes, in full."""
    proposal = str(answer.get("proposal", ""))
    command = _commands(services).get(proposal) if proposal else None
    return answer | {"proposal": command.to_json()} if command else answer


def follow_up(services: app.Services, answer: dict[str, Any]) -> None:
    """Show exactly what a proposed command would do, and ask. Anything but `y` declines."""
    proposal = answer.get("proposal")
    if not isinstance(proposal, dict):
        return
    command = Command.from_json(proposal)
    print_document(command, _details, as_json=False)
    try:
        is_agreed = here().typed("Do it? [y/N] ").strip().casefold() == "y"
    except EOFError:
        is_agreed = False
    done = _commands(services).decide(command.command_id, is_agreed=is_agreed)
    say("\n".join(filter(None, (f"{done.state.in_words()}.", done.outcome))))


def _details(command: Command) -> list[str]:
    lines = [command.title]
    for name, value in command.details:
        lines += [f"{name}:", *(f"    {line}" for line in value.split("\n"))]
    return lines


def _list(_arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with open_services() as services:
        return [command.to_json() for command in _commands(services).all()]


def _lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    lines: list[str] = []
    for command in map(Command.from_json, rows):
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(command.proposed_at))
        lines += [
            f"{command.command_id[:8]}  {day}  {command.state.in_words()}: {command.title}",
            f"          “{' '.join(command.prompt.split())}”",
        ]
        lines += [f"          {line}" for line in command.outcome.split("\n")[:3] if line]
    return lines or ["Nothing was proposed yet."]


def _forget(arguments: argparse.Namespace) -> int:
    if not arguments.id and not arguments.all:
        raise AppError("Name the commands to forget.", "Or add --all.")
    with open_services() as services:
        count = _forgotten(services, [] if arguments.all else arguments.id)
    say(f"{count} forgotten.")
    return 0


def _forgotten(services: app.Services, prefixes: Sequence[str]) -> int:
    """Forget the commands whose ids begin so, all without any; how many."""
    starts = tuple(prefixes) or ("",)
    ids = [
        command.command_id
        for command in _commands(services).all()
        if command.command_id.startswith(starts) and command.state is not CommandState.RUNNING
    ]
    _commands(services).forget(ids)
    return len(ids)
