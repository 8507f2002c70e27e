"""R-18: the power fails. Every state the disk went through opens with what was stored by then."""

import shutil
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from desktop_rag.core.conversation import Message, Role
from desktop_rag.store.contract.engine import Engine
from tests.engines import duckdb_in
from tests.stored_rows import count_inconsistent, count_orphans, put

pytestmark = pytest.mark.slow


_COMMITS = 8
_LIBRARY = ("library.duckdb", "library.duckdb.wal")
_CUTS = 6


def texts(engine: Engine) -> list[str]:
    stored = engine.conversations
    return [m.text for c in stored.all() for m in stored.messages(c.conversation_id)]


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The files after each message; a document is stored between two of them."""
    home = tmp_path_factory.mktemp("home")
    made: list[Path] = []
    with closing(duckdb_in(home)) as engine:
        chat = engine.conversations.add("Chat", "").conversation_id
        for n in range(_COMMITS):
            put(engine, f"{n}.txt", f"document {n} about the lamp", f"its harbour {n}")
            engine.conversations.add_message(
                Message(str(n), chat, Role.USER, f"message {n}", time.time())
            )
            made.append(tmp_path_factory.mktemp("state") / "copy")
            shutil.copytree(home, made[-1])
    return made


def assert_holds(home: Path, messages: int, documents: range) -> None:
    with closing(duckdb_in(home)) as engine:
        assert texts(engine) == [f"message {n}" for n in range(messages)]
        assert len(engine.documents.documents()) in documents
        assert (count_orphans(engine.documents), count_inconsistent(engine.documents)) == (0, 0)
        engine.storage.verify()


def test_r18_each_state_has_what_was_stored_by_then(states: list[Path], tmp_path: Path) -> None:
    for n, state in enumerate(states, start=1):
        shutil.copytree(state, tmp_path / str(n))
        assert_holds(tmp_path / str(n), n, range(n, n + 1))


def test_r18_the_library_may_be_older_than_its_journal(states: list[Path], tmp_path: Path) -> None:
    """The journal is synced first; the disk may lose the writes that followed."""
    for n, (before, after) in enumerate(pairwise(states), start=1):
        home = tmp_path / str(n)
        shutil.copytree(after, home)
        for name in _LIBRARY:
            shutil.copyfile(before / name, home / name)
        assert_holds(home, n + 1, range(n, n + 1))


def test_r18_the_journal_may_be_older_than_the_library(states: list[Path], tmp_path: Path) -> None:
    for n, (before, after) in enumerate(pairwise(states), start=1):
        home = tmp_path / str(n)
        shutil.copytree(before, home)
        for name in _LIBRARY:
            shutil.copyfile(after / name, home / name)
        assert_holds(home, n + 1, range(n + 1, n + 2))


def test_r18_a_log_may_end_within_a_write(states: list[Path], tmp_path: Path) -> None:
    """Every prefix of what the last message and document added to the log."""
    before, after = ((state / _LIBRARY[1]).read_bytes() for state in states[-2:])
    assert after.startswith(before)
    step = max(1, (len(after) - len(before)) // _CUTS)
    for end in range(len(before), len(after), step):
        home = tmp_path / str(end)
        shutil.copytree(states[-1], home)
        (home / _LIBRARY[1]).write_bytes(after[:end])
        assert_holds(home, _COMMITS, range(_COMMITS - 1, _COMMITS + 1))


def test_r18_a_line_of_the_journal_may_be_cut(states: list[Path], tmp_path: Path) -> None:
    """Its transaction was never committed, so the message was never acknowledged."""
    [name] = [p.relative_to(states[-1]) for p in states[-1].glob("journal/conversations/*.jsonl")]
    before, after = ((state / name).read_bytes() for state in states[-2:])
    for cut in range(1, len(after) - len(before), (len(after) - len(before)) // _CUTS):
        home = tmp_path / str(cut)
        shutil.copytree(states[-2], home)
        (home / name).write_bytes(after[:-cut])
        assert_holds(home, _COMMITS - 1, range(_COMMITS - 1, _COMMITS))
        with closing(duckdb_in(home)) as engine:
            [chat] = engine.conversations.all()
            message = Message("new", chat.conversation_id, Role.USER, "one more", time.time())
            engine.conversations.add_message(message)
            assert texts(engine)[-1] == "one more"
