from dataclasses import dataclass, field

import pytest

from desktop_rag.ingest.background.indexing_pauses import IndexingPauses


@dataclass
class Computer:
    """Its power supply, and what indexing was told."""

    on_battery: bool = False
    told: list[bool] = field(default_factory=list)

    def is_on_battery(self) -> bool:
        return self.on_battery


@pytest.fixture
def computer() -> Computer:
    return Computer()


@pytest.fixture
def pauses(computer: Computer) -> IndexingPauses:
    made = IndexingPauses(computer.told.append, computer.is_on_battery)
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
