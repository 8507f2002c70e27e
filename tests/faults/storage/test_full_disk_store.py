"""R-28 in the store: a full disk refuses writes by name, costs no reads, and ends by itself."""

import time
from collections.abc import Iterator

import pytest

from desktop_rag.core.conversation import Message, Role
from desktop_rag.core.errors import AppError, DiskFullError
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.duckdb_engine import database_of
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
def test_r28_a_full_disk_is_named_and_a_write_succeeds_once_there_is_room(
    engine: Engine, disk: SmallDisk
) -> None:
    chat = engine.conversations.add("Sea", "").conversation_id
    add(engine, "1", chat)
    disk.fill()
    with pytest.raises(DiskFullError):
        add(engine, "2", chat, "longer than the rest of a page " * 500)
    assert texts(engine, chat) == ["1"]
    disk.free()
    add(engine, "3", chat)
    assert texts(engine, chat) == ["1", "3"]


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


@pytest.mark.everyday
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
