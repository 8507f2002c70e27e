"""An action: a typed Python function that flows can execute, and what it returns. Any thread."""

import inspect
import re
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from desktop_rag.core.errors import AppError
from desktop_rag.features.rails.events.rail_events import RailEvent

DEFAULT_TIMEOUT_S = 30.0
# The parameters that the runtime gives, not the flow.
CONTEXT = "context"
AROUND = "around"
_NAME = re.compile(r"[^\W\d][\w.]*")


@dataclass(frozen=True, slots=True)
class ActionResult:
    """What an action returns: a value, new variables, and events if it is one of the app's own."""

    value: Any = None
    context_updates: Mapping[str, Any] = field(default_factory=dict[str, Any])
    events: Sequence[RailEvent] = ()


@dataclass(frozen=True)
class Action:
    """A function with the name that flows know it by.

    `is_our_own`: its events are used, and it is given all that is around it. Other functions get
    the arguments of the flow and, in a parameter `context`, a copy of the variables. One that
    `changes` something is proposed to the person, and called only after they agreed.
    """

    name: str
    function: Callable[..., Any]
    timeout_s: float = DEFAULT_TIMEOUT_S
    is_our_own: bool = False
    changes: bool = False

    @cached_property
    def signature(self) -> inspect.Signature:
        """The parameters of the function."""
        return inspect.signature(self.function)

    def takes(self, name: str) -> bool:
        """Whether the function has this parameter."""
        return name in self.signature.parameters


def make_action(
    name: str, function: Callable[..., Any], timeout_s: float = DEFAULT_TIMEOUT_S
) -> Action:
    """An action of a function that isn't the app's; AppError when it can't be one."""
    if not _NAME.fullmatch(name):
        raise AppError(f"“{name}” is no name of an action.", "Use letters, digits and _.")
    try:
        untyped = _untyped(function)
    except (TypeError, ValueError, NameError) as exc:
        raise AppError(f"The action {name} can't be used.", f"{exc}.") from exc
    if untyped:
        hint = f"Give a type to each of its parameters: {', '.join(untyped)}."
        raise AppError(f"The action {name} isn't typed.", hint)
    return Action(name, function, timeout_s)


def _untyped(function: Callable[..., Any]) -> list[str]:
    known = typing.get_type_hints(function)
    return [name for name in inspect.signature(function).parameters if name not in known]


class ActionRegistry:
    """The actions of a configuration by their names; later ones take the place of earlier ones."""

    def __init__(self, actions: Iterable[Action], aliases: Mapping[str, str]) -> None:
        self._actions = {action.name: action for action in actions}
        self._aliases = aliases

    def find(self, name: str) -> Action | None:
        """The action of a name, or of the name that means the same."""
        found = self._actions.get(name)
        return found or self._actions.get(self._aliases.get(name, ""))

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted({*self._actions, *self._aliases})
