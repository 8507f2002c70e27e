"""A person who knows the words goes to the search page, reads beside the results, and asks."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTextEdit

from desktop_rag.ui.search.filter_choices import FilterKind, folder_filter
from desktop_rag.ui.search.result_list import ResultList
from desktop_rag.ui.search.search_page import SearchPage
from desktop_rag.ui.tags.tag_actions import TagDialog
from desktop_rag.ui.widgets.controls import PlainLabel
from tests.stories.conftest import Person

NOTE = "---\ntags: [roof, Wales]\n---\n# Slates\n\nThe keeper of the slates comes from Wales.\n"
LOG = "The keeper wrote on page {n}. " + "It was a quiet night at the rock. " * 30
FIELD = "Search your files"


def write_more(papers: Path) -> None:
    """Write two files beside the lamp and the fees."""
    (papers / "slates.md").write_text(NOTE)
    (papers / "old").mkdir()
    pages = "\n\n".join(f"## Page {n}\n\n{LOG.format(n=n)}" for n in range(6))
    (papers / "old" / "log.md").write_text(f"# Log\n\n{pages}\n")


@pytest.fixture(scope="module")
def library(one_window: Person) -> Person:
    """The window of the file, over a library of four files."""
    [source] = one_window.app.services.library.sources.all()
    write_more(source.path)
    one_window.sees("4 searchable")
    return one_window


@pytest.fixture
def searching(library: Person) -> Person:
    """A person on the search page, who has not searched for anything."""
    library.begins_a_chat()
    begins_to_search(library)
    page(library).filters.clear()
    page(library).field.clear()
    library.waits_until(lambda: page(library).is_settled and not found_files(library))
    return library


@pytest.fixture
def alone(person: Person, papers: Path) -> Person:
    """The same in a window of their own, for a story that changes the library."""
    write_more(papers)
    person.drops(papers)
    person.sees("4 searchable")
    begins_to_search(person)
    return person


def begins_to_search(person: Person) -> None:
    person.presses("Ctrl+3")
    person.waits_until(lambda: person.field(FIELD).hasFocus())


def page(person: Person) -> SearchPage:
    return person.window.search_page


def results(person: Person) -> ResultList:
    return page(person).results


def found_files(person: Person) -> set[str]:
    return {file.name for file in results(person).results.files}


def sees_files(person: Person, *names: str) -> None:
    person.waits_until(lambda: found_files(person) == set(names))


def chooses(person: Person, kind: FilterKind, label: str) -> None:
    """Choose an entry of a filter's menu; as a person would, once it is there."""
    menu = page(person).filters.menu(kind)

    def has_entry() -> bool:
        menu.aboutToShow.emit()
        return any(action.text().split("\t")[0] == label for action in menu.actions())

    person.waits_until(has_entry)
    next(a for a in menu.actions() if a.text().split("\t")[0] == label).trigger()


def shown_text(person: Person) -> str:
    """The text of the document beside the results."""
    views = page(person).side.pane.viewers.findChildren(QTextEdit)
    return "\n".join(view.toPlainText() for view in views if view.isVisible())


def marked(person: Person) -> set[str]:
    """The words that are marked in that document."""
    views = page(person).side.pane.viewers.findChildren(QTextEdit)
    texts = [s.cursor.selectedText() for view in views for s in view.extraSelections()]
    return {text for text in texts if " " not in text}


@pytest.mark.everyday
def test_what_is_searched_for_is_said_until_it_is_found(searching: Person) -> None:
    page(searching).field.setText("slates")
    labels = page(searching).findChildren(PlainLabel)
    assert [label.text() for label in labels if label.isVisible()].count("Searching…") == 1
    searching.sees("1 passage in 1 file")
    labels = page(searching).findChildren(PlainLabel)
    assert not any(label.text() == "Searching…" for label in labels)


def test_a_result_is_read_beside_the_list_at_its_place(searching: Person) -> None:
    searching.types(FIELD, "wick trimm")
    sees_files(searching, "lamp.md")
    searching.sees("1 passage in 1 file")
    QTest.keyClick(searching.field(FIELD), Qt.Key.Key_Down)
    assert results(searching).hasFocus()
    searching.waits_until(lambda: "The wick is trimmed" in shown_text(searching))
    pane = page(searching).side.pane
    assert pane.place is not None
    assert "wick" in pane.place.passage
    # The words are marked, and the keyboard stays with the results.
    searching.waits_until(lambda: marked(searching) == {"wick", "trimmed"})
    assert results(searching).hasFocus()
    QTest.keyClick(results(searching), Qt.Key.Key_Space)
    searching.waits_until(pane.hasFocus)
    QTest.keyClick(pane, Qt.Key.Key_Escape)
    searching.waits_until(results(searching).hasFocus)
    QTest.keyClick(results(searching), Qt.Key.Key_Escape)
    assert searching.field(FIELD).hasFocus()


def test_many_passages_of_a_file_are_opened_below_it(searching: Person) -> None:
    searching.types(FIELD, "keeper quiet night")
    searching.waits_until(lambda: "log.md" in found_files(searching))
    names = [row[0] for row in searching.rows("Results")]
    more = next(n for n, name in enumerate(names) if name.startswith("Show "))
    searching.opens_row("Results", more)
    searching.waits_until(lambda: len(searching.rows("Results")) > len(names))
    searching.clicks("By passage")
    assert "log.md" not in [row[0] for row in searching.rows("Results")]
    assert len(searching.rows("Results")) == len(results(searching).results.passages)
    searching.clicks("By file")


def test_filters_are_chips_that_can_be_removed(searching: Person, papers: Path) -> None:
    searching.types(FIELD, "keeper")
    sees_files(searching, "lamp.md", "slates.md", "log.md")
    chooses(searching, FilterKind.TAG, "Wales")
    sees_files(searching, "slates.md")
    searching.sees("#Wales")
    searching.clicks("Remove the filter #Wales")
    sees_files(searching, "lamp.md", "slates.md", "log.md")
    page(searching).filters.add(folder_filter(papers))
    searching.sees("Folder: ")
    chooses(searching, FilterKind.TYPE, "Spreadsheet")
    searching.sees("Nothing found")
    searching.sees("The filters may leave out what you are looking for.")
    searching.clicks("Search without filters")
    sees_files(searching, "lamp.md", "slates.md", "log.md")
    # Without words, a filter lists all that it leaves.
    searching.field(FIELD).setFocus()
    QTest.keyClick(searching.field(FIELD), Qt.Key.Key_Escape)
    chooses(searching, FilterKind.TYPE, "Spreadsheet")
    sees_files(searching, "fees.csv")


def test_a_filter_counts_the_files_that_were_found(searching: Person) -> None:
    searching.types(FIELD, "keeper")
    sees_files(searching, "lamp.md", "slates.md", "log.md")
    menu = page(searching).filters.menu(FilterKind.TYPE)

    def entries() -> list[str]:
        menu.aboutToShow.emit()
        return [action.text() for action in menu.actions()]

    searching.waits_until(lambda: entries() == ["Text, Markdown\t3", "Spreadsheet\t0"])
    page(searching).field.clear()
    searching.waits_until(lambda: entries() == ["Spreadsheet\t1", "Text, Markdown\t3"])


def test_results_are_tagged_together_and_found_by_the_tag(alone: Person) -> None:
    alone.types(FIELD, "keeper")
    sees_files(alone, "lamp.md", "slates.md", "log.md")
    QTest.keyClick(alone.field(FIELD), Qt.Key.Key_Down)
    results(alone).selectAll()
    alone.clicks("Tags…")
    alone.sees("Tags of 3 files")
    alone.types("Add a tag", "harbour")
    alone.clicks("Save")
    alone.waits_until(lambda: not alone.window.findChildren(TagDialog))
    chooses(alone, FilterKind.TAG, "harbour")
    sees_files(alone, "lamp.md", "slates.md", "log.md")
    page(alone).filters.clear()
    page(alone).field.setText("tag:harbour -wick")
    sees_files(alone, "slates.md", "log.md")


def test_nothing_found_says_what_to_try(searching: Person) -> None:
    searching.types(FIELD, "zzyzx")
    searching.sees("Nothing found")
    searching.sees("Check the spelling, or try fewer or other words.")
    searching.clicks("Ask it as a question")
    searching.waits_until(lambda: searching.typed("Question") == "zzyzx")


def test_a_typed_filter_that_no_file_passes_is_named_and_can_be_dropped(searching: Person) -> None:
    searching.types(FIELD, "tag:nowhere keeper")
    searching.sees("tag:nowhere may leave out what you are looking for.")
    searching.clicks("Search without filters")
    sees_files(searching, "lamp.md", "slates.md", "log.md")
    assert page(searching).field.text() == "keeper"
    page(searching).field.setText("tag:nowhere")
    searching.sees("No file passes tag:nowhere.")
    searching.sees_no_longer("Check the spelling")


def test_a_wrong_date_is_said_and_the_results_stay(searching: Person) -> None:
    searching.types(FIELD, "keeper")
    sees_files(searching, "lamp.md", "slates.md", "log.md")
    searching.types(FIELD, " after:2024-13")
    searching.sees("“2024-13” is not a date.")
    assert found_files(searching) == {"lamp.md", "slates.md", "log.md"}


def test_without_a_folder_it_says_so(person: Person) -> None:
    person.presses("Ctrl+Shift+F")
    person.sees("Nothing to search yet")
    assert person.field(FIELD).hasFocus()


def test_a_name_with_markup_stays_text(alone: Person, papers: Path) -> None:
    (papers / "<b>bold & co.md").write_text("# <i>Foghorn</i>\n\nThe foghorn of <b>keeper</b>.")
    alone.types(FIELD, "foghorn")
    sees_files(alone, "<b>bold & co.md")
    assert "<b>keeper</b>" in results(alone).results.passages[0].piece


def test_the_selected_files_are_asked_about(searching: Person) -> None:
    searching.types(FIELD, "keeper")
    sees_files(searching, "lamp.md", "slates.md", "log.md")
    searching.sees("Ask about all 3 files")
    QTest.keyClick(searching.field(FIELD), Qt.Key.Key_Return)
    names = [row[0] for row in searching.rows("Results")]
    searching.opens_row("Results", names.index("slates.md"))
    searching.sees("Ask about this file")
    QTest.keyClick(results(searching), Qt.Key.Key_Return)
    searching.waits_until(lambda: searching.field("Question").isVisible())
    searching.sees("slates.md")
    searching.asks("Where does the keeper come from?")
    searching.sees("comes from Wales")
    sources = searching.window.chat_page.sessions.current.model.turn(1).message.sources
    assert {Path(source.path).name for source in sources} == {"slates.md"}


def test_a_question_is_asked_about_all_that_was_found(searching: Person) -> None:
    searching.types(FIELD, "type:md slates")
    searching.waits_until(lambda: "slates.md" in found_files(searching))
    found = len(found_files(searching))
    searching.clicks(f"Ask about all {found} files" if found > 1 else "Ask about this file")
    searching.waits_until(lambda: searching.field("Question").hasFocus())
    searching.sees("slates.md")


def test_a_narrow_window_reads_in_place_of_the_list(searching: Person) -> None:
    searching.window.resize(700, 600)
    searching.types(FIELD, "wick trimm")
    sees_files(searching, "lamp.md")
    QTest.keyClick(searching.field(FIELD), Qt.Key.Key_Down)
    pane = page(searching).side.pane
    assert not pane.isVisible()
    searching.waits_until(lambda: page(searching).is_settled)
    QTest.keyClick(results(searching), Qt.Key.Key_Space)
    searching.waits_until(lambda: "The wick is trimmed" in shown_text(searching))
    assert not results(searching).isVisible()
    QTest.keyClick(pane, Qt.Key.Key_Escape)
    searching.waits_until(results(searching).hasFocus)
    assert not pane.isVisible()


def test_a_file_that_comes_meanwhile_is_found(alone: Person, papers: Path) -> None:
    alone.types(FIELD, "foghorn")
    alone.sees("Nothing found")
    (papers / "signals.md").write_text("# Signals\n\nThe foghorn sounds twice a minute.")
    sees_files(alone, "signals.md")


def test_only_the_folder_of_a_result_is_searched(searching: Person) -> None:
    searching.types(FIELD, "keeper")
    sees_files(searching, "lamp.md", "slates.md", "log.md")
    names = [row[0] for row in searching.rows("Results")]
    searching.opens_row("Results", names.index("log.md"))
    menu = page(searching).actions_of_results.make_menu()
    next(a for a in menu.actions() if a.text() == "Search only this folder").trigger()
    sees_files(searching, "log.md")
    searching.sees("Folder: old")


def test_results_of_a_removed_folder_go_and_come_back_with_it(alone: Person) -> None:
    alone.types(FIELD, "keeper")
    sees_files(alone, "lamp.md", "slates.md", "log.md")
    names = [row[0] for row in alone.rows("Results")]
    alone.opens_row("Results", names.index("log.md"))
    alone.presses("Ctrl+2")
    alone.clicks("Folders")
    alone.clicks("Remove papers from the library")
    alone.clicks("Remove")
    alone.presses("Ctrl+3")
    sees_files(alone)
    alone.sees("Nothing to search yet")
    alone.clicks("Undo")
    sees_files(alone, "lamp.md", "slates.md", "log.md")
