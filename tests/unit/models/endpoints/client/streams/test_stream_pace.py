"""Streams that only ping, trickle or repeat themselves come to an end; slow answers don't."""

import pytest

from desktop_rag.models.endpoints.client.endpoint_faults import Fault, StreamError
from desktop_rag.models.endpoints.client.endpoint_requests import StreamPace, is_repeating

TIMEOUT_S = 30.0


def fault_after(texts: list[str], every_s: float) -> tuple[Fault | None, float]:
    """The fault of a stream of these pieces, "" for a ping, and when it came."""
    pace = StreamPace(TIMEOUT_S, 0.0)
    for number, text in enumerate(texts, start=1):
        now = number * every_s
        try:
            pace.receive(10, now)
            pace.hear(text, now)
        except StreamError as error:
            return error.fault, now
    return None, len(texts) * every_s


def test_pings_alone_are_given_up_after_five_minutes() -> None:
    assert fault_after([""] * 100, 10.0) == (Fault.SLOW, 310.0)


def test_a_prompt_that_is_read_on_is_waited_for() -> None:
    pace = StreamPace(TIMEOUT_S, 0.0)
    for minute in range(1, 61):
        pace.read_on(minute / 60, 60.0 * minute)
        pace.receive(10, 60.0 * minute + 59)
    pace.read_on(1.0, 3_700.0)
    with pytest.raises(StreamError):
        pace.receive(10, 3_950.0)


def test_words_that_come_late_are_heard() -> None:
    assert fault_after([*[""] * 28, *["a word "] * 100], 10.0)[0] is None


def test_a_letter_now_and_then_is_no_answer() -> None:
    assert fault_after(["x"] * 100, 10.0) == (Fault.TRICKLING, 140.0)
    assert fault_after(["The lamp is lit. " * 9, *[""] * 100], 10.0)[0] is Fault.TRICKLING


def test_a_slow_model_is_no_trickle() -> None:
    assert fault_after(["word "] * 400, 10.0)[0] is None


def test_the_same_words_for_ever_are_stopped() -> None:
    fault, _ = fault_after(["The lamp is lit at dusk. "] * 1000, 0.1)
    assert fault is Fault.REPEATING
    paragraph = "".join(f"Sentence {n} of this paragraph. " for n in range(40))
    assert fault_after([paragraph] * 40, 0.1)[0] is Fault.REPEATING


@pytest.mark.parametrize(
    "text",
    [
        "The lamp is lit. " * 20,
        "".join(f"| {n} | 0 | 0 |\n" for n in range(2000)),
        "".join(f"{n}. The lamp is lit at dusk.\n" for n in range(1000)),
        "x" * 2_000,
    ],
)
def test_what_only_looks_alike(text: str) -> None:
    assert not is_repeating(text)
