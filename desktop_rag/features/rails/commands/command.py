"""Commands: what the app was to change for the person, with their word on it. Frozen values."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from desktop_rag.core.language.translation import tr


class CommandState(StrEnum):
    """How far a command got. UNKNOWN: the app ended before it knew what came of it."""

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
        """True when nothing more comes of it by itself."""
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
class Command:
    """Something that was proposed to the person, and what came of it.

    `prompt` is the sentence it was asked for with. `details` are names with values, which show
    exactly what would be done. `target` is what is carried out, `undo` what takes it back, as
    JSON; an empty `undo` means that it can't be. `outcome` is what came of it, `said` what the
    assistant said then.
    """

    command_id: str
    kind: CommandKind
    title: str
    prompt: str
    details: tuple[tuple[str, str], ...]
    target: Mapping[str, Any]
    proposed_at: float
    conversation_id: str = ""
    assistant_id: str = ""
    state: CommandState = CommandState.PROPOSED
    outcome: str = ""
    said: str = ""
    decided_at: float = 0.0
    ended_at: float = 0.0
    undo: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def can_be_undone(self) -> bool:
        """True when what was done can be taken back."""
        return self.state is CommandState.DONE and bool(self.undo)

    def to_json(self) -> dict[str, Any]:
        """All fields by name."""
        values = asdict(self) | {"kind": self.kind.value, "state": self.state.value}
        return values | {"details": [list(pair) for pair in self.details]}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> "Command":
        """The inverse of `to_json`."""
        values: dict[str, Any] = dict(fields)
        values["kind"] = CommandKind(values["kind"])
        values["state"] = CommandState(values["state"])
        values["details"] = tuple((str(name), str(value)) for name, value in values["details"])
        return cls(**values)


@dataclass(frozen=True, slots=True)
class CommandsChanged:
    """A command was proposed, decided, ended or forgotten; `command` is None for several."""

    command: Command | None = None
