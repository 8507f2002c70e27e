"""Opening a library on a server: who may, what is refused, and in plain words."""

import threading
from pathlib import Path

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.features.shared_library.postgres.database.server_connection import ServerConnection
from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.features.shared_library.postgres.documents.server_content import ServerContent
from desktop_rag.features.shared_library.postgres.postgres_engine import PostgresOpener
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.inspection import NoLibraryError
from tests.engines import postgres_in
from tests.servers.postgres_server import address
from tests.stored_rows import document, indexed, put


def schema_of(engine: Engine) -> str:
    assert isinstance(engine.storage, ServerDatabase)
    return engine.storage.schema


def test_a_server_that_is_away_is_said_plainly(tmp_path: Path) -> None:
    opener = PostgresOpener(f"host={tmp_path} dbname=postgres", "library")
    with pytest.raises(AppError, match="does not answer"):
        opener.open(Home(tmp_path), 256)


def test_a_library_is_opened_to_read_only_where_there_is_one(
    engine: Engine, tmp_path: Path
) -> None:
    put(engine, "a.txt", "lamp")
    opener = PostgresOpener(address(), schema_of(engine))
    reading = opener.open_to_read(Home(tmp_path), 256)
    assert [d.document_id for d in reading.documents.documents()] == ["a.txt"]
    with pytest.raises(AppError, match="reading only"):
        reading.conversations.add("Lamps", "")
    reading.close()
    assert opener.size_bytes(Home(tmp_path)) > 10_000
    nowhere = PostgresOpener(address(), "no_library_here")
    with pytest.raises(NoLibraryError):
        nowhere.open_to_read(Home(tmp_path), 256)


def test_a_library_of_a_newer_app_is_refused(engine: Engine, tmp_path: Path) -> None:
    assert isinstance(engine.storage, ServerDatabase)
    engine.storage.write(lambda con: con.execute("UPDATE library_state SET version = 999"))
    with pytest.raises(AppError, match="newer version"):
        postgres_in(tmp_path)


@pytest.mark.usefixtures("engine")
def test_many_that_open_a_new_library_at_once_make_one(tmp_path: Path) -> None:
    tmp_path = tmp_path / "new"
    tmp_path.mkdir()
    opened = list[Engine]()
    threads = [
        threading.Thread(target=lambda: opened.append(postgres_in(tmp_path))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(opened) == 4
    opened[0].sources.default_collection("Papers")
    assert [[c.name for c in each.sources.collections()] for each in opened] == [["Papers"]] * 4
    for each in opened:
        each.close()


def test_two_processes_see_what_the_other_wrote(engine: Engine, tmp_path: Path) -> None:
    other = postgres_in(tmp_path)
    put(engine, "a.txt", "lamp")
    assert len(other.lexical.best([("lamp",)], 9)) == 1
    put(other, "b.txt", "lamp too")
    assert engine.lexical.weigh([("lamp",)]).counts == (2,)
    other.close()


def test_what_a_backup_cannot_hold_is_said(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(AppError, match="on a server"):
        engine.precious.read(lambda entry: None, index=tmp_path / "index")
    entries = list[str]()
    engine.sources.default_collection("Papers")
    engine.precious.read(lambda entry: entries.append(entry.kind))
    assert entries == ["collection"]
    assert engine.precious.change_number() == 1


def test_terms_of_a_write_that_failed_are_stored_by_the_next(engine: Engine) -> None:
    assert isinstance(engine.storage, ServerDatabase)
    content, outcome = ServerContent(engine.storage), indexed(document("a.txt"), "harbour")
    with content.staged([outcome]) as staged:

        def fail(con: ServerConnection) -> None:
            staged.insert(con, [(outcome,)])
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            engine.storage.write(fail)
        assert engine.lexical.nearest_term("harbuor", 1) == ""
        engine.storage.write(lambda con: staged.insert(con, [(outcome,)]))
    assert engine.lexical.nearest_term("harbuor", 1) == "harbour"
