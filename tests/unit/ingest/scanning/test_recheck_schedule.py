"""Places that are looked at once more: when, how often, and without losing any."""

from pathlib import Path

from desktop_rag.ingest.scanning.scanner import RecheckSchedule

A, B = Path("a.md"), Path("b.md")


class Clock:
    """Looks that are taken, at a time that is ours."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.taken: list[tuple[str, frozenset[Path]]] = []
        self.schedule = RecheckSchedule(self.take, clock=lambda: self.now_s)
        self.again: Path | None = None

    def take(self, source_id: str, places: frozenset[Path]) -> None:
        self.taken.append((source_id, places))
        assert not self.schedule.is_empty, "nothing to do, while a look is only about to be taken"
        if self.again:
            self.schedule.add(source_id, self.again, 1.0)

    def check_at(self, now_s: float) -> None:
        self.now_s = now_s
        self.schedule.check()


def test_a_place_is_looked_at_once_when_its_time_has_come() -> None:
    clock = Clock()
    clock.schedule.add("one", A, 5.0)
    clock.schedule.add("one", B, 7.0)
    clock.schedule.add("two", A, 5.0)
    clock.check_at(104.0)
    assert clock.taken == []
    clock.check_at(105.0)
    assert clock.taken == [("one", frozenset({A})), ("two", frozenset({A}))]
    clock.check_at(107.0)
    assert clock.taken[2:] == [("one", frozenset({B}))]
    assert clock.schedule.is_empty


def test_asking_again_does_not_put_a_look_off() -> None:
    clock = Clock()
    clock.schedule.add("one", A, 5.0)
    clock.now_s = 104.0
    clock.schedule.add("one", A, 5.0)
    clock.check_at(105.0)
    assert len(clock.taken) == 1


def test_a_look_that_asks_for_another_one_gets_it() -> None:
    clock = Clock()
    clock.again = A
    clock.schedule.add("one", A, 5.0)
    clock.check_at(105.0)
    assert not clock.schedule.is_empty
    clock.again = None
    clock.check_at(106.0)
    assert len(clock.taken) == 2
    assert clock.schedule.is_empty


def test_a_source_that_is_forgotten_is_not_looked_at() -> None:
    clock = Clock()
    clock.schedule.add("one", A, 5.0)
    clock.schedule.forget("one")
    clock.check_at(105.0)
    assert clock.taken == []
