"""The commands that were proposed to the person, in a file of the home. Any thread.

A change is on the disk before anything is done about it, so that a crash is noticed.
"""

import json
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from threading import Lock

from desktop_rag.core.commands.command import Command, CommandState
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.atomic_file import read_object, write_atomically
from desktop_rag.core.language.translation import tr

MOST_KEPT = 500


class CommandBook:
    """Keeps the newest commands; the file is read once."""

    def __init__(self, file: Path, now: Callable[[], float]) -> None:
        """What the last run of the app left open is settled: nothing of it is ever done."""
        self._file = file
        self._now = now
        self._lock = Lock()
        self._commands = {command.command_id: command for command in _read(file)}
        for command in list(self._commands.values()):
            if not command.state.is_over:
                was_begun = command.state is CommandState.RUNNING
                state = CommandState.UNKNOWN if was_begun else CommandState.LAPSED
                settled = replace(command, state=state, ended_at=now())
                self._commands[command.command_id] = settled

    def all(self) -> list[Command]:
        """All commands, the newest first."""
        with self._lock:
            return list(reversed(self._commands.values()))

    def get(self, command_id: str) -> Command | None:
        """The command, unless it was forgotten."""
        with self._lock:
            return self._commands.get(command_id)

    def add(self, command: Command) -> None:
        """Keep a new command. AppError when it can't be written."""
        with self._lock:
            kept = list(self._commands.values())[-(MOST_KEPT - 1) :]
            self._write({each.command_id: each for each in [*kept, command]})

    def change(
        self, command_id: str, state: CommandState, change: Callable[[Command], Command]
    ) -> Command | None:
        """Change a command that is in this state; None when it is in another, or gone.

        So of two that want to decide it, one does. AppError when it can't be written.
        """
        with self._lock:
            command = self._commands.get(command_id)
            if command is None or command.state is not state:
                return None
            changed = change(command)
            self._write({**self._commands, command_id: changed})
            return changed

    def forget(self, command_ids: Collection[str]) -> None:
        """Remove these; one that is under way stays."""
        with self._lock:
            kept = {
                key: command
                for key, command in self._commands.items()
                if key not in command_ids or command.state is CommandState.RUNNING
            }
            self._write(kept)

    def _write(self, commands: dict[str, Command]) -> None:
        content = {"commands": [command.to_json() for command in commands.values()]}
        try:
            write_atomically(self._file, json.dumps(content, ensure_ascii=False))
        except OSError as exc:
            hint = f"{self._file}: {exc.strerror}."
            raise AppError(tr("Commands can't be kept, so nothing is done."), hint) from exc
        self._commands = commands


def _read(file: Path) -> list[Command]:
    found: list[Command] = []
    for row in read_object(file).get("commands", []):
        try:
            found.append(Command.from_json(row))
        except (KeyError, TypeError, ValueError):
            continue
    return found
