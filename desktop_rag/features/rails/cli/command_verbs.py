"""The verbs about commands with consent: `command list` and `forget`; and the question in `ask`."""

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from desktop_rag import app
from desktop_rag.cli.terminal import add_json, open_services, print_document, say
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import find_home
from desktop_rag.features.rails.commands.command import Command, CommandState
from desktop_rag.running_app import ask_running_app

Decide = Callable[[bool], dict[str, Any]]


def add_commands(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `command`."""
    verbs = parser.add_subparsers(required=True)
    text = "List what assistants were to change, with your word on it and what came of it."
    added = verbs.add_parser("list", help=text, description=text)
    added.set_defaults(run=_list)
    add_json(added)
    text = "Remove commands from the history. What they did stays."
    added = verbs.add_parser("forget", help=text, description=text)
    added.set_defaults(run=_forget)
    added.add_argument("id", nargs="*", help="as `command list` names it")
    added.add_argument("--all", action="store_true", help="all of them")


def running_app_verbs() -> Mapping[str, app.Verb]:
    """The handlers of these verbs in the running app; arguments come from another process."""
    return {
        "command_list": lambda services, asked: _listed(services, **asked),
        "command_forget": lambda services, asked: _forgotten(services, **asked),
        "command_decide": lambda services, asked: decided(services, **asked),
    }


def may_ask(*, as_json: bool) -> bool:
    """Whether a person is at the terminal who can agree."""
    return not as_json and sys.stdin.isatty() and sys.stdout.isatty()


def decided(services: app.Services, command_id: str, *, is_agreed: bool) -> dict[str, Any]:
    """The command after the person's word."""
    return services.commands.decide(str(command_id), is_agreed=is_agreed is True).to_json()


def proposal_of(services: app.Services, answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with the command that it proposes, in full."""
    command = services.commands.get(str(answer.get("proposal", "")))
    return answer | {"proposal": command.to_json()} if command else answer


def decide_there(command_id: str) -> Decide:
    """Decides in the running app."""

    def decide(is_agreed: bool) -> dict[str, Any]:
        request = {"command_id": command_id, "is_agreed": is_agreed}
        is_answered, command = ask_running_app(find_home(), "command_decide", request)
        if not is_answered:
            raise AppError("The app has ended, so nothing is done.", "Ask again.")
        return command

    return decide


def ask_for_consent(answer: dict[str, Any], decide: Decide) -> None:
    """Show exactly what would be done, and ask. Anything but `y` declines."""
    proposal = answer.get("proposal")
    if not isinstance(proposal, dict):
        return
    command = Command.from_json(proposal)
    print_document(command, _details, as_json=False)
    try:
        is_agreed = input("Do it? [y/N] ").strip().casefold() == "y"
    except EOFError:
        is_agreed = False
    done = Command.from_json(decide(is_agreed))
    say("\n".join(filter(None, (f"{done.state.in_words()}.", done.outcome))))


def _details(command: Command) -> list[str]:
    lines = [command.title]
    for name, value in command.details:
        lines += [f"{name}:", *(f"    {line}" for line in value.split("\n"))]
    return lines


def _list(arguments: argparse.Namespace) -> int:
    is_answered, found = ask_running_app(find_home(), "command_list", {})
    if not is_answered:
        with open_services() as services:
            found = _listed(services)
    print_document(found, _lines, as_json=arguments.json)
    return 0


def _listed(services: app.Services) -> list[dict[str, Any]]:
    return [command.to_json() for command in services.commands.all()]


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
    request = {"prefixes": [] if arguments.all else arguments.id}
    is_answered, count = ask_running_app(find_home(), "command_forget", request)
    if not is_answered:
        with open_services() as services:
            count = _forgotten(services, **request)
    say(f"{count} forgotten.")
    return 0


def _forgotten(services: app.Services, prefixes: Sequence[str]) -> int:
    """Forget the commands whose ids begin so, all without any; how many."""
    starts = tuple(map(str, prefixes)) or ("",)
    ids = [
        command.command_id
        for command in services.commands.all()
        if command.command_id.startswith(starts) and command.state is not CommandState.RUNNING
    ]
    services.commands.forget(ids)
    return len(ids)
