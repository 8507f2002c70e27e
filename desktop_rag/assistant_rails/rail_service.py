"""The rails of assistants for the whole app, imported when the first of them are used.

Any thread.
"""

from collections.abc import Callable, Generator, Sequence
from threading import Event, Lock
from typing import TYPE_CHECKING

from desktop_rag.answer.conversations.answer_rails import RailedQuestion, TriedSentence
from desktop_rag.core.conversation import AnswerEvent, Message
from desktop_rag.models.ports import Vectors

if TYPE_CHECKING:
    from desktop_rag.assistant_rails.railed_answers import RailedAnswers


class AssistantRails:
    """Fills the port `AnswerRails`."""

    def __init__(self, embed: Callable[[Sequence[str]], Vectors]) -> None:
        """`embed` is the bundled model: the recognition of intents is calibrated for it."""
        self._embed = embed
        self._answers: RailedAnswers | None = None
        self._lock = Lock()

    def check(self, rails: str) -> None:
        """AppError, with the place, for rails that can't be used; "" are none, and fine."""
        if rails:
            self._opened().check(rails)

    def try_sentence(self, rails: str, text: str) -> TriedSentence:
        """What would be done with a sentence; no document is searched and no model is asked."""
        return self._opened().try_sentence(rails, text)

    def run(self, asked: RailedQuestion, cancel: Event) -> Generator[AnswerEvent, None, Message]:
        """The message that answers; yields the events on the way. AppError for broken rails."""
        return (yield from self._opened().run(asked, cancel))

    def _opened(self) -> "RailedAnswers":
        with self._lock:
            if self._answers is None:
                # Its language and its loop cost the start of the app a tenth of a second.
                from desktop_rag.assistant_rails.railed_answers import RailedAnswers

                self._answers = RailedAnswers(self._embed)
            return self._answers
