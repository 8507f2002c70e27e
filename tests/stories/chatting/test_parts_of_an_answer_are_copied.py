"""A person copies a block of code, a diagram and the cells of a table from an answer."""

from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from desktop_rag.ui.messages.answer_body import CopyButton
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

ANSWER = (
    "The lamp [1]:\n\n```python\nlamp.light()\n```\n\n```mermaid\ngraph TD\n  A --> B\n```\n\n"
    "| who | pounds |\n|---|---|\n| adult | 8 [1] |\n| child | 4 |\n\nThat is all."
)


def test_code_diagrams_and_cells_are_copied(asker: Person, server: ChatServer) -> None:
    server.answer = ANSWER
    asker.asks("What does the lamp cost?")
    asker.sees("test-model")
    asker.sees("Diagram source (Mermaid)")
    asker.clicks("Copy code")
    assert copied().text() == "lamp.light()"
    asker.sees("Copied")
    asker.clicks("Copy diagram source")
    assert copied().text() == "graph TD\n  A --> B"
    asker.clicks("Copy cells")
    assert copied().text() == "who\tpounds\nadult\t8\nchild\t4"
    assert "<td>adult</td><td>8</td>" in copied().html()
    asker.clicks("Copy as Markdown")
    assert copied().text().startswith("| who | pounds |\n|---|---|")


def test_the_keyboard_reaches_the_buttons_and_nothing_moves(
    asker: Person, server: ChatServer
) -> None:
    server.answer = ANSWER
    asker.asks("What does the lamp cost?")
    asker.sees("test-model")
    asker.waits_until(lambda: "checking" not in asker.screen() and len(on_screen(asker)) == 4)
    buttons = on_screen(asker)
    places = [button.geometry() for button in buttons]
    around = buttons[0].parentWidget()
    view = around.parentWidget() if around else None
    assert view
    height = view.height()
    view.setFocus()
    # The citations of the text come first.
    for _ in range(4):
        if QApplication.focusWidget() is not buttons[0]:
            QTest.keyClick(focused(), Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is buttons[0]
    QTest.keyClick(focused(), Qt.Key.Key_Space)
    assert copied().text() == "lamp.light()"
    assert [button.geometry() for button in buttons] == places
    assert view.height() == height


def focused() -> QWidget:
    found = QApplication.focusWidget()
    assert found
    return found


def on_screen(person: Person) -> list[CopyButton]:
    return [b for b in person.window.findChildren(CopyButton) if b.isVisible()]


def copied() -> QMimeData:
    found = QGuiApplication.clipboard().mimeData()
    assert found is not None
    return found
