"""The history of commands is in a backup, and comes back as a history that can do nothing."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.features.backup.services import made_of
from desktop_rag.features.backup.snapshots import Snapshots
from desktop_rag.features.rails.commands.command import Command, CommandState
from desktop_rag.features.rails.commands.commands import CommandBook
from desktop_rag.features.rails.commands.commands_done import COMMANDS, commands_in
from tests.unit.backup.filled_library import Place
from tests.unit.backup.test_hostile_files import Members, members, packed

__all__ = ["members"]


def history(place: Place) -> list[Command]:
    """The newest first."""
    return CommandBook(place.home.commands, lambda: 9.0).all()


@pytest.mark.slow
def test_the_history_comes_back_and_can_do_nothing(
    full: Place, empty: Place, tmp_path: Path
) -> None:
    contents = full.backups.export(tmp_path / "x")
    assert contents
    assert contents.counts["command"] == 2
    done = empty.backups.import_file(tmp_path / "x")
    assert done.added["command"] == 2
    begun, saved = history(empty)
    assert (saved.command_id, saved.state, saved.outcome) == ("c1", CommandState.DONE, "Saved.")
    assert saved.details == (("File", "lamp.md"),)
    assert begun.state is CommandState.UNKNOWN
    assert (saved.target, saved.undo, begun.target) == ({}, {}, {})
    assert not saved.can_be_undone


@pytest.mark.everyday
def test_what_is_here_stays_and_twice_is_once(full: Place, tmp_path: Path) -> None:
    full.backups.export(tmp_path / "x")
    before = full.home.commands.read_text()
    assert "command" not in full.backups.import_file(tmp_path / "x").added
    assert full.home.commands.read_text() == before
    assert history(full)[1].can_be_undone


@pytest.mark.slow
def test_a_book_that_is_open_takes_them(full: Place, empty: Place, tmp_path: Path) -> None:
    full.backups.export(tmp_path / "x")
    book = CommandBook(empty.home.commands, lambda: 9.0)
    takers = {COMMANDS: lambda text: book.take(commands_in(text))}
    backups, _ = made_of(empty.home, empty.engine, takers=takers)
    assert backups.import_file(tmp_path / "x").added["command"] == 2
    assert [command.command_id for command in book.all()] == ["c2", "c1"]
    assert history(empty) == book.all()


@pytest.mark.everyday
def test_one_collection_takes_no_history_along(full: Place, tmp_path: Path) -> None:
    full.backups.export(tmp_path / "x", collection=full.backups.collections()[0])
    with zipfile.ZipFile(tmp_path / "x") as archive:
        assert COMMANDS not in archive.namelist()


@pytest.mark.slow
def test_a_new_command_is_news_for_a_snapshot(full: Place) -> None:
    days = [0.0]
    snapshots = Snapshots(full.home, full.backups, full.engine.precious, clock=lambda: days[0])
    assert snapshots.make()
    days[0] += 86_400.0
    assert snapshots.make() is None
    CommandBook(full.home.commands, lambda: 9.0).forget(["c1"])
    assert snapshots.make()


Change = Callable[[dict[str, Any]], object]
WRONG: dict[str, Change] = {
    "something to carry out": lambda row: row.update(target={"path": "/etc/passwd"}),
    "something to take back": lambda row: row.update(undo={"path": "/etc/passwd"}),
    "one that waits": lambda row: row.update(state="proposed"),
    "one under way": lambda row: row.update(state="running"),
    "a state": lambda row: row.update(state="perfect"),
    "a state that is a list": lambda row: row.update(state=["done"]),
    "a kind": lambda row: row.update(kind="shell"),
    "an id": lambda row: row.update(command_id="../x"),
    "a NUL": lambda row: row.update(title="a\0b"),
    "half a character": lambda row: row.update(prompt="\ud800"),
    "a moment": lambda row: row.update(ended_at=1e300),
    "details of three": lambda row: row.update(details=[["a", "b", "c"]]),
    "details that are numbers": lambda row: row.update(details=[[1, 2]]),
    "a missing field": lambda row: row.pop("outcome"),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", WRONG.values(), ids=list(WRONG))
def test_one_wrong_value_of_a_command_changes_nothing(
    members: Members, empty: Place, tmp_path: Path, change: Change
) -> None:
    content = json.loads(members[COMMANDS])
    change(content["commands"][0])
    refused(empty, members | {COMMANDS: json.dumps(content).encode()}, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{",
        b"null",
        b'{"commands": {}}',
        b'{"commands": [[]]}',
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_a_file_that_is_no_history_changes_nothing(
    members: Members, empty: Place, tmp_path: Path, content: bytes
) -> None:
    refused(empty, members | {COMMANDS: content}, tmp_path)


@pytest.mark.slow
def test_a_command_twice_changes_nothing(members: Members, empty: Place, tmp_path: Path) -> None:
    rows = json.loads(members[COMMANDS])["commands"]
    twice = json.dumps({"commands": [rows[0], rows[0]]}).encode()
    refused(empty, members | {COMMANDS: twice}, tmp_path)


def refused(place: Place, changed: Members, folder: Path) -> None:
    """The import is an error, and nothing came of it."""
    with pytest.raises(AppError, match="no backup that this app has made"):
        place.backups.import_file(packed(changed, folder / "x"))
    assert not place.home.commands.exists()
    assert not place.engine.precious.change_number()
