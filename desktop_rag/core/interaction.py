"""A question and its answer as remembered for later. Frozen values."""

from dataclasses import dataclass
from enum import StrEnum

from desktop_rag.core.conversation import Feedback, Message, MessageState


class InteractionOutcome(StrEnum):
    """The outcome of an interaction."""

    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    NOTHING_FOUND = "nothing found"


@dataclass(frozen=True, slots=True)
class Interaction:
    """A question with its answer; its id is that of the answer's message.

    `asked` is the standalone form of the question; `model` is empty for excerpts.
    `has_several_steps` marks answers assembled from several files or parts. `feedback` is the
    person's current opinion.
    """

    interaction_id: str
    conversation_id: str
    question: str
    asked: str
    answer: str
    outcome: InteractionOutcome
    ended_at: float
    model: str = ""
    has_several_steps: bool = False
    assistant_id: str = ""
    feedback: Feedback = Feedback.NONE


def outcome_of(answer: Message) -> InteractionOutcome:
    """The outcome of an answer. Without a single citation it counts as nothing found."""
    if answer.state in (MessageState.STOPPED, MessageState.CUT):
        return InteractionOutcome.STOPPED
    if answer.state is MessageState.FAILED:
        return InteractionOutcome.FAILED
    is_backed = any(source.is_cited for source in answer.sources)
    return InteractionOutcome.DONE if is_backed else InteractionOutcome.NOTHING_FOUND
