"""Short texts of models, and streams that report silence. Worker threads."""

import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from queue import Empty, SimpleQueue
from threading import Event

from desktop_rag.core.conversation import AnswerWaits
from desktop_rag.core.errors import AppError
from desktop_rag.core.query import parse_query
from desktop_rag.models.ports import ChatModel, ChatTurn, Delta, HeardAnswer, Schema, Tool

LONGEST_QUESTION_CHARS = 400
# A short text takes a large model seconds and a small computer about a minute; nobody waits for it.
LIMIT_S = 60.0
# Somebody waits for these, before the answer can begin.
WAITED_FOR_LIMIT_S = 12.0
_MOST_THINKING_CHARS = 20_000
_QUOTES = "\"'“”„«»`"
_POLL_S = 0.05


class TooSlowError(AppError):
    """A short job took longer than its limit."""


class CancelWhen(Event):
    """Set for good once `cancel` is set, or `condition` was true at a check.

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

    @property
    def is_cut(self) -> bool:
        """True when somebody saw it set, not when it would be set by now."""
        return super().is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is time to stop, or for `timeout` seconds."""
        until = None if timeout is None else time.monotonic() + timeout
        while not self.is_set() and (until is None or time.monotonic() < until):
            super().wait(_POLL_S)
        return self.is_set()


def generate(
    model: ChatModel,
    turns: Sequence[ChatTurn],
    cancel: Event,
    *,
    most_chars: int,
    limit_s: float = LIMIT_S,
    schema: Schema | None = None,
) -> str:
    """The text that the model writes, without its thinking, cut soon after `most_chars`.

    "" when cancelled: half a text may say something else. A model that can't write by a `schema`
    writes without. AppError when the endpoint fails, or takes longer than `limit_s`.
    """
    job = _heard(
        lambda ending: model.stream(turns, ending, schema=schema), cancel, most_chars, limit_s
    )
    while True:
        try:
            next(job)
        except StopIteration as end:
            return end.value


def _heard(
    stream: Callable[[Event], Iterator[Delta]], cancel: Event, most_chars: int, limit_s: float
) -> Generator[AnswerWaits, None, str]:
    """The text of a stream, which gets an event that is set once it has taken too long."""
    until = time.monotonic() + limit_s
    ending = CancelWhen(cancel, lambda: time.monotonic() >= until)
    heard, sure_chars = HeardAnswer(), 0
    for delta in stream(ending):
        heard.add(delta)
        if delta.status:
            yield AnswerWaits(delta.status)
        # What may turn out to be thinking has room of its own.
        sure_chars += 0 if delta.is_thinking or delta.is_unsure else len(delta.text)
        if sure_chars > most_chars or len(heard.text) > most_chars + _MOST_THINKING_CHARS:
            break
    if cancel.is_set():
        return ""
    if ending.is_cut:
        limit = f"A short job was given up after {limit_s:.0f} seconds."
        raise TooSlowError("The model took too long.", limit)
    return heard.text


def as_question(line: str) -> str:
    """A line of a model as a question in plain words; "" when it has filters or no words."""
    plain = line.strip().strip(_QUOTES).strip()
    try:
        query = parse_query(plain)
    except AppError:
        return ""
    is_plain = query.filters.is_empty and not query.excluded and query.has_words
    return query.text if is_plain and len(plain) <= LONGEST_QUESTION_CHARS else ""


FIRST_WORD_S = 10.0
NEXT_WORD_S = 15.0


def patient_stream(
    model: ChatModel,
    turns: Sequence[ChatTurn],
    cancel: Event,
    tools: Sequence[Tool] = (),
    *,
    schema: Schema | None = None,
    first_word_s: float = FIRST_WORD_S,
    next_word_s: float = NEXT_WORD_S,
) -> Generator[Delta]:
    """The pieces of the model's answer, and a status when none has come for a while.

    A server can be silent for minutes, while it reads a long prompt or thinks. The stream runs on a
    thread of its own ("answer-reader"), because the caller can't wake up from a read; it ends soon
    after `cancel` is set or the generator is closed. AppError for any fault of the endpoint or the
    network, also in mid-stream.
    """
    came: SimpleQueue[Delta | BaseException | None] = SimpleQueue()
    left = Event()
    ending = CancelWhen(cancel, left.is_set)

    def read() -> None:
        try:
            for delta in model.stream(turns, ending, tools, schema):
                came.put(delta)
        except BaseException as error:
            came.put(error)
        else:
            came.put(None)

    reader = threading.Thread(target=read, name="answer-reader", daemon=True)
    reader.start()
    reading_s = _reading_s(model, turns)
    try:
        if reading_s > first_word_s:
            yield Delta("", status=f"“{model.name}” reads the prompt, about {reading_s:.0f} s.")
        yield from _told(came, model.name, (max(first_word_s, reading_s), next_word_s))
    finally:
        left.set()
        reader.join()


def _reading_s(model: ChatModel, turns: Sequence[ChatTurn]) -> float:
    """The seconds until the first word, by the speed that was measured; 0 if unknown."""
    speed = model.read_tokens_per_s
    return sum(model.count_tokens([turn.text for turn in turns])) / speed if speed else 0.0


def generate_telling(
    model: ChatModel, turns: Sequence[ChatTurn], cancel: Event, *, most_chars: int
) -> Generator[AnswerWaits, None, str]:
    """As `generate`, for a person who waits: tells them while the model is silent."""
    with ExitStack() as stack:

        def stream(ending: Event) -> Generator[Delta]:
            return stack.enter_context(closing(patient_stream(model, turns, ending)))

        return (yield from _heard(stream, cancel, most_chars, LIMIT_S))


def _told(
    came: "SimpleQueue[Delta | BaseException | None]", name: str, words_s: tuple[float, float]
) -> Generator[Delta]:
    silent_s, has_begun = 0.0, False
    while True:
        wait_s = words_s[1] if silent_s else words_s[0]
        try:
            delta = came.get(timeout=wait_s)
        except Empty:
            silent_s += wait_s
            yield Delta("", status=_in_words(name, silent_s, has_begun=has_begun))
            continue
        if delta is None:
            return
        if isinstance(delta, BaseException):
            raise delta
        silent_s, has_begun = 0.0, has_begun or not delta.status
        yield delta


def _in_words(name: str, silent_s: float, *, has_begun: bool) -> str:
    if has_begun:
        return f"“{name}” has paused for {silent_s:.0f} s. Waiting for the rest."
    return f"“{name}” has not begun to answer after {silent_s:.0f} s. Still waiting."
