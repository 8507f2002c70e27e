"""Commands: changes proposed to the person, with their decision and outcome. Frozen values."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from desktop_rag.core.language.translation import tr
from desktop_rag.core.records import Id, IdOrNone, Moment, Record, encoded, readable_rows


class CommandState(StrEnum):
    """How far a command got. UNKNOWN: the app ended before the outcome was known."""

    PROPOSED = "proposed"
    DECLINED = "declined"
    LAPSED = "lapsed"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"
    UNDONE = "undone"

    @property
    def is_over(self) -> bool:
        """True when it waits for nothing any more."""
        return self not in (CommandState.PROPOSED, CommandState.RUNNING)

    def in_words(self) -> str:
        """A word for it."""
        return {
            CommandState.PROPOSED: tr("Waits for you"),
            CommandState.DECLINED: tr("Declined"),
            CommandState.LAPSED: tr("Not decided, so not done"),
            CommandState.RUNNING: tr("Under way"),
            CommandState.DONE: tr("Done"),
            CommandState.FAILED: tr("Failed"),
            CommandState.UNKNOWN: tr("Unknown: the app ended meanwhile"),
            CommandState.UNDONE: tr("Undone"),
        }[self]


class CommandKind(StrEnum):
    """What a command changes."""

    NOTE = "note"
    FOLDER = "folder"
    PROGRAM = "program"


@dataclass(frozen=True, slots=True)
class Command(Record):
    """A change that was proposed to the person, and its outcome.

    `prompt` is the sentence that asked for it. `details` are names with values, which show exactly
    what would be done. `target` is what is carried out, `undo` what takes it back, as JSON; with
    an empty `undo` it can't be. `said` is what the assistant said after it.
    """

    command_id: Id
    kind: CommandKind
    title: str
    prompt: str
    details: tuple[tuple[str, str], ...]
    target: Mapping[str, Any]
    proposed_at: Moment
    conversation_id: IdOrNone = ""
    assistant_id: IdOrNone = ""
    state: CommandState = CommandState.PROPOSED
    outcome: str = ""
    said: str = ""
    decided_at: Moment = 0.0
    ended_at: Moment = 0.0
    undo: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def can_be_undone(self) -> bool:
        """True when what was done can be taken back."""
        return self.state is CommandState.DONE and bool(self.undo)


@dataclass(frozen=True, slots=True)
class CommandsChanged:
    """A command was proposed, decided, ended or forgotten; `command` is None for several."""

    command: Command | None = None


# The stored history of commands.
MOST_KEPT = 500


def settled(command: Command, now: float) -> Command:
    """The command in a later run of the app: what was left open is never done."""
    if command.state.is_over:
        return command
    was_begun = command.state is CommandState.RUNNING
    state = CommandState.UNKNOWN if was_begun else CommandState.LAPSED
    return replace(command, state=state, ended_at=now)


def merged(present: Sequence[Command], taken: Iterable[Command]) -> list[Command]:
    """The newest of both in the order of their proposals; those in `present` stay as they are."""
    known = {command.command_id for command in present}
    both = [*present, *(command for command in taken if command.command_id not in known)]
    return sorted(both, key=lambda command: command.proposed_at)[-MOST_KEPT:]


def to_text(commands: Iterable[Command]) -> str:
    """The content of the file."""
    return json.dumps({"commands": encoded(list(commands))}, ensure_ascii=False)


def from_content(content: Mapping[str, Any]) -> list[Command]:
    """The commands in the content of the file, without those that can't be read."""
    return readable_rows(Command, content.get("commands"))
