"""What exists only in the library also lies in files beside it, and comes back from them."""

import json
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.conversation import Conversation, Feedback, Image, Message, Role
from desktop_rag.core.errors import AppError
from desktop_rag.features.evaluation.experiments.experiment_store import ExperimentStore
from desktop_rag.store.contract.database import Entity
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.precious import Entry
from desktop_rag.store.duckdb.database.connections import Connection
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.database.journal import Line
from desktop_rag.store.duckdb.duckdb_engine import database_of, engine_over
from tests.stored_rows import add, document

Open = Callable[[], Engine]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return tmp_path / "library.duckdb"


@pytest.fixture
def open_engine(library: Path) -> Iterator[Open]:
    """Opens the library again and again; an earlier opening is closed first."""
    opened: list[Engine] = []

    def reopen() -> Engine:
        while opened:
            opened.pop().close()
        database = Database(library, memory_mb=64, backups=library.parent)
        opened.append(engine_over(database))
        return opened[-1]

    yield reopen
    while opened:
        opened.pop().close()


def say(engine: Engine, conversation: Conversation, text: str, role: Role = Role.USER) -> Message:
    message = Message(uuid.uuid4().hex, conversation.conversation_id, role, text, 1.0)
    engine.conversations.add_message(message)
    return message


def journal_text(library: Path) -> str:
    files = sorted(library.with_name("journal").rglob("*.jsonl"))
    return "".join(file.read_text("utf-8") for file in files)


def fill(engine: Engine) -> Conversation:
    """Puts one of each kind into the library."""
    collection = engine.sources.add_collection("Sea")
    source = engine.sources.add_source(Path("/docs/sea"), collection.collection_id)
    add(engine, document("boat", source.source_id))
    engine.tags.change(["boat"], ["to do", "Öl"], [])
    conversation = engine.conversations.add("Lamps", collection.collection_id)
    say(engine, conversation, "When is it lit?")
    answer = say(engine, conversation, "At dusk.", Role.ASSISTANT)
    engine.conversations.add_feedback(answer.message_id, Feedback.LIKED)
    engine.assistants.put(Assistant("a1", "Keeper"))
    engine.attachments.put_image("i1", Image("image/png", b"\x00\xff bytes"))
    return conversation


def contents(engine: Engine, conversation: Conversation) -> tuple[object, ...]:
    return (
        engine.conversations.all(),
        engine.conversations.messages(conversation.conversation_id),
        engine.sources.collections(),
        engine.sources.sources(),
        engine.assistants.all(),
        engine.tags.given(),
        engine.attachments.image("i1"),
    )


@pytest.mark.slow
def test_a_library_that_is_gone_comes_back(open_engine: Open, library: Path) -> None:
    engine = open_engine()
    conversation = fill(engine)
    before = contents(engine, conversation)
    engine.close()
    library.unlink()
    assert contents(open_engine(), conversation) == before


@pytest.mark.slow
def test_changes_that_the_library_lost_come_back(open_engine: Open, library: Path) -> None:
    engine = open_engine()
    conversation = fill(engine)
    engine.close()
    older = library.with_name("older")
    shutil.copyfile(library, older)
    engine = open_engine()
    say(engine, conversation, "Who lights it?")
    engine.conversations.rename(conversation.conversation_id, "Lights")
    engine.sources.remove_source(engine.sources.sources()[0].source_id)
    before = contents(engine, conversation)
    engine.close()
    shutil.copyfile(older, library)
    assert contents(open_engine(), conversation) == before


@pytest.mark.slow
def test_a_library_without_files_beside_it_gets_them(open_engine: Open, library: Path) -> None:
    engine = open_engine()
    conversation = fill(engine)
    before = contents(engine, conversation)
    engine.close()
    shutil.rmtree(library.with_name("journal"))
    open_engine().close()
    library.unlink()
    assert contents(open_engine(), conversation) == before


@pytest.mark.everyday
def test_files_older_than_the_library_are_written_anew(open_engine: Open, library: Path) -> None:
    engine = open_engine()
    conversation = fill(engine)
    engine.close()
    journal, older = library.with_name("journal"), library.with_name("older")
    shutil.copytree(journal, older)
    engine = open_engine()
    say(engine, conversation, "Who lights it?")
    before = contents(engine, conversation)
    engine.close()
    shutil.rmtree(journal)
    older.rename(journal)
    open_engine().close()
    library.unlink()
    assert contents(open_engine(), conversation) == before


@pytest.mark.slow
def test_files_that_were_interrupted_while_written_anew_are_not_taken_for_all(
    open_engine: Open, library: Path
) -> None:
    engine = open_engine()
    conversation = fill(engine)
    before = contents(engine, conversation)
    engine.close()
    journal = library.with_name("journal")
    half = library.with_name("journal.new")
    journal.rename(half)
    (half / "generation").unlink()
    shutil.rmtree(half / "conversations")
    open_engine().close()
    assert not half.exists()
    library.unlink()
    assert contents(open_engine(), conversation) == before


@pytest.mark.slow
def test_what_is_deleted_for_good_is_in_no_file(open_engine: Open, library: Path) -> None:
    engine = open_engine()
    conversation = fill(engine)
    engine.conversations.set_deleted(conversation.conversation_id, True)
    assert "At dusk." in journal_text(library)
    engine.conversations.purge_deleted()
    assert "At dusk." not in journal_text(library)
    assert list(library.with_name("journal").glob("conversations/*")) == []
    engine.close()
    library.unlink()
    assert open_engine().conversations.all() == []


@pytest.mark.slow
@pytest.mark.parametrize("left", [0, 1, 40, -1])
def test_a_last_line_cut_off_is_left_out(open_engine: Open, library: Path, left: int) -> None:
    engine = open_engine()
    conversation = fill(engine)
    engine.close()
    [file] = library.with_name("journal").glob("conversations/*")
    *lines, last, _ = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join([*lines, last[:left]]))
    library.unlink()
    engine = open_engine()
    texts = [m.text for m in engine.conversations.messages(conversation.conversation_id)]
    assert texts == ["When is it lit?", "At dusk."]
    say(engine, conversation, "Who lights it?")
    engine.close()
    library.unlink()
    assert len(open_engine().conversations.messages(conversation.conversation_id)) == 3


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"12", b"\x00" * 20, b"none"])
def test_a_damaged_number_is_found_in_the_lines(
    open_engine: Open, library: Path, content: bytes
) -> None:
    engine = open_engine()
    conversation = fill(engine)
    before = contents(engine, conversation)
    engine.close()
    library.unlink()
    if content != b"12":
        library.with_name("journal").joinpath("generation").write_bytes(content)
    assert contents(open_engine(), conversation) == before


@pytest.mark.slow
def test_a_change_that_the_journal_cannot_hold_is_no_change(
    open_engine: Open, library: Path
) -> None:
    engine = open_engine()
    conversation = fill(engine)
    [file] = library.with_name("journal").glob("conversations/*")
    file.unlink()
    file.mkdir()
    with pytest.raises(AppError, match="could not be saved"):
        say(engine, conversation, "Who lights it?")
    texts = [m.text for m in engine.conversations.messages(conversation.conversation_id)]
    assert texts == ["When is it lit?", "At dusk."]


@pytest.mark.everyday
@pytest.mark.parametrize("goes_on", [False, True])
def test_a_change_whose_commit_fails_does_not_come_back_at_the_next_opening(
    open_engine: Open, library: Path, goes_on: bool
) -> None:
    engine = open_engine()
    chat = fill(engine).conversation_id
    database = database_of(engine)
    database.write(lambda con: con.execute("CREATE TABLE numbers (n INTEGER PRIMARY KEY)"))
    with database.read() as other:

        def rename(con: Connection) -> None:
            con.execute("UPDATE conversations SET title = 'Refused'")
            con.execute("INSERT INTO numbers VALUES (1)")
            other.execute("INSERT INTO numbers VALUES (1)")

        with pytest.raises(AppError, match="could not be saved"):
            database.write(rename, changes=[Entity("conversation", chat)])
    if goes_on:
        engine.tags.change(["boat"], ["later"], [])
    engine = open_engine()
    assert [c.title for c in engine.conversations.all()] == ["Lamps"]
    engine.close()
    library.unlink()
    assert [c.title for c in open_engine().conversations.all()] == ["Lamps"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        '{"n": 99, "kind": "../table", "key": "x", "rows": {}}',
        '{"n": "99", "kind": "message", "key": "x", "rows": {}}',
        '{"n": 99, "kind": "message", "key": "x", "rows": {"messages": ["x"]}}',
        '{"n": 99, "kind": "message", "key": ["x"], "rows": {}}',
        '{"n": 99, "kind": "message", "key": "x"}',
        "[]",
        '"x"',
        "[" * 5000,
    ],
)
def test_foreign_lines_are_refused(line: str) -> None:
    with pytest.raises(ValueError, match="no line"):
        Line.decoded(line.encode())


@pytest.mark.slow
def test_rows_that_do_not_fit_are_left_out(open_engine: Open, library: Path) -> None:
    engine = open_engine()
    fill(engine)
    engine.close()
    file = library.with_name("journal") / "assistants.jsonl"
    good = json.loads(file.read_text("utf-8"))
    row = good["rows"]["assistants"][0]
    wrong = {"n": 98, "kind": "evaluation", "key": "e1"}
    values = {"evaluation_id": "e1", "created_at": "no time"}
    stolen = {**good, "n": 99, "key": "a2", "rows": {"assistants": [row]}}
    lines = [{**wrong, "rows": {"evaluations": [values]}}, stolen]
    with file.open("a", encoding="utf-8") as more:
        more.writelines(json.dumps(line) + "\n" for line in lines)
    library.unlink()
    engine = open_engine()
    assert [a.name for a in engine.assistants.all()] == ["Keeper"]
    assert engine.store(ExperimentStore).sets() == []


@pytest.mark.slow
def test_a_column_of_another_version_is_left_out(open_engine: Open, library: Path) -> None:
    engine = open_engine()
    fill(engine)
    engine.close()
    file = library.with_name("journal") / "assistants.jsonl"
    line = json.loads(file.read_text("utf-8"))
    line["rows"]["assistants"][0]["mood"] = "cheerful"
    file.write_text(json.dumps(line) + "\n", encoding="utf-8")
    library.unlink()
    assert [a.name for a in open_engine().assistants.all()] == ["Keeper"]


@pytest.mark.everyday
def test_only_this_user_can_read_the_files(open_engine: Open, library: Path) -> None:
    with closing(open_engine()) as engine:
        fill(engine)
    for path in library.with_name("journal").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize("is_cut_off", [True, False])
def test_r31_a_change_of_many_things_that_was_cut_off_happened_as_a_whole_or_not_at_all(
    open_engine: Open, library: Path, is_cut_off: bool
) -> None:
    engine = open_engine()
    chats = [engine.conversations.add(f"Chat {n}", "").conversation_id for n in range(3)]
    entries = list[Entry]()
    engine.precious.read(entries.append)
    engine.close()
    shutil.rmtree(library.with_name("journal"))
    library.unlink()
    engine = open_engine()
    mine = engine.conversations.add("Mine", "").conversation_id
    engine.close()
    before = library.read_bytes()
    engine = open_engine()
    engine.precious.merge(lambda _present: entries, list)
    engine.close()
    library.write_bytes(before)
    if is_cut_off:
        number = library.with_name("journal") / "generation"
        number.write_bytes(number.read_bytes().replace(b" \n", b"?\n"))
        next(library.with_name("journal").glob(f"conversations/{chats[1]}*")).unlink()
    expected = {mine} if is_cut_off else {mine, *chats}
    for _ in range(2):
        engine = open_engine()
        assert {c.conversation_id for c in engine.conversations.all()} == expected
        engine.close()
        library.unlink()
