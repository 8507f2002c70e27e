"""A silent model is spoken for, and a wait ends when nobody waits any more."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing

import pytest

from desktop_rag.answer.endpoints.helper_job import generate, patient_stream
from desktop_rag.core.errors import AppError
from desktop_rag.models.ports import ChatTurn, Delta, Schema, Tool

TURNS = (ChatTurn("user", "When?"),)


class SpokenModel:
    """A chat model that says what its subclass says."""

    name = "tiny"
    context_tokens = 4096
    read_tokens_per_s = 0.0
    calls_tools = None
    judging = None
    is_weak = False

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

    def ranked(self, question: str, texts: Sequence[str], cancel: threading.Event) -> Sequence[int]:
        return ()

    def note_judging(self, share: float) -> None: ...

    def warm_up(self) -> None: ...

    def close(self) -> None: ...


class SilentModel(SpokenModel):
    """Says a word, and nothing more until it is let go or cancelled."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.was_cancelled = False

    def stream(
        self,
        turns: Sequence[ChatTurn],
        cancel: threading.Event,
        tools: Sequence[Tool] = (),
        schema: Schema | None = None,
    ) -> Iterator[Delta]:
        yield Delta("At ")
        while not self.go_on.wait(0.001) and not cancel.is_set():
            pass
        self.was_cancelled = cancel.is_set()
        if not self.was_cancelled:
            yield Delta("dusk.")


def test_a_silence_is_told_until_the_words_come() -> None:
    model = SilentModel()
    heard: list[Delta] = []
    stream = patient_stream(model, TURNS, threading.Event(), first_word_s=0.002, next_word_s=0.002)
    for delta in stream:
        heard.append(delta)
        if sum(bool(d.status) for d in heard) == 3:
            model.go_on.set()
    assert "".join(delta.text for delta in heard) == "At dusk."
    assert "has paused" in heard[1].status


def test_who_leaves_ends_the_request() -> None:
    model = SilentModel()
    with closing(patient_stream(model, TURNS, threading.Event())) as stream:
        assert next(stream).text == "At "
    assert model.was_cancelled


def test_a_fault_is_raised_where_the_answer_is_read() -> None:
    class Broken(SpokenModel):
        def stream(
            self,
            turns: Sequence[ChatTurn],
            cancel: threading.Event,
            tools: Sequence[Tool] = (),
            schema: Schema | None = None,
        ) -> Iterator[Delta]:
            yield Delta("At ")
            raise AppError("The answer was cut off.")

    stream = patient_stream(Broken(), TURNS, threading.Event())
    assert next(stream).text == "At "
    with pytest.raises(AppError, match="cut off"):
        next(stream)


def test_a_short_job_gives_up_alone() -> None:
    model = SilentModel()
    with pytest.raises(AppError, match="too long"):
        generate(model, TURNS, threading.Event(), most_chars=100, limit_s=0.01)
    assert model.was_cancelled


def test_a_short_text_is_what_came_after_its_thinking() -> None:
    class Thinker(SpokenModel):
        def stream(
            self,
            turns: Sequence[ChatTurn],
            cancel: threading.Event,
            tools: Sequence[Tool] = (),
            schema: Schema | None = None,
        ) -> Iterator[Delta]:
            yield Delta("Let me think of a title. " * 20, is_unsure=True)
            yield Delta("", was_thinking=True)
            yield Delta("Lamps")

    assert generate(Thinker(), TURNS, threading.Event(), most_chars=100) == "Lamps"


def test_a_slow_reader_is_said_to_read() -> None:
    class Slow(SilentModel):
        read_tokens_per_s = 0.01

    model = Slow()
    model.go_on.set()
    heard = list(patient_stream(model, TURNS, threading.Event()))
    assert heard[0].status == "“tiny” reads the prompt, about 500 s."
