"""Documents inside documents: they come, move and go with their parent."""

from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.store.content import Outcome
from desktop_rag.store.database import Database
from desktop_rag.store.lexical import LexicalStore
from tests.unit.store.test_documents import Stores, add, document, found, indexed, wait_again


@pytest.fixture
def store(database: Database) -> Stores:
    return Stores(database)


@pytest.fixture
def lexical(database: Database) -> LexicalStore:
    return LexicalStore(database)


def mail(store: Stores, *parts: tuple[str, str]) -> Outcome:
    """A waiting mail and what reading it comes to: name and text of each attachment."""
    row = document("a.eml")
    if not store.get([row.document_id]):
        add(store, row)
    inside = tuple(
        indexed(replace(document(f"{name} of {len(text)}"), part=name), text)
        for name, text in parts
    )
    return replace(indexed(row, "dear reader"), parts=inside)


def by_part(documents: list[Document]) -> dict[str, Document]:
    return {d.part: d for d in documents}


def test_attachments_are_stored_below_their_mail(store: Stores, lexical: LexicalStore) -> None:
    store.settle([mail(store, ("report.txt", "lighthouse keeper"))])
    rows = by_part(store.documents())
    assert rows["report.txt"].parent_id == "a.eml"
    assert rows["report.txt"].path == rows[""].path
    assert found(lexical, "lighthous") == ["lighthouse keeper"]
    assert store.counts().total == 1
    assert store.count_inconsistent() == 0


def test_an_attachment_that_is_read_again_keeps_its_id(
    store: Stores, lexical: LexicalStore
) -> None:
    outcome = mail(store, ("report.txt", "lighthouse"), ("old.txt", "harbour"))
    store.settle([outcome])
    before = by_part(store.documents())
    wait_again(store, outcome.document)
    store.settle([mail(store, ("report.txt", "beacon and buoy"))])
    after = by_part(store.documents())
    assert set(after) == {"", "report.txt"}
    assert after["report.txt"].document_id == before["report.txt"].document_id
    assert found(lexical, "harbour") == found(lexical, "lighthous") == []
    assert found(lexical, "beacon") == ["beacon and buoy"]


@pytest.mark.parametrize("is_skipped", [True, False])
def test_attachments_go_with_their_mail(
    store: Stores, lexical: LexicalStore, is_skipped: bool
) -> None:
    store.settle([mail(store, ("report.txt", "lighthouse"))])
    [source] = store.sources()
    skip = {"a.eml": lambda d: replace(d, state=DocumentState.SKIPPED, chunk_count=0)}
    changed, gone = (skip, []) if is_skipped else ({}, ["a.eml"])
    store.apply_changes(source.source_id, [], changed, gone)
    assert [d.part for d in store.documents()] == [""] * is_skipped
    assert found(lexical, "lighthous") == []
    assert store.count_orphans() == 0


def test_attachments_move_with_their_mail(store: Stores) -> None:
    store.settle([mail(store, ("report.txt", "lighthouse"))])
    [source] = store.sources()
    there = Path("/docs/new/a.eml")
    store.apply_changes(source.source_id, [], {"a.eml": lambda d: replace(d, path=there)}, [])
    assert {d.path for d in store.documents()} == {there}


def test_what_is_gone_for_now_is_not_found_and_comes_back(
    store: Stores, lexical: LexicalStore
) -> None:
    store.settle([mail(store, ("report.txt", "lighthouse"))])
    [source] = store.sources()

    def become(state: DocumentState, gone_at: float) -> None:
        change = {"a.eml": lambda d: replace(d, state=state, gone_at=gone_at)}
        store.apply_changes(source.source_id, [], change, [])

    become(DocumentState.GONE, 7.0)
    assert {d.state for d in store.documents()} == {DocumentState.GONE}
    assert found(lexical, "lighthous") == found(lexical, "reader") == []
    become(DocumentState.SEARCHABLE_BY_WORDS, 0.0)
    assert {d.state for d in store.documents()} == {DocumentState.SEARCHABLE_BY_WORDS}
    assert found(lexical, "lighthous") == ["lighthouse"]


def test_a_refused_attachment_is_listed_and_the_mail_is_found(
    store: Stores, lexical: LexicalStore
) -> None:
    outcome = mail(store)
    row = replace(document("x"), part="x.exe", state=DocumentState.SKIPPED, reason="a program")
    store.settle([replace(outcome, parts=(Outcome(row),))])
    assert by_part(store.documents())["x.exe"].reason == "a program"
    assert found(lexical, "reader") == ["dear reader"]


def test_a_recut_replaces_chunks_and_keeps_the_text(store: Stores, lexical: LexicalStore) -> None:
    row = document("a.txt")
    add(store, row)
    [stored] = store.settle([indexed(row, "lighthouse keeper")])
    cut = indexed(replace(stored, chunking="words"), "lighthouse", "keeper")
    [source] = store.sources()
    outdated = store.outdated(source.collection_id, "words", 10)
    again = store.recut(replace(cut, document=replace(cut.document, chunking="words")))
    assert [d.document_id for d in outdated] == ["a.txt"]
    assert again
    assert (again.chunk_count, again.chunking) == (2, "words")
    assert [c.text for c in store.chunks("a.txt")] == ["lighthouse", "keeper"]
    assert store.text("a.txt") == "lighthouse keeper"
    assert found(lexical, "lighthous") == ["lighthouse"]
    assert store.outdated(source.collection_id, "words", 10) == []


def test_a_document_that_changed_while_it_was_cut_anew_is_left_alone(store: Stores) -> None:
    row = document("a.txt")
    add(store, row)
    [stored] = store.settle([indexed(row, "lighthouse keeper")])
    wait_again(store, row)
    assert store.recut(indexed(stored, "lighthouse", "keeper")) is None
    assert [c.text for c in store.chunks("a.txt")] == ["lighthouse keeper"]


def test_what_older_readers_read_or_refused_waits_again(store: Stores) -> None:
    old, refused, new = document("old.txt"), document("refused.bin"), document("new.txt")
    add(store, old, refused, new)
    skipped = replace(refused, state=DocumentState.SKIPPED, content_hash="ab")
    newer = indexed(new, "harbour")
    newer = replace(newer, document=replace(newer.document, readers=2))
    store.settle([indexed(old, "lighthouse"), Outcome(skipped), newer])
    waiting = {d.document_id for d in store.requeue_older_than(2)}
    assert waiting == {"old.txt", "refused.bin"}
