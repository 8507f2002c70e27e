"""Actions: typed functions that flows execute, each call on a thread of its own. Any thread."""

import asyncio
import inspect
import logging
import re
import threading
import time
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from queue import Empty, SimpleQueue
from typing import Any

from desktop_rag.core.errors import AppError
from desktop_rag.features.rails.rail_events import ActionStatus, RailEvent, plain

log = logging.getLogger(__name__)

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

    Functions of the app (`is_our_own`) may return events and are given all that is around them;
    others get the arguments of the flow and a copy of the variables as `context`. One that
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
        known = typing.get_type_hints(function)
        untyped = [name for name in inspect.signature(function).parameters if name not in known]
    except (TypeError, ValueError, NameError) as exc:
        raise AppError(f"The action {name} can't be used.", f"{exc}.") from exc
    if untyped:
        hint = f"Give a type to each of its parameters: {', '.join(untyped)}."
        raise AppError(f"The action {name} isn't typed.", hint)
    return Action(name, function, timeout_s)


# Python can't end a thread: an action that never returns keeps its own until the app ends.
MOST_THREADS = 32
_LOOK_S = 0.1
_IDLE_S = 0.25
_running = threading.BoundedSemaphore(MOST_THREADS)


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How a call ended; `problem` is in words for the person.

    With a `proposal`, the id of a command, nothing is done before the person agrees.
    """

    status: ActionStatus
    result: ActionResult
    problem: str = ""
    proposal: str = ""


def call_action(
    action: Action,
    parameters: Mapping[str, Any],
    around: Any,  # noqa: ANN401  whatever the app's own actions take
    context: Mapping[str, Any],
    timeout_s: float,
    cancel: threading.Event | None = None,
) -> CallOutcome:
    """Call an action and wait for its end, the timeout or `cancel`; errors are in the outcome."""
    given = dict(parameters)
    if action.takes(CONTEXT):
        given[CONTEXT] = plain(context)
    if action.is_our_own and action.takes(AROUND):
        given[AROUND] = around
    try:
        action.signature.bind(**given)
    except TypeError as exc:
        return _failed(f"The action {action.name} can't be called: {exc}.")
    if not _running.acquire(blocking=False):
        return _failed("Too many actions never ended.")
    call = _Call(action, given)
    _start(call)
    ends = time.monotonic() + timeout_s
    while not call.done.wait(max(0.0, min(_LOOK_S, ends - time.monotonic()))):
        if cancel is not None and cancel.is_set():
            return _failed("It was stopped.")
        if time.monotonic() >= ends:
            problem = f"The action {action.name} took longer than {timeout_s:g} seconds."
            return CallOutcome(ActionStatus.TIMEOUT, ActionResult(), problem)
    return call.outcome


def _failed(problem: str) -> CallOutcome:
    return CallOutcome(ActionStatus.FAILED, ActionResult(), problem)


class _Call:
    """One call; its outcome is there once `done` is set."""

    def __init__(self, action: Action, given: Mapping[str, Any]) -> None:
        self._action = action
        self._given = given
        self.done = threading.Event()
        self.outcome = _failed("It didn't run.")

    def carry_out(self) -> None:
        try:
            value = self._action.function(**self._given)
            if inspect.iscoroutine(value):
                value = asyncio.run(value)
            self.outcome = CallOutcome(ActionStatus.SUCCESS, self._result(value))
        except AppError as exc:
            self.outcome = _failed(str(exc))
        except Exception as exc:
            # The code of others may raise anything, and only they can mend it. The message may
            # hold the person's words, so the log has none of it.
            level = logging.ERROR if self._action.is_our_own else logging.INFO
            log.log(level, "The action %s failed: %s", self._action.name, type(exc).__name__)
            self.outcome = _failed(f"{type(exc).__name__}: {exc}")

    def _result(self, value: object) -> ActionResult:
        found = value if isinstance(value, ActionResult) else ActionResult(value)
        updates = plain(found.context_updates)
        events = found.events if self._action.is_our_own else ()
        return ActionResult(plain(found.value), updates, events)


class _Worker(threading.Thread):
    """Carries out calls one by one, and ends once it has been idle for a moment."""

    def __init__(self) -> None:
        super().__init__(name="rail-action", daemon=True)
        self._calls: SimpleQueue[_Call] = SimpleQueue()

    def take(self, call: _Call) -> None:
        self._calls.put(call)

    def run(self) -> None:
        while True:
            try:
                call = self._calls.get(timeout=_IDLE_S)
            except Empty:
                with _choosing:
                    if self in _idle:
                        _idle.remove(self)
                        return
                continue  # a call is on its way
            try:
                call.carry_out()
            finally:
                _running.release()
                with _choosing:
                    _idle.append(self)
                call.done.set()
                # An idle thread would keep what the action used, the open library too.
                del call


_choosing = threading.Lock()
_idle: list[_Worker] = []


def _start(call: _Call) -> None:
    """Hand a call to an idle thread, or to a new one."""
    with _choosing:
        worker = _idle.pop() if _idle else None
    if worker is None:
        worker = _Worker()
        worker.start()
    worker.take(call)
