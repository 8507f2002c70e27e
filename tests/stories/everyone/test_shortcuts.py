"""F1 lists what the keys do, from the shortcuts that there are."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QTreeWidget, QTreeWidgetItem

from desktop_rag.ui.window.main_window import ShortcutsDialog
from tests.heard import heard
from tests.stories.conftest import Person


def overview(person: Person) -> ShortcutsDialog:
    person.presses("F1")
    person.waits_until(lambda: bool(person.window.findChildren(ShortcutsDialog)))
    return person.window.findChildren(ShortcutsDialog)[-1]


def shown(dialog: ShortcutsDialog) -> dict[str, dict[str, str]]:
    """The visible rows: what keys do, by page."""
    [tree] = dialog.findChildren(QTreeWidget)
    heads = (tree.topLevelItem(n) for n in range(tree.topLevelItemCount()))
    return {
        head.text(0): {row.text(0): row.text(1) for row in _rows(head)}
        for head in heads
        if head and not head.isHidden()
    }


def _rows(head: QTreeWidgetItem) -> Iterator[QTreeWidgetItem]:
    rows = (head.child(n) for n in range(head.childCount()))
    return (row for row in rows if row is not None and not row.isHidden())


def test_f1_lists_the_shortcuts_by_page_and_finds_them(person: Person) -> None:
    dialog = overview(person)
    every = shown(dialog)
    assert every["Everywhere"]["New chat"] == "Ctrl+N"
    assert every["Everywhere"]["Larger text"] == "Ctrl++ or Ctrl+="
    assert every["Chat"]["Stop the answer"] == "Esc"
    assert every["Library"]["Ask about the selected files"] == "Ctrl+Shift+Enter"
    assert "Find in the document" in every["Document"]
    assert "Go on in the window" in every["Quick ask"]
    [field] = dialog.findChildren(QLineEdit)
    QTest.keyClicks(field, "zoom ctrl")
    assert all("oom" in words for rows in shown(dialog).values() for words in rows)
    field.setText("nonsense")
    assert not shown(dialog)
    assert "No shortcut has these words." in [part.name for part in heard(dialog)]
    assert not [fault for part in heard(dialog) for fault in part.faults()]
    [close] = [button for button in dialog.findChildren(QPushButton) if button.text() == "Close"]
    QTest.mouseClick(close, Qt.MouseButton.LeftButton)
    person.waits_until(lambda: not person.window.findChildren(ShortcutsDialog))


def test_a_button_leads_to_the_shortcuts(person: Person) -> None:
    person.presses("Ctrl+4")
    person.clicks("Keyboard shortcuts")
    person.waits_until(lambda: bool(person.window.findChildren(ShortcutsDialog)))


@pytest.mark.everyday
def test_every_shortcut_says_what_it_does(person: Person) -> None:
    for window in QApplication.topLevelWidgets():
        for shortcut in window.findChildren(QShortcut):
            keys = [key.toString() for key in QShortcut.keys(shortcut)]
            assert shortcut.whatsThis(), (keys, shortcut.parent())
