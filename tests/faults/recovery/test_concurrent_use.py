"""R-19: two threads write, one reads. No read sees a part of a write."""

import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.conversation import Message, Role
from desktop_rag.store.contract.engine import Engine
from tests.engines import duckdb_in
from tests.stored_rows import (
    add,
    add_source,
    count_inconsistent,
    count_orphans,
    document,
    found,
    indexed,
    remove,
    wait_again,
)

pytestmark = pytest.mark.slow


_DOCUMENTS = 4
_ROUNDS = 15
_PASSAGES = (1, 6)
_STEPS = 30
_WORDS = ("lamp", "fog", "tide")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = duckdb_in(tmp_path)
    yield engine
    engine.close()


def rewrite(engine: Engine, rounds: int) -> None:
    """Give each document a new version again and again; every passage has its word."""
    chance = random.Random(rounds)
    for version in range(rounds):
        for n in range(_DOCUMENTS):
            wait_again(engine, f"{n}.txt")
            [row] = engine.documents.get([f"{n}.txt"])
            texts = [f"version {version} of it"] * chance.randint(*_PASSAGES)
            engine.documents.settle([indexed(row, *texts)])


def converse(engine: Engine, chat: str, rounds: int) -> None:
    for n in range(rounds):
        engine.conversations.add_message(Message(f"m{n}", chat, Role.USER, str(n), 0.0))


def look(engine: Engine, chat: str) -> None:
    """One read of everything that is written meanwhile."""
    seen = [m.text for m in engine.conversations.messages(chat)]
    assert seen == [str(n) for n in range(len(seen))]
    for n in range(_DOCUMENTS):
        chunks = engine.documents.chunks(f"{n}.txt")
        assert len({chunk.text for chunk in chunks}) <= 1, chunks
        assert [chunk.position for chunk in chunks] == list(range(len(chunks)))
        [row] = engine.documents.get([f"{n}.txt"])
        assert row.chunk_count == 0 or _PASSAGES[0] <= row.chunk_count <= _PASSAGES[1]
    assert (count_orphans(engine.documents), count_inconsistent(engine.documents)) == (0, 0)


def test_r19_no_read_sees_a_part_of_a_write(engine: Engine) -> None:
    source = add_source(engine, "sea")
    add(engine, *(replace(document(f"{n}.txt"), source_id=source) for n in range(_DOCUMENTS)))
    chat = engine.conversations.add("Chat", "").conversation_id
    failed: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    works = [lambda: rewrite(engine, _ROUNDS), lambda: converse(engine, chat, _ROUNDS * 4)]
    writers = [threading.Thread(target=run, args=(work,)) for work in works]
    for writer in writers:
        writer.start()
    looks = 0
    while any(writer.is_alive() for writer in writers):
        look(engine, chat)
        looks += 1
    assert failed == []
    look(engine, chat)
    assert looks > 1
    assert len(engine.conversations.messages(chat)) == _ROUNDS * 4
    assert set(found(engine, "version")) == {f"version {_ROUNDS - 1} of it"}


@pytest.mark.parametrize("seed", range(3))
def test_r19_the_store_is_a_dictionary(engine: Engine, seed: int) -> None:
    """Two writers, each of documents of its own, write and remove at once."""
    expected: dict[str, str] = {}
    sources = [add_source(engine, str(writer)) for writer in range(2)]

    def obey(writer: int) -> None:
        chance = random.Random(f"{seed} {writer}")
        mine: dict[str, str] = {}
        for _ in range(_STEPS):
            key, word = f"{writer} {chance.choice('abc')}.txt", chance.choice(_WORDS)
            if key in mine and chance.random() < 1 / 3:
                remove(engine, key)
                del mine[key]
                continue
            if key not in mine:
                add(engine, replace(document(key), source_id=sources[writer]))
            wait_again(engine, key)
            [row] = engine.documents.get([key])
            engine.documents.settle([indexed(row, f"{word} in {key}")])
            mine[key] = word
        expected.update(mine)

    writers = [threading.Thread(target=obey, args=(n,)) for n in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    stored = {
        d.document_id: [chunk.text.split()[0] for chunk in engine.documents.chunks(d.document_id)]
        for d in engine.documents.documents()
    }
    assert expected
    assert stored == {key: [word] for key, word in expected.items()}
    for word in _WORDS:
        assert len(found(engine, word)) == list(expected.values()).count(word)
