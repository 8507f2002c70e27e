"""Live indexing progress in words and numbers. Qt thread."""

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import IndexProgress, Stage
from desktop_rag.progress_words import (
    duration_left,
    headline,
    overall_percent,
    percent,
    progress_line,
    steps_in_words,
)
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import Card, ElidedLabel, PlainLabel

_REPAINT_MS = 200
_STEPS = 1000


class ProgressStrip(Card):
    """Detailed progress while indexing; gone at rest, when the status line says all there is.

    It repaints at most five times a second.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._progress = IndexProgress(Stage.STARTING)
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

    def _show_soon(self, is_urgent: bool) -> None:
        if is_urgent:
            self._repaint.stop()
            self._show()
        elif not self._repaint.isActive():
            self._repaint.start()

    def _build(self) -> None:
        self._headline = ElidedLabel()
        self._headline.setObjectName("stripHeadline")
        self._percent = PlainLabel()
        self._percent.setObjectName("stripPercent")
        self._left = PlainLabel(tone="muted")
        self._bar = QProgressBar(self)
        self._bar.setRange(0, _STEPS)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(tr("Indexing progress"))
        self._steps = ElidedLabel(tone="muted", scale="small")
        self._file = ElidedLabel(tone="muted", scale="small", mode=Qt.TextElideMode.ElideMiddle)
        top = QHBoxLayout()
        top.setSpacing(10)
        top.addWidget(self._headline, 1)
        top.addWidget(self._left)
        top.addWidget(self._percent)
        bottom = QHBoxLayout()
        bottom.setSpacing(16)
        bottom.addWidget(self._steps, 3)
        bottom.addWidget(self._file, 2)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(14, 8, 14, 8)
        outer.setSpacing(5)
        outer.addLayout(top)
        outer.addWidget(self._bar)
        outer.addLayout(bottom)

    @Slot()
    def _show(self) -> None:
        now = self._progress
        is_running = bool(now.steps)
        is_held = bool(self._hold) and now.stage is Stage.PAUSED
        words = headline(now) if is_running else progress_line(now)
        self._headline.set_full_text(self._hold if is_held else words)
        is_timed = is_running and now.stage is not Stage.PAUSED
        self._left.setText(duration_left(now.seconds_left) if is_timed else "")
        self._percent.setText(overall_percent(now) if is_running else "")
        self._bar.setValue(int(now.fraction * _STEPS))
        self._bar.setAccessibleDescription(percent(now.fraction))
        self._steps.set_full_text(_steps_line(now))
        if now.current_file or now.stage is not Stage.READING:
            # The last name stays until the next file: an empty line would flicker.
            name = one_line(now.current_file)
            self._file.set_full_text(tr("Reading {name}", name=name) if name else "")
        for widget in (self._bar, self._percent, self._left, self._steps):
            widget.setVisible(is_running)
        self._file.setVisible(now.stage is Stage.READING or bool(now.current_file))
        self.setVisible(is_running or now.stage is Stage.PAUSED)


def _steps_line(progress: IndexProgress) -> str:
    """The steps from left to right: what is done, what is under way, what follows."""
    marks = ["✓" if step.is_done else f"{n}." for n, step in enumerate(progress.steps, start=1)]
    words = steps_in_words(progress)
    return " · ".join(f"{mark} {step}" for mark, step in zip(marks, words, strict=True))
