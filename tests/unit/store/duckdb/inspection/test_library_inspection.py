"""The rules of a library hold after real work, each is seen broken, and repair mends the index."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from desktop_rag.core.domain import DocumentState
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.duckdb.duckdb_engine import library_file
from desktop_rag.store.opening import open_engine, open_engine_to_read
from tests.conftest import services_over
from tests.indexed import index_texts

WORD = "(SELECT chunk_id FROM chunks LIMIT 1)"
DOCUMENT = "(SELECT document_id FROM chunks LIMIT 1)"
SHARED = "(SELECT content_hash FROM vectors_1 LIMIT 1)"

TEXTS = {
    "tower.md": "# Tower\n\nClimbing the tower costs five pounds.\n\n# Hours\n\nIt opens at ten.\n",
    "note.txt": "The keeper lights the lamp at dusk.",
    "boats.txt": "Boats leave for the island at nine.",
    "fees.csv": "who,pounds\nadult,8\nchild,4\n",
}
# What breaks each rule, as SQL.
BROKEN = {
    "documents listed twice":
        f"INSERT INTO documents FROM documents WHERE document_id = {DOCUMENT}",
    "documents without a source":
        f"UPDATE documents SET source_id = 'x' WHERE document_id = {DOCUMENT}",
    "documents inside one that does not exist":
        f"UPDATE documents SET parent_id = 'x' WHERE document_id = {DOCUMENT}",
    "texts without a document": "INSERT INTO document_texts VALUES (1, 'x', 'text', '', 1, 0)",
    "documents with two texts":
        f"INSERT INTO document_texts FROM document_texts WHERE document_id = {DOCUMENT}",
    "passages without a document": f"DELETE FROM documents WHERE document_id = {DOCUMENT}",
    "documents with other passages than counted": f"DELETE FROM chunks WHERE chunk_id = {WORD}",
    "passages with the number of another":
        f"UPDATE chunks SET chunk_id = chunk_id + 1 WHERE chunk_id = {WORD}",
    "passages without content": f"UPDATE chunks SET text = '' WHERE chunk_id = {WORD}",
    "passages outside the text of their document":
        f"UPDATE chunks SET end_offset = 10000000 WHERE chunk_id = {WORD}",
    "passages listed as removed": f"INSERT INTO dead_chunks {WORD}",
    "passages with other words than counted": f"DELETE FROM postings WHERE chunk_id = {WORD}",
    "postings without a passage": f"DELETE FROM chunks WHERE chunk_id = {WORD}",
    "terms with other postings than counted":
        "DELETE FROM terms WHERE key = (SELECT min(key) FROM terms)",
    "models without a table, or the reverse": "DROP TABLE vectors_1",
    "contents with two vectors":
        f"INSERT INTO vectors_1 FROM vectors_1 WHERE content_hash = {SHARED}",
    "vectors of a wrong size":
        f"UPDATE vectors_1 SET vector = '' WHERE content_hash = {SHARED}",
    "passages that lack their vector":
        f"DELETE FROM vectors_2 WHERE content_hash = {SHARED};"
        f" DELETE FROM vectors_1 WHERE content_hash = {SHARED}",
}  # fmt: skip
# Chats and folders: mended by the journal.
BROKEN_PRECIOUS = {
    "collections listed twice": "INSERT INTO collections FROM collections",
    "folders and links listed twice": "INSERT INTO sources FROM sources",
    "chats listed twice": "INSERT INTO conversations FROM conversations",
    "messages listed twice": "INSERT INTO messages FROM messages",
    "folders and links without a collection": "DELETE FROM collections",
    "messages without a chat": "DELETE FROM conversations",
    "citations without a message": "DELETE FROM messages",
    "remembered answers without a chat":
        "INSERT INTO interactions (interaction_id, conversation_id) VALUES ('i', 'x')",
}  # fmt: skip


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a closed library: a few documents, a chat, sorted postings."""
    folder = tmp_path_factory.mktemp("indexed")
    with services_over(folder) as services:
        index_texts(services, folder / "documents", TEXTS)
        for _ in services.chat.ask("What does the tower cost?", cancel=threading.Event()):
            pass
        services.engine.upkeep.run()
    return folder / "home"


@pytest.fixture
def home(indexed: Path, tmp_path: Path) -> Home:
    return Home(shutil.copytree(indexed, tmp_path / "home"))


def broken_by(home: Home, sql: str) -> None:
    connection = duckdb.connect(str(library_file(home)))
    connection.execute(sql)
    connection.close()


def found(engine: Engine) -> dict[str, int]:
    return {d.what: d.count for d in engine.inspection.discrepancies(lambda: True)}


@pytest.fixture
def engine(home: Home) -> Iterator[Engine]:
    with closing(open_engine(home, Settings())) as opened:
        yield opened


@pytest.mark.everyday
def test_a_library_that_was_used_breaks_no_rule(engine: Engine) -> None:
    assert engine.documents.counts().total > 3
    assert engine.conversations.all()
    assert found(engine) == {}
    assert engine.inspection.waiting_contents() == 0


@pytest.mark.slow
@pytest.mark.parametrize("what", [*BROKEN, *BROKEN_PRECIOUS])
def test_each_rule_is_seen_broken(home: Home, what: str) -> None:
    broken_by(home, (BROKEN | BROKEN_PRECIOUS)[what])
    with closing(open_engine_to_read(home, Settings())) as engine:
        assert what in found(engine)
        [row] = [d for d in engine.inspection.discrepancies(lambda: True) if d.what == what]
    assert row.count > 0
    assert row.is_precious == (what in BROKEN_PRECIOUS)


@pytest.mark.slow
@pytest.mark.parametrize("what", [what for what in BROKEN if "models" not in what])
def test_repair_leaves_an_index_without_discrepancies(home: Home, what: str) -> None:
    broken_by(home, BROKEN[what])
    with closing(open_engine(home, Settings())) as engine:
        before = {d.document_id for d in engine.documents.documents()}
        done = engine.inspection.repair()
        assert found(engine) == {}
        after = engine.documents.documents()
        assert {d.document_id for d in after} <= before
        waiting = [d for d in after if d.state is DocumentState.WAITING]
        assert len(waiting) <= done.read_again
        assert (
            done.removed
            or done.read_again
            or engine.inspection.waiting_contents()
            or ("terms" in what)
        )
        # A second repair finds nothing.
        again = engine.inspection.repair()
        assert (again.removed, again.read_again) == (0, 0)


@pytest.mark.everyday
def test_a_cancelled_inspection_ends_early(engine: Engine) -> None:
    asked: list[int] = []

    def may_go_on() -> bool:
        asked.append(1)
        return len(asked) < 3

    assert engine.inspection.discrepancies(may_go_on) == []
