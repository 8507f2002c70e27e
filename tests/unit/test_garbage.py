"""Small collections of garbage."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from desktop_rag.idle_memory import SmallCollections, collect_all


class Ring:
    """Garbage that only a collection finds, once nothing else knows it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def collections() -> Iterator[SmallCollections]:
    made = SmallCollections()
    usual = gc.get_threshold()
    made.start()
    yield made
    made.close()
    assert gc.get_threshold() == usual
    assert gc.get_freeze_count() == 0


def grown_old() -> None:
    """Let the young objects that are left grow old."""
    gc.collect(1)


def test_python_does_not_look_at_everything_by_itself(collections: SmallCollections) -> None:
    before = gc.get_stats()[2]["collections"]
    kept = [[Ring()] for _ in range(200_000)]
    assert kept
    assert gc.get_stats()[2]["collections"] == before
    collections.look()
    assert gc.get_stats()[2]["collections"] == before + 1


def test_a_look_finds_what_became_garbage_since_the_last_one(collections: SmallCollections) -> None:
    ring = Ring()
    gone = weakref.ref(ring)
    grown_old()
    del ring
    collections.look()
    assert gone() is None


@pytest.mark.slow
def test_what_was_kept_is_found_when_all_is_looked_at(collections: SmallCollections) -> None:
    ring = Ring()
    gone = weakref.ref(ring)
    collections.keep()
    del ring
    grown_old()
    collections.look()
    assert gone() is not None
    collect_all()
    assert gone() is None


@pytest.mark.slow
def test_now_and_then_all_is_looked_at(collections: SmallCollections) -> None:
    ring = Ring()
    gone = weakref.ref(ring)
    collections.keep()
    del ring
    for _ in range(60):
        grown_old()
        collections.look()
    assert gone() is None


def test_nothing_is_looked_at_when_nothing_was_made(collections: SmallCollections) -> None:
    grown_old()
    collections.look()
    before = gc.get_stats()[2]["collections"]
    collections.look()
    assert gc.get_stats()[2]["collections"] == before
