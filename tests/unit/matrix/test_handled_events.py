"""What was taken up is known after every end of the process."""

from pathlib import Path

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.features.matrix.growing_message import HandledEvents, Progress


def test_what_was_noted_is_there_after_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "matrix" / "handled.jsonl"
    first = HandledEvents(path)
    first.note("$1", "!room", "$1", Progress.WAITING)
    first.note("$2", "!room", "$1", Progress.ASKED)
    first.note("$1", "!room", "$1", Progress.DONE)
    # Not closed: each line is on the disk when `note` returns.
    with path.open("a") as file:
        file.write('{"event_id": "$3", "ro')
    again = HandledEvents(path)
    assert [again.is_known(each) for each in ("$1", "$2", "$3")] == [True, True, False]
    assert [(e.event_id, e.progress) for e in again.unfinished()] == [("$2", Progress.ASKED)]
    again.note("$3", "!room", "$3", Progress.WAITING)
    again.close()
    third = HandledEvents(path)
    assert [each.event_id for each in third.unfinished()] == ["$2", "$3"]
    third.close()
    first.close()


def test_what_is_old_is_forgotten(tmp_path: Path) -> None:
    now = [1e9]
    handled = HandledEvents(tmp_path / "handled.jsonl", lambda: now[0])
    handled.note("$1", "!room", "$1", Progress.DONE)
    handled.close()
    now[0] += 100 * 86_400
    later = HandledEvents(tmp_path / "handled.jsonl", lambda: now[0])
    assert not later.is_known("$1")
    later.close()


def test_nothing_is_taken_up_where_it_cant_be_written(tmp_path: Path) -> None:
    (tmp_path / "handled.jsonl").mkdir()
    with pytest.raises(AppError):
        HandledEvents(tmp_path / "handled.jsonl")
