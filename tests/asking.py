"""Questions asked of the services, as the window asks them."""

import threading

from desktop_rag.app import Services
from desktop_rag.core.conversation import AnswerDone, AnswerEvent, Message


def events_of(services: Services, question: str, **where: str) -> list[AnswerEvent]:
    """All events of an answer; `where` is a conversation, a collection or both."""
    return list(services.chat.ask(question, cancel=threading.Event(), **where))


def ask(services: Services, question: str, **where: str) -> Message:
    """The answer as it is stored."""
    return answer_of(events_of(services, question, **where))


def answer_of(events: list[AnswerEvent]) -> Message:
    """The message that the last event brings."""
    assert isinstance(events[-1], AnswerDone)
    return events[-1].message
