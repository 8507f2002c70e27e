"""Large documents, whose chunks are written in slices before they replace the old ones."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.store.contract.documents import IndexingOutcome
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import EVERYWHERE
from desktop_rag.store.duckdb.documents.staged_content import SLICE
from desktop_rag.store.duckdb.duckdb_engine import database_of
from desktop_rag.store.duckdb.search.postings import FINISHED
from tests.engines import duckdb_in
from tests.stored_rows import (
    add,
    count_inconsistent,
    count_orphans,
    document,
    indexed,
    put,
    ranked,
    remove,
    wait_again,
)

COUNT = 2 * SLICE + 5


class Interrupted(Sequence[Counter[str]]):
    """Counts of terms that call `between` after the first slice was written."""

    def __init__(self, counts: Sequence[Counter[str]], between: Callable[[], object]) -> None:
        self._counts = counts
        self._between = between

    def __len__(self) -> int:
        return len(self._counts)

    def __getitem__(self, index: Any) -> Any:
        if index == SLICE:
            self._between()
        return self._counts[index]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with closing(duckdb_in(tmp_path)) as opened:
        yield opened


def large(row: Document, word: str, between: Callable[[], object] = int) -> IndexingOutcome:
    outcome = indexed(row, *(f"{word} number{n}" for n in range(COUNT)))
    return replace(outcome, term_counts=Interrupted(outcome.term_counts, between))


def found(engine: Engine, word: str) -> int:
    return len(ranked(engine, [(word,)]))


def rows_of(engine: Engine, sql: str) -> list[tuple[Any, ...]]:
    with database_of(engine).read() as con:
        return con.execute(sql).fetchall()


def is_sound(engine: Engine) -> bool:
    """True when nothing is unfinished, and every chunk and posting belongs to a document."""
    assert not rows_of(engine, "FROM unfinished_content")
    spans = "SELECT 1 FROM document_texts WHERE chunk_id BETWEEN first_chunk AND last_chunk"
    for table in ("chunks", "recent_postings"):
        assert not rows_of(engine, f"FROM {table} WHERE NOT EXISTS ({spans})")
    return count_inconsistent(engine.documents) == 0 and count_orphans(engine.documents) == 0


@pytest.mark.slow
def test_a_large_document_is_wholly_old_until_it_is_wholly_new(engine: Engine) -> None:
    row = put(engine, "log.txt", "lamp", "lamp oil")
    seen: list[tuple[int, int, int]] = []

    def look() -> None:
        # A document that is stored meanwhile has higher chunk ids, and is read into memory.
        put(engine, "other.txt", "keeper")
        [(keeper, _)] = engine.lexical.best([("keeper",)], 9)
        assert engine.lexical.scores([("keeper",)], [keeper])
        runs = rows_of(engine, "FROM posting_runs")
        engine.upkeep.run()
        assert rows_of(engine, "FROM posting_runs") == runs
        seen.append((found(engine, "lamp"), found(engine, "harbour"), found(engine, "keeper")))
        assert len(engine.lexical.newest(9, EVERYWHERE)) == 2
        assert count_inconsistent(engine.documents, FINISHED) == 0

    wait_again(engine, row.document_id)
    [stored] = engine.documents.settle([large(row, "harbour", look)])
    assert seen == [(2, 0, 1)]
    assert stored.chunk_count == COUNT
    assert (found(engine, "lamp"), found(engine, "harbour")) == (0, COUNT)
    assert found(engine, "keeper") == 1
    chunks = engine.documents.chunks(row.document_id)
    assert [chunk.position for chunk in chunks] == list(range(COUNT))
    assert is_sound(engine)
    ids = [i for i, _ in engine.lexical.best([("harbour",)], COUNT)]
    assert len(engine.lexical.scores([("harbour",)], ids)) == COUNT
    engine.upkeep.run()
    assert found(engine, "harbour") == COUNT


@pytest.mark.slow
def test_a_failure_in_between_leaves_the_old_content(engine: Engine) -> None:
    row = put(engine, "log.txt", "lamp")

    def fail() -> None:
        raise ValueError("no more terms")

    wait_again(engine, row.document_id)
    with pytest.raises(ValueError, match="no more terms"):
        engine.documents.settle([large(row, "harbour", fail)])
    assert (found(engine, "lamp"), found(engine, "harbour")) == (1, 0)
    assert is_sound(engine)
    engine.documents.settle([large(row, "harbour")])
    assert found(engine, "harbour") == COUNT


@pytest.mark.slow
def test_a_document_that_is_removed_meanwhile_leaves_nothing(engine: Engine) -> None:
    row = document("log.txt")
    add(engine, row)
    gone = large(row, "harbour", lambda: remove(engine, row.document_id))
    assert engine.documents.settle([gone]) == []
    assert found(engine, "harbour") == 0
    assert rows_of(engine, "SELECT count(*) FROM chunks") == [(0,)]
    assert is_sound(engine)


@pytest.mark.everyday
def test_parts_are_written_with_their_document_and_keep_their_ids(engine: Engine) -> None:
    row = document("mail.eml")
    add(engine, row)

    def mail(word: str, part_id: str) -> IndexingOutcome:
        part = large(document(part_id), word)
        part = replace(part, document=replace(part.document, part="list.txt"))
        return replace(indexed(row, f"{word} mail"), parts=(part,))

    assert len(engine.documents.settle([mail("lamp", "a")])) == 2
    wait_again(engine, row.document_id)
    rows = engine.documents.settle([mail("harbour", "b")])
    assert [(d.document_id, d.parent_id) for d in rows] == [("mail.eml", ""), ("a", "mail.eml")]
    assert (found(engine, "lamp"), found(engine, "harbour")) == (0, COUNT + 1)
    assert len(engine.documents.chunks("a")) == COUNT
    assert is_sound(engine)


@pytest.mark.slow
def test_new_chunks_of_a_large_document_keep_its_text(engine: Engine) -> None:
    row = document("log.txt")
    add(engine, row)
    [stored] = engine.documents.settle([large(row, "lamp")])
    text = engine.documents.text(row.document_id)
    again = engine.documents.recut(large(stored, "harbour"))
    assert again is not None
    assert again.state is DocumentState.SEARCHABLE_BY_WORDS
    assert engine.documents.text(row.document_id) == text
    assert (found(engine, "lamp"), found(engine, "harbour")) == (0, COUNT)
    assert is_sound(engine)
