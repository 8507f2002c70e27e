"""One line below every page with the library's progress; a click opens the library. Qt thread."""

from PySide6.QtCore import QSize, Qt, QTimer, Slot
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QWidget

from desktop_rag.core.library_events import IndexProgress, Stage
from desktop_rag.ui.foundation.wording import count_of, duration_left, one_line, percent
from desktop_rag.ui.widgets.controls import ElidedLabel

_REPAINT_MS = 200
_STEPS = 1000
_STAGES = {
    Stage.SCANNING: "Looking for files",
    Stage.READING: "Reading files",
    Stage.EMBEDDING: "Preparing search by meaning",
    Stage.REFINING: "Searchable. Refining long passages",
    Stage.PAUSED: "Indexing is paused",
}


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
        line = progress_line(self._progress)
        self._label.set_full_text(line)
        self._bar.setValue(int(self._progress.fraction * _STEPS))
        self._bar.setVisible(self._progress.stage is not Stage.IDLE)
        self.setAccessibleName(f"Library: {line}")


def progress_line(progress: IndexProgress) -> str:
    """`Reading files · 412 of 1,998 · 43.7% · about 2 min left · notes.md`."""
    if progress.stage is Stage.IDLE:
        files = progress.files_total
        return f"{count_of(files, 'file')}, up to date" if files else "No documents yet"
    parts = [_STAGES[progress.stage]]
    if progress.files_total:
        parts.append(f"{progress.files_read:,} of {count_of(progress.files_total, 'file')}")
    if progress.stage is not Stage.SCANNING:
        parts.append(percent(progress.fraction))
    if progress.stage is not Stage.PAUSED:
        parts += [duration_left(progress.seconds_left), one_line(progress.current_file)]
    return " · ".join(part for part in parts if part)
