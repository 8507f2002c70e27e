from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.anchors import Anchor
from desktop_rag.core.domain import Document, DocumentState, FileStat
from desktop_rag.core.parsed import Chunk
from desktop_rag.core.terms import term_counts
from desktop_rag.ingest.chunker import content_hash
from desktop_rag.store.content import Outcome
from desktop_rag.store.database import Database
from desktop_rag.store.documents import DocumentStore
from desktop_rag.store.lexical import LexicalStore
from desktop_rag.store.sources import SourceStore


class Stores(DocumentStore, SourceStore):
    """Documents and sources of one database."""


@pytest.fixture
def store(database: Database) -> Stores:
    return Stores(database)


@pytest.fixture
def lexical(database: Database) -> LexicalStore:
    return LexicalStore(database)


def document(name: str, source_id: str = "s") -> Document:
    path = Path("/docs") / name
    stat = FileStat(10, 20, 2**63 + 5)
    return Document(name, source_id, path, name, "text", stat, "", DocumentState.WAITING)


def indexed(row: Document, *texts: str) -> Outcome:
    chunks = tuple(
        Chunk(n, 10 * n, 10 * n + len(text), text, Anchor(line=n), "", content_hash("", text))
        for n, text in enumerate(texts)
    )
    done = replace(row, state=DocumentState.SEARCHABLE_BY_WORDS, chunk_count=len(chunks))
    counts = tuple(term_counts(text) for text in texts)
    return Outcome(done, " ".join(texts), chunks, counts)


def add(store: Stores, *rows: Document) -> None:
    """Rows of files that wait, in a source of their own unless they name one."""
    for row in rows:
        source_id = row.source_id
        if source_id == "s":
            source_id = store.add_source(row.path, "c").source_id
        assert store.apply_changes(source_id, [replace(row, source_id=source_id)], {}, [])


def wait_again(store: Stores, row: Document) -> None:
    """What a scan does with a file that changed."""
    [now] = store.get([row.document_id])
    change = {row.document_id: lambda d: replace(d, state=DocumentState.WAITING)}
    assert store.apply_changes(now.source_id, [], change, [])


def found(lexical: LexicalStore, term: str) -> list[str]:
    return [p.text for p in lexical.passages(dict(lexical.best([(term,)], 10)))]


def test_a_document_comes_back_as_it_was_stored(store: Stores) -> None:
    source = store.add_source(Path("/docs"), "c")
    row = document("a.txt", source.source_id)
    assert store.apply_changes(source.source_id, [row], {}, []) == [row]
    assert store.documents() == store.get(["a.txt", "unknown"]) == [row]
    assert store.documents(state=DocumentState.FAILED) == []


def test_indexing_again_replaces_text_and_words(store: Stores, lexical: LexicalStore) -> None:
    row = document("a.txt")
    add(store, row)
    store.settle([indexed(row, "lighthouse keeper", "second part")])
    wait_again(store, row)
    assert found(lexical, "lighthous") == ["lighthouse keeper"]
    store.settle([indexed(row, "harbour master")])
    assert found(lexical, "lighthous") == []
    assert found(lexical, "harbour") == ["harbour master"]
    assert store.text("a.txt") == "harbour master"
    assert [d.chunk_count for d in store.documents()] == [1]
    assert store.count_inconsistent() == 0


def test_replacing_one_document_leaves_its_neighbours(store: Stores, lexical: LexicalStore) -> None:
    rows = [document(f"{n}.txt") for n in range(3)]
    add(store, *rows)
    store.settle([indexed(row, f"shared word{row.title[0]}", "shared tail") for row in rows])
    wait_again(store, rows[1])
    store.settle([indexed(rows[1], "replaced")])
    assert len(found(lexical, "share")) == 4
    assert found(lexical, "word2") == ["shared word2"]


def test_documents_that_are_gone_are_not_found(store: Stores, lexical: LexicalStore) -> None:
    row = document("a.txt")
    add(store, row)
    [stored] = store.settle([indexed(row, "lighthouse")])
    store.apply_changes(stored.source_id, [], {}, ["a.txt"])
    assert found(lexical, "lighthous") == []
    assert store.text("a.txt") is None
    assert store.count_orphans() == 0


def test_a_document_deleted_while_it_was_read_stays_deleted(store: Stores) -> None:
    gone, here = document("gone.txt"), document("here.txt")
    add(store, here)
    store.settle([indexed(gone, "lighthouse"), indexed(here, "harbour")])
    assert [d.document_id for d in store.documents()] == ["here.txt"]
    assert store.text("gone.txt") is None
    assert store.count_orphans() == 0


def test_a_document_moved_while_it_was_read_keeps_its_new_path(store: Stores) -> None:
    row = document("a.txt")
    add(store, row)
    [now] = store.documents()
    moved = Path("/docs/new/a.txt")
    store.apply_changes(now.source_id, [], {"a.txt": lambda d: replace(d, path=moved)}, [])
    [stored] = store.settle([indexed(row, "lighthouse")])
    assert stored.path == moved
    assert stored.state is DocumentState.SEARCHABLE_BY_WORDS


def test_a_document_that_changed_again_while_it_was_read_still_waits(store: Stores) -> None:
    row = document("a.txt")
    add(store, row)
    outcome = replace(indexed(row, "half"), taken_stat=FileStat(1, 2, 3))
    assert store.settle([outcome]) == []
    assert [d.state for d in store.documents()] == [DocumentState.WAITING]


def test_a_refused_document_keeps_its_row_and_loses_its_words(
    store: Stores, lexical: LexicalStore
) -> None:
    row = document("a.txt")
    add(store, row)
    store.settle([indexed(row, "lighthouse")])
    wait_again(store, row)
    failed = replace(row, state=DocumentState.FAILED, reason="damaged")
    [stored] = store.settle([Outcome(failed)])
    assert store.documents() == [stored]
    assert (stored.state, stored.reason) == (DocumentState.FAILED, "damaged")
    assert found(lexical, "lighthous") == []
    assert [d.state for d in store.requeue_failed()] == [DocumentState.WAITING]


def test_a_document_that_could_not_be_opened_keeps_its_words(
    store: Stores, lexical: LexicalStore
) -> None:
    row = document("a.txt")
    add(store, row)
    store.settle([indexed(row, "lighthouse")])
    wait_again(store, row)
    failed = replace(row, state=DocumentState.FAILED)
    [stored] = store.settle([Outcome(failed, keeps_content=True)])
    assert stored.chunk_count == 1
    assert found(lexical, "lighthous") == ["lighthouse"]


def test_a_document_that_becomes_skipped_loses_its_words_at_once(
    store: Stores, lexical: LexicalStore
) -> None:
    row = document("a.txt")
    add(store, row)
    [stored] = store.settle([indexed(row, "lighthouse")])
    skip = {"a.txt": lambda d: replace(d, state=DocumentState.SKIPPED, chunk_count=0)}
    store.apply_changes(stored.source_id, [], skip, [])
    assert found(lexical, "lighthous") == []
    assert store.count_inconsistent() == 0


def test_what_a_scan_found_in_a_removed_source_is_not_stored(store: Stores) -> None:
    assert store.apply_changes("removed", [document("a.txt", "removed")], {}, []) == []
    assert store.documents() == []


def test_removing_a_source_removes_its_documents_only(store: Stores, lexical: LexicalStore) -> None:
    kept, removed = (store.add_source(Path(f"/{name}"), "c").source_id for name in ("a", "b"))
    rows = [document("a.txt", kept), document("b.txt", removed)]
    add(store, *rows)
    store.settle([indexed(rows[0], "lighthouse"), indexed(rows[1], "lighthouse too")])
    store.remove_source(removed)
    assert [s.source_id for s in store.sources()] == [kept]
    assert found(lexical, "lighthous") == ["lighthouse"]
    assert store.counts().by_state == {DocumentState.SEARCHABLE_BY_WORDS: 1}


def test_orphans_are_counted_and_purged(store: Stores, database: Database) -> None:
    row = document("a.txt")
    add(store, row)
    store.settle([indexed(row, "one", "two")])
    database.write(lambda con: con.execute("UPDATE documents SET chunk_count = 3"))
    assert store.count_inconsistent() == 1
    database.write(lambda con: con.execute("DELETE FROM documents"))
    assert store.count_orphans() == 2
    assert store.purge_orphans() == 2
    assert store.count_orphans() == 0
