"""The port of assistants' rails: who runs them lives outside, as their room is a neighbour.

The answering thread, and worker threads where it says so.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Protocol

from desktop_rag.core.conversation import AnswerEvent, Message, SourceRef
from desktop_rag.core.domain import Passage
from desktop_rag.core.language.translation import tr
from desktop_rag.core.parsed import Anchor


@dataclass(frozen=True, slots=True)
class RailedQuestion:
    """A question to an assistant with rails, and what the rails may use to answer it.

    `rails` names them. `answer` makes the app's own answer to a question, which the rails may have
    changed, on the answering thread. The others may be called on any worker thread: `search` finds
    passages that the assistant may read; `support` is the probability that an answer is supported
    by its sources, None where it has nothing to check; `complete` asks the assistant's model, None
    without one. With `may_change` a person is there who can agree to commands.
    """

    rails: str
    question: str
    history: tuple[Message, ...]
    conversation_id: str
    answer: Callable[[str], Generator[AnswerEvent, None, Message]]
    search: Callable[[str], Sequence[Passage]]
    support: Callable[[str, Sequence[SourceRef]], float | None]
    complete: Callable[[str], str] | None
    assistant_id: str = ""
    may_change: bool = False


@dataclass(frozen=True, slots=True)
class NearSentence:
    """An example near to the sentence, with the intent it stands for; 1 is the same."""

    text: str
    intent: str
    similarity: float


@dataclass(frozen=True, slots=True)
class TriedSentence:
    """The intent found, how sure that is from 0 to 1, the nearest examples, what would be said.

    `is_answered` says that the app's own answer would be made. `events` has a line for each event.
    """

    intent: str
    score: float
    nearest: tuple[NearSentence, ...]
    said: str
    is_answered: bool
    events: tuple[str, ...]

    def in_words(self) -> str:
        """Plain lines: what it would mean, what would be said, the nearest examples."""
        lines: list[str] = []
        if self.nearest and all(near.intent != self.intent for near in self.nearest):
            lines.append(tr("No topic of these rails: only {score:.0%} sure.", score=self.score))
        elif self.intent and self.nearest:
            lines.append(
                tr("Understood as “{intent}” ({score:.0%} sure).", intent=self.intent,
                   score=self.score)
            )  # fmt: skip
        if self.is_answered:
            lines.append(tr("Answered from the documents as always."))
        else:
            lines.append(tr("Says: {said}", said=self.said or "…"))
        lines += [
            tr("{similarity:.2f}  “{text}”: {intent}", similarity=near.similarity, text=near.text,
               intent=near.intent)
            for near in self.nearest
        ]  # fmt: skip
        return "\n".join(lines)


class AnswerRails(Protocol):
    """Whoever runs the rails of assistants."""

    def check(self, rails: str) -> None:
        """AppError, with the place, for rails that can't be used; "" are none, and fine."""
        ...

    def try_sentence(self, rails: str, text: str) -> TriedSentence:
        """What would be done with a sentence; no document is searched and no model is asked."""
        ...

    def folders(self) -> Sequence[Path]:
        """The folders of rails that were written in the window."""
        ...

    def topic_names(self, rails: str) -> tuple[str, ...]:
        """The topics of one's own rails that a sentence can be taught to."""
        ...

    def teach(self, rails: str, name: str, sentence: str) -> Callable[[], None]:
        """Add a sentence to the examples of a topic; what undoes it. AppError when it can't be."""
        ...

    def run(self, asked: RailedQuestion, cancel: Event) -> Generator[AnswerEvent, None, Message]:
        """The message that answers; yields the events on the way. AppError for broken rails."""
        ...

    def lapse(self, conversation_id: str) -> None:
        """The person asks something else: what was proposed in this chat is not done any more."""
        ...

    def done_before(self, assistant_id: str) -> str:
        """What succeeded with this assistant lately, a line each; "" for nothing."""
        ...


def as_sources(passages: Sequence[tuple[str, str]]) -> tuple[SourceRef, ...]:
    """Passages, each a text and the name of its source, as sources to check an answer by."""
    return tuple(
        SourceRef(n, "", "", title, Anchor(), text, 0.0)
        for n, (text, title) in enumerate(passages, 1)
    )
