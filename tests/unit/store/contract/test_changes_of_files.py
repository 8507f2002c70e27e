"""What happened to files is noted with the change itself."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.domain import DocumentState, FileStat
from desktop_rag.core.library_events import FileChange
from desktop_rag.store.contract.engine import Engine
from tests.stored_rows import add, add_source, document, indexed, put, remove


def kinds(engine: Engine, at: float = 0.0) -> list[tuple[str, str]]:
    return sorted((c.kind.value, c.document_id) for c in engine.documents.changes_since(at))


@pytest.mark.slow
def test_files_that_come_change_move_and_go(engine: Engine) -> None:
    began_at = time.time()
    row = put(engine, "a.txt", "word")
    other = put(engine, "b.txt", "word")
    changes = {"a.txt": lambda d: replace(d, stat=FileStat(1, 2, 3), state=DocumentState.WAITING)}
    engine.documents.apply_changes(row.source_id, [], changes, [])
    moves = {"b.txt": lambda d: replace(d, path=Path("/docs/c.txt"))}
    engine.documents.apply_changes(other.source_id, [], moves, [])
    assert kinds(engine, began_at) == [
        ("added", "a.txt"), ("added", "b.txt"), ("changed", "a.txt"), ("moved", "b.txt"),
    ]  # fmt: skip
    remove(engine, "b.txt")
    [newest] = engine.documents.changes_since(began_at)[:1]
    assert (newest.kind.value, newest.name) == ("removed", "/docs/c.txt")
    assert engine.documents.changes_since(time.time() + 1) == []


def test_a_file_that_is_gone_for_a_while_is_removed_once(engine: Engine) -> None:
    row = put(engine, "a.txt", "word")
    gone = {"a.txt": lambda d: replace(d, state=DocumentState.GONE, gone_at=5.0)}
    engine.documents.apply_changes(row.source_id, [], gone, [])
    remove(engine, "a.txt")
    assert kinds(engine) == [("added", "a.txt"), ("removed", "a.txt")]


def test_a_file_that_failed_tells_why(engine: Engine) -> None:
    row = document("a.pdf")
    add(engine, row)
    outcome = indexed(engine.documents.get(["a.pdf"])[0])
    failed = replace(outcome.document, state=DocumentState.FAILED, reason="Damaged")
    engine.documents.settle([replace(outcome, document=failed)])
    newest = engine.documents.changes_since(0.0)[0]
    assert isinstance(newest, FileChange)
    assert (newest.kind.value, newest.reason) == ("failed", "Damaged")


def test_nothing_is_told_of_a_removed_source(engine: Engine) -> None:
    source_id = add_source(engine, "docs")
    add(engine, document("a.txt", source_id))
    attached = engine.sources.add_attached(
        Path("/x.txt"), engine.sources.collections()[0].collection_id
    )
    add(engine, document("x.txt", attached.source_id))
    assert kinds(engine) == [("added", "a.txt")]
    engine.sources.remove_source(source_id)
    assert kinds(engine) == []
