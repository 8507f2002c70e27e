import pytest
from pytestqt.qtbot import QtBot

from desktop_rag.core.library_events import IndexProgress, Stage, StepProgress
from desktop_rag.ui.foundation.library_state import LibraryFacts
from desktop_rag.ui.passages.library_hint import LibraryHint, hint_of
from desktop_rag.ui.widgets.controls import TextButton

READING = StepProgress(Stage.READING, files_total=12, files_done=3)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (LibraryFacts(sources=0), "No folder yet"),
        (LibraryFacts(IndexProgress(Stage.SCANNING), sources=1), "Looking for files"),
        (
            LibraryFacts(IndexProgress(Stage.READING, files_total=12, files_done=3), sources=1),
            "3 of 12 files read",
        ),
        (LibraryFacts(IndexProgress(Stage.EMBEDDING), sources=1), "by their words"),
        (
            LibraryFacts(IndexProgress(Stage.PAUSED, steps=(READING,)), sources=1, is_paused=True),
            "Indexing is paused",
        ),
    ],
)
def test_what_is_not_found_yet_is_said(facts: LibraryFacts, words: str) -> None:
    assert words in hint_of(facts)


@pytest.mark.parametrize(
    "facts",
    [
        LibraryFacts(),
        LibraryFacts(sources=1),
        LibraryFacts(IndexProgress(files_total=3, files_done=3), sources=1, is_paused=True),
        LibraryFacts(IndexProgress(Stage.REFINING, 3, 3), sources=1),
    ],
)
def test_a_complete_library_needs_no_words(facts: LibraryFacts) -> None:
    assert hint_of(facts) == ""


def test_only_a_library_without_folder_offers_to_add_one(qtbot: QtBot) -> None:
    hint = LibraryHint()
    qtbot.addWidget(hint)
    [button] = hint.findChildren(TextButton)
    hint.show_facts(LibraryFacts(sources=0))
    with qtbot.waitSignal(hint.folder_requested):
        button.click()
    hint.show_facts(LibraryFacts(IndexProgress(Stage.SCANNING), sources=1))
    assert button.isHidden()
