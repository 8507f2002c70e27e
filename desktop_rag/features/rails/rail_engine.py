"""Rails: a configuration with the world it may use; runs conversations turn by turn.

Any thread. A turn runs on the thread that iterates over it, its actions on threads of their own.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from threading import Event
from typing import Any

from desktop_rag.features.rails.actions.action_calls import (
    Action,
    ActionResult,
    CallOutcome,
    call_action,
)
from desktop_rag.features.rails.actions.built_in_actions import finder
from desktop_rag.features.rails.actions.consent import proposed
from desktop_rag.features.rails.actions.rails_world import Around, ModelCalls, RailsWorld
from desktop_rag.features.rails.configuration.rails_configuration import (
    PIECE_PASSED,
    PIECE_WRITTEN,
    RailsConfiguration,
)
from desktop_rag.features.rails.intent.intent_recognition import Nearest
from desktop_rag.features.rails.language.expression_values import as_text
from desktop_rag.features.rails.prompts.stage_prompts import REMOVE_LAST_MESSAGE
from desktop_rag.features.rails.rail_events import (
    ActionFinished,
    ActionStatus,
    BotSaid,
    OwnEvent,
    RailEvent,
    StartAction,
    UserSaid,
)
from desktop_rag.features.rails.runtime.event_steps import replay
from desktop_rag.features.rails.runtime.next_step import RailsState
from desktop_rag.features.rails.runtime.rail_loop import Conversation, Limits, RailTurn


class Rails:
    """The rails of a configuration. Holds no conversation: each turn is given the one so far."""

    def __init__(
        self,
        configuration: RailsConfiguration,
        world: RailsWorld,
        own_actions: Iterable[Action] = (),
        limits: Limits | None = None,
    ) -> None:
        """Nothing is embedded before the first sentence that needs it."""
        self.configuration = configuration
        self._world = world
        self._find = finder(own_actions)
        self._limits = limits or Limits()
        self._nearest = Nearest(configuration.program, world.embed, world.embed_examples)

    def in_world(self, world: RailsWorld) -> "Rails":
        """The same rails with other functions, except those that embed, whose results are kept."""
        other = copy(self)
        other._world = world  # noqa: SLF001  a copy of this one
        return other

    def begin(self, context: Mapping[str, Any] | None = None) -> Conversation:
        """A new conversation, with variables of the caller."""
        has_documents = self._world.retrieve is not None
        given = {"has_knowledge_base": has_documents, **self.configuration.context}
        return Conversation(RailsState({**given, **(context or {})}))

    def say(self, conversation: Conversation, text: str, cancel: Event | None = None) -> RailTurn:
        """The turn that answers what the user said; go on with its `conversation`."""
        heard = replace(conversation, words=(*conversation.words, text))
        return self.react(heard, UserSaid(text), cancel)

    def react(
        self, conversation: Conversation, event: RailEvent, cancel: Event | None = None
    ) -> RailTurn:
        """The turn that an event begins, such as the person's word on a proposal."""
        model = ModelCalls(self._world.complete, self._limits.model_calls)
        call = partial(self._called, model, cancel)
        program = self.configuration.program
        return RailTurn(
            program, conversation, event, call, self._limits, model_calls=model.made, cancel=cancel
        )

    def passed(self, text: str, context: Mapping[str, Any]) -> str | None:
        """A growing message as the rails for output let it through; None if they don't.

        `context` has the variables of the message's turn.
        """
        begun = self.begin({**context, "bot_message": text})
        for event in self.react(begun, OwnEvent(PIECE_WRITTEN)):
            if isinstance(event, OwnEvent) and event.name == PIECE_PASSED:
                return as_text(event.data.get("content") or "")
        return None

    def replay(
        self, events: Sequence[RailEvent], context: Mapping[str, Any] | None = None
    ) -> Conversation:
        """The conversation that these events lead to; runs no action."""
        state = replay(self.configuration.program, self.begin(context).state, events)
        return Conversation(state, tuple(events))

    def unknown_actions(self) -> Sequence[str]:
        """The actions that flows execute but nobody registered."""
        names = self.configuration.program.actions
        return sorted(name for name in names if self._find(name) is None)

    def held_out(self) -> Mapping[str, tuple[int, int]]:
        """Of each form, how many examples the others alone would accept, and how many it has.

        Empty where nothing can be compared.
        """
        return self._nearest.held_out()

    def _called(
        self,
        model: ModelCalls,
        cancel: Event | None,
        started: StartAction,
        so_far: Conversation,
        remaining_s: float,
        command_id: str,
    ) -> CallOutcome:
        action = self._find(started.action_name)
        if action is None:
            problem = f"There is no action “{started.action_name}”."
            outcome = CallOutcome(ActionStatus.FAILED, ActionResult(), problem)
        elif action.changes and not command_id:
            program, changes = self.configuration.program, self._world.changes
            return proposed(started, program, so_far.events, so_far.words, changes)
        else:
            configuration, context = self.configuration, so_far.state.context
            around = Around(
                configuration.program, context, so_far.events, configuration.prompts, self._world,
                configuration.settings, self._nearest, model, command_id,
            )  # fmt: skip
            timeout_s = min(action.timeout_s, remaining_s)
            outcome = call_action(action, started.parameters, around, context, timeout_s, cancel)
        if not outcome.problem:
            return outcome
        told = {**outcome.result.context_updates, "action_problem": outcome.problem}
        return replace(outcome, result=replace(outcome.result, context_updates=told))


def transcript(events: Iterable[RailEvent]) -> list[tuple[str, str]]:
    """What was said and not taken back, as pairs of "user" or "bot" and the text."""
    said: list[tuple[str, str]] = []
    for event in events:
        match event:
            case UserSaid(content):
                said.append(("user", content))
            case BotSaid(content):
                said.append(("bot", content))
            case ActionFinished(name, ActionStatus.SUCCESS) if name == REMOVE_LAST_MESSAGE:
                if said and said[-1][0] == "bot":
                    del said[-1]
            case _:
                pass
    return said
