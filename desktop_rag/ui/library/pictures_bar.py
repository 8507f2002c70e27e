"""Pictures and scanned pages, which are read last: asks before that takes long. Qt thread."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import IndexProgress
from desktop_rag.core.pictures.waiting_pictures import PictureHold, WaitingPictures
from desktop_rag.progress_words import pictures_left, pictures_question, pictures_wait
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton


class PicturesBar(Card):
    """Says how many wait, and offers to read them, to wait or to go on; gone while none waits."""

    read_requested = Signal()
    later_requested = Signal()
    pause_requested = Signal()
    resume_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = PlainLabel()
        self._words.setWordWrap(True)
        self._read = TextButton(tr("Read"), self, kind="primary")
        self._later = TextButton(tr("Not now"), self)
        self._pause = TextButton(tr("Pause pictures"), self)
        self._resume = TextButton(tr("Resume pictures"), self)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 8, 14, 8)
        row.setSpacing(8)
        row.addWidget(self._words, 1)
        for button, signal in (
            (self._read, self.read_requested),
            (self._later, self.later_requested),
            (self._pause, self.pause_requested),
            (self._resume, self.resume_requested),
        ):
            button.clicked.connect(signal)
            row.addWidget(button)
        self.show_progress(IndexProgress())

    def show_progress(self, progress: IndexProgress) -> None:
        """Show what waits now."""
        waiting = progress.pictures
        hold = waiting.hold
        self._words.setText(_words(waiting))
        self._read.setVisible(hold in {PictureHold.ASKED, PictureHold.LATER})
        self._later.setVisible(hold is PictureHold.ASKED)
        self._pause.setVisible(hold is PictureHold.NONE)
        self._resume.setVisible(hold is PictureHold.PAUSED)
        self.setVisible(waiting.count > 0)


def _words(waiting: WaitingPictures) -> str:
    if waiting.hold is PictureHold.ASKED:
        return pictures_question(waiting)
    return pictures_wait(waiting) or pictures_left(waiting)
