"""What else writes goes on while a backup is merged, and the backup still goes in whole."""

import threading
from collections.abc import Iterator, Sequence

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.store.contract.precious import Entry
from tests.unit.backup.filled_library import Place, entries

_ENOUGH_S = 30.0


def parts(place: Place) -> tuple[list[Entry], list[Entry]]:
    """All entries of a library, and its images."""
    found: list[Entry] = []
    place.engine.precious.read(found.append)
    images = [entry for entry in found if entry.kind == "image"]
    return [entry for entry in found if entry.kind != "image"], images


def write(place: Place, title: str) -> None:
    """Change the library on another thread, as the app does; fails when it must wait."""
    done = threading.Thread(target=place.engine.conversations.add, args=(title, ""), daemon=True)
    done.start()
    done.join(_ENOUGH_S)
    assert not done.is_alive(), "the write waits for the merge"


def titles(place: Place) -> set[str]:
    return {chat.title for chat in place.engine.conversations.all()}


@pytest.mark.slow
def test_others_write_while_it_is_planned_and_between_images(full: Place, empty: Place) -> None:
    incoming, images = parts(full)
    calls: list[int] = []

    def plan(present: Sequence[Entry]) -> Sequence[Entry]:
        calls.append(len(present))
        if len(calls) == 1:
            write(empty, "planned meanwhile")
        return incoming

    def passing() -> Iterator[Entry]:
        if not calls:
            write(empty, "between images")
        yield from images

    assert empty.engine.precious.merge(plan, passing) == len(images)
    assert titles(empty) == titles(full) | {"planned meanwhile", "between images"}
    assert calls == [1, 2], "it is planned again over what was written meanwhile"
    assert entries(full).keys() <= entries(empty).keys()


@pytest.mark.everyday
def test_it_ends_though_something_is_written_at_every_moment(full: Place, empty: Place) -> None:
    incoming, images = parts(full)
    calls: list[int] = []

    def plan(present: Sequence[Entry]) -> Sequence[Entry]:
        calls.append(len(present))
        if len(calls) < 4:  # the last one is planned while nobody else can write
            write(empty, f"chat {len(calls)}")
        return incoming

    empty.engine.precious.merge(plan, lambda: images)
    assert calls == [0, 1, 2, 3]
    assert titles(empty) == titles(full) | {"chat 1", "chat 2", "chat 3"}


@pytest.mark.slow
def test_a_plan_that_refuses_leaves_no_image(full: Place, empty: Place) -> None:
    _, images = parts(full)
    assert images

    def refuse(_: Sequence[Entry]) -> Sequence[Entry]:
        raise AppError("Refused.")

    with pytest.raises(AppError, match="Refused"):
        empty.engine.precious.merge(refuse, lambda: images)
    assert entries(empty) == {}
    assert not list((empty.home.root / "journal").rglob("images/*.jsonl"))
