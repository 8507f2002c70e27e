from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.domain import Anchor, Chunk, Document, DocumentState, FileStat
from desktop_rag.core.errors import AppError
from desktop_rag.core.text import term_counts
from desktop_rag.ingest.chunker import content_hash
from desktop_rag.store.database import Database
from desktop_rag.store.documents import DocumentStore, IndexedDocument
from desktop_rag.store.search import LexicalStore


@pytest.fixture
def store(database: Database) -> DocumentStore:
    return DocumentStore(database)


@pytest.fixture
def lexical(database: Database) -> LexicalStore:
    return LexicalStore(database)


def document(name: str, source_id: str = "s") -> Document:
    path = Path("/docs") / name
    stat = FileStat(10, 20, 2**63 + 5)
    return Document(name, source_id, path, name, "text", stat, "", DocumentState.WAITING)


def indexed(row: Document, *texts: str) -> IndexedDocument:
    chunks = tuple(
        Chunk(n, 10 * n, 10 * n + len(text), text, Anchor(line=n), "", content_hash("", text))
        for n, text in enumerate(texts)
    )
    done = replace(row, state=DocumentState.SEARCHABLE_BY_WORDS, chunk_count=len(chunks))
    counts = tuple(term_counts(text) for text in texts)
    return IndexedDocument(done, " ".join(texts), chunks, counts)


def found(lexical: LexicalStore, term: str) -> list[str]:
    return [p.text for p in lexical.passages(dict(lexical.best([term], 10)))]


def test_collections_have_unique_names(store: DocumentStore) -> None:
    first = store.add_collection(" Work ")
    assert store.collections() == [first]
    for name in ("work", "  "):
        with pytest.raises(AppError):
            store.add_collection(name)


def test_a_document_comes_back_as_it_was_stored(store: DocumentStore) -> None:
    row = document("a.txt")
    store.put_documents([row])
    assert store.documents() == [row]
    assert store.get(["a.txt", "unknown"]) == [row]
    assert store.documents(state=DocumentState.FAILED) == []


def test_indexing_again_replaces_text_and_words(
    store: DocumentStore, lexical: LexicalStore
) -> None:
    row = document("a.txt")
    store.put_documents([row])
    store.settle([indexed(row, "lighthouse keeper", "second part")])
    store.settle([indexed(row, "harbour master")])
    assert found(lexical, "lighthous") == []
    assert found(lexical, "harbour") == ["harbour master"]
    assert store.text("a.txt") == "harbour master"
    assert [d.chunk_count for d in store.documents()] == [1]


def test_replacing_one_document_leaves_its_neighbours(
    store: DocumentStore, lexical: LexicalStore
) -> None:
    rows = [document(f"{n}.txt") for n in range(3)]
    store.put_documents(rows)
    store.settle([indexed(row, f"shared word{row.title[0]}", "shared tail") for row in rows])
    store.settle([indexed(rows[1], "replaced")])
    assert len(found(lexical, "share")) == 4
    assert found(lexical, "word2") == ["shared word2"]


def test_deleted_documents_are_not_found(store: DocumentStore, lexical: LexicalStore) -> None:
    row = document("a.txt")
    store.put_documents([row])
    store.settle([indexed(row, "lighthouse")])
    store.delete_documents(["a.txt"])
    assert found(lexical, "lighthous") == []
    assert store.text("a.txt") is None
    assert store.count_orphans() == 0


def test_a_document_deleted_while_it_was_read_stays_deleted(store: DocumentStore) -> None:
    gone, here = document("gone.txt"), document("here.txt")
    store.put_documents([here])
    store.settle([indexed(gone, "lighthouse"), indexed(here, "harbour")], refused=[gone])
    assert [d.document_id for d in store.documents()] == ["here.txt"]
    assert store.text("gone.txt") is None
    assert store.count_orphans() == 0


def test_a_refused_document_keeps_its_row_and_loses_its_words(
    store: DocumentStore, lexical: LexicalStore
) -> None:
    row = document("a.txt")
    store.put_documents([row])
    store.settle([indexed(row, "lighthouse")])
    failed = replace(row, state=DocumentState.FAILED, reason="damaged")
    store.settle(refused=[failed])
    assert store.documents() == [failed]
    assert found(lexical, "lighthous") == []


def test_removing_a_source_removes_its_documents_only(
    store: DocumentStore, lexical: LexicalStore
) -> None:
    kept, removed = (store.add_source(Path(f"/{name}"), "c").source_id for name in ("a", "b"))
    rows = [document("a.txt", kept), document("b.txt", removed)]
    store.put_documents(rows)
    store.settle([indexed(rows[0], "lighthouse"), indexed(rows[1], "lighthouse too")])
    store.remove_source(removed)
    assert [s.source_id for s in store.sources()] == [kept]
    assert found(lexical, "lighthous") == ["lighthouse"]
    assert store.counts().by_state == {DocumentState.SEARCHABLE_BY_WORDS: 1}


def test_orphans_are_counted_and_purged(store: DocumentStore, database: Database) -> None:
    row = document("a.txt")
    store.put_documents([row])
    store.settle([indexed(row, "one", "two")])
    database.write(lambda con: con.execute("DELETE FROM documents"))
    assert store.count_orphans() == 2
    assert store.purge_orphans() == 2
    assert store.count_orphans() == 0
