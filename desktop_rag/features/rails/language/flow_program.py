"""Compiled flows: lists of instructions, with the forms and texts of a configuration. Frozen.

What a flow does in one step is an instruction as it is written.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from desktop_rag.features.rails.language.expression_values import Expression
from desktop_rag.features.rails.language.flow_syntax import (
    Arguments,
    Assign,
    CreateEvent,
    Do,
    Execute,
    Place,
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """The events of a kind that fit: by `form` for intents, else by arguments; `...` fits all."""

    kind: str
    form: str = ""
    is_any: bool = False
    arguments: Arguments = ()


@dataclass(frozen=True, slots=True)
class Wait:
    """Stay here until an event fits, and go on at the target of its pattern.

    `otherwise` is where another intent of the user leads, if anywhere.
    """

    cases: tuple[tuple[Pattern, int], ...]
    otherwise: int | None = None


@dataclass(frozen=True, slots=True)
class Say:
    """Make the bot say what the form stands for."""

    form: str
    instruction: str = ""


@dataclass(frozen=True, slots=True)
class Test:
    """Go on if the condition holds, else at the target."""

    __test__ = False  # it is no class of pytest

    condition: Expression
    target: int


@dataclass(frozen=True, slots=True)
class Jump:
    """Go on at the target."""

    target: int


@dataclass(frozen=True, slots=True)
class Halt:
    """End the turn: no flow does anything more."""


@dataclass(frozen=True, slots=True)
class End:
    """The end of the flow."""


Instruction = Wait | Say | Execute | Assign | CreateEvent | Do | Test | Jump | Halt | End


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow: `name` is unique, `source` its lines for the prompt.

    `is_reaction`: it begins with something the bot or another flow does, and so it is finished
    before the flow that did it goes on, as an extension is.
    """

    name: str
    instructions: tuple[Instruction, ...]
    priority: float
    is_subflow: bool
    is_reaction: bool
    is_parallel: bool
    source: str
    place: Place

    @property
    def opening(self) -> tuple[Pattern, ...]:
        """What starts the flow; nothing for a subflow."""
        first = self.instructions[0]
        if self.is_subflow or not isinstance(first, Wait):
            return ()
        return tuple(pattern for pattern, _ in first.cases)


@dataclass(frozen=True)
class Program:
    """All flows, forms and given texts of a configuration, by their names."""

    flows: Mapping[str, Flow]
    user_forms: Mapping[str, tuple[str, ...]]
    bot_texts: Mapping[str, tuple[str, ...]]
    written_flows: tuple[str, ...] = field(default=())

    @cached_property
    def started_by(self) -> Mapping[str, tuple[Flow, ...]]:
        """The flows that an event of a kind may start, in their order."""
        found: dict[str, list[Flow]] = {}
        for flow in self.flows.values():
            for kind in dict.fromkeys(pattern.kind for pattern in flow.opening):
                found.setdefault(kind, []).append(flow)
        return {kind: tuple(flows) for kind, flows in found.items()}

    @cached_property
    def actions(self) -> frozenset[str]:
        """The actions that flows start."""
        return frozenset(
            instruction.action
            for flow in self.flows.values()
            for instruction in flow.instructions
            if isinstance(instruction, Execute)
        )
