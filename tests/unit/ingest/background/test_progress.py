"""Progress of indexing: one count, and one bar that never falls while a run lasts."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.library_events import IndexProgress, Stage
from desktop_rag.ingest.background.progress import ProgressMeter


class Seconds:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def a_meter(*, has_embedder: bool = True) -> tuple[ProgressMeter, Seconds]:
    clock = Seconds()
    return ProgressMeter(has_embedder=has_embedder, clock=clock), clock


def shown(meter: ProgressMeter) -> tuple[Stage, int, int]:
    progress = meter.snapshot()
    return progress.stage, progress.files_done, progress.files_total


def test_the_work_of_a_second_model_is_part_of_the_whole() -> None:
    meter, clock = a_meter()
    meter.set_companion_work(2)
    meter.set_files_left(2)
    shares: list[float] = []
    for left in (1, 0):
        clock.now += 0.04
        meter.add_read(1, passages=100, left=left)
    for _ in range(2):
        clock.now += 2.0
        meter.add_embedded(100)
    for _ in range(6):
        shares.append(meter.snapshot().fraction)
        clock.now += 3.0
        meter.add_refined(100)
    steps = [later - before for before, later in pairwise(shares)]
    assert shares[0] < 0.3
    assert min(steps) > 0.1


def test_a_run_from_the_first_file_to_the_last_window() -> None:
    meter, _ = a_meter()
    meter.set_files_left(2)
    meter.start_file("a.md")
    assert meter.snapshot().current_file == "a.md"
    assert shown(meter) == (Stage.READING, 0, 2)
    meter.add_read(1, passages=5, left=1)
    half_read = meter.snapshot()
    assert [step.stage for step in half_read.steps] == [
        Stage.READING, Stage.EMBEDDING, Stage.REFINING
    ]  # fmt: skip
    meter.add_read(1, passages=5, left=0)
    meter.set_passages_left(10, 0)
    meter.set_files_without_meaning(2)
    assert shown(meter) == (Stage.EMBEDDING, 0, 2)
    meter.add_embedded(10)
    meter.set_files_without_meaning(0)
    meant = meter.snapshot()
    assert meant.stage is Stage.REFINING
    meter.add_refined(10)
    refined = meter.snapshot()
    assert 0 < half_read.fraction < meant.fraction < refined.fraction < 1.0
    meter.set_files(2)
    meter.end_run()
    assert meter.snapshot() == IndexProgress(files_total=2, files_done=2)
    assert meter.embedded_ever == 10


def test_files_found_while_vectors_are_made_do_not_set_the_bar_back() -> None:
    meter, _ = a_meter()
    meter.set_files_left(10)
    meter.add_read(10, passages=100, left=0)
    meter.add_embedded(90)
    far = meter.snapshot().fraction
    meter.set_files_left(500)
    assert shown(meter) == (Stage.READING, 10, 510)
    assert meter.snapshot().fraction == far
    meter.add_read(250, passages=1000, left=250)
    assert far < meter.snapshot().fraction < 1.0


def test_the_next_run_begins_at_zero() -> None:
    meter, _ = a_meter()
    meter.set_files_left(1)
    meter.add_read(1, passages=0, left=0)
    meter.end_run()
    meter.set_files_left(2)
    assert shown(meter) == (Stage.READING, 0, 2)
    assert meter.snapshot().fraction == 0.0


def test_a_file_found_at_the_end_keeps_the_run() -> None:
    meter, _ = a_meter()
    meter.set_files_left(1)
    meter.end_run()
    assert shown(meter) == (Stage.READING, 0, 1)


def test_vectors_left_from_before_are_a_run_of_their_own() -> None:
    meter, _ = a_meter()
    meter.set_passages_left(40, 60)
    meter.set_files_without_meaning(8)
    assert shown(meter) == (Stage.EMBEDDING, 0, 8)
    meter.add_embedded(20)
    meter.set_files_without_meaning(5)
    assert shown(meter) == (Stage.EMBEDDING, 3, 8)


def test_files_that_go_away_no_longer_count() -> None:
    meter, _ = a_meter(has_embedder=False)
    meter.set_files_left(4)
    meter.add_read(1, passages=3, left=3)
    assert meter.snapshot().fraction == 0.25
    meter.set_files_left(0)
    assert shown(meter) == (Stage.READING, 1, 1)
    assert [step.is_done for step in meter.snapshot().steps] == [True]


def test_files_put_back_still_wait() -> None:
    meter, _ = a_meter()
    meter.set_files_left(40)
    meter.add_read(8, passages=8, left=32)
    meter.set_files_left(32)
    assert shown(meter) == (Stage.READING, 8, 40)


def test_no_time_is_guessed() -> None:
    meter, clock = a_meter()
    meter.set_files_left(100)
    assert meter.snapshot().seconds_left is None
    clock.now = 10.0
    meter.add_read(50, passages=500, left=50)
    reading, meaning, refining = meter.snapshot().steps
    assert reading.seconds_left == 10.0
    assert (meaning.seconds_left, refining.seconds_left) == (None, None)
    assert meter.snapshot().seconds_left is None
    meter.add_read(50, passages=500, left=0)
    clock.now = 30.0
    meter.add_embedded(500)
    assert [step.seconds_left for step in meter.snapshot().steps] == [0.0, 20.0, None]
    meter.add_embedded(500)
    clock.now = 35.0
    meter.add_refined(100)
    assert meter.snapshot().seconds_left is None, "five seconds are too few to measure"
    clock.now = 50.0
    meter.add_refined(300)
    assert meter.snapshot().seconds_left == 600 * 20 / 400


def test_a_known_pace_tells_nothing_of_passages_that_are_not_counted() -> None:
    meter, clock = a_meter()
    meter.set_passages_left(100, 0)
    clock.now = 20.0
    meter.add_embedded(100)
    meter.set_files_left(10)
    clock.now = 60.0
    meter.add_read(5, passages=1, left=5)
    reading, meaning, _ = meter.snapshot().steps
    assert (reading.seconds_left, meaning.seconds_left) == (40.0, None)


def test_a_pause_takes_no_time_of_the_work() -> None:
    meter, clock = a_meter(has_embedder=False)
    meter.set_files_left(20)
    clock.now = 10.0
    meter.add_read(10, passages=0, left=10)
    clock.now = 5000.0
    meter.forget_time()
    clock.now = 5001.0
    meter.add_read(1, passages=0, left=9)
    assert meter.snapshot().seconds_left == 9.0


def test_the_time_left_only_falls_for_the_same_files() -> None:
    meter, clock = a_meter(has_embedder=False)
    meter.set_files_left(100)
    clock.now = 10.0
    meter.add_read(50, passages=0, left=50)
    assert meter.snapshot().seconds_left == 10.0
    clock.now = 50.0
    meter.add_read(10, passages=0, left=40)
    assert meter.snapshot().seconds_left is None, "it takes longer than was told"
    clock.now = 60.0
    meter.add_read(38, passages=0, left=2)
    told = meter.snapshot().seconds_left
    assert told
    assert told < 10.0
    meter.set_files_left(200)
    longer = meter.snapshot().seconds_left
    assert longer
    assert longer > 10.0, "there is more to read"


# One thing that may happen to a run: a name and a number.
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(
            ["found", "read", "gone", "embedded", "refined", "counted", "meant", "end"]
        ),
        st.integers(0, 60),
        st.floats(0, 30),
    ),
    max_size=60,
)


@given(EVENTS, st.booleans(), st.booleans())
def test_whatever_happens_the_bar_never_falls_and_counts_never_exceed(
    events: list[tuple[str, int, float]], has_embedder: bool, refines: bool
) -> None:
    meter, clock = a_meter(has_embedder=has_embedder)
    meter.set_refines(refines)
    left = 0
    before = meter.snapshot()
    for name, number, seconds in events:
        clock.now += seconds
        left = _left_after(name, number, left)
        _apply(meter, name, number, left)
        now = meter.snapshot()
        if before.steps and now.steps:
            assert now.fraction >= before.fraction
        for step in now.steps:
            assert 0 <= step.files_done <= step.files_total
        assert (now.fraction == 1.0) is (now.stage is Stage.IDLE)
        if left:
            assert now.fraction < 1.0
        before = now


def _left_after(name: str, number: int, left: int) -> int:
    match name:
        case "found":
            return left + number
        case "read" | "gone":
            return left - min(left, number)
        case _:
            return left


def _apply(meter: ProgressMeter, name: str, number: int, left: int) -> None:
    match name:
        case "found" | "gone":
            meter.set_files_left(left)
        case "read":
            meter.add_read(number, passages=3 * number, left=left)
        case "embedded":
            meter.add_embedded(number)
        case "refined":
            meter.add_refined(number)
        case "counted":
            meter.set_passages_left(number, 2 * number)
        case "meant":
            meter.set_files_without_meaning(number)
        case _:
            meter.end_run()
