"""The syntax tree of a file of flows, whose nodes know their places. Frozen; any thread."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from desktop_rag.core.errors import AppError
from desktop_rag.features.rails.language.expression_values import Expression


class Place(NamedTuple):
    """A place in a file, counted from one; shown as `file:line:column`."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Form:
    """`define user` or `define bot`: a canonical form with example sentences, or given texts."""

    form: str
    texts: tuple[str, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Said:
    """What follows `user` or `bot`: a form, with a text or not, any of them, or a variable."""

    form: str = ""
    texts: tuple[str, ...] = ()
    is_any: bool = False
    variable: str = ""


Arguments = tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class UserSays:
    """`user …`: wait until the user says this."""

    said: Said
    place: Place


@dataclass(frozen=True, slots=True)
class BotSays:
    """`bot …`: say this, or see it said. The comment above it instructs the model."""

    said: Said
    instruction: str
    place: Place


@dataclass(frozen=True, slots=True)
class EventSeen:
    """`event name(…)`: wait for an event."""

    name: str
    arguments: Arguments
    place: Place


@dataclass(frozen=True, slots=True)
class CreateEvent:
    """`create event name(…)`: make an event."""

    name: str
    arguments: Arguments
    place: Place


@dataclass(frozen=True, slots=True)
class Execute:
    """`$result = execute action(…)`; `result` is empty where it is not kept."""

    action: str
    arguments: Arguments
    result: str
    place: Place


@dataclass(frozen=True, slots=True)
class Assign:
    """`$variable = expression`."""

    variable: str
    expression: Expression
    place: Place


@dataclass(frozen=True, slots=True)
class Do:
    """`do subflow`: run a subflow and go on after it. The name may be in a variable."""

    flow: str
    arguments: Arguments
    place: Place


@dataclass(frozen=True, slots=True)
class If:
    """`if`, with what else there is in `otherwise`."""

    condition: Expression
    then: "Block"
    otherwise: "Block"
    place: Place


@dataclass(frozen=True, slots=True)
class When:
    """`when` and `else when`: go on where the next event fits, else with `otherwise`."""

    cases: "tuple[tuple[UserSays | BotSays | EventSeen, Block], ...]"
    otherwise: "Block | None"
    place: Place


@dataclass(frozen=True, slots=True)
class While:
    """`while`."""

    condition: Expression
    body: "Block"
    place: Place


@dataclass(frozen=True, slots=True)
class Word:
    """A statement of one word: stop, return, break, continue; goto and label with their target."""

    word: str
    target: str
    place: Place


Statement = (
    UserSays | BotSays | EventSeen | CreateEvent | Execute | Assign | Do | If | When | While | Word
)
Block = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class FlowDefinition:
    """`define flow` or `define subflow`; `name` may be empty for a flow."""

    name: str
    is_subflow: bool
    modifiers: frozenset[str]
    priority: float
    body: Block
    source: str
    place: Place


@dataclass(frozen=True, slots=True)
class FlowFile:
    """All definitions of a file, in their order."""

    user_forms: tuple[Form, ...]
    bot_forms: tuple[Form, ...]
    flows: tuple[FlowDefinition, ...]


class FlowSyntaxError(AppError):
    """A file of flows can't be read at `place`; `expected` are words for what could stand there."""

    def __init__(self, place: Place, problem: str, expected: Sequence[str] = ()) -> None:
        hint = f"Expected here: {', '.join(expected)}." if expected else ""
        super().__init__(f"{place}: {problem}", hint)
        self.place = place
        self.problem = problem
        self.expected = tuple(expected)
