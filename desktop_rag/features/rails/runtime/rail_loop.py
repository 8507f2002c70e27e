"""The loop of a turn: an event in, events out, up to `listen`. A thread for each turn."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Event

from desktop_rag.features.rails.actions.action_calls import CallOutcome
from desktop_rag.features.rails.actions.rails_world import ModelCall
from desktop_rag.features.rails.language.flow_program import Program
from desktop_rag.features.rails.rail_events import (
    ActionFinished,
    ActionStatus,
    CommandProposed,
    Confirmation,
    ContextUpdate,
    Listen,
    OwnEvent,
    RailEvent,
    StartAction,
)
from desktop_rag.features.rails.runtime.event_steps import TURN_ENDED, receive
from desktop_rag.features.rails.runtime.next_step import RailsState, Step, next_step

DECLINED = "declined"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one turn may take at most: events, actions, calls of the model, seconds."""

    events: int = 300
    actions: int = 40
    model_calls: int = 12
    time_s: float = 300.0


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation so far: its events, and the state that they lead to.

    `words` are the person's own sentences; flows can make events of that kind too.
    """

    state: RailsState = field(default_factory=RailsState)
    events: tuple[RailEvent, ...] = ()
    words: tuple[str, ...] = field(default=(), compare=False)


# Carries out an action within so many seconds. Without the id of a command that the person agreed
# to, what would change something is only proposed.
CallAction = Callable[[StartAction, Conversation, float, str], CallOutcome]


class RailTurn:
    """A turn: iterate over its events; `conversation` is then the one after it.

    `model_calls` are the calls of the model so far.
    """

    def __init__(
        self,
        program: Program,
        conversation: Conversation,
        first: RailEvent,
        call: CallAction,
        limits: Limits,
        *,
        model_calls: Sequence[ModelCall],
        cancel: Event | None = None,
    ) -> None:
        self._state = conversation.state
        self._log = list(conversation.events)
        self._words = conversation.words
        self._program = program
        self._call = call
        self._limits = limits
        self.model_calls = model_calls
        self._cancel = cancel
        self._given: deque[RailEvent] = deque([first])
        self._ends = time.monotonic() + limits.time_s
        self._events = 0
        self._actions = 0

    @property
    def conversation(self) -> Conversation:
        """The conversation with the events of this turn so far."""
        return Conversation(self._state, tuple(self._log), self._words)

    def __iter__(self) -> Iterator[RailEvent]:
        is_over = False
        while not is_over:
            if reason := self._reason_to_end():
                self._given = deque([OwnEvent(TURN_ENDED, {"reason": reason}), Listen()])
                yield self._taken(self._given.popleft())
            event = self._next()
            yield event
            if isinstance(event, StartAction):
                self._carry_out(event)
            elif isinstance(event, Confirmation):
                self._confirm(event)
            is_over = isinstance(event, Listen)

    def _next(self) -> RailEvent:
        if self._given:
            return self._taken(self._given.popleft())
        step = next_step(self._program, self._state)
        return self._taken(step.event, step)

    def _taken(self, event: RailEvent, step: Step | None = None) -> RailEvent:
        """Take an event into the state; one of the flows comes with its step."""
        self._state = receive(self._program, self._state, event, step)
        self._log.append(event)
        self._events += 1
        return event

    def _confirm(self, event: Confirmation) -> None:
        """Do what was proposed, or refuse it; a word on anything else ends the turn."""
        proposed = self._state.proposed
        if proposed is None or proposed.command_id != event.command_id:
            self._given.append(Listen())
        elif event.is_agreed:
            action = StartAction(proposed.action_name, proposed.parameters)
            self._carry_out(action, event.command_id)
        else:
            refused = ActionFinished(proposed.action_name, ActionStatus.REFUSED, DECLINED)
            self._given.append(refused)

    def _carry_out(self, event: StartAction, command_id: str = "") -> None:
        self._actions += 1
        remaining_s = max(0.0, self._ends - time.monotonic())
        outcome = self._call(event, self.conversation, remaining_s, command_id)
        if outcome.proposal:
            proposed = CommandProposed(outcome.proposal, event.action_name, event.parameters)
            self._given.extend((proposed, Listen()))
            return
        if outcome.result.context_updates:
            self._given.append(ContextUpdate(outcome.result.context_updates))
        finished = ActionFinished(event.action_name, outcome.status, outcome.result.value)
        self._given.append(finished)
        self._given.extend(outcome.result.events)

    def _reason_to_end(self) -> str:
        if self._cancel is not None and self._cancel.is_set():
            return "stopped"
        if self._events >= self._limits.events:
            return "events"
        if self._actions > self._limits.actions:
            return "actions"
        return "time" if time.monotonic() >= self._ends else ""
