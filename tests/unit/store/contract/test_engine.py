"""What holds for every store: writes whole or not at all, reads that never wait, closing."""

import re
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.errors import AppError
from desktop_rag.features.evaluation.experiments.experiment_store import ExperimentStore
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import NamedDocuments, Scope
from tests.engines import Open
from tests.stored_rows import (
    add,
    count_inconsistent,
    count_orphans,
    document,
    found,
    indexed,
    put,
    wait_again,
)

WAIT_S = 20.0
STORE_IMPORT = re.compile(r"^from desktop_rag\.store\.([\w.]+) import", re.MULTILINE)


def in_threads(*works: Callable[[], object]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
        assert not thread.is_alive()


def test_this_suite_knows_the_contract_only() -> None:
    modules = [path.read_text("utf-8") for path in Path(__file__).parent.glob("*.py")]
    imported = {name for text in modules for name in STORE_IMPORT.findall(text)}
    assert imported
    assert all(name.startswith("contract.") for name in imported)


@pytest.mark.slow
def test_what_was_written_is_there_after_opening_again(open_engine: Open, tmp_path: Path) -> None:
    first = open_engine(tmp_path)
    row = put(first, "a.txt", "lighthouse keeper", "its lamp")
    vectors = first.models.vectors("model", 4, "spec")
    vectors.add(
        [first.chunks.without_vectors(vectors.model_id, 1)[0][0]], np.full((1, 4), 0.5, np.float32)
    )
    first.upkeep.run()
    conversation = first.conversations.add("Lamps", "")
    scores = first.lexical.best([("lamp",)], 10)
    first.close()
    second = open_engine(tmp_path)
    assert second.documents.documents() == [row]
    assert second.lexical.best([("lamp",)], 10) == scores
    again = second.models.vectors("model", 4)
    assert (again.model_id, second.chunks.vector_counts(again.model_id)) == (
        vectors.model_id,
        (2, 1),
    )
    assert second.conversations.all() == [conversation]
    put(second, "b.txt", "lighthouse again")
    assert found(second, "lighthous") == ["lighthouse keeper", "lighthouse again"]
    second.close()


def test_libraries_of_two_folders_know_nothing_of_each_other(
    open_engine: Open, engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    other = open_engine(tmp_path / "other")
    put(other, "a.txt", "lighthouse")
    assert engine.documents.documents() == []
    assert found(engine, "lighthous") == []
    other.close()


def test_a_failing_write_changes_nothing_and_is_raised_as_it_is(engine: Engine) -> None:
    row = put(engine, "a.txt", "lighthouse")
    other = put(engine, "b.txt", "harbour")

    def fail(now: Document) -> Document:
        raise ZeroDivisionError(now.document_id)

    changes = {"b.txt": lambda d: replace(d, state=DocumentState.SKIPPED), "a.txt": fail}
    new = document("new.txt", row.source_id)
    with pytest.raises(ZeroDivisionError):
        engine.documents.apply_changes(row.source_id, [new], changes, ["b.txt"])
    assert engine.documents.documents() == [row, other]
    assert found(engine, "harbour") == ["harbour"]
    assert engine.documents.apply_changes(row.source_id, [new], {}, []) == [new]


@pytest.mark.slow
def test_content_that_cannot_be_stored_leaves_all_of_the_old(engine: Engine) -> None:
    first, second = put(engine, "a.txt", "lighthouse"), put(engine, "b.txt", "harbour")
    for row in (first, second):
        wait_again(engine, row.document_id)
    waiting = engine.documents.documents()
    spoilt = replace(indexed(second, "new harbour"), text="half a pair: \ud800")
    with pytest.raises(Exception, match="surrogate"):
        engine.documents.settle([indexed(first, "new lighthouse"), spoilt])
    assert engine.documents.documents() == waiting
    assert found(engine, "new") == []
    assert [found(engine, word) for word in ("lighthous", "harbour")] == [
        ["lighthouse"],
        ["harbour"],
    ]
    assert engine.documents.text("a.txt") == "lighthouse"
    assert count_orphans(engine.documents) == count_inconsistent(engine.documents) == 0


def test_a_document_settled_twice_is_a_bug_and_stores_nothing(engine: Engine) -> None:
    row = document("a.txt")
    add(engine, row)
    with pytest.raises(AssertionError):
        engine.documents.settle([indexed(row, "one"), indexed(row, "two")])
    assert [d.state for d in engine.documents.documents()] == [DocumentState.WAITING]
    assert count_inconsistent(engine.documents) == 0


@pytest.mark.slow
def test_reads_during_a_write_see_what_was_there_before(engine: Engine) -> None:
    row = put(engine, "a.txt", "lighthouse")
    is_writing, may_end = threading.Event(), threading.Event()

    def skip(now: Document) -> Document:
        is_writing.set()
        assert may_end.wait(WAIT_S)
        return replace(now, state=DocumentState.SKIPPED, chunk_count=0)

    changes = {"a.txt": skip}
    new = [document("new.txt", row.source_id)]
    write = threading.Thread(
        target=engine.documents.apply_changes, args=(row.source_id, new, changes, [])
    )
    write.start()
    try:
        assert is_writing.wait(WAIT_S)
        assert engine.documents.documents() == [row]
        assert found(engine, "lighthous") == ["lighthouse"]
        named = NamedDocuments(frozenset({"a"}), 1, ("a.txt",))
        assert engine.names.matching(["a"], [], [], Scope(), 8) == ([named], 1)
    finally:
        may_end.set()
        write.join(WAIT_S)
    assert [d.state.value for d in engine.documents.documents()] == ["skipped", "waiting"]
    assert found(engine, "lighthous") == []


@pytest.mark.slow
def test_what_a_write_looks_at_no_other_changes_meanwhile(engine: Engine) -> None:
    row = document("a.txt")
    add(engine, row)
    [row] = engine.documents.documents()
    grow = {"a.txt": lambda d: replace(d, title=d.title + "+")}
    write = lambda: engine.documents.apply_changes(row.source_id, [], grow, [])  # noqa: E731
    in_threads(*[write] * 12, *[engine.documents.documents] * 12)
    assert engine.documents.documents()[0].title == "a.txt" + 12 * "+"


def test_a_default_collection_is_made_once_by_many(engine: Engine) -> None:
    in_threads(*[lambda: engine.sources.default_collection("Papers")] * 8)
    assert [c.name for c in engine.sources.collections()] == ["Papers"]


@pytest.mark.slow
def test_documents_are_found_whole_while_they_are_replaced(engine: Engine) -> None:
    row = put(engine, "a.txt", "lamp 0", "lamp 0 too")
    is_done, seen = threading.Event(), list[list[str]]()

    def rewrite() -> None:
        wait = {"a.txt": lambda d: replace(d, state=DocumentState.WAITING)}
        for turn in range(1, 6):
            engine.documents.apply_changes(row.source_id, [], wait, [])
            engine.documents.settle([indexed(row, f"lamp {turn}", f"lamp {turn} too")])
        is_done.set()

    def look() -> None:
        while not is_done.is_set():
            seen.append([chunk.text for chunk in engine.documents.chunks("a.txt")])

    in_threads(rewrite, look, look)
    whole = [[f"lamp {turn}", f"lamp {turn} too"] for turn in range(6)]
    assert seen
    assert all(texts in whole for texts in seen)


@pytest.mark.slow
def test_upkeep_runs_beside_reads_and_writes(engine: Engine) -> None:
    put(engine, "a.txt", "lamp first")

    def write() -> None:
        for n in range(5):
            put(engine, f"{n}.txt", f"lamp word{n}")

    in_threads(write, engine.upkeep.run, lambda: found(engine, "lamp"))
    assert len(engine.lexical.best([("lamp",)], 10)) == 6
    assert engine.lexical.weigh([("lamp",)]).counts == (6,)
    assert engine.upkeep.is_due() is False


def test_after_closing_everything_is_refused(engine: Engine) -> None:
    vectors = engine.models.vectors("model", 4)
    engine.close()
    engine.close()
    for work in (
        engine.documents.documents,
        engine.documents.requeue_failed,
        lambda: engine.lexical.best([("lamp",)], 1),
        lambda: engine.models.search(vectors.model_id).nearest(np.ones(4, np.float32), 1),
        lambda: engine.models.vectors("model", 4, "spec"),
        lambda: engine.sources.set_refreshed("a", 1.0),
        lambda: engine.conversations.add("Lamps", ""),
        engine.store(ExperimentStore).sets,
    ):
        with pytest.raises(AppError, match="closed"):
            work()


@pytest.mark.slow
def test_closing_waits_for_the_write_under_way(open_engine: Open, tmp_path: Path) -> None:
    engine = open_engine(tmp_path)
    row = document("a.txt")
    add(engine, row)
    [row] = engine.documents.documents()
    is_writing, may_end = threading.Event(), threading.Event()

    def retitle(now: Document) -> Document:
        is_writing.set()
        assert may_end.wait(WAIT_S)
        return replace(now, title="new title")

    write = lambda: engine.documents.apply_changes(row.source_id, [], {"a.txt": retitle}, [])  # noqa: E731
    threads = [threading.Thread(target=write), threading.Thread(target=engine.close)]
    threads[0].start()
    assert is_writing.wait(WAIT_S)
    threads[1].start()
    may_end.set()
    for thread in threads:
        thread.join(WAIT_S)
    again = open_engine(tmp_path)
    assert [d.title for d in again.documents.documents()] == ["new title"]
    again.close()
