"""What is remembered of a question and how it was answered. Frozen values."""

from dataclasses import dataclass
from enum import StrEnum

from desktop_rag.core.conversation import Feedback, Message, MessageState


class InteractionOutcome(StrEnum):
    """How an interaction ended."""

    DONE = "done"
    STOPPED = "stopped"
    FAILED = "failed"
    NOTHING_FOUND = "nothing found"


@dataclass(frozen=True, slots=True)
class Interaction:
    """A question with its answer; its id is that of the answer's message.

    `asked` is the question as it was understood, `model` empty for excerpts. `has_several_steps`
    says that files, or the parts of one, were asked one by one. `feedback` is what the person
    thinks of it now.
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
    """How it ended. An answer that could cite nothing of what was found has found nothing."""
    if answer.state is MessageState.STOPPED:
        return InteractionOutcome.STOPPED
    if answer.state is MessageState.FAILED:
        return InteractionOutcome.FAILED
    is_backed = any(source.is_cited for source in answer.sources)
    return InteractionOutcome.DONE if is_backed else InteractionOutcome.NOTHING_FOUND
