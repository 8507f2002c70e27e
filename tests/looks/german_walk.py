"""Walks through the pages and dialogs of the app in German, and prints every text without room,
and every one that is English.

python -m tests.looks.german_walk HOME WIDTH HEIGHT

A process of its own: the language is chosen before the rooms of the window are imported.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QDeadlineTimer, QEventLoop, QSize, Qt
from PySide6.QtGui import QPainter, QPdfWriter
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QScrollArea, QWidget

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.language.translation import tr
from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.core.settings import AppearanceSettings, Settings
from desktop_rag.ui.foundation.window_language import choose_language, translate_qt
from tests.looks.cut_off import cut_off
from tests.looks.left_english import left_english

if TYPE_CHECKING:
    from desktop_rag.window_app import WindowApp

_LANGUAGE = "de"
_SETTLE_MS, _PATIENCE_MS = 100, 20_000
# A page that was shown is laid out in several passes.
_LOOKS = 3
_CHAT, _LIBRARY, _SEARCH, _SETTINGS = range(4)
_DOCUMENTS = {
    "lampe.md": "# Leuchtturm\n\nDie Lampe des Leuchtturms wird bei Dämmerung angezündet.",
    "gebühren.csv": "wer,euro\nErwachsene,8\nKinder,4\n",
    "kaputt.pdf": "%PDF-1.7\nnothing else",
}
_PAGE = "Die Lampe des Leuchtturms brennt bis zum Morgen."


class Walk:
    """The window on its way; `said` holds what was printed, so that each text is told once."""

    def __init__(self, app: "WindowApp", size: QSize) -> None:
        self.app = app
        self.window = app.window
        self._size = size
        self._said: set[str] = set()

    def settle(self, until: Callable[[], bool] | None = None) -> None:
        """Let the window work until a condition holds, or for a moment."""
        deadline = QDeadlineTimer(_PATIENCE_MS if until else _SETTLE_MS)
        while not deadline.hasExpired() and not (until and until()):
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)

    def look(self, place: str, root: QWidget | None = None) -> None:
        """Print what is cut off, and stays so, and what is English."""
        self.settle()
        english = set(left_english(root or self.window)) - self._said
        self._said |= english
        sys.stdout.writelines(f"{place}: {each}\n" for each in sorted(english))
        found = set(cut_off(root or self.window)) - self._said
        for _again in range(_LOOKS if found else 0):
            self.settle()
            found &= set(cut_off(root or self.window))
        self._said |= found
        sys.stdout.writelines(f"{place}: {each}\n" for each in sorted(found))

    def look_down(self, place: str, page: QWidget) -> None:
        """Look at all of a page, also at what has to be scrolled to."""
        self.look(place)
        for area in (page, *page.findChildren(QScrollArea)):
            while isinstance(area, QScrollArea) and area.isVisible():
                bar = area.verticalScrollBar()
                if bar.value() >= bar.maximum():
                    break
                bar.setValue(bar.value() + bar.pageStep())
                self.look(place)

    def open_dialogs(self, place: str, page: QWidget) -> None:
        """Look at whatever the buttons with … open."""
        pressed: set[str] = set()
        for button in page.findChildren(QAbstractButton):
            name = button.text()
            is_new = name.endswith("…") and name not in pressed
            if is_new and button.isVisible() and button.isEnabled():
                pressed.add(name)
                button.click()
                self.look_at_dialog(f"{place}, {name}")

    def look_at_dialog(self, place: str) -> None:
        """Look at the open dialog, no larger than the window, and close it."""
        self.settle()
        while dialog := QApplication.activeModalWidget():
            dialog.resize(dialog.size().boundedTo(self._size))
            # Those of Qt are not ours.
            if not isinstance(dialog, QFileDialog):
                self.look(place, dialog)
            dialog.close()
            self.settle()


def walk(step: Walk, papers: Path) -> None:
    """Every page, with and without documents, and the dialogs that open from it."""
    window, services = step.window, step.app.services
    for position in (_CHAT, _LIBRARY, _SEARCH):
        window.show_page(position)
        step.look(f"empty page {position}")
    services.library.sources.add(papers)
    step.settle(lambda: services.library.documents.counts().searchable == 3)
    step.settle(lambda: services.library.indexing.is_idle)
    window.ask("Wann wird die Lampe angezündet?")
    step.settle(lambda: any(services.chat.history.all()))
    step.look("chat")
    step.open_dialogs("chat", window.chat_page)
    for name in window.chat_page.below_chats:
        shown = window.chat_page.show_below_chats(name)
        step.look_down(name, shown)
        step.open_dialogs(name, shown)
    window.show_page(_LIBRARY)
    for view in window.library_page.views:
        window.library_page.show_view(view)
        step.look(f"library, {view}")
        step.open_dialogs(f"library, {view}", window.library_page)
    _look_at_search(step)
    window.show_page(_SETTINGS)
    for part in window.settings_page.parts:
        shown = window.settings_page.show_part(part)
        place = f"settings, {part.page}, {part.name}"
        step.look_down(place, shown)
        step.open_dialogs(place, shown)
    window.show_shortcuts()
    step.look_at_dialog("shortcuts")
    step.app.presence.popup.show()
    step.look("quick ask", step.app.presence.popup)


def _look_at_search(step: Walk) -> None:
    """A found page beside the results."""
    window = step.window
    fit = tr("Fit width")
    window.show_page(_SEARCH)
    window.search_page.field.setText("Leuchtturms brennt bis zum Morgen type:pdf")
    step.settle(lambda: bool(window.search_page.results.results.passages))
    window.search_page.results.choose_first()
    buttons = window.search_page.findChildren
    step.settle(lambda: any(b.text() == fit and b.isVisible() for b in buttons(QAbstractButton)))
    step.look("search")
    step.open_dialogs("search", window.search_page)


def write_pdf(path: Path) -> None:
    """A page with a line of text. With an application."""
    writer = QPdfWriter(str(path))
    painter = QPainter(writer)
    painter.drawText(300, 300, _PAGE)
    painter.end()


@contextmanager
def opened(home: Home) -> Iterator["WindowApp"]:
    """The real app in German over this home."""
    choose_language(resources_dir() / "words", _LANGUAGE)
    from desktop_rag.app import build_services
    from desktop_rag.cli.running import run_for_another
    from desktop_rag.window_app import WindowApp

    qt = QApplication.instance() or QApplication([])
    assert isinstance(qt, QApplication)
    translate_qt(qt, _LANGUAGE)
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
    home.create()
    save_settings(home.settings, Settings(appearance=AppearanceSettings(language=_LANGUAGE)))
    app = WindowApp(build_services(home), run_for_another)
    app.open()
    try:
        yield app
    finally:
        app.window.hide()
        app.shut_down()


def main() -> int:
    """Walk through a new library at this size."""
    home, width, height = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    _qt = QApplication.instance() or QApplication([])
    papers = home / "papers"
    papers.mkdir(parents=True)
    for name, text in _DOCUMENTS.items():
        (papers / name).write_text(text, encoding="utf-8")
    write_pdf(papers / "leuchtturm.pdf")
    with opened(Home(home / "home")) as app:
        app.window.resize(width, height)
        walk(Walk(app, QSize(width, height)), papers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
