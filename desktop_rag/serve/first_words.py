"""Lets questions that are still searched for go before what follows an answer. Worker threads."""

import threading
from collections.abc import Callable, Generator, Iterator
from typing import TypeVar

from desktop_rag.core.conversation import (
    AnswerDone,
    AnswerEvent,
    SourcesFound,
    TextDelta,
    ThinkingDelta,
)

_T = TypeVar("_T", bound=AnswerEvent)
# What ends the search of a question: from here on the app mostly waits for the model.
_FOUND = (SourcesFound, ThinkingDelta, TextDelta, AnswerDone)
# However many questions come, an answer is complete so much later at most.
_MOST_PATIENCE_S = 5.0
_LOOK_S = 0.25


class FirstWords:
    """Counts the questions whose sources are being looked for.

    The check of an answer's claims takes as much of the processor as the search for another one.
    Nobody waits for it as somebody waits for the first words of an answer.
    """

    def __init__(self) -> None:
        self._searching = 0
        self._changed = threading.Condition()

    def searching(self, events: Iterator[_T]) -> Generator[_T]:
        """The events of an answer, counted until its sources are found."""
        is_counted = self._count(1)
        try:
            for event in events:
                if is_counted and isinstance(event, _FOUND):
                    is_counted = self._count(-1)
                yield event
        finally:
            if is_counted:
                self._count(-1)

    def wait(self, is_cancelled: Callable[[], bool]) -> None:
        """Return once no question is searched for, after a few seconds at most, or cancelled."""
        waited_s = 0.0
        with self._changed:
            while self._searching and waited_s < _MOST_PATIENCE_S and not is_cancelled():
                self._changed.wait(_LOOK_S)
                waited_s += _LOOK_S

    def _count(self, more: int) -> bool:
        with self._changed:
            self._searching += more
            self._changed.notify_all()
        return more > 0
