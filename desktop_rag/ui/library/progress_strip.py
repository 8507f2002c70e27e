"""Live indexing progress in words and numbers. Qt thread."""

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from desktop_rag.core.library_events import IndexProgress, Stage
from desktop_rag.ui.foundation.wording import count_of, duration_left, one_line, percent
from desktop_rag.ui.widgets.controls import Card, ElidedLabel, PlainLabel

_REPAINT_MS = 200
_STEPS = 1000
_HEADLINES = {
    Stage.IDLE: "Up to date",
    Stage.SCANNING: "Looking for files",
    Stage.READING: "Reading files",
    Stage.EMBEDDING: "Preparing search by meaning",
    Stage.REFINING: "Searchable. Refining long passages",
    Stage.PAUSED: "Paused",
}


class ProgressStrip(Card):
    """Detailed progress while indexing, a single line when idle.

    It repaints at most five times a second.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._progress = IndexProgress()
        self._searchable_count = 0
        self._hold = ""
        self._repaint = QTimer(self)
        self._repaint.setSingleShot(True)
        self._repaint.setInterval(_REPAINT_MS)
        self._repaint.timeout.connect(self._show)
        self._build()
        self._show()

    def set_progress(self, progress: IndexProgress) -> None:
        """Show newer progress: after a short delay, or immediately when the stage changes."""
        is_new_stage = progress.stage is not self._progress.stage
        self._progress = progress
        self._show_soon(is_new_stage)

    def set_hold(self, words: str) -> None:
        """Set why indexing is paused when it wasn't the person; "" for any other pause."""
        if words != self._hold:
            self._hold = words
            self._show_soon(True)

    def set_searchable_count(self, files: int) -> None:
        """Set the number of files that are searchable by words."""
        self._searchable_count = files
        self._show_soon(False)

    def _show_soon(self, is_urgent: bool) -> None:
        if is_urgent:
            self._repaint.stop()
            self._show()
        elif not self._repaint.isActive():
            self._repaint.start()

    def _build(self) -> None:
        self._headline = PlainLabel()
        self._headline.setObjectName("stripHeadline")
        self._percent = PlainLabel()
        self._percent.setObjectName("stripPercent")
        self._left = PlainLabel(tone="muted")
        self._bar = QProgressBar(self)
        self._bar.setRange(0, _STEPS)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName("Indexing progress")
        self._done = ElidedLabel(tone="muted", scale="small")
        self._searchable = PlainLabel(tone="success", scale="small")
        self._file = ElidedLabel(tone="muted", scale="small", mode=Qt.TextElideMode.ElideMiddle)
        top = QHBoxLayout()
        top.setSpacing(10)
        top.addWidget(self._headline)
        top.addStretch(1)
        top.addWidget(self._left)
        top.addWidget(self._percent)
        numbers = QHBoxLayout()
        numbers.setSpacing(10)
        numbers.addWidget(self._done, 1)
        numbers.addWidget(self._searchable)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(14, 10, 14, 10)
        outer.setSpacing(6)
        outer.addLayout(top)
        outer.addWidget(self._bar)
        outer.addLayout(numbers)
        outer.addWidget(self._file)

    @Slot()
    def _show(self) -> None:
        now = self._progress
        is_idle = now.stage is Stage.IDLE
        is_held = bool(self._hold) and now.stage is Stage.PAUSED
        self._headline.setText(self._hold if is_held else _HEADLINES[now.stage])
        self._left.setText("" if is_idle else duration_left(now.seconds_left))
        self._percent.setText("" if is_idle else percent(now.fraction))
        self._bar.setValue(int(now.fraction * _STEPS))
        self._bar.setAccessibleDescription(percent(now.fraction))
        self._done.set_full_text(_done_in_words(now))
        self._searchable.setText(f"Searchable by words: {self._searchable_count:,}")
        if now.current_file or now.stage is not Stage.READING:
            # The last name stays until the next file: an empty line would flicker.
            name = one_line(now.current_file)
            self._file.set_full_text(f"Reading {name}" if name else "")
        for widget in (self._bar, self._percent, self._left, self._done):
            widget.setVisible(not is_idle)
        self._file.setVisible(now.stage is Stage.READING or bool(now.current_file))


def _done_in_words(progress: IndexProgress) -> str:
    files = f"{progress.files_read:,} of {count_of(progress.files_total, 'file')} read"
    if not progress.chunks_total:
        return files
    passages = count_of(progress.chunks_total, "passage")
    done = "refined" if progress.stage is Stage.REFINING else "embedded"
    return f"{files} · {progress.chunks_embedded:,} of {passages} {done}"
