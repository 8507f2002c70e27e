"""R-28 in the store: a full disk refuses writes by name, costs no reads, and ends by itself."""

import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from desktop_rag.core.conversation import Message, Role
from desktop_rag.core.errors import AppError, DiskError, DiskFullError
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.duckdb_engine import database_of, library_file
from desktop_rag.store.opening import open_engine
from tests.faults.storage.small_disk import SmallDisk

_ROWS = "SELECT range AS i, md5((range * {seed})::VARCHAR) AS m FROM range(3000)"


@pytest.fixture
def engine(home: Home) -> Iterator[Engine]:
    home.create()
    engine = open_engine(home, Settings())
    yield engine
    engine.close()


def add(engine: Engine, message_id: str, conversation_id: str, text: str = "hello") -> None:
    message = Message(message_id, conversation_id, Role.USER, text, time.time())
    engine.conversations.add_message(message)


def texts(engine: Engine, conversation_id: str) -> list[str]:
    return [m.message_id for m in engine.conversations.messages(conversation_id)]


def write_until_refused(database: Database) -> AppError:
    """Write tables of 0.13 MB, as indexing does, until the store refuses one."""
    for seed in range(1, 2000):
        try:
            database.write(lambda con, n=seed: con.execute(f"INSERT INTO t {_ROWS.format(seed=n)}"))
        except AppError as error:
            return error
    pytest.fail("the disk is larger than it should be")


@pytest.mark.slow
@pytest.mark.parametrize("leave_bytes", [0, 36_000])
def test_r28_a_full_disk_is_named_and_a_write_succeeds_once_there_is_room(
    engine: Engine, disk: SmallDisk, home: Home, leave_bytes: int
) -> None:
    chat = engine.conversations.add("Sea", "").conversation_id
    add(engine, "1", chat)
    disk.fill(leave_bytes)
    with pytest.raises(DiskFullError):
        add(engine, "2", chat, "longer than the rest of a page " * 500)
    assert texts(engine, chat) == ["1"]
    disk.free()
    add(engine, "3", chat)
    assert texts(engine, chat) == ["1", "3"]
    engine.close()
    library_file(home).unlink()
    again = open_engine(home, Settings())
    assert texts(again, chat) == ["1", "3"]
    again.close()


@pytest.mark.slow
@pytest.mark.parametrize("leave_mb", [3, 17, 20, 28])
def test_r28_indexing_up_to_the_last_byte_costs_no_reads(
    engine: Engine, disk: SmallDisk, home: Home, leave_mb: int
) -> None:
    """With 17 and more, the database engine would first be short of room for a checkpoint."""
    chat = engine.conversations.add("Sea", "").conversation_id
    add(engine, "1", chat)
    database = database_of(engine)
    database.write(lambda con: con.execute("CREATE TABLE t (i BIGINT, m VARCHAR)"))
    disk.fill(leave_mb * 1_000_000)
    assert isinstance(write_until_refused(database), DiskFullError)
    assert texts(engine, chat) == ["1"]
    disk.free()
    add(engine, "2", chat)
    assert texts(engine, chat) == ["1", "2"]
    with database.read() as con:
        kept = con.execute("SELECT count(*) FROM t").fetchall()
    engine.close()
    again = open_engine(home, Settings())
    with database_of(again).read() as con:
        assert con.execute("SELECT count(*) FROM t").fetchall() == kept
    assert texts(again, chat) == ["1", "2"]
    again.close()


@pytest.mark.everyday
def test_r28_a_library_opens_on_a_full_disk(engine: Engine, disk: SmallDisk, home: Home) -> None:
    chat = engine.conversations.add("Sea", "").conversation_id
    add(engine, "1", chat)
    disk.fill()
    engine.close()
    again = open_engine(home, Settings())
    assert texts(again, chat) == ["1"]
    disk.free()
    add(again, "2", chat)
    assert texts(again, chat) == ["1", "2"]
    again.close()


@pytest.mark.slow
def test_r28_a_checkpoint_that_fails_costs_no_reads(engine: Engine, disk: SmallDisk) -> None:
    """As when another program takes the room between the look at it and the checkpoint."""
    chat = engine.conversations.add("Sea", "").conversation_id
    database = database_of(engine)
    database.write(lambda con: con.execute(f"CREATE TABLE t AS {_ROWS.format(seed=7)}"))
    add(engine, "1", chat)
    disk.fill()
    with pytest.raises(DiskFullError):
        database.write(lambda con: (con.rollback(), con.execute("CHECKPOINT"), con.begin()))
    assert texts(engine, chat) == ["1"]
    disk.free()
    add(engine, "2", chat)
    assert texts(engine, chat) == ["1", "2"]


def journal_ahead(engine: Engine, home: Home) -> str:
    """Close a library whose file lost its latest message; the journal has it. The chat's id."""
    chat = engine.conversations.add("Sea", "").conversation_id
    add(engine, "1", chat)
    engine.close()
    before = library_file(home).read_bytes()
    again = open_engine(home, Settings())
    add(again, "2", chat)
    again.close()
    library_file(home).write_bytes(before)
    return chat


@pytest.mark.slow
@pytest.mark.parametrize("leave_bytes", [0, 4096, 20_000])
def test_r28_a_library_that_lost_something_opens_on_a_full_disk_and_catches_up_later(
    engine: Engine, disk: SmallDisk, home: Home, leave_bytes: int
) -> None:
    chat = journal_ahead(engine, home)
    disk.fill(leave_bytes)
    again = open_engine(home, Settings())
    assert texts(again, chat)[0] == "1"
    if again.fault or not leave_bytes:
        assert isinstance(again.fault, DiskFullError)
        with pytest.raises(DiskFullError):
            add(again, "3", chat)
    disk.free()
    add(again, "4", chat)
    assert texts(again, chat) == ["1", "2", "4"]
    again.close()


@pytest.mark.slow
def test_a_library_on_a_disk_that_is_read_only_can_be_read(
    engine: Engine, disk: SmallDisk, home: Home
) -> None:
    chat = journal_ahead(engine, home)
    disk.remount("ro")
    again = open_engine(home, Settings())
    assert texts(again, chat) == ["1"]
    assert again.fault
    with pytest.raises(DiskError, match="cannot be written"):
        add(again, "3", chat)
    disk.remount("rw")
    add(again, "4", chat)
    assert texts(again, chat) == ["1", "2", "4"]
    again.close()


@pytest.mark.slow
def test_a_library_whose_disk_goes_away_writes_nothing_and_goes_on(
    engine: Engine, disk: SmallDisk, home: Home
) -> None:
    chat = engine.conversations.add("Sea", "").conversation_id
    add(engine, "1", chat)
    away = home.root.rename(home.root.with_name("away"))
    with pytest.raises(DiskError, match="away"):
        add(engine, "2", chat)
    assert not home.root.exists()
    assert texts(engine, chat) == ["1"]
    away.rename(home.root)
    add(engine, "3", chat)
    assert texts(engine, chat) == ["1", "3"]


@pytest.mark.slow
def test_a_library_that_can_not_be_opened_again_refuses_and_is_tried_at_the_next_write(
    engine: Engine, disk: SmallDisk, home: Home
) -> None:
    """What failed must be told: the thread that writes must not end over it."""
    chat = engine.conversations.add("Sea", "").conversation_id
    database_of(engine)._connection.close()  # noqa: SLF001  as an error of the engine does
    content = library_file(home).read_bytes()
    library_file(home).write_bytes(b"no library")
    with pytest.raises(AppError):
        add(engine, "1", chat)
    with pytest.raises(AppError):
        add(engine, "1", chat)
    library_file(home).write_bytes(content)
    with suppress(AppError):
        add(engine, "1", chat)
    add(engine, "2", chat)
    assert texts(engine, chat)[-1] == "2"
