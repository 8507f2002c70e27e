from dataclasses import dataclass, field

import pytest

from desktop_rag.ingest.background.indexing_pauses import IndexingPauses, RetryTimes, RetryWait


@dataclass
class Computer:
    """Its power supply, disk and clock, and what indexing was told."""

    on_battery: bool = False
    free_bytes: int = 0
    now: float = 1000.0
    told: list[bool] = field(default_factory=list)

    def is_on_battery(self) -> bool:
        return self.on_battery


@pytest.fixture
def computer() -> Computer:
    return Computer()


@pytest.fixture
def pauses(computer: Computer) -> IndexingPauses:
    space = RetryWait(
        lambda: computer.free_bytes,
        RetryTimes(look_s=5, first_s=60, longest_s=200, more_bytes=100),
        lambda: computer.now,
    )
    made = IndexingPauses(computer.told.append, space, computer.is_on_battery)
    made.set_pauses_on_battery(True)
    return made


def test_indexing_holds_on_battery_and_goes_on_when_plugged_in(
    computer: Computer, pauses: IndexingPauses
) -> None:
    assert not pauses.check_battery()
    computer.on_battery = True
    assert pauses.check_battery()
    assert pauses.is_paused
    assert pauses.is_for_battery
    assert not pauses.check_battery()
    computer.on_battery = False
    assert pauses.check_battery()
    assert not pauses.is_paused
    assert computer.told == [True, False]


def test_the_battery_is_not_heeded_unless_asked_to(
    computer: Computer, pauses: IndexingPauses
) -> None:
    pauses.set_pauses_on_battery(False)
    computer.on_battery = True
    assert not pauses.check_battery()
    assert computer.told == []


def test_switching_it_off_lets_indexing_go_on(computer: Computer, pauses: IndexingPauses) -> None:
    computer.on_battery = True
    pauses.check_battery()
    pauses.set_pauses_on_battery(False)
    pauses.check_battery()
    assert computer.told == [True, False]


def test_the_person_overrules_the_battery_until_the_computer_was_plugged_in(
    computer: Computer, pauses: IndexingPauses
) -> None:
    computer.on_battery = True
    pauses.check_battery()
    pauses.resume()
    pauses.check_battery()
    assert not pauses.is_paused
    computer.on_battery = False
    pauses.check_battery()
    computer.on_battery = True
    pauses.check_battery()
    assert pauses.is_paused


def test_what_the_person_holds_stays_held_when_plugged_in(
    computer: Computer, pauses: IndexingPauses
) -> None:
    computer.on_battery = True
    pauses.check_battery()
    pauses.pause()
    assert not pauses.is_for_battery
    computer.on_battery = False
    pauses.check_battery()
    assert pauses.is_paused
    assert computer.told[-1] is True


def goes_on_after(computer: Computer, pauses: IndexingPauses) -> float:
    """The seconds until indexing resumes by itself, looking once a second."""
    began_at = computer.now
    while not pauses.check_retry():
        computer.now += 1
        assert computer.now - began_at < 10_000
    return computer.now - began_at


def test_indexing_goes_on_soon_after_there_is_more_room(
    computer: Computer, pauses: IndexingPauses
) -> None:
    assert pauses.retry_later()
    assert pauses.is_paused
    assert pauses.is_retrying_later
    computer.now += 7
    assert not pauses.check_retry()
    computer.free_bytes = 100
    assert goes_on_after(computer, pauses) == 5
    assert not pauses.is_paused
    assert computer.told == [True, False]


def test_without_more_room_it_tries_again_ever_more_rarely(
    computer: Computer, pauses: IndexingPauses
) -> None:
    """As with a quota, which shows in no figure of the disk."""
    waits: list[float] = []
    news = [pauses.retry_later()]
    for _ in range(4):
        waits.append(goes_on_after(computer, pauses))
        news.append(pauses.retry_later())
    assert waits == [60, 120, 200, 200]
    assert news == [True, False, False, False, False]


def test_room_is_compared_with_the_least_there_was(
    computer: Computer, pauses: IndexingPauses
) -> None:
    computer.free_bytes = 90
    pauses.retry_later()
    computer.now += 6
    computer.free_bytes = 0
    assert not pauses.check_retry()
    computer.free_bytes = 100
    assert goes_on_after(computer, pauses) == 5


def test_several_refused_writes_are_one_wait(computer: Computer, pauses: IndexingPauses) -> None:
    assert pauses.retry_later()
    assert not pauses.retry_later()
    assert goes_on_after(computer, pauses) == 60


def test_a_disk_that_is_full_again_later_is_news(
    computer: Computer, pauses: IndexingPauses
) -> None:
    pauses.retry_later()
    goes_on_after(computer, pauses)
    pauses.note_progress()
    assert pauses.retry_later()


def test_what_the_person_holds_stays_held_when_there_is_room(
    computer: Computer, pauses: IndexingPauses
) -> None:
    pauses.retry_later()
    pauses.pause()
    assert not pauses.is_retrying_later
    computer.free_bytes = 1000
    computer.now += 10
    assert not pauses.check_retry()
    assert pauses.is_paused
    assert computer.told[-1] is True


def test_the_person_may_try_at_once(computer: Computer, pauses: IndexingPauses) -> None:
    pauses.retry_later()
    pauses.resume()
    assert not pauses.is_paused
    assert computer.told == [True, False]
