"""What a search can't find yet, and why, in one line below the passages. Qt thread."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.library_events import Stage
from desktop_rag.ui.foundation.library_state import LibraryFacts
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.layouts import horizontal

_NO_FOLDER = tr("No folder yet. Add one to ask about its files.")
_SCANNING = tr("Looking for files. What is found here grows by itself.")
_BY_WORDS = tr("Found by their words so far; the search by meaning is being prepared.")
_PAUSED = tr("Indexing is paused. New and changed files are not found.")


class LibraryHint(QWidget):
    """Hidden while the library is complete. `folder_requested` asks for a first folder."""

    folder_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._label = PlainLabel(tone="muted", scale="small")
        self._label.setWordWrap(True)
        self._add = TextButton(tr("Add a folder"), kind="primary", then=self.folder_requested)
        horizontal((self._label, 1), self._add, on=self, margins=(14, 0, 4, 0))
        self.hide()

    @property
    def has_words(self) -> bool:
        """True if there is a hint."""
        return bool(self._label.text())

    def show_facts(self, facts: LibraryFacts) -> None:
        """Show what these facts mean for a search."""
        self._label.setText(hint_of(facts))
        self._add.setVisible(facts.sources == 0)


def hint_of(facts: LibraryFacts) -> str:
    """What a search can't find with these facts; "" when it finds everything."""
    if facts.sources == 0:
        return _NO_FOLDER
    steps = facts.progress.steps
    has_unread = any(step.stage is Stage.READING and not step.is_done for step in steps)
    if facts.is_paused and has_unread:
        return _PAUSED
    match facts.progress.stage:
        case Stage.SCANNING:
            return _SCANNING
        case Stage.READING:
            progress = facts.progress
            files = tr(
                "{files_done:,} of {count_of}",
                files_done=progress.files_done,
                count_of=count_of(progress.files_total, tr("file"), tr("files")),
            )
            return tr("{files} read. The others are not found yet.", files=files)
        case Stage.EMBEDDING:
            return _BY_WORDS
        case _:
            return ""
