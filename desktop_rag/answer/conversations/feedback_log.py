"""The person's feedback on answers as events: likes, dislikes and rewrites. Worker threads only.

It is read from the library and the folder of rewrites, which keep it as long as the chats.
"""

from desktop_rag.activity.activity_event import ActivityEvent, EventKind, Opinion
from desktop_rag.answer.conversations.rewrites import Rewrites
from desktop_rag.core.conversation import Feedback
from desktop_rag.store.contract.records import ConversationStore

_OPINIONS = {
    Feedback.LIKED: Opinion.LIKED,
    Feedback.DISLIKED: Opinion.DISLIKED,
    Feedback.NONE: Opinion.WITHDRAWN,
}


class FeedbackLog:
    """Everything the person said about answers in chats that exist."""

    def __init__(self, conversations: ConversationStore, rewrites: Rewrites) -> None:
        self._conversations = conversations
        self._rewrites = rewrites

    def newest_first(self) -> list[ActivityEvent]:
        """All feedback, the newest first."""
        opinions = [
            _event(given.noted_at, _OPINIONS[given.feedback], given.conversation_id, given.model)
            for given in self._conversations.all_feedback()
        ]
        written = self._rewrites.written_at()
        places = self._conversations.places_of(list(written))
        rewrites = [
            _event(written[start], Opinion.REWRITTEN, conversation_id, model)
            for start, (conversation_id, model) in places.items()
        ]
        return sorted([*opinions, *rewrites], key=lambda event: event.at, reverse=True)


def _event(at: float, opinion: Opinion, conversation_id: str, model: str) -> ActivityEvent:
    return ActivityEvent(
        at, EventKind.FEEDBACK, opinion.value, chat_id=conversation_id, model=model
    )
