from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt

from desktop_rag.core.domain import Document, DocumentState, FileStat, Passage
from desktop_rag.core.parsed import Anchor
from desktop_rag.ui.search.found_files import SearchResults, in_words, results_of, words_of
from desktop_rag.ui.search.result_list import FileRow, MoreRow, PassageRow, ResultModel


def document(name: str) -> Document:
    stat = FileStat(1, 2, 3)
    return Document(
        name, "s", Path("/docs") / name, name, "text", stat, "", DocumentState.SEARCHABLE
    )


def passage(number: int, name: str, heading: str = "", text: str = "the lamp is lit") -> Passage:
    anchor = Anchor(heading=heading or None)
    return Passage(number, name, f"/docs/{name}", name, text, anchor, 0, 5, 1.0)


def results(*passages: Passage, text: str = "lamp") -> SearchResults:
    names = {p.document_id for p in passages}
    return results_of(text, passages, [document(name) for name in names])


def test_files_come_in_the_order_of_their_best_passages() -> None:
    found = results(passage(1, "b"), passage(2, "a"), passage(3, "b"))
    assert [(f.name, len(f.passages)) for f in found.files] == [("b", 2), ("a", 1)]
    assert in_words(found) == "3 passages in 2 files"


def test_of_more_passages_than_were_searched_for_the_counts_are_no_totals() -> None:
    passages = [passage(1, "b"), passage(2, "a"), passage(3, "b"), passage(4, "gone")]
    found = results_of("lamp", passages, [document("a"), document("b")], 4)
    assert in_words(found) == "The best 3 passages in 2 files"
    assert [file.details for file in found.files] == [
        "2 of the best passages", "1 of the best passages",
    ]  # fmt: skip
    assert in_words(found.newest_first()) == in_words(found)


def test_passages_of_documents_that_are_gone_are_left_out() -> None:
    found = results_of("lamp", [passage(1, "a"), passage(2, "b")], [document("b")])
    assert [f.name for f in found.files] == ["b"]
    assert len(found.passages) == 1


def test_below_its_file_a_passage_does_not_repeat_the_title() -> None:
    found = results(passage(1, "a", "a"), passage(2, "a", "a › Oil"), passage(3, "a", "Wick"))
    assert [p.heading for p in found.files[0].passages] == ["", "Oil", "Wick"]


def test_only_the_words_are_marked_and_not_the_filters() -> None:
    found = results(passage(1, "a", text="the lamp of the roof"), text="lamp tag:roof -oil")
    [row] = found.passages
    assert [row.piece[a:b] for a, b in row.spans] == ["lamp"]
    assert words_of("lamp after:2024-99") == "lamp after:2024-99"


def test_the_tags_of_a_file_are_named_each_by_itself() -> None:
    tagged = replace(document("a"), given_tags=("to do", "b"), tags=("c", "d", "e"))
    [file] = results_of("lamp", [passage(1, "a")], [tagged]).files
    assert file.details == "\u2068#to do\u2069 \u2068#b\u2069 \u2068#c\u2069 … · 1 passage"


def test_sorted_by_date_the_newest_file_comes_first_and_shows_its_day() -> None:
    new = replace(document("new"), dated="2026-03-02")
    files = [document("old"), new]
    found = results_of("lamp", [passage(1, "old"), passage(2, "new"), passage(3, "old")], files)
    by_day = found.newest_first()
    assert [file.name for file in by_day.files] == ["new", "old"]
    assert [each.passage.document_id for each in by_day.passages] == ["new", "old", "old"]
    assert "2026" in by_day.files[0].details
    assert "2026" not in found.files[1].details


def test_many_passages_of_a_file_follow_on_request() -> None:
    model = ResultModel()
    found = results(*(passage(n, "a") for n in range(6)), passage(9, "b"))
    model.show_results(found, is_by_file=True)
    kinds = [type(row) for row in model.rows()]
    assert kinds == [FileRow, *3 * [PassageRow], MoreRow, FileRow, PassageRow]
    assert model.data(model.index(4, 0)) == "Show 3 more passages"
    model.open_file("a")
    assert [type(row) for row in model.rows()].count(PassageRow) == 7
    # Found again while typing on: the file stays as it is; for other words it is closed again.
    model.show_results(replace(found), is_by_file=True)
    assert model.rowCount() == 9
    model.show_results(replace(found, text="lamps"), is_by_file=True)
    assert model.rowCount() == 7


def test_one_passage_more_is_shown_at_once() -> None:
    model = ResultModel()
    model.show_results(results(*(passage(n, "a") for n in range(4))), is_by_file=True)
    assert [type(row) for row in model.rows()] == [FileRow, *4 * [PassageRow]]


def test_a_screen_reader_hears_the_whole_row() -> None:
    model = ResultModel()
    model.show_results(results(passage(1, "a.md", "Oil")), is_by_file=True)
    heard = [model.data(model.index(n, 0), Qt.ItemDataRole.AccessibleTextRole) for n in range(2)]
    assert heard == ["a.md, /docs, 1 passage", "Oil: the lamp is lit"]
