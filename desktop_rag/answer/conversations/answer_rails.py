"""The port of assistants' rails: who runs them lives outside, as their room is a neighbour.

The answering thread, and worker threads where it says so.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Protocol

from desktop_rag.core.anchors import Anchor
from desktop_rag.core.conversation import AnswerEvent, Message, SourceRef
from desktop_rag.core.domain import Passage


@dataclass(frozen=True, slots=True)
class RailedQuestion:
    """A question to an assistant with rails, and what the rails may use to answer it.

    `rails` names them. `answer` makes the app's own answer to a question, which the rails may have
    changed, on the answering thread. The others may be called on any worker thread: `search` finds
    passages that the assistant may read; `support` is the probability that an answer is supported
    by its sources; `complete` asks the assistant's model, None without one.
    """

    rails: str
    question: str
    history: tuple[Message, ...]
    conversation_id: str
    answer: Callable[[str], Generator[AnswerEvent, None, Message]]
    search: Callable[[str], Sequence[Passage]]
    support: Callable[[str, Sequence[SourceRef]], float]
    complete: Callable[[str], str] | None


class AnswerRails(Protocol):
    """Whoever runs the rails of assistants."""

    def run(self, asked: RailedQuestion, cancel: Event) -> Generator[AnswerEvent, None, Message]:
        """The message that answers; yields the events on the way. AppError for broken rails."""
        ...


def as_sources(passages: Sequence[tuple[str, str]]) -> tuple[SourceRef, ...]:
    """Passages, each a text and the name of its source, as sources to check an answer by."""
    return tuple(
        SourceRef(n, "", "", title, Anchor(), text, 0.0)
        for n, (text, title) in enumerate(passages, 1)
    )
