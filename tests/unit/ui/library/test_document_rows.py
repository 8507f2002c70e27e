"""Rows of the documents table: folders, order, cells."""

from dataclasses import replace
from operator import attrgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.domain import DocumentState
from desktop_rag.ui.library.document_rows import (
    Column,
    Row,
    cell_text,
    make_table,
    merged,
    sort_key,
    whole_text,
)
from tests.unit.ui.rooms import make_document

ROOTS = {"papers": "/docs/papers"}


@pytest.mark.parametrize(
    ("path", "root", "folder", "name"),
    [
        ("/docs/papers/2024/a.md", "/docs/papers", "papers/2024", "a.md"),
        ("/docs/papers/a.md", "/docs/papers", "papers", "a.md"),
        ("/docs/papers-old/a.md", "/docs/papers", "/docs/papers-old", "a.md"),
        ("/docs/a.md", "/docs/a.md", "/docs", "a.md"),
        ("/docs/a.md", "", "/docs", "a.md"),
        ("/top/a.md", "/top", "top", "a.md"),
    ],
)
def test_folder_begins_with_the_name_of_the_source(
    path: str, root: str, folder: str, name: str
) -> None:
    row = Row(replace(make_document("x"), path=Path(path)), root)
    assert (row.folder, row.name) == (folder, name)


def test_the_table_is_sorted_by_name_without_forgotten_documents() -> None:
    documents = [
        make_document("b.md", DocumentState.FAILED),
        make_document("A.md"),
        make_document("c.md", DocumentState.GONE),
        replace(make_document("kept.md", DocumentState.GONE), gone_at=7.0),
    ]
    table = make_table(documents, ROOTS)
    assert [row.name for row in table.rows] == ["A.md", "b.md", "kept.md"]
    assert "/docs/papers/c.md" not in table.by_id
    assert table.counts["papers"][DocumentState.FAILED] == 1
    assert table.counts["papers"][DocumentState.GONE] == 1


@given(st.lists(st.text(max_size=3)), st.lists(st.text(max_size=3)))
def test_merging_gives_what_sorting_gives(old: list[str], new: list[str]) -> None:
    numbered = list(enumerate([*old, *new]))
    rows = [Row(make_document(f"{name}{n}".replace("/", "_")), "") for n, name in numbered]
    ordered = sorted(rows[: len(old)], key=attrgetter("key"))
    result = merged(ordered, rows[len(old) :])
    assert result == sorted(rows, key=attrgetter("key"))


def test_equal_rows_are_sorted_by_name_in_every_column() -> None:
    first, second = (Row(make_document(name), "") for name in ("a.md", "B.md"))
    for column in Column:
        assert sort_key(first, column) < sort_key(second, column)


def test_rows_with_a_reason_sort_first_and_states_in_work_order() -> None:
    plain, failed = (Row(make_document(n), "") for n in ("a.md", "b.md"))
    failed.read(make_document("b.md", DocumentState.FAILED, reason="Encrypted."), "")
    assert sort_key(failed, Column.REASON) < sort_key(plain, Column.REASON)
    assert sort_key(plain, Column.STATE) < sort_key(failed, Column.STATE)


def test_cells_keep_foreign_text_on_one_line() -> None:
    row = Row(make_document("a\nb.md", DocumentState.FAILED, reason="no\u202etext"), "")
    assert cell_text(row, Column.NAME) == "a□b.md"
    assert cell_text(row, Column.REASON) == "no□text"
    assert cell_text(row, Column.STATE) == "Not read"
    assert cell_text(row, Column.INDEXED) == ""


def test_a_tooltip_says_why_a_file_is_not_read() -> None:
    reason = "The file is damaged. It is not a PDF, or only a part of one."
    torn = Row(make_document("t.pdf", DocumentState.FAILED, reason=reason), "")
    assert cell_text(torn, Column.REASON) == "The file is damaged."
    assert whole_text(torn, Column.REASON) == reason
    failed = Row(make_document("b.md", DocumentState.FAILED, reason="Encrypted."), "")
    place = str(failed.document.path)
    assert whole_text(failed, Column.NAME) == f"{place}\nEncrypted."
    assert whole_text(failed, Column.STATE) == whole_text(failed, Column.REASON) == "Encrypted."
    assert whole_text(Row(make_document("a.md"), ""), Column.NAME).endswith("a.md")
