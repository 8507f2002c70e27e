"""What a search may see is decided by the database, not by the statements."""

import random

import pytest
from psycopg import errors

from desktop_rag.core.question import Readable
from desktop_rag.features.shared_library.postgres.database.server_database import ServerDatabase
from desktop_rag.features.shared_library.postgres.database.server_schema import (
    READER,
    become_reader,
)
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import Scope
from tests.stored_rows import collection_id, put

WORDS = ("lamp", "gate", "keel", "dusk", "wick", "reef")
DOCUMENTS = 60
ASKED = 400


def database_of(engine: Engine) -> ServerDatabase:
    assert isinstance(engine.storage, ServerDatabase)
    return engine.storage


def fill(engine: Engine) -> dict[str, set[str]]:
    """Documents in three collections; their texts by collection."""
    chance = random.Random(7)
    texts: dict[str, set[str]] = {"A": set(), "B": set(), "C": set()}
    for number in range(DOCUMENTS):
        name = chance.choice(sorted(texts))
        text = " ".join(chance.choices(WORDS, k=8)) + f" of {name} {number}"
        texts[name].add(text)
        put(engine, f"{number}.txt", text, collection=name)
    return texts


@pytest.mark.parametrize(
    "table", ["collections", "sources", "documents", "document_texts", "chunks", "postings"]
)
def test_a_reader_without_a_token_sees_nothing(engine: Engine, table: str) -> None:
    put(engine, "a.txt", "lamp")
    with database_of(engine).read() as con:
        assert con.execute(f"SELECT count(*) FROM {table}").fetchone() != (0,)
        con.own.execute(f"SET LOCAL ROLE {READER}".encode())
        assert con.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_a_token_ends_with_its_transaction(engine: Engine) -> None:
    put(engine, "a.txt", "lamp", collection="A")
    only = Readable((collection_id(engine, "A"),))
    database = database_of(engine)
    for _ in range(12):  # each connection of the pool, more than once
        with database.read() as con:
            become_reader(con.own, only)
            assert con.execute("SELECT count(*) FROM chunks").fetchone() == (1,)
        with database.read() as con:
            assert con.execute("SELECT current_user").fetchone() != (READER,)
            con.own.execute(f"SET LOCAL ROLE {READER}".encode())
            assert con.execute("SELECT count(*) FROM chunks").fetchone() == (0,)


@pytest.mark.parametrize(
    "table",
    ["conversations", "messages", "feedback", "interactions", "evaluations", "file_changes"],
)
def test_a_reader_has_no_right_to_what_is_personal(engine: Engine, table: str) -> None:
    with database_of(engine).outside_transactions() as connection:
        connection.execute(f"SET ROLE {READER}".encode())
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute(f"SELECT count(*) FROM {table}".encode())


def test_a_reader_can_change_nothing(engine: Engine) -> None:
    put(engine, "a.txt", "lamp", collection="A")
    with database_of(engine).outside_transactions() as connection:
        connection.execute(f"SET ROLE {READER}".encode())
        for statement in ("DELETE FROM chunks", "UPDATE documents SET state = ''"):
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(statement.encode())


def test_random_searches_of_two_readers_find_their_own_rows_only(engine: Engine) -> None:
    texts, chance = fill(engine), random.Random(11)
    readers = {
        names: Readable(tuple(collection_id(engine, name) for name in names))
        for names in (("A",), ("B", "C"))
    }
    for _ in range(ASKED):
        names = chance.choice(sorted(readers))
        own = {text for name in names for text in texts[name]}
        words = [(word,) for word in chance.sample(WORDS, k=chance.randint(1, 3))]
        excluded = ((chance.choice(WORDS),),) if chance.random() < 0.3 else ()
        scope = Scope(readable=readers[names], excluded=excluded)
        found = dict(engine.lexical.best(words, 10, scope))
        passages = {passage.text for passage in engine.lexical.passages(found)}
        held = {
            text
            for text in own
            if any(word in text.split() for (word,) in words)
            and not any(word in text.split() for (word,) in excluded)
        }
        assert passages <= held
        assert len(passages) == min(10, len(held))
