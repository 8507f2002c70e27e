"""Where a conversation stands: its variables, and how far each flow has come. Any thread."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from desktop_rag.features.rails.events.rail_events import CommandProposed
from desktop_rag.features.rails.language.flow_program import Flow, Instruction, Program, Wait


@dataclass(frozen=True, slots=True)
class Frame:
    """A position within a flow."""

    flow: str
    at: int


@dataclass(frozen=True, slots=True)
class FlowRun:
    """A flow under way; `frames` end with the subflow that it is in.

    `level`: a reaction is above what it reacts to, and runs first. `cause` is the kind of event
    that moved it last: flows moved by the same intent compete, and those that lose are left.
    """

    run_id: int
    frames: tuple[Frame, ...]
    level: int
    cause: str
    is_general: bool = False


@dataclass(frozen=True, slots=True)
class RailsState:
    """The state of one conversation, made from its events alone.

    `acting` is the flow that waits for its action. `proposed` is one that changes something and
    waits for the person.
    """

    context: Mapping[str, Any] = field(default_factory=dict[str, Any])
    runs: tuple[FlowRun, ...] = ()
    next_id: int = 1
    acting: int | None = None
    proposed: CommandProposed | None = None


def flow_of(program: Program, run: FlowRun) -> Flow:
    """The flow that was started, whichever subflow it is in."""
    return program.flows[run.frames[0].flow]


def instruction_of(program: Program, run: FlowRun) -> Instruction:
    """What the flow does next."""
    frame = run.frames[-1]
    return program.flows[frame.flow].instructions[frame.at]


def is_waiting(program: Program, run: FlowRun) -> bool:
    """Whether the flow waits for an event."""
    return isinstance(instruction_of(program, run), Wait)
