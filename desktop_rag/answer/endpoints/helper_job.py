"""Short texts that a model writes in the background, besides answers. Worker threads."""

import time
from collections.abc import Callable, Sequence
from threading import Event

from desktop_rag.core.errors import AppError
from desktop_rag.core.query import parse_query
from desktop_rag.models.ports import ChatModel, ChatTurn

LONGEST_QUESTION_CHARS = 400
_QUOTES = "\"'“”„«»`"
_POLL_S = 0.05


class CancelWhen(Event):
    """Set for good once `cancel` is set, or `condition` was true when it was checked.

    A job that saw it set was cut short, even if the condition no longer holds.
    """

    def __init__(self, cancel: Event, condition: Callable[[], bool]) -> None:
        super().__init__()
        self._cancel = cancel
        self._condition = condition

    def is_set(self) -> bool:
        """True when it is time to stop."""
        if self._cancel.is_set() or self._condition():
            self.set()
        return super().is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is time to stop, or for `timeout` seconds."""
        until = None if timeout is None else time.monotonic() + timeout
        while not self.is_set() and (until is None or time.monotonic() < until):
            super().wait(_POLL_S)
        return self.is_set()


def generate(model: ChatModel, turns: Sequence[ChatTurn], cancel: Event, *, most_chars: int) -> str:
    """The text that the model writes, without its thinking, cut soon after `most_chars`.

    "" when cancelled: half a text may say something else. AppError when the endpoint fails.
    """
    text = ""
    for delta in model.stream(turns, cancel):
        text += "" if delta.is_thinking else delta.text
        if len(text) > most_chars:
            break
    return "" if cancel.is_set() else text


def as_question(line: str) -> str:
    """A line of a model as a question in plain words; "" when it has filters or no words."""
    plain = line.strip().strip(_QUOTES).strip()
    try:
        query = parse_query(plain)
    except AppError:
        return ""
    is_plain = query.filters.is_empty and not query.excluded and query.has_words
    return query.text if is_plain and len(plain) <= LONGEST_QUESTION_CHARS else ""
