"""The events of a conversation with rails, and their JSON. Frozen values; any thread."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, ClassVar, cast, get_args

from desktop_rag.core.errors import AppError
from desktop_rag.core.records import Record, WrongValueError, checked, encoded

_MOST_ITEMS = 10_000
_DEEPEST = 20


class ActionStatus(StrEnum):
    """How an action ended; REFUSED: the person, or a rule of consent, said no."""

    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class UserSaid:
    """The words of the user."""

    kind: ClassVar[str] = "user_said"
    content: str


@dataclass(frozen=True, slots=True)
class UserIntent:
    """The canonical form of what the user said."""

    kind: ClassVar[str] = "user_intent"
    intent: str


@dataclass(frozen=True, slots=True)
class BotIntent(Record):
    """The canonical form of what the bot says next, with the flow's instruction to the model."""

    kind: ClassVar[str] = "bot_intent"
    is_brief: ClassVar = True
    intent: str
    instruction: str = ""


@dataclass(frozen=True, slots=True)
class StartAction:
    """An action is started."""

    kind: ClassVar[str] = "start_action"
    action_name: str
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class ActionFinished:
    """An action ended; the result is a value of JSON."""

    kind: ClassVar[str] = "action_finished"
    action_name: str
    status: ActionStatus = ActionStatus.SUCCESS
    result: Any = None


@dataclass(frozen=True, slots=True)
class CommandProposed:
    """An action that changes something waits for the person's word; the turn ends here."""

    kind: ClassVar[str] = "command_proposed"
    command_id: str
    action_name: str
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The person's word on what was proposed."""

    kind: ClassVar[str] = "confirmation"
    command_id: str
    is_agreed: bool = False


@dataclass(frozen=True, slots=True)
class ContextUpdate:
    """Variables have new values."""

    kind: ClassVar[str] = "context_update"
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BotSaid:
    """The words of the bot."""

    kind: ClassVar[str] = "bot_said"
    content: str


@dataclass(frozen=True, slots=True)
class Listen:
    """Nothing is left to do: the user's turn."""

    kind: ClassVar[str] = "listen"


@dataclass(frozen=True, slots=True)
class OwnEvent:
    """An event that a configuration names, for its own flows and for the program."""

    kind: ClassVar[str] = "own_event"
    name: str
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])


RailEvent = (
    UserSaid | UserIntent | BotIntent | StartAction | ActionFinished | CommandProposed
    | Confirmation | ContextUpdate | BotSaid | Listen | OwnEvent
)  # fmt: skip
_KINDS: dict[str, type[RailEvent]] = {cls.kind: cls for cls in get_args(RailEvent)}


def event_fields(event: RailEvent) -> dict[str, Any]:
    """The fields of an event by name; of an OwnEvent, its data."""
    if isinstance(event, OwnEvent):
        return dict(event.data)
    return {part.name: getattr(event, part.name) for part in fields(event)}


def event_json(event: RailEvent) -> dict[str, Any]:
    """The event for JSON, `type` first; an empty instruction is left out."""
    return {"type": event.kind, **encoded(event)}


def event_from_json(row: Mapping[str, Any]) -> RailEvent:
    """The inverse of `event_json`; AppError for anything else."""
    known = {str(name): plain(value) for name, value in row.items()}
    cls = _KINDS.get(str(known.pop("type", "")))
    try:
        if cls is None:
            raise WrongValueError("type")
        return checked(cls, known, cls.kind)
    except WrongValueError as exc:
        raise AppError("This is no event of rails.", f"Something is wrong at {exc}.") from exc


def plain(value: object, depth: int = 0) -> Any:  # noqa: ANN401  a JSON value
    """The value as JSON can hold it: anything else becomes text."""
    if value is None or isinstance(value, bool | int | float | ActionStatus):
        return value
    if isinstance(value, str):
        return str(value)
    if depth >= _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        items = list(cast("Mapping[object, object]", value).items())[:_MOST_ITEMS]
        return {str(key): plain(inner, depth + 1) for key, inner in items}
    if isinstance(value, list | tuple | set | frozenset):
        listed = list(cast("list[object]", value))[:_MOST_ITEMS]
        return [plain(inner, depth + 1) for inner in listed]
    number = getattr(value, "item", None)  # a number of NumPy
    return plain(number(), depth + 1) if callable(number) else str(value)
