"""What a filter of requests is: a step that each request passes, and at which it may be refused.

Filters of one's own derive from it. Worker threads, several at a time.
"""

from collections.abc import Generator
from typing import ClassVar

from desktop_rag.core.conversation import AnswerChanged, AnswerEvent
from desktop_rag.features.server.access.callers import Exchange
from desktop_rag.features.server.asked import Asked

AnswerEvents = Generator[AnswerEvent | AnswerChanged]


class RequestFilter:
    """Lets everything pass; each method may raise `Refusal`, whose message reaches the client.

    The methods are called in this order, each for all filters in the order of the chain.
    """

    name: ClassVar[str] = ""

    def admit(self, exchange: Exchange) -> None:
        """Look at a request before its body is read."""

    def prepare(self, asked: Asked) -> Asked:
        """Look at a question or a search before anything is searched; may return another."""
        return asked

    def pass_on(self, asked: Asked, events: AnswerEvents) -> AnswerEvents:
        """Pass on the events of an answer, from the last filter of the chain to the first.

        Text that was passed on can't be taken back: who wants to see the whole answer first has to
        keep it back until AnswerDone.
        """
        del asked
        yield from events

    def finish(self, exchange: Exchange) -> None:
        """Look at a request after its last byte was sent. A refusal has no effect here."""
