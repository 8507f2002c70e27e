"""A new library file is there completely or not at all."""

from pathlib import Path

import duckdb
import pytest

from desktop_rag.store.duckdb.database import schema
from desktop_rag.store.duckdb.database.database import Database


def opened(path: Path) -> Database:
    return Database(path, memory_mb=64, backups=path.parent)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_failed_creation_leaves_nothing_and_the_next_start_creates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill_the_disk(path: Path) -> None:
        path.write_bytes(b"half a library")
        raise OSError("no space left on device")

    path = tmp_path / "library.duckdb"
    with monkeypatch.context() as patch:
        patch.setattr(schema, "build_empty", fill_the_disk)
        with pytest.raises(OSError, match="no space"):
            schema.create(path)
    assert names(tmp_path) == []
    opened(path).close()
    assert names(tmp_path) == ["library.duckdb"]


def test_what_a_killed_creation_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / "library.duckdb.new-0a1b2c3d").write_bytes(b"half")
    (tmp_path / "library.duckdb.new-0a1b2c3d.wal").write_bytes(b"half")
    opened(tmp_path / "library.duckdb").close()
    assert names(tmp_path) == ["library.duckdb"]


def test_a_file_that_another_process_creates_meanwhile_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, build = tmp_path / "library.duckdb", schema.build_empty

    def build_while_another_does(built: Path) -> None:
        build(built)
        path.write_bytes(b"the library of the other process")

    monkeypatch.setattr(schema, "build_empty", build_while_another_does)
    schema.create(path)
    assert path.read_bytes() == b"the library of the other process"
    assert names(tmp_path) == ["library.duckdb"]


def test_without_hard_links_the_file_is_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no hard links here")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    schema.create(tmp_path / "library.duckdb")
    assert names(tmp_path) == ["library.duckdb"]
    with duckdb.connect(str(tmp_path / "library.duckdb"), read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM documents").fetchall() == [(0,)]
