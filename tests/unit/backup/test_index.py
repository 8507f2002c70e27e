"""A backup with the index: the same passages are found in an empty library, without the files."""

import hashlib
import json
import zipfile
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.store.duckdb.duckdb_engine import database_of
from tests.stored_rows import found, put
from tests.unit.backup.conftest import OpenPlace
from tests.unit.backup.filled_library import Place, entries, shown


@pytest.fixture
def indexed(full: Place) -> Place:
    """A library with two documents, one with a vector that answers."""
    engine = full.engine
    put(engine, "lamp.md", "the lamp is lit at dusk", "it burns oil", collection="Sea")
    put(engine, "boat.md", "the boat sails", collection="Land")
    vectors = engine.models.vectors("tiny", 8, "")
    vectors.add(["0" * 32], np.eye(8, dtype=np.float32)[:1])
    sea = next(c for c in engine.sources.collections() if c.name == "Sea")
    engine.models.answer(vectors.model_id, [sea.collection_id])
    return full


@pytest.fixture
def file(indexed: Place, tmp_path: Path) -> Path:
    indexed.backups.export(tmp_path / "x", with_index=True)
    return tmp_path / "x"


@pytest.mark.slow
def test_what_was_found_is_found(indexed: Place, empty: Place, file: Path) -> None:
    done = empty.backups.import_file(file, takes_index=True)
    assert done.has_index
    assert shown(empty) == shown(indexed)
    assert found(empty.engine, "dusk") == ["the lamp is lit at dusk"]
    assert [row.name for row in empty.engine.models.answering().values()] == ["tiny"]
    vectors = empty.engine.models.vectors("tiny", 8)
    assert vectors.missing(["0" * 32]) == set()
    assert not list(empty.home.backups.iterdir())
    again = empty.backups.import_file(file, takes_index=True)
    assert (again.has_index, bool(again.no_index)) == (False, True)


@pytest.mark.slow
def test_it_holds_no_chat_twice(file: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        assert "灯".encode() not in archive.read("library.index")


@pytest.mark.slow
def test_a_library_with_documents_gets_the_rest(empty: Place, file: Path) -> None:
    put(empty.engine, "own.md", "of my own")
    done = empty.backups.import_file(file, takes_index=True)
    assert "empty library" in done.no_index
    assert found(empty.engine, "dusk") == []
    assert len(empty.engine.conversations.all()) == 3


@pytest.mark.everyday
def test_a_library_in_use_gets_the_rest(empty: Place, file: Path) -> None:
    assert "Close it" in empty.backups.import_file(file).no_index
    assert found(empty.engine, "dusk") == []


WRONG = {
    "an outside path": "UPDATE documents SET path = '/etc/shadow'",
    "a path upwards": "UPDATE documents SET path = path || '/../../x'",
    "no source": "UPDATE documents SET source_id = 'nobody'",
    "a state": "UPDATE documents SET state = 'perfect'",
    "no document": "UPDATE chunks SET document_id = 'nobody'",
    "a version": "UPDATE library_version SET version = version + 1",
    "a column": "ALTER TABLE documents ADD COLUMN x VARCHAR",
    "no table": "DROP TABLE chunks",
    "dimensions": "UPDATE models SET dimensions = 100000000",
    "other dimensions": "UPDATE models SET dimensions = 640",
}


@pytest.mark.slow
@pytest.mark.parametrize("sql", WRONG.values(), ids=list(WRONG))
def test_a_wrong_index_changes_nothing(empty: Place, file: Path, tmp_path: Path, sql: str) -> None:
    bad = changed(file, tmp_path, sql)
    with pytest.raises(AppError) as caught:
        empty.backups.import_file(bad, takes_index=True)
    assert "does not fit" in caught.value.title
    assert not entries(empty)
    assert not empty.engine.precious.has_index()
    empty.backups.import_file(file, takes_index=True)
    assert found(empty.engine, "dusk")


def changed(file: Path, tmp_path: Path, sql: str) -> Path:
    """The backup with its index changed, and hashes that agree with it."""
    import duckdb

    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    index = tmp_path / "index"
    index.write_bytes(members["library.index"])
    connection = duckdb.connect(str(index))
    connection.execute(sql)
    connection.close()
    content = members["library.index"] = index.read_bytes()
    manifest = json.loads(members["manifest.json"])
    facts = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest(), "changed_at": 0.0}
    manifest["files"]["library.index"] = facts
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(tmp_path / "bad", "w") as archive:
        for name, part in members.items():
            archive.writestr(name, part)
    return tmp_path / "bad"


@pytest.mark.slow
def test_no_database_at_all(empty: Place, file: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    content = members["library.index"] = b"no database " * 1_000
    manifest = json.loads(members["manifest.json"])
    facts = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest(), "changed_at": 0.0}
    manifest["files"]["library.index"] = facts
    members["manifest.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(tmp_path / "bad", "w") as archive:
        for name, part in members.items():
            archive.writestr(name, part)
    with pytest.raises(AppError):
        empty.backups.import_file(tmp_path / "bad", takes_index=True)
    assert not entries(empty)


@pytest.mark.slow
def test_cancelled_while_writing_leaves_nothing(indexed: Place, tmp_path: Path) -> None:
    cancel = Event()
    with pytest.raises(Cancelled):
        indexed.backups.export(
            tmp_path / "y", with_index=True, tell=lambda _: cancel.set(), cancel=cancel
        )
    assert not list(tmp_path.glob("y*"))
    assert not list(indexed.home.backups.iterdir())


@pytest.mark.slow
def test_the_library_stays_usable_meanwhile(indexed: Place, open_place: OpenPlace) -> None:
    """The copy is of one moment; what is written meanwhile is not held up and not in it."""
    told: list[str] = []

    def tell(said: str) -> None:
        if not told:
            put(indexed.engine, "late.md", "a late lamp")
        told.append(said)

    file = indexed.home.root.parent / "z"
    indexed.backups.export(file, with_index=True, tell=tell)
    fresh = open_place("fresh")
    fresh.backups.import_file(file, takes_index=True)
    database_of(fresh.engine).verify()
    assert found(fresh.engine, "dusk")
