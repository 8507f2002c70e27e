from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.domain import Document, DocumentState, FileStat
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.store.contract.documents import IndexingOutcome
from desktop_rag.store.contract.engine import Engine
from tests.stored_rows import (
    add,
    add_source,
    count_inconsistent,
    count_orphans,
    document,
    found,
    ids,
    indexed,
    put,
    remove,
    wait_again,
)

WORDS = DocumentState.SEARCHABLE_BY_WORDS


def states(engine: Engine) -> list[DocumentState]:
    return [d.state for d in engine.documents.documents()]


def test_a_document_comes_back_as_it_was_stored(engine: Engine) -> None:
    source_id = add_source(engine, "docs")
    row = Document(
        "1", source_id, Path("/Пути/a’b 漢.txt"), "A “title”", "text",
        FileStat(2**40, 2**62, 2**64 - 1), "ab12", DocumentState.SKIPPED, "a reason",
        indexed_at=1.5, url="https://a.example/ü", language="ru", chunking="words",
        gone_at=2.5, readers=7, dated="2024-05-01", tags=("roof", "öl lampe"),
    )  # fmt: skip
    assert engine.documents.apply_changes(source_id, [row], {}, []) == [row]
    assert engine.documents.documents() == engine.documents.get(["1", "unknown"]) == [row]
    assert engine.documents.documents(source_id, DocumentState.SKIPPED) == [row]
    assert engine.documents.documents(state=DocumentState.FAILED) == []
    assert engine.documents.documents("another") == []


def test_text_and_chunks_come_back_as_they_were_stored(engine: Engine) -> None:
    row = document("a.txt")
    add(engine, row)
    outcome = replace(
        indexed(row, "‘漢字’ 👩‍🚀\r\n\tx", "", "second"), places='{"a": 1}', text=" x\u2028\x01y "
    )
    engine.documents.settle([outcome])
    assert engine.documents.content("a.txt") == (" x\u2028\x01y ", '{"a": 1}')
    assert engine.documents.text("a.txt") == " x\u2028\x01y "
    assert engine.documents.chunks("a.txt") == list(outcome.chunks)
    assert engine.documents.content("unknown") == (None, "")
    assert engine.documents.chunks("unknown") == []


@pytest.mark.slow
def test_documents_are_listed_by_path_in_the_order_of_code_points(engine: Engine) -> None:
    names = ["b", "a b", "a", "Z", "é", "a-b", "ab", "漢"]
    add(engine, *map(document, names))
    assert [d.document_id for d in engine.documents.documents()] == sorted(names)


def test_documents_of_some_sources_are_listed_by_path(engine: Engine) -> None:
    sources = [add_source(engine, name) for name in ("one", "other", "third")]
    for name, source_id in zip(("b", "a", "c"), sources, strict=True):
        row = replace(document(name), source_id=source_id)
        engine.documents.apply_changes(source_id, [row], {}, [])
    listed = engine.documents.of_sources([*sources[:2], "unknown"])
    assert [d.document_id for d in listed] == ["a", "b"]
    assert listed == [d for d in engine.documents.documents() if d.source_id != sources[2]]
    assert engine.documents.of_sources([]) == []


def test_chunks_of_a_document_are_numbered_in_reading_order(engine: Engine) -> None:
    put(engine, "a.txt", "same one", "same two", "same three")
    put(engine, "b.txt", "same four", "same five")
    numbers = ids(engine, "same")
    assert [numbers[f"same {n}"] - numbers["same one"] for n in ("two", "three")] == [1, 2]
    assert numbers["same five"] - numbers["same four"] == 1
    assert min(numbers.values()) > 0


@pytest.mark.slow
def test_no_number_of_a_chunk_is_given_twice(engine: Engine) -> None:
    put(engine, "a.txt", "same one", "same two")
    before = ids(engine, "same")
    remove(engine, "a.txt")
    row = put(engine, "b.txt", "same three")
    outcome = indexed(row, "same four")
    with pytest.raises(AssertionError):
        engine.documents.settle([outcome, outcome])
    wait_again(engine, "b.txt")
    engine.documents.settle([outcome])
    put(engine, "c.txt", "same five")
    numbers = ids(engine, "same")
    assert max(before.values()) < numbers["same four"] < numbers["same five"]


@pytest.mark.slow
def test_indexing_again_replaces_text_and_words(engine: Engine) -> None:
    put(engine, "a.txt", "lighthouse keeper", "second part")
    wait_again(engine, "a.txt")
    assert found(engine, "lighthous") == ["lighthouse keeper"]
    engine.documents.settle([indexed(document("a.txt"), "harbour master")])
    assert found(engine, "lighthous") == []
    assert found(engine, "harbour") == ["harbour master"]
    assert engine.documents.text("a.txt") == "harbour master"
    assert [d.chunk_count for d in engine.documents.documents()] == [1]
    assert count_inconsistent(engine.documents) == 0


@pytest.mark.slow
def test_replacing_one_document_leaves_its_neighbours(engine: Engine) -> None:
    for n in range(3):
        put(engine, f"{n}.txt", f"shared word{n}", "shared tail")
    wait_again(engine, "1.txt")
    engine.documents.settle([indexed(document("1.txt"), "replaced")])
    assert len(engine.lexical.best([("share",)], 10)) == 4
    assert found(engine, "word2") == ["shared word2"]


@pytest.mark.slow
def test_each_of_many_documents_keeps_its_own_chunks_and_gives_them_up(engine: Engine) -> None:
    rows = [document(f"{n}.txt") for n in range(30)]
    add(engine, *rows)
    engine.documents.settle([indexed(row, f"first of {row.title}", "old") for row in rows])
    for row in rows:
        texts = [chunk.text for chunk in engine.documents.chunks(row.document_id)]
        assert texts == [f"first of {row.title}", "old"]
    for row in rows:
        wait_again(engine, row.document_id)
    engine.documents.settle([indexed(row, "fresh") for row in rows])
    assert (len(found(engine, "fresh")), found(engine, "old")) == (30, [])
    assert count_orphans(engine.documents) == count_inconsistent(engine.documents) == 0


@pytest.mark.parametrize("count", [1, 30])
def test_large_and_small_numbers_of_files_are_kept_as_they_are(engine: Engine, count: int) -> None:
    inodes = [n if n % 2 else 2**64 - 1 - n for n in range(count)]
    source_id = add_source(engine, "many")
    rows = [
        replace(document(f"{n}.txt", source_id), stat=FileStat(1, 2, inode))
        for n, inode in enumerate(inodes)
    ]
    assert engine.documents.apply_changes(source_id, rows, {}, [])
    stored = engine.documents.get([row.document_id for row in rows])
    assert sorted(row.stat.inode for row in stored) == sorted(inodes)


def test_documents_that_are_gone_are_not_found(engine: Engine) -> None:
    put(engine, "a.txt", "lighthouse")
    remove(engine, "a.txt")
    assert found(engine, "lighthous") == []
    assert engine.documents.text("a.txt") is None
    assert count_orphans(engine.documents) == 0


def test_a_document_deleted_while_it_was_read_stays_deleted(engine: Engine) -> None:
    gone, here = document("gone.txt"), document("here.txt")
    add(engine, here)
    engine.documents.settle([indexed(gone, "lighthouse"), indexed(here, "harbour")])
    assert [d.document_id for d in engine.documents.documents()] == ["here.txt"]
    assert engine.documents.text("gone.txt") is None
    assert count_orphans(engine.documents) == 0


def test_a_document_moved_while_it_was_read_keeps_its_new_place(engine: Engine) -> None:
    row = document("a.txt")
    add(engine, row)
    there, moved = add_source(engine, "there"), Path("/docs/there/a.txt")
    change = {"a.txt": lambda d: replace(d, path=moved, source_id=there)}
    engine.documents.apply_changes(there, [], change, [])
    [stored] = engine.documents.settle([indexed(row, "lighthouse")])
    assert (stored.path, stored.source_id, stored.state) == (moved, there, WORDS)


def test_a_document_that_changed_again_while_it_was_read_still_waits(engine: Engine) -> None:
    row = document("a.txt")
    add(engine, row)
    outcome = replace(indexed(row, "half"), taken_stat=FileStat(1, 2, 3))
    assert engine.documents.settle([outcome]) == []
    assert states(engine) == [DocumentState.WAITING]


@pytest.mark.slow
def test_a_refused_document_keeps_its_row_and_loses_its_words(engine: Engine) -> None:
    row = put(engine, "a.txt", "lighthouse")
    wait_again(engine, "a.txt")
    failed = replace(row, state=DocumentState.FAILED, reason="damaged", chunk_count=0)
    [stored] = engine.documents.settle([IndexingOutcome(failed)])
    assert engine.documents.documents() == [stored]
    assert (stored.state, stored.reason) == (DocumentState.FAILED, "damaged")
    assert found(engine, "lighthous") == []
    assert [d.state for d in engine.documents.requeue_failed()] == [DocumentState.WAITING]


def test_a_document_that_could_not_be_opened_keeps_its_words(engine: Engine) -> None:
    put(engine, "a.txt", "lighthouse")
    wait_again(engine, "a.txt")
    failed = replace(document("a.txt"), state=DocumentState.FAILED)
    [stored] = engine.documents.settle([IndexingOutcome(failed, keeps_content=True)])
    assert stored.chunk_count == 1
    assert found(engine, "lighthous") == ["lighthouse"]


def test_a_document_that_becomes_skipped_loses_its_words_at_once(engine: Engine) -> None:
    stored = put(engine, "a.txt", "lighthouse")
    skip = {"a.txt": lambda d: replace(d, state=DocumentState.SKIPPED, chunk_count=0)}
    engine.documents.apply_changes(stored.source_id, [], skip, [])
    assert found(engine, "lighthous") == []
    assert count_inconsistent(engine.documents) == 0


def test_what_a_scan_found_in_a_removed_source_is_not_stored(engine: Engine) -> None:
    assert engine.documents.apply_changes("removed", [document("a.txt", "removed")], {}, []) == []
    assert engine.documents.documents() == []


@pytest.mark.slow
def test_removing_a_source_removes_its_documents_only(engine: Engine) -> None:
    kept = put(engine, "a.txt", "lighthouse")
    removed = put(engine, "b.txt", "lighthouse too")
    engine.sources.remove_source(removed.source_id)
    assert [s.source_id for s in engine.sources.sources()] == [kept.source_id]
    assert found(engine, "lighthous") == ["lighthouse"]
    assert engine.documents.counts().by_state == {WORDS: 1}
    assert engine.documents.counts(removed.source_id).by_state == {}
    assert engine.documents.counts_by_source() == {kept.source_id: DocumentCounts({WORDS: 1})}


def test_a_scan_gets_what_it_compares_with_the_disk(engine: Engine) -> None:
    source_id = add_source(engine, "docs")
    skipped = replace(document("b", source_id), state=DocumentState.SKIPPED, reason="too large")
    refused = replace(skipped, document_id="c", content_hash="ab")
    inside = replace(document("d", source_id), parent_id="a", part="x")
    rows = [document("a", source_id), skipped, refused, inside]
    engine.documents.apply_changes(source_id, rows, {}, [])
    known = {row[0]: row[1:] for row in engine.documents.known_files(source_id)}
    assert known == {
        "a": (str(rows[0].path), 10, 20, 2**63 + 5, "", 0.0, 0.0),
        "b": (str(skipped.path), 10, 20, 2**63 + 5, "too large", 0.0, 0.0),
        "c": (str(refused.path), 10, 20, 2**63 + 5, "", 0.0, 0.0),
    }
    assert engine.documents.known_files("another") == []


def test_files_that_were_read_are_found_by_their_size(engine: Engine) -> None:
    source_id = add_source(engine, "docs")
    unread, small = document("unread", source_id), document("small", source_id)
    small = replace(small, stat=FileStat(1, 2, 3), content_hash="ab")
    page = replace(small, document_id="page", url="https://a.example/")
    large = replace(small, document_id="large", stat=FileStat(9, 2, 3))
    engine.documents.apply_changes(source_id, [unread, small, page, large], {}, [])
    expected = (source_id, "ab", ("small", str(small.path), 1, 2, 3, "", 0.0, 0.0))
    assert engine.documents.read_files({1, 10}) == [expected]
    assert engine.documents.read_files([]) == []


@pytest.mark.slow
def test_formats_and_folders_are_counted_of_what_can_be_found(engine: Engine) -> None:
    for name, form in (("taxes/a", "PDF"), ("taxes/b", "text"), ("c", "PDF")):
        row = replace(document(name, add_source(engine, name)), format=form)
        add(engine, row)
        engine.documents.settle([indexed(row, name)])
    add(engine, document("waiting"))
    page = replace(
        document("page", add_source(engine, "page")), url="https://example.com", format="HTML"
    )
    add(engine, page)
    engine.documents.settle([indexed(page, "page")])
    facets = engine.documents.facets()
    assert facets.formats == {"PDF": 2, "text": 1, "HTML": 1}
    assert facets.folders == {"/docs/taxes": 2, "/docs": 1}
    assert facets.formats_inside == facets.folders_inside == {}


def test_documents_inside_files_are_counted_apart(engine: Engine) -> None:
    mail = replace(document("mail", add_source(engine, "mail")), format="e-mail")
    part = replace(mail, document_id="part", parent_id="mail", part="fees.pdf", format="PDF")
    for row in (mail, part):
        add(engine, row)
        engine.documents.settle([indexed(row, row.document_id)])
    facets = engine.documents.facets()
    assert (facets.formats, facets.formats_inside) == ({"e-mail": 1}, {"PDF": 1})
    assert (facets.folders, facets.folders_inside) == ({"/docs": 1}, {"/docs": 1})


def test_what_nobody_else_reads_is_granted_as_often_as_asked(engine: Engine) -> None:
    claims = engine.documents.claims
    assert claims.take([]) == []
    assert claims.take(["b", "a"]) == ["b", "a"]
    assert claims.take(["a", "c"]) == ["a", "c"]
    claims.release(["a", "b", "c", "unknown"])
    assert claims.take(["b"]) == ["b"]
    claims.release(["b"])
