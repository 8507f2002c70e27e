"""What a model is asked besides answers: short texts that nobody waits for. Worker threads."""

import time
from collections.abc import Callable, Sequence
from threading import Event

from desktop_rag.core.errors import AppError
from desktop_rag.core.query import parse_query
from desktop_rag.models.ports import ChatModel, ChatTurn

LONGEST_QUESTION_CHARS = 400
_QUOTES = "\"'“”„«»`"
_LOOK_EVERY_S = 0.05


class Unless(Event):
    """Set for good once another event is, or something was so when it was looked at.

    A job that saw it set was cut short, also if what cut it is over by now.
    """

    def __init__(self, cancel: Event, is_so: Callable[[], bool]) -> None:
        super().__init__()
        self._cancel = cancel
        self._is_so = is_so

    def is_set(self) -> bool:
        """Whether it is time to end."""
        if self._cancel.is_set() or self._is_so():
            self.set()
        return super().is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is time to end, or for so many seconds."""
        until = None if timeout is None else time.monotonic() + timeout
        while not self.is_set() and (until is None or time.monotonic() < until):
            super().wait(_LOOK_EVERY_S)
        return self.is_set()


def written_by(
    model: ChatModel, turns: Sequence[ChatTurn], cancel: Event, *, most_chars: int
) -> str:
    """What the model writes, without its thinking, cut soon after `most_chars`.

    "" when it was cancelled: half a text may say something else. AppError when the endpoint failed.
    """
    text = ""
    for delta in model.stream(turns, cancel):
        text += "" if delta.is_thinking else delta.text
        if len(text) > most_chars:
            break
    return "" if cancel.is_set() else text


def as_question(line: str) -> str:
    """A line of a model as a question to ask; "" when it would be read as a filter, or is none."""
    plain = line.strip().strip(_QUOTES).strip()
    try:
        query = parse_query(plain)
    except AppError:
        return ""
    is_plain = query.filters.is_empty and not query.excluded and query.has_words
    return query.text if is_plain and len(plain) <= LONGEST_QUESTION_CHARS else ""
