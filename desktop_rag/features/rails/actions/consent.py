"""Proposes changes to the person, and only those that they asked for themselves.

The values of a proposal are their own words or stand in the flow: nothing that a document or a
model said can get into one. The thread of the turn.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from desktop_rag.core.errors import AppError
from desktop_rag.features.rails.actions.action_calls import ActionResult, CallOutcome
from desktop_rag.features.rails.actions.rails_world import Changes
from desktop_rag.features.rails.language.expression_values import constant_in
from desktop_rag.features.rails.language.flow_program import Program
from desktop_rag.features.rails.language.flow_syntax import Execute
from desktop_rag.features.rails.rail_events import (
    ActionFinished,
    ActionStatus,
    RailEvent,
    StartAction,
    UserSaid,
)

NOBODY = "Nothing is changed from here, since nobody could agree to it."
NOT_ASKED = "Nothing was proposed: what would be done is not in your own words."
# How many sentences of the person may hold the values of a proposal.
_MOST_WORDS = 12
_INTENT = "generate_user_intent"


def proposed(
    started: StartAction,
    program: Program,
    events: Sequence[RailEvent],
    words: Sequence[str],
    changes: Changes | None,
) -> CallOutcome:
    """The proposal of an action that changes something, or the reason why there is none."""
    if changes is None:
        return _refused(NOBODY)
    written = set(_written(program, started.action_name))
    said = _plain("\n".join(words[-_MOST_WORDS:]))
    texts = [_plain(text) for text in _texts(started.parameters)]
    is_theirs = all(text and (text in said or text in written) for text in texts)
    if not words or not is_theirs or not _is_theirs(events, words[-1]):
        return _refused(NOT_ASKED)
    try:
        command_id = changes.propose(started.action_name, started.parameters, words[-1])
    except AppError as exc:
        return _refused(str(exc))
    return CallOutcome(ActionStatus.SUCCESS, ActionResult(), proposal=command_id)


def _refused(reason: str) -> CallOutcome:
    return CallOutcome(ActionStatus.REFUSED, ActionResult(reason))


def _is_theirs(events: Sequence[RailEvent], words: str) -> bool:
    """Whether the intent was found in the person's own sentence, and without a model.

    A model has also read what documents say.
    """
    for event in reversed(events):
        if isinstance(event, UserSaid):
            return event.content == words
        if isinstance(event, ActionFinished) and event.action_name == _INTENT:
            found = cast("object", event.result)
            if isinstance(found, Mapping) and found.get("by") == "model":
                return False
    return False


def _written(program: Program, action: str) -> Iterator[str]:
    """The values that the flows themselves give to the action."""
    for flow in program.flows.values():
        for instruction in flow.instructions:
            if isinstance(instruction, Execute) and instruction.action == action:
                for _, value in instruction.arguments:
                    if (text := constant_in(value)) is not None:
                        yield _plain(text)


def _texts(values: object) -> Iterator[str]:
    """All values within a value, as texts."""
    if isinstance(values, Mapping):
        values = list(cast("Mapping[str, Any]", values).values())
    if isinstance(values, list | tuple):
        for value in cast("Sequence[Any]", values):
            yield from _texts(value)
    else:
        yield str(values)


def _plain(text: str) -> str:
    return " ".join(text.split())
