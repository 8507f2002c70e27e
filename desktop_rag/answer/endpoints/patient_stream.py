"""Streams an answer and says so while nothing comes.

A server can be silent for minutes: while it reads a long prompt, or thinks where nobody sees it. No
wait is without a word for long, however the server waits. The stream runs on a thread of its own
("answer-reader"), because the caller can't wake up from a read.
"""

import threading
from collections.abc import Generator, Sequence
from contextlib import closing
from queue import Empty, SimpleQueue
from threading import Event

from desktop_rag.answer.endpoints.helper_job import LIMIT_S, CancelWhen, ShortJob
from desktop_rag.models.ports import ChatModel, ChatTurn, Delta

FIRST_WORD_S = 10.0
NEXT_WORD_S = 15.0


def patient_stream(
    model: ChatModel,
    turns: Sequence[ChatTurn],
    cancel: Event,
    *,
    first_word_s: float = FIRST_WORD_S,
    next_word_s: float = NEXT_WORD_S,
) -> Generator[Delta]:
    """The pieces of the model's answer, and a status when none has come for a while.

    The request ends soon after `cancel` is set or the generator is closed.

    Raises:
        AppError: for any fault of the endpoint or the network, also in mid-stream.
    """
    came: SimpleQueue[Delta | BaseException | None] = SimpleQueue()
    left = Event()
    ending = CancelWhen(cancel, left.is_set)

    def read() -> None:
        try:
            for delta in model.stream(turns, ending):
                came.put(delta)
        except BaseException as error:
            came.put(error)
        else:
            came.put(None)

    reader = threading.Thread(target=read, name="answer-reader", daemon=True)
    reader.start()
    try:
        yield from _told(came, model.name, (first_word_s, next_word_s))
    finally:
        left.set()
        reader.join()


def generate_telling(
    model: ChatModel, turns: Sequence[ChatTurn], cancel: Event, *, most_chars: int
) -> Generator[str, None, str]:
    """As `helper_job.generate`, for a person who waits: yields words while the model is silent."""
    job = ShortJob(cancel, most_chars, LIMIT_S)
    with closing(patient_stream(model, turns, job.ending)) as deltas:
        for delta in deltas:
            job.hear(delta)
            if delta.status:
                yield delta.status
            if job.is_enough:
                break
    return job.text()


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
