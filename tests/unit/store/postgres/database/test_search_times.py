"""The slowest searches are kept for a day, whatever their number."""

from desktop_rag.features.shared_library.postgres.database.server_database import SearchTimes

HOUR_S = 3_600.0


class Clock:
    def __init__(self) -> None:
        self.now = 1_000 * HOUR_S

    def __call__(self) -> float:
        return self.now


def test_the_slowest_come_first_and_all_are_counted() -> None:
    clock = Clock()
    times = SearchTimes(clock)
    for n in range(500):
        times.note("words", n / 1_000)
    slowest, searched = times.slowest(3)
    assert [each.milliseconds for each in slowest] == [499.0, 498.0, 497.0]
    assert slowest[0].at == clock.now - 0.499
    assert slowest[0].kind == "words"
    assert searched == 500
    assert len(times.slowest(1_000)[0]) < 50


def test_searches_are_forgotten_after_a_day() -> None:
    clock = Clock()
    times = SearchTimes(clock)
    times.note("meaning", 9.0)
    clock.now += 10 * HOUR_S
    times.note("words", 1.0)
    assert [each.kind for each in times.slowest(9)[0]] == ["meaning", "words"]
    clock.now += 14 * HOUR_S
    assert times.slowest(9)[1] == 1
    clock.now += 10 * HOUR_S
    assert times.slowest(9) == ((), 0)
