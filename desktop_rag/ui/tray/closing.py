"""What closing the window does: stay in the background, or quit. Asked once. Qt thread."""

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QAbstractButton, QMessageBox, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import Settings, WhenClosed

_WITH_TRAY = tr("It stays in the tray and keeps your folders up to date.")
_WITHOUT_TRAY = tr(
    "This desktop has no tray. The app keeps your folders up to date without a window;"
    " start desktop-rag again to see it, ask with “desktop-rag quick-ask”, or end it with"
    " “desktop-rag quit”."
)
_LATER = tr("You can change this later in the settings.")


class Closing(QObject):
    """Decides on each closing of the window. `stayed` and `quit_requested` say what was decided."""

    stayed = Signal()
    quit_requested = Signal()

    def __init__(
        self,
        window: QWidget,
        settings: Callable[[], Settings],
        change_settings: Callable[[Settings], None],
        has_tray: Callable[[], bool],
    ) -> None:
        super().__init__(window)
        self._window = window
        self._settings = settings
        self._change_settings = change_settings
        self._has_tray = has_tray
        self._box: QMessageBox | None = None

    def close(self) -> None:
        """The person closed the window."""
        match self._settings().background.when_closed:
            case WhenClosed.STAY:
                self._stay()
            case WhenClosed.QUIT:
                self.quit_requested.emit()
            case WhenClosed.ASK:
                self._ask()

    def _ask(self) -> None:
        if self._box:
            self._box.raise_()
            return
        self._box = box = QMessageBox(self._window)
        box.setWindowTitle("desktop-rag")
        box.setTextFormat(Qt.TextFormat.PlainText)
        where = _WITH_TRAY if self._has_tray() else _WITHOUT_TRAY
        box.setText(
            tr("Keep indexing in the background?\n\n{where} {LATER}", where=where, LATER=_LATER)
        )
        stay = box.addButton(tr("Keep running"), QMessageBox.ButtonRole.AcceptRole)
        leave = box.addButton(tr("Quit"), QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(stay)
        choices: dict[QAbstractButton, WhenClosed] = {
            stay: WhenClosed.STAY,
            leave: WhenClosed.QUIT,
        }
        box.finished.connect(lambda _code: self._on_answered(choices.get(box.clickedButton())))
        box.open()

    def _on_answered(self, choice: WhenClosed | None) -> None:
        if self._box:
            self._box.deleteLater()
            self._box = None
        if choice is None:
            return
        settings = self._settings()
        background = replace(settings.background, when_closed=choice)
        self._change_settings(replace(settings, background=background))
        self.close()

    def _stay(self) -> None:
        self._window.hide()
        self.stayed.emit()
