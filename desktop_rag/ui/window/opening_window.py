"""The small window while the library is being opened or repaired. Qt thread."""

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLabel, QProgressBar, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.desktop.launching import APP_NAME

# An opening that takes less needs no word.
_SHOWN_AFTER_MS = 800
_WIDTH_PX, _MARGIN_PX = 380, 24


class OpeningWindow(QWidget):
    """Says what takes so long. Closing it ends nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.setWindowTitle(APP_NAME)
        self.setMinimumWidth(_WIDTH_PX)
        self._text = QLabel(wordWrap=True)
        bar = QProgressBar(minimum=0, maximum=0, textVisible=False)
        bar.setAccessibleName(tr("Opening the library"))
        column = QVBoxLayout(self)
        column.setContentsMargins(_MARGIN_PX, _MARGIN_PX, _MARGIN_PX, _MARGIN_PX)
        column.addWidget(self._text)
        column.addWidget(bar)
        self._timer = QTimer(self, singleShot=True, interval=_SHOWN_AFTER_MS)
        self._timer.timeout.connect(self.show)

    @property
    def text(self) -> str:
        """What it says."""
        return self._text.text()

    def show_soon(self, *, is_repairing: bool) -> None:
        """Show it unless it is closed before that."""
        repair = tr("Repairing the library…\nThis can take some minutes. What is damaged is kept.")
        self._text.setText(repair if is_repairing else tr("Opening the library…"))
        self._timer.start()

    def end(self) -> None:
        """Hide it, or never show it."""
        self._timer.stop()
        self.close()
