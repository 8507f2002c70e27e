"""Documents inside documents, which come, move and go with their parent; cutting anew."""

from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.pictures import PICTURES_WAIT, waiting_words
from desktop_rag.store.contract.documents import IndexingOutcome
from desktop_rag.store.contract.engine import Engine
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


def mail(engine: Engine, *parts: tuple[str, str]) -> IndexingOutcome:
    """A waiting mail and what reading it comes to: name and text of each attachment."""
    row = document("a.eml")
    if not engine.documents.get([row.document_id]):
        add(engine, row)
    inside = tuple(
        indexed(replace(document(f"{name} of {len(text)}"), part=name), text)
        for name, text in parts
    )
    return replace(indexed(row, "dear reader"), parts=inside)


def by_part(documents: list[Document]) -> dict[str, Document]:
    return {d.part: d for d in documents}


def test_attachments_are_stored_below_their_mail(engine: Engine) -> None:
    engine.documents.settle([mail(engine, ("report.txt", "lighthouse keeper"))])
    rows = by_part(engine.documents.documents())
    assert rows["report.txt"].parent_id == "a.eml"
    assert rows["report.txt"].path == rows[""].path
    assert found(engine, "lighthous") == ["lighthouse keeper"]
    assert engine.documents.counts().total == 1
    assert count_inconsistent(engine.documents) == 0


@pytest.mark.slow
def test_an_attachment_that_is_read_again_keeps_its_id(engine: Engine) -> None:
    engine.documents.settle([mail(engine, ("report.txt", "lighthouse"), ("old.txt", "harbour"))])
    before = by_part(engine.documents.documents())
    wait_again(engine, "a.eml")
    engine.documents.settle([mail(engine, ("report.txt", "beacon and buoy"))])
    after = by_part(engine.documents.documents())
    assert set(after) == {"", "report.txt"}
    assert after["report.txt"].document_id == before["report.txt"].document_id
    assert found(engine, "harbour") == found(engine, "lighthous") == []
    assert found(engine, "beacon") == ["beacon and buoy"]


@pytest.mark.parametrize("is_skipped", [True, False])
def test_attachments_go_with_their_mail(engine: Engine, is_skipped: bool) -> None:
    engine.documents.settle([mail(engine, ("report.txt", "lighthouse"))])
    [source] = engine.sources.sources()
    skip = {"a.eml": lambda d: replace(d, state=DocumentState.SKIPPED, chunk_count=0)}
    changed, gone = (skip, []) if is_skipped else ({}, ["a.eml"])
    engine.documents.apply_changes(source.source_id, [], changed, gone)
    assert [d.part for d in engine.documents.documents()] == [""] * is_skipped
    assert found(engine, "lighthous") == []
    assert count_orphans(engine.documents) == 0


def test_attachments_move_with_their_mail(engine: Engine) -> None:
    engine.documents.settle([mail(engine, ("report.txt", "lighthouse"))])
    [source] = engine.sources.sources()
    move = {"a.eml": lambda d: replace(d, path=Path("/docs/new/a.eml"))}
    rows = engine.documents.apply_changes(source.source_id, [], move, [])
    assert {d.part for d in rows} == {"", "report.txt"}
    assert {d.path for d in engine.documents.documents()} == {Path("/docs/new/a.eml")}


@pytest.mark.slow
def test_what_is_gone_for_now_is_not_found_and_comes_back(engine: Engine) -> None:
    engine.documents.settle([mail(engine, ("report.txt", "lighthouse"))])
    [source] = engine.sources.sources()

    def become(state: DocumentState, gone_at: float) -> None:
        change = {"a.eml": lambda d: replace(d, state=state, gone_at=gone_at)}
        engine.documents.apply_changes(source.source_id, [], change, [])

    become(DocumentState.GONE, 7.0)
    assert {d.state for d in engine.documents.documents()} == {DocumentState.GONE}
    assert found(engine, "lighthous") == found(engine, "reader") == []
    become(DocumentState.SEARCHABLE_BY_WORDS, 0.0)
    assert {d.state for d in engine.documents.documents()} == {DocumentState.SEARCHABLE_BY_WORDS}
    assert found(engine, "lighthous") == ["lighthouse"]


def test_a_refused_attachment_is_listed_and_the_mail_is_found(engine: Engine) -> None:
    outcome = mail(engine)
    row = replace(document("x"), part="x.exe", state=DocumentState.SKIPPED, reason="a program")
    engine.documents.settle([replace(outcome, parts=(IndexingOutcome(row),))])
    assert by_part(engine.documents.documents())["x.exe"].reason == "a program"
    assert found(engine, "reader") == ["dear reader"]


def test_a_recut_replaces_chunks_and_keeps_the_text(engine: Engine) -> None:
    stored = put(engine, "a.txt", "lighthouse keeper")
    cut = indexed(replace(stored, chunking="words"), "lighthouse", "keeper")
    [source] = engine.sources.sources()
    outdated = engine.documents.outdated(source.collection_id, "words", 10)
    again = engine.documents.recut(cut)
    assert [d.document_id for d in outdated] == ["a.txt"]
    assert again
    assert (again.chunk_count, again.chunking) == (2, "words")
    assert [c.text for c in engine.documents.chunks("a.txt")] == ["lighthouse", "keeper"]
    assert engine.documents.text("a.txt") == "lighthouse keeper"
    assert found(engine, "lighthous") == ["lighthouse"]
    assert engine.documents.outdated(source.collection_id, "words", 10) == []


def test_a_document_that_changed_while_it_was_cut_anew_is_left_alone(engine: Engine) -> None:
    stored = put(engine, "a.txt", "lighthouse keeper")
    other = replace(stored, content_hash="other")
    assert engine.documents.recut(indexed(other, "lighthouse", "keeper")) is None
    wait_again(engine, "a.txt")
    assert engine.documents.recut(indexed(stored, "lighthouse", "keeper")) is None
    assert [c.text for c in engine.documents.chunks("a.txt")] == ["lighthouse keeper"]


@pytest.mark.slow
def test_what_older_readers_read_or_refused_waits_again(engine: Engine) -> None:
    old, refused, new = document("old.txt"), document("refused.bin"), document("new.txt")
    add(engine, old, refused, new)
    skipped = replace(refused, state=DocumentState.SKIPPED, content_hash="ab")
    newer = indexed(new, "harbour")
    newer = replace(newer, document=replace(newer.document, readers=2))
    engine.documents.settle([indexed(old, "lighthouse"), IndexingOutcome(skipped), newer])
    waiting = {d.document_id for d in engine.documents.requeue_older_than(2)}
    assert waiting == {"old.txt", "refused.bin"}
    assert found(engine, "lighthous") == ["lighthouse"]


@pytest.mark.slow
def test_files_are_found_by_the_words_of_their_reason(engine: Engine) -> None:
    waits, other = document("scan.pdf"), document("other.pdf")
    add(engine, waits, other)
    known = replace(waits, reason=f"Page 2; {waiting_words(7)}", content_hash="ab")
    part = replace(other, document_id="part", part="a.png", reason=waiting_words(1))
    outcome = replace(indexed(other, "harbour"), parts=(IndexingOutcome(part),))
    engine.documents.settle([IndexingOutcome(known), outcome])
    found_rows = {d.document_id: d for d in engine.documents.with_reason(PICTURES_WAIT)}
    assert found_rows.keys() == {"scan.pdf", "other.pdf"}
    assert found_rows["scan.pdf"].pictures_waiting == 7
    assert not found_rows["scan.pdf"].is_to_be_read
    assert engine.inspection.waiting_pictures() == 8
    assert "ab" in engine.documents.content_hashes()
    # Newer readers look at it again, whatever waits in it.
    assert "scan.pdf" in {d.document_id for d in engine.documents.requeue_older_than(9)}
    [row] = engine.documents.get(["scan.pdf"])
    assert row.is_to_be_read


def test_pages_that_were_never_fetched_are_not_read_again(engine: Engine) -> None:
    failed = replace(document("a"), state=DocumentState.FAILED, reason="no")
    page = replace(failed, document_id="page", url="https://a.example/")
    read = replace(page, document_id="read", content_hash="ab")
    add(engine, failed, page, read)
    assert {d.document_id for d in engine.documents.requeue_failed()} == {"a", "read"}
    assert {d.reason for d in engine.documents.get(["a", "read"])} == {""}
