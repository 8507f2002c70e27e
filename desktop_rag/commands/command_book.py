"""The commands that were proposed to the person, in a file of the home. Any thread.

A change is on the disk before anything is done about it, so that a crash is noticed.
"""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from threading import Lock

from desktop_rag.core.commands.command import Command, CommandState
from desktop_rag.core.commands.command_history import (
    MOST_KEPT,
    from_content,
    merged,
    settled,
    to_text,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.atomic_file import read_object, write_atomically


class CommandBook:
    """Keeps the newest commands; the file is read once."""

    def __init__(self, file: Path, now: Callable[[], float]) -> None:
        """What the last run of the app left open is settled: nothing of it is ever done."""
        self._file = file
        self._now = now
        self._lock = Lock()
        found = from_content(read_object(file))
        self._commands = {command.command_id: settled(command, now()) for command in found}

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

    def take(self, commands: Sequence[Command]) -> int:
        """Keep those that are over and unknown here; how many. AppError as for `add`."""
        with self._lock:
            news = [
                command
                for command in commands
                if command.state.is_over and command.command_id not in self._commands
            ]
            if news:
                both = merged(list(self._commands.values()), news)
                self._write({command.command_id: command for command in both})
            return len(news)

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
        try:
            write_atomically(self._file, to_text(commands.values()))
        except OSError as exc:
            hint = f"{self._file}: {exc.strerror}."
            raise AppError("Commands can't be kept, so nothing is done.", hint) from exc
        self._commands = commands
