"""A model that does not answer is asked ever more rarely, and the person is notified once."""

import logging
import threading
from collections.abc import Iterator

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.ingest.embedding.embedding_queue import EmbedderBackoff
from desktop_rag.models.ports import EmbedderFaultError

AWAY = EmbedderFaultError("The endpoint refused the connection.", "Start it.")


class Room:
    """A backoff that begins with a twentieth of a second, and what it called."""

    def __init__(self) -> None:
        self.titles: list[str] = []
        self.hints: list[str] = []
        self.woken = threading.Event()
        self.backoff = EmbedderBackoff(self._hear, self.woken.set, first_s=0.05)

    def _hear(self, notice: Notice) -> None:
        self.titles.append(notice.title)
        self.hints.append(notice.hint)


@pytest.fixture
def room() -> Iterator[Room]:
    made = Room()
    yield made
    made.backoff.close()


def test_a_delay_ends_by_itself_and_wakes_the_queue(room: Room) -> None:
    room.backoff.begin("a", AWAY)
    assert room.backoff.active() == {"a"}
    assert room.woken.wait(5)
    assert room.backoff.active() == set()


def test_each_delay_is_twice_the_one_before_up_to_the_limit() -> None:
    now = [0.0]
    backoff = EmbedderBackoff(lambda _: None, lambda: None, first_s=100.0, clock=lambda: now[0])
    for delay_s in (100.0, 200.0, 400.0, 800.0, 900.0, 900.0):
        backoff.begin("a", AWAY)
        now[0] += delay_s - 0.5
        assert backoff.active() == {"a"}
        now[0] += 1.0
        assert backoff.active() == set()
    backoff.note_success("a")
    backoff.begin("a", AWAY)
    now[0] += 100.5
    assert backoff.active() == set()
    backoff.close()


def test_the_person_is_told_once_until_it_works_again(room: Room) -> None:
    for _ in range(3):
        room.backoff.begin("a", AWAY)
    assert room.titles == ["The endpoint refused the connection."]
    assert "goes on by itself" in room.hints[0]
    room.backoff.note_success("a")
    room.backoff.begin("a", AWAY)
    assert len(room.titles) == 2


def test_a_server_that_asks_for_a_longer_delay_gets_it(room: Room) -> None:
    room.backoff.begin("a", EmbedderFaultError("Busy.", wait_s=3600))
    room.backoff.begin("b", AWAY)
    assert room.woken.wait(5)
    assert room.backoff.active() == {"a"}


def test_reset_ends_all_delays(room: Room) -> None:
    room.backoff.begin("a", EmbedderFaultError("Busy.", wait_s=3600))
    room.backoff.reset()
    assert room.backoff.active() == set()


def test_after_closing_nobody_is_woken(room: Room) -> None:
    room.backoff.close()
    room.backoff.begin("a", AWAY)
    assert not room.woken.wait(0.2)


def test_a_model_that_cannot_be_used_is_told_once(room: Room) -> None:
    for _ in range(2):
        room.backoff.note_failure("a", AppError("It is gone.", "Choose another."))
    assert len(room.titles) == 1
    assert room.backoff.active() == set()


def test_what_a_server_says_may_hold_a_text_and_stays_out_of_the_log(
    room: Room, caplog: pytest.LogCaptureFixture
) -> None:
    said = "It says: “cannot embed input: My secret diagnosis is gout.”"
    with caplog.at_level(logging.DEBUG):
        room.backoff.begin("a", EmbedderFaultError("The request was not accepted.", said))
        room.backoff.note_failure("b", AppError("It cannot be used.", said))
    assert "gout" in room.hints[0]
    assert "gout" not in caplog.text
    assert "The request was not accepted." in caplog.text
    assert "It cannot be used." in caplog.text


def test_a_model_that_is_chosen_anew_is_told_of_anew(room: Room) -> None:
    for _ in range(3):
        room.backoff.begin("a", AWAY)
    room.backoff.note_failure("b", AppError("It is gone.", "Choose another."))
    room.backoff.reset()
    room.backoff.begin("a", AWAY)
    room.backoff.note_failure("b", AppError("It is gone.", "Choose another."))
    assert room.titles == [AWAY.title, "It is gone."] * 2
