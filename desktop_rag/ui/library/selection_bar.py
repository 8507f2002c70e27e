"""The line below the table: how many files it shows, and what can be done with the chosen ones.

Qt thread.
"""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from desktop_rag.core.domain import Document
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.ui.foundation.wording import with_inside
from desktop_rag.ui.widgets.controls import ElidedLabel, TextButton


class SelectionBar(QWidget):
    """Says what is shown and selected; the actions are those of the context menu, in words."""

    ask_requested = Signal()
    read_requested = Signal()
    exclude_requested = Signal()
    include_requested = Signal()
    retry_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = ElidedLabel("", self, tone="muted", scale="small")
        self._ask = _action(
            tr("Ask about this"), tr("Ask about the selected files only (Ctrl+Shift+Return)"), self
        )
        self._read = _action(tr("Read"), tr("Read the selected file here (Return)"), self)
        self._retry = _action(tr("Read again"), tr("Index the selected files again (Ctrl+R)"), self)
        self._exclude = _action(
            tr("Exclude"), tr("Never read the selected files again (Delete)"), self
        )
        self._include = _action(tr("Include again"), tr("Read the selected files again"), self)
        row = QHBoxLayout(self)
        row.setContentsMargins(2, 0, 0, 0)
        row.setSpacing(2)
        row.addWidget(self._words, 1)
        self._ask.clicked.connect(self.ask_requested)
        self._read.clicked.connect(self.read_requested)
        self._retry.clicked.connect(self.retry_requested)
        self._exclude.clicked.connect(self.exclude_requested)
        self._include.clicked.connect(self.include_requested)
        for button in (self._ask, self._read, self._retry, self._exclude, self._include):
            row.addWidget(button)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.show_selection([])

    def show_numbers(self, shown: int, total: int, inside: int, selected: int) -> None:
        """Say how many files are shown of all, with how many inside them, and are selected."""
        files = count_of(total, tr("file"), tr("files"))
        if shown != total:
            files = tr("{shown:,} of {files}", shown=shown, files=files)
        words = with_inside(files, inside)
        self._words.set_full_text(
            tr("{words} · {selected:,} selected", words=words, selected=selected)
            if selected
            else words
        )

    def show_selection(self, selected: Sequence[Document]) -> None:
        """Offer what can be done with these documents."""
        self._ask.setEnabled(bool(selected))
        self._read.setEnabled(len(selected) == 1)
        self._retry.setEnabled(any(d.can_be_read_again for d in selected))
        excluded = [d for d in selected if d.is_excluded]
        self._exclude.setEnabled(any(not d.is_excluded and not d.url for d in selected))
        self._exclude.setVisible(not excluded or len(excluded) < len(selected))
        self._include.setVisible(bool(excluded))


def _action(words: str, description: str, parent: QWidget) -> TextButton:
    button = TextButton(words, parent, kind="action")
    button.setAccessibleDescription(description)
    return button
