"""One line below every page with the library's progress; a click opens the library. Qt thread."""

from PySide6.QtCore import QSize, Qt, QTimer, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import IndexProgress
from desktop_rag.progress_words import progress_line
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import ElidedLabel, press_by_enter

_REPAINT_MS = 200
_STEPS = 1000


class StatusStrip(QPushButton):
    """A flat button with a text and a small bar, repainted at most five times a second."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("statusStrip")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._progress = IndexProgress()
        self._label = ElidedLabel(tone="muted", scale="small")
        self._bar = QProgressBar()
        self._bar.setRange(0, _STEPS)
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(120)
        for child in (self._label, self._bar):
            child.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 0, 14, 0)
        row.setSpacing(12)
        row.addWidget(self._label, 1)
        row.addWidget(self._bar)
        self._repaint = QTimer(self)
        self._repaint.setSingleShot(True)
        self._repaint.setInterval(_REPAINT_MS)
        self._repaint.timeout.connect(self._show)
        self._show()

    @property
    def line(self) -> str:
        """The text before eliding."""
        return self._label.full_text

    def sizeHint(self) -> QSize:
        return QSize(200, self.fontMetrics().height() + 12)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_by_enter(self, event):
            super().keyPressEvent(event)

    def show_progress(self, progress: IndexProgress) -> None:
        """Show newer progress: after a short delay, or immediately when the stage changes."""
        is_new_stage = progress.stage is not self._progress.stage
        self._progress = progress
        if is_new_stage:
            self._show()
        elif not self._repaint.isActive():
            self._repaint.start()

    @Slot()
    def _show(self) -> None:
        line = _line(self._progress)
        self._label.set_full_text(line)
        self._bar.setValue(int(self._progress.fraction * _STEPS))
        self._bar.setVisible(bool(self._progress.steps))
        self.setAccessibleName(tr("Library: {line}", line=line))


def _line(progress: IndexProgress) -> str:
    """`Reading files · 412 of 1,998 files · about 2 min left · notes.md`."""
    line = progress_line(progress)
    return f"{line} · {one_line(progress.current_file)}" if progress.current_file else line
