"""A model that does not answer is left alone, longer each time, and the person is told once."""

import logging
import threading
from collections.abc import Iterator

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.ingest.embedding.embedder_backoff import EmbedderBackoff
from desktop_rag.models.ports import EmbedderFaultError

AWAY = EmbedderFaultError("The endpoint refused the connection.", "Start it.")


class Room:
    """EmbedderBackoff that begin with a twentieth of a second, and who hears of them."""

    def __init__(self) -> None:
        self.titles: list[str] = []
        self.hints: list[str] = []
        self.woken = threading.Event()
        self.rests = EmbedderBackoff(self._hear, self.woken.set, first_s=0.05)

    def _hear(self, notice: Notice) -> None:
        self.titles.append(notice.title)
        self.hints.append(notice.hint)


@pytest.fixture
def room() -> Iterator[Room]:
    made = Room()
    yield made
    made.rests.close()


def test_a_rest_ends_by_itself_and_wakes_whoever_embeds(room: Room) -> None:
    room.rests.begin("a", AWAY)
    assert room.rests.active() == {"a"}
    assert room.woken.wait(5)
    assert room.rests.active() == set()


def test_the_person_is_told_once_until_it_works_again(room: Room) -> None:
    for _ in range(3):
        room.rests.begin("a", AWAY)
    assert room.titles == ["The endpoint refused the connection."]
    assert "goes on by itself" in room.hints[0]
    room.rests.note_success("a")
    room.rests.begin("a", AWAY)
    assert len(room.titles) == 2


def test_a_server_that_asks_for_a_longer_rest_gets_it(room: Room) -> None:
    room.rests.begin("a", EmbedderFaultError("Busy.", wait_s=3600))
    room.rests.begin("b", AWAY)
    assert room.woken.wait(5)
    assert room.rests.active() == {"a"}


def test_the_person_may_end_all_rests(room: Room) -> None:
    room.rests.begin("a", EmbedderFaultError("Busy.", wait_s=3600))
    room.rests.end()
    assert room.rests.active() == set()


def test_after_closing_nobody_is_woken(room: Room) -> None:
    room.rests.close()
    room.rests.begin("a", AWAY)
    assert not room.woken.wait(0.2)


def test_a_model_that_cannot_be_used_is_told_once(room: Room) -> None:
    for _ in range(2):
        room.rests.note_failure("a", AppError("It is gone.", "Choose another."))
    assert len(room.titles) == 1
    assert room.rests.active() == set()


def test_what_a_server_says_may_hold_a_text_and_stays_out_of_the_log(
    room: Room, caplog: pytest.LogCaptureFixture
) -> None:
    said = "It says: “cannot embed input: My secret diagnosis is gout.”"
    with caplog.at_level(logging.DEBUG):
        room.rests.begin("a", EmbedderFaultError("The request was not accepted.", said))
        room.rests.note_failure("b", AppError("It cannot be used.", said))
    assert "gout" in room.hints[0]
    assert "gout" not in caplog.text
    assert "The request was not accepted." in caplog.text
    assert "It cannot be used." in caplog.text


def test_a_model_that_is_chosen_anew_is_told_of_anew(room: Room) -> None:
    for _ in range(3):
        room.rests.begin("a", AWAY)
    room.rests.note_failure("b", AppError("It is gone.", "Choose another."))
    room.rests.end()
    room.rests.begin("a", AWAY)
    room.rests.note_failure("b", AppError("It is gone.", "Choose another."))
    assert room.titles == [AWAY.title, "It is gone."] * 2
