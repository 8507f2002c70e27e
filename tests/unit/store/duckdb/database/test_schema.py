"""A library of the last commit before version 1 is opened as one of version 1."""

import os
import time
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from desktop_rag.core.domain import DocumentState
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.features.backup.backups import Backups
from desktop_rag.features.evaluation.experiments.experiment_store import ExperimentStore
from desktop_rag.features.schedules.schedule_store import ScheduleStore
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.duckdb.database import schema
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.duckdb_engine import DuckdbOpener, library_file
from tests.engines import duckdb_in
from tests.library_before import BACKUP, unpacked


def opened(home: Home) -> Engine:
    return DuckdbOpener().open(home, memory_mb=256)


def columns(file: Path) -> set[tuple[object, ...]]:
    with closing(duckdb.connect(str(file), read_only=True)) as connection:
        return set(
            connection.execute(
                "SELECT table_name, column_name, data_type, column_default FROM duckdb_columns()"
                " WHERE NOT internal AND NOT starts_with(table_name, 'vectors_')"
            ).fetchall()
        )


@pytest.mark.slow
def test_it_has_all_that_it_had(tmp_path: Path) -> None:
    home = unpacked(tmp_path)
    for _ in range(2):
        with closing(opened(home)) as engine:
            documents = engine.documents.documents()
            assert {d.title: d.state for d in documents} == dict.fromkeys(
                ("Lamp", "ferry"), DocumentState.SEARCHABLE
            )
            assert len(engine.lexical.best([("lighthous",)], 9)) == 1
            models = [model.model_id for model in engine.models.stored()]
            assert not all(engine.chunks.without_vectors(model, 9) for model in models)
            [chat] = engine.conversations.all()
            texts = [m.text for m in engine.conversations.messages(chat.conversation_id)]
            assert texts == ["When is the lamp lit?", "At dusk."]
            [(question, _)] = engine.store(ScheduleStore).all()
            [question_set] = engine.store(ExperimentStore).sets()
            assert (question.name, question_set.name) == ("Lamps", "Harbour")
            assert engine.inspection.discrepancies(lambda: True) == []
            assert engine.restored == 0


@pytest.mark.everyday
def test_a_copy_is_kept_for_a_week(tmp_path: Path) -> None:
    home = unpacked(tmp_path)
    content = library_file(home).read_bytes()
    copy = home.root / "library.duckdb.before"
    for _ in range(2):
        opened(home).close()
        assert copy.read_bytes() == content
        assert copy.stat().st_mode & 0o077 == 0
    eight_days_ago = time.time() - 8 * 86_400
    os.utime(copy, (eight_days_ago, eight_days_ago))
    opened(home).close()
    assert not copy.exists()


@pytest.mark.slow
def test_its_tables_become_those_of_a_new_library(tmp_path: Path) -> None:
    home = unpacked(tmp_path)
    opened(home).close()
    duckdb_in(tmp_path).close()
    assert columns(library_file(home)) == columns(tmp_path / "library.duckdb")


def test_it_is_read_without_being_changed(tmp_path: Path) -> None:
    home = unpacked(tmp_path)
    before = library_file(home).read_bytes()
    with closing(DuckdbOpener().open_to_read(home, 256)) as engine:
        assert len(engine.documents.documents()) == 2
    assert library_file(home).read_bytes() == before


@pytest.mark.slow
def test_its_backup_is_taken_in(tmp_path: Path) -> None:
    unpacked(tmp_path)
    home = Home(tmp_path / "new")
    home.create()
    with closing(opened(home)) as engine:
        backups = Backups(home, engine.precious, engine.sources.collections)
        added = backups.import_file(tmp_path / BACKUP).added
        assert {kind: added[kind] for kind in ("message", "standing", "experiment")} == {
            "message": 2, "standing": 1, "experiment": 1,
        }  # fmt: skip


@pytest.mark.parametrize("version", [1, 24])
def test_an_earlier_one_is_refused_untouched(tmp_path: Path, version: int) -> None:
    home = unpacked(tmp_path)
    file = library_file(home)
    with closing(duckdb.connect(str(file))) as connection:
        connection.execute("DELETE FROM migrations WHERE version > ?", [version])
    before = file.read_bytes()
    with pytest.raises(AppError, match="before the first release") as refused:
        opened(home)
    assert "journal" in refused.value.hint
    assert file.read_bytes() == before


@pytest.mark.slow
def test_steps_to_later_versions_are_taken_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema.create(path)

    def add_column(connection: Connection) -> None:
        connection.execute("ALTER TABLE sources ADD COLUMN later INTEGER DEFAULT 7")

    monkeypatch.setattr(schema, "STEPS", [add_column])
    monkeypatch.setattr(schema, "SCHEMA", 2)
    for _ in range(2):
        with closing(duckdb.connect(str(path))) as connection:
            schema.bring_up_to_date(connection)
            assert schema.version_of(connection) == 2
    assert ("sources", "later", "INTEGER", "7") in columns(path)


def test_a_step_that_fails_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    schema.create(path)

    def fail(connection: Connection) -> None:
        connection.execute("DROP TABLE sources")
        raise OSError("no room")

    monkeypatch.setattr(schema, "STEPS", [fail])
    monkeypatch.setattr(schema, "SCHEMA", 2)
    with closing(duckdb.connect(str(path))) as connection:
        with pytest.raises(OSError, match="no room"):
            schema.bring_up_to_date(connection)
        assert schema.version_of(connection) == 1
        assert "sources" in schema.tables_in(connection)
