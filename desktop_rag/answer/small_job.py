"""What a model is asked besides answers: short texts that nobody waits for. Worker threads."""

import logging
from collections.abc import Callable, Sequence
from threading import Event

from desktop_rag.core.errors import AppError
from desktop_rag.core.query import parse_query
from desktop_rag.models.ports import ChatModel, ChatTurn

log = logging.getLogger(__name__)

LONGEST_QUESTION_CHARS = 400
_QUOTES = "\"'“”„«»`"


class Unless(Event):
    """Set once another event is, or as soon as something is so: a job gives way to an answer.

    To be asked again and again; a `wait` sees neither.
    """

    def __init__(self, cancel: Event, is_so: Callable[[], bool]) -> None:
        super().__init__()
        self._cancel = cancel
        self._is_so = is_so

    def is_set(self) -> bool:
        """Whether it is time to end."""
        return self._cancel.is_set() or self._is_so()


def written_by(
    model: ChatModel, turns: Sequence[ChatTurn], cancel: Event, *, most_chars: int
) -> str:
    """What the model writes, without its thinking, cut soon after `most_chars`.

    "" when it was cancelled or the endpoint failed: half a text may say something else, and nobody
    asked for the job, so nobody is told.
    """
    text = ""
    try:
        for delta in model.stream(turns, cancel):
            text += "" if delta.is_thinking else delta.text
            if len(text) > most_chars:
                break
    except AppError as error:
        log.info("a small job was not done: %s", error.title)
        return ""
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
