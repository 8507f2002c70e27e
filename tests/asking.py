"""Asks questions of the services as the window does."""

import threading
from typing import TypedDict, Unpack

from desktop_rag.app import Services
from desktop_rag.core.conversation import AnswerDone, AnswerEvent, Attachment, Message
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope


class Where(TypedDict, total=False):
    """Where a question is asked: in a conversation, a collection, or both."""

    conversation_id: str
    collection_id: str
    assistant_id: str


def events_of(
    services: Services,
    question: str,
    *attachments: Attachment,
    scope: QuestionScope = ALL_DOCUMENTS,
    **where: Unpack[Where],
) -> list[AnswerEvent]:
    """All events of an answer."""
    cancel = threading.Event()
    return list(
        services.chat.ask(question, attachments=attachments, scope=scope, cancel=cancel, **where)
    )


def ask(
    services: Services,
    question: str,
    *attachments: Attachment,
    scope: QuestionScope = ALL_DOCUMENTS,
    **where: Unpack[Where],
) -> Message:
    """The stored answer."""
    return answer_of(events_of(services, question, *attachments, scope=scope, **where))


def answer_of(events: list[AnswerEvent]) -> Message:
    """The message of the last event."""
    assert isinstance(events[-1], AnswerDone)
    return events[-1].message
