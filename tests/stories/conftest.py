"""The real window over real services, and a person who reads, clicks and types in it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import (
    QAbstractListModel,
    QCoreApplication,
    QEvent,
    QMimeData,
    QPoint,
    QSize,
    Qt,
    QUrl,
)
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QListView,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QTabBar,
    QTextBrowser,
    QTextEdit,
    QToolButton,
    QWidget,
)
from pytestqt.exceptions import TimeoutError as Overdue
from pytestqt.qtbot import QtBot

from desktop_rag.app import build_services
from desktop_rag.cli.running import run_for_another
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.ui.messages.answer_body import SegmentView
from desktop_rag.ui.widgets.controls import ElidedLabel
from desktop_rag.window_app import WindowApp
from tests.conftest import FAST_TIMES, PatientQtBot, home_in
from tests.servers.chat_server import ChatServer
from tests.stray_windows import StrayWindows

Found = TypeVar("Found", bound=QWidget)
_WAIT_MS = 20_000
_WINDOW = QSize(1200, 800)


class Person:
    """Uses the window as a person does, waiting for its reactions."""

    def __init__(self, opened: WindowApp, qtbot: QtBot, place: QWidget | None = None) -> None:
        """`place` is the window in front of the person."""
        self.app = opened
        self.window = opened.window
        self.place = place or opened.window
        self._qtbot = qtbot
        self._is_gone = False

    def in_quick_ask(self) -> "Person":
        """The same person, in front of the quick ask."""
        return Person(self.app, self._qtbot, self.app.presence.popup)

    def in_front_of(self, window: QWidget) -> "Person":
        """The same person, in front of another window of the app."""
        return Person(self.app, self._qtbot, window)

    def in_the_window(self) -> "Person":
        """The same person, in front of the window again."""
        return Person(self.app, self._qtbot)

    # --- reading -------------------------------------------------------------------------

    def in_the_dialog(self) -> "Person":
        """The same person, in front of the dialog that is open."""
        self.waits_until(lambda: QApplication.activeModalWidget() is not None)
        return Person(self.app, self._qtbot, QApplication.activeModalWidget())

    def sees(self, text: str) -> None:
        """Wait until the text is on the screen."""
        try:
            self._qtbot.waitUntil(lambda: text in self.screen(), timeout=_WAIT_MS)
        except Overdue:
            raise AssertionError(f"{text!r} did not appear on:\n{self.screen()}") from None

    def sees_no_longer(self, text: str) -> None:
        """Wait until the text is gone from the screen."""
        self._qtbot.waitUntil(lambda: text not in self.screen(), timeout=_WAIT_MS)

    def screen(self) -> str:
        """Every visible text of the window."""
        return "\n".join(_texts(self.place))

    # --- acting --------------------------------------------------------------------------

    def presses(self, keys: str) -> None:
        """Press a combination such as `Ctrl+2`."""
        QTest.keySequence(self.place, keys)

    def clicks(self, name: str) -> None:
        """Click the visible, enabled button with this text or accessible name."""
        self._qtbot.waitUntil(lambda: self._button(name) is not None, timeout=_WAIT_MS)
        button = self._button(name)
        assert button is not None
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def chooses_entry(self, button: str, entry: str) -> None:
        """Choose an entry of the menu of the first visible button of this name that has it."""
        self._qtbot.waitUntil(lambda: self._entry(button, entry) is not None, timeout=_WAIT_MS)
        action = self._entry(button, entry)
        assert action is not None
        action.trigger()

    def opens_settings(self, page: str) -> None:
        """Open this page of the settings by its name in the list, or a part by its tab."""
        self.presses("Ctrl+4")
        names = [cells[0] for cells in self.rows("Settings")]
        if page not in names:
            known = self.window.settings_page.parts
            of = next(part.page for part in known if part.name == page)
            self._opens_page(names.index(of), of)
            self.opens_tab(of, page)
        else:
            self._opens_page(names.index(page), page)

    def _opens_page(self, row: int, name: str) -> None:
        names = self.view("Settings")
        if isinstance(names, QListView) and names.isRowHidden(row):
            self.types("Search the settings", name)
            QTest.keyClick(self.field("Search the settings"), Qt.Key.Key_Return)
        else:
            self.opens_row("Settings", row)

    def opens_tab(self, name: str, tab: str) -> None:
        """Click a tab of the row of tabs with this accessible name."""
        bars = self.place.findChildren(QTabBar)
        bar = next(b for b in bars if b.isVisible() and b.accessibleName() == name)
        at = next(n for n in range(bar.count()) if bar.tabText(n) == tab)
        QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(at).center())

    def types(self, name: str, text: str) -> None:
        """Type into the field with this accessible name."""
        field = self.field(name)
        field.setFocus()
        QTest.keyClicks(field, text)

    def clears(self, name: str) -> None:
        """Empty the field with this accessible name."""
        QTest.keySequence(self.field(name), "Ctrl+A")
        QTest.keyClick(self.field(name), Qt.Key.Key_Delete)

    def chooses(self, name: str, choice: str) -> None:
        """Choose an entry of the list with this accessible name."""
        field = self.field(name)
        assert isinstance(field, QComboBox)
        QTest.keyClicks(field, choice)
        assert field.currentText() == choice

    def ticks(self, name: str, entry: str) -> None:
        """Tick an entry of the list with this accessible name."""
        view = self.view(name)
        assert isinstance(view, QListWidget)
        [item] = view.findItems(entry, Qt.MatchFlag.MatchExactly)
        item.setCheckState(Qt.CheckState.Checked)

    def asks(self, question: str) -> None:
        """Type a question and press Enter."""
        self.types("Question", question)
        QTest.keyClick(self.field("Question"), Qt.Key.Key_Return)

    def drops(self, *paths: Path) -> None:
        """Drop files or folders onto the library page, and confirm the folder dialog."""
        self.drops_without_confirming(*paths)
        if len(paths) == 1 and paths[0].is_dir():
            self.clicks("Add folder")
            self.comes_back()

    def comes_back(self) -> None:
        """Return to the window, as a desktop does when another one is closed."""
        self.window.activateWindow()
        self.waits_until(self.window.isActiveWindow)

    def begins_a_chat(self, endpoint: EndpointSettings | None = None) -> None:
        """Begin a story of its own, with or without an endpoint, in a window that others share."""
        endpoint = endpoint or EndpointSettings()
        models = self.app.services.chat.models
        self.window.settings.change(Settings(endpoint=endpoint))
        self.waits_until(lambda: models.endpoint == endpoint)
        self.window.resize(_WINDOW)
        self.comes_back()
        self.presses("Ctrl+1")
        self.clicks("New chat")
        self.clears("Question")

    def drops_without_confirming(self, *paths: Path) -> None:
        """Drop files or folders onto the library page."""
        self.presses("Ctrl+2")
        self.drops_on(self.window.library_page, *paths)

    def drops_on(self, place: QWidget, *paths: Path) -> None:
        """Drag files over a part of the window, and drop them on what accepts them there."""
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
        action, buttons = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
        keys, at = Qt.KeyboardModifier.NoModifier, QPoint(9, 9)
        # A real drop goes through Qt's drag manager, which only the desktop can drive.
        for part in (place, self.window):
            drag = QDragEnterEvent(at, action, data, buttons, keys)
            QApplication.sendEvent(part, drag)
            if drag.isAccepted():
                drop = QDropEvent(at.toPointF(), action, data, buttons, keys)
                QApplication.sendEvent(part, drop)
                return
        raise AssertionError("no part of the window accepts the files")

    def clicks_citation(self, n: int) -> None:
        """Click the pill of source n in the last answer."""
        self.waits_until(lambda: any(self._places_of(n)))
        view, place = list(self._places_of(n))[-1]
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)

    def clicks_words(self, words: str) -> None:
        """Click the first of these words in a text with links."""
        self.waits_until(lambda: next(self._places_of_words(words), None) is not None)
        text, place = next(self._places_of_words(words))
        QTest.mouseClick(text.viewport(), Qt.MouseButton.LeftButton, pos=place)

    def closes_the_window(self) -> None:
        """Close the window and wait until all services have stopped."""
        if self._is_gone:
            return
        self._is_gone = True
        self.window.hide()
        self.app.shut_down()
        self.window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        QApplication.processEvents()

    def field(self, name: str) -> QWidget:
        """The visible field with this accessible name."""
        return next(self.fields(name))

    def fields(self, name: str) -> Iterator[QWidget]:
        """The visible fields with this accessible name; none while a row is made anew."""
        kinds = (QLineEdit, QPlainTextEdit, QTextEdit, QComboBox)
        fields = [w for kind in kinds for w in self.place.findChildren(kind)]
        found = (w for w in fields if w.isVisible() and w.accessibleName() == name)
        # The line of an editable list has the name of the list.
        return (w for w in found if not isinstance(w.parent(), QComboBox))

    def typed(self, name: str) -> str:
        """The text of the question field with this accessible name."""
        field = self.field(name)
        assert isinstance(field, QPlainTextEdit)
        return field.toPlainText()

    def rows(self, name: str) -> list[list[str]]:
        """The cells of the visible list or table with this accessible name."""
        model = self.view(name).model()
        # For Qt, the columns of a list are private: it has one.
        columns = range(1 if isinstance(model, QAbstractListModel) else model.columnCount())
        return [
            [str(model.index(row, column).data() or "") for column in columns]
            for row in range(model.rowCount())
        ]

    def opens_row(self, name: str, row: int) -> None:
        """Click a row of the list with this accessible name."""
        view = self.view(name)
        place = view.visualRect(view.model().index(row, 0)).center()
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)

    def waits_until(self, is_so: Callable[[], bool]) -> None:
        """Wait until a condition holds."""
        self._qtbot.waitUntil(is_so, timeout=_WAIT_MS)

    def _places_of(self, n: int) -> Iterator[tuple[SegmentView, QPoint]]:
        """The rectangles of the pills of source n."""
        for view in self.place.findChildren(SegmentView):
            cursor = QTextCursor(view.document())
            while view.isVisible() and not cursor.atEnd():
                cursor.movePosition(QTextCursor.MoveOperation.NextCharacter)
                if cursor.charFormat().anchorHref() == f"cite:{n}":
                    yield view, view.cursorRect(cursor).center() - QPoint(2, 0)

    def _places_of_words(self, words: str) -> Iterator[tuple[QTextBrowser, QPoint]]:
        """Each visible text that has these words, and a place within them."""
        for text in self.place.findChildren(QTextBrowser):
            found = text.document().find(words)
            if text.isVisible() and not found.isNull():
                inside = QTextCursor(text.document())
                inside.setPosition(found.selectionStart() + 1)
                yield text, text.cursorRect(inside).center() + QPoint(2, 0)

    def view(self, name: str) -> QAbstractItemView:
        """The visible list or table with this accessible name."""
        views = self.place.findChildren(QAbstractItemView)
        return next(v for v in views if v.isVisible() and v.accessibleName() == name)

    def _entry(self, button: str, entry: str) -> QAction | None:
        buttons = [b for b in self._buttons(button) if isinstance(b, QPushButton | QToolButton)]
        actions = [action for pressed in buttons for action in pressed.menu().actions()]
        return next((a for a in actions if a.text() == entry and a.isVisible()), None)

    def _button(self, name: str) -> QAbstractButton | None:
        return next(self._buttons(name), None)

    def _buttons(self, name: str) -> Iterator[QAbstractButton]:
        for button in self.place.findChildren(QAbstractButton):
            is_named = name in (button.accessibleName(), button.text().replace("&", ""))
            if is_named and button.isVisible() and button.isEnabled():
                yield button


def _texts(window: QWidget) -> Iterator[str]:
    for widget in window.findChildren(QWidget):
        if not widget.isVisible():
            continue
        if isinstance(widget, ElidedLabel):
            yield widget.full_text
        elif isinstance(widget, QLabel | QAbstractButton):
            yield widget.text()
        elif isinstance(widget, QTextEdit | QPlainTextEdit):
            yield widget.toPlainText()


@contextmanager
def windows(home: Home, qtbot: QtBot) -> Iterator[Callable[[], Person]]:
    """Starts the app any number of times, and closes what is open at the end."""
    people: list[Person] = []

    def start() -> Person:
        opened = WindowApp(build_services(home, times=FAST_TIMES), run_for_another)
        people.append(Person(opened, qtbot))
        # As large as on a usual screen; the one that tests have is small.
        opened.window.resize(_WINDOW)
        with qtbot.waitActive(opened.window):
            opened.open()
        return people[-1]

    yield start
    for person in people:
        person.closes_the_window()


@pytest.fixture
def open_window(home: Home, qtbot: QtBot) -> Iterator[Callable[[], Person]]:
    """Starts the app any number of times, and closes what is open at the end of the story."""
    with windows(home, qtbot) as start:
        yield start


@pytest.fixture(scope="module")
def one_window(
    qapp: QApplication, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Person]:
    """A person in front of a window for all stories of a file, with a few documents.

    A story begins with a new chat and puts back what it changes.
    """
    folder = tmp_path_factory.mktemp("shared")
    with home_in(folder) as home, windows(home, PatientQtBot(request)) as start:
        person = start()
        person.drops(write_papers(folder))
        person.sees("2 searchable")
        yield person


@pytest.fixture(autouse=True)
def nothing_flashes(qapp: QApplication) -> Iterator[None]:
    """Fail if a part of the window is ever shown as a separate window."""
    strays = StrayWindows()
    qapp.installEventFilter(strays)
    yield
    qapp.removeEventFilter(strays)
    assert not strays.found


@pytest.fixture
def person(open_window: Callable[[], Person]) -> Person:
    """A person in front of a window opened for the first time."""
    return open_window()


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """A folder with a few documents."""
    return write_papers(tmp_path)


def write_papers(place: Path) -> Path:
    """Write these documents; returns their folder."""
    folder = place / "papers"
    folder.mkdir()
    (folder / "lamp.md").write_text(
        "# Lamp\n\nThe lamp is lit at dusk by the keeper. The wick is trimmed twice a night."
    )
    (folder / "fees.csv").write_text("who,pounds\nadult,8\nchild,4\n")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing else")
    return folder


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """An endpoint on this computer."""
    with ChatServer("The lamp is lit at dusk [1].") as running:
        yield running
