"""The stored history of commands, and how two of them become one. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from desktop_rag.features.rails.commands.command import Command, CommandState

MOST_KEPT = 500


def settled(command: Command, now: float) -> Command:
    """The command as a later run of the app has it: what was left open is never done."""
    if command.state.is_over:
        return command
    was_begun = command.state is CommandState.RUNNING
    state = CommandState.UNKNOWN if was_begun else CommandState.LAPSED
    return replace(command, state=state, ended_at=now)


def merged(present: Sequence[Command], taken: Iterable[Command]) -> list[Command]:
    """Both in the order of their proposals, the newest of them; what is here stays as it is."""
    known = {command.command_id for command in present}
    both = [*present, *(command for command in taken if command.command_id not in known)]
    return sorted(both, key=lambda command: command.proposed_at)[-MOST_KEPT:]


def to_text(commands: Iterable[Command]) -> str:
    """The content of the file."""
    content = {"commands": [command.to_json() for command in commands]}
    return json.dumps(content, ensure_ascii=False)


def from_content(content: Mapping[str, Any]) -> list[Command]:
    """The commands in the content of the file, without those that can't be read."""
    found: list[Command] = []
    for row in content.get("commands", []):
        try:
            found.append(Command.from_json(row))
        except (KeyError, TypeError, ValueError):
            continue
    return found
