"""Shows what would be written to a note, to be accepted section by section. Qt thread."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QShowEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.language.translation import tr
from desktop_rag.core.notes.note_changes import ProposedSection, SectionChange
from desktop_rag.core.notes.note_sources import link_spans
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.messages.cited_text import CitedText
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import note
from desktop_rag.ui.widgets.item_list import ItemList

_WIDTH_PX, _HEIGHT_PX = 820, 560
_LIST_PX = 230
_WORDS = {
    SectionChange.NEW: tr("New"),
    SectionChange.CHANGED: tr("Changed"),
    SectionChange.GONE: tr("Gone"),
}
_INTRO = tr(
    "Nothing is written yet. Check what is to be written: at first all but what you wrote yourself"
    " and what would be removed."
)


class ChangeDialog(QDialog):
    """`accepted_changes` carries the headings of the checked sections.

    `read_requested` carries the SourceRef of a link that was clicked.
    """

    accepted_changes = Signal(object)
    read_requested = Signal(object)

    def __init__(
        self, topic: str, changes: Sequence[ProposedSection], theme: Theme, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setObjectName("changeDialog")
        self.setWindowTitle(tr("Note: {topic}", topic=one_line(topic)))
        self._theme = theme
        self._changes = changes
        self._list = ItemList(tr("Sections"))
        self._list.setMaximumWidth(_LIST_PX)
        for change in changes:
            item = QListWidgetItem(_row_in_words(change), self._list)
            state = Qt.CheckState.Unchecked if change.is_asked_for else Qt.CheckState.Checked
            item.setCheckState(state)
        self._text = CitedText(theme, tr("Change"))
        self._write = TextButton(tr("Write the checked"), kind="primary")
        self._cancel = TextButton(tr("Cancel"))
        self._build()
        self._list.currentRowChanged.connect(self._on_row_changed)
        self._list.itemChanged.connect(self._on_checked)
        self._write.clicked.connect(self._on_write_clicked)
        self._cancel.clicked.connect(self.reject)
        self._text.read_requested.connect(self.read_requested)
        self._list.setCurrentRow(0)

    def _build(self) -> None:
        middle = QHBoxLayout()
        middle.addWidget(self._list)
        middle.addWidget(self._text, 1)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self._cancel)
        buttons.addWidget(self._write)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(10)
        column.addWidget(PlainLabel(self.windowTitle(), scale="heading"))
        column.addWidget(note(_INTRO))
        column.addLayout(middle, 1)
        column.addLayout(buttons)
        self.resize(_WIDTH_PX, _HEIGHT_PX)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Rows that were laid out before there was a style are too low for it.
        self._list.doItemsLayout()

    @property
    def _checked(self) -> list[str]:
        rows = range(self._list.count())
        items = [self._list.item(row) for row in rows]
        pairs = zip(items, self._changes, strict=True)
        return [c.heading for item, c in pairs if item.checkState() is Qt.CheckState.Checked]

    @Slot(int)
    def _on_row_changed(self, row: int) -> None:
        self._text.clear()
        if 0 <= row < len(self._changes):
            change = self._changes[row]
            # A file has one number in a note, whichever of its places is cited.
            cited = [replace(source, n=n) for n, source in enumerate(change.cited, 1)]
            self._text.link(cited)
            self._add(tr("Now:"), change.before, self._form("danger_soft"))
            self._add(tr("Then:"), change.after, self._form("success_soft"), has_links=bool(cited))
        self._text.moveCursor(QTextCursor.MoveOperation.Start)

    def _form(self, role: str) -> QTextCharFormat:
        form = QTextCharFormat()
        form.setBackground(self._theme.colour(role))
        form.setForeground(self._theme.colour(f"{role}_text"))
        return form

    def _add(self, word: str, text: str, form: QTextCharFormat, *, has_links: bool = False) -> None:
        """Put text below a word; its n-th link leads to the source with this number."""
        if not text:
            return
        cursor = self._text.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(f"{word}\n", QTextCharFormat())
        done = 0
        for n, (start, end) in enumerate(link_spans(text) if has_links else (), 1):
            cursor.insertText(text[done:start], form)
            cursor.insertText(text[start:end], self._text.linking(n, form))
            done = end
        cursor.insertText(text[done:], form)
        cursor.insertText("\n\n", QTextCharFormat())

    @Slot()
    def _on_checked(self) -> None:
        self._write.setEnabled(bool(self._checked))

    @Slot()
    def _on_write_clicked(self) -> None:
        self.accepted_changes.emit(self._checked)
        self.accept()


def _row_in_words(change: ProposedSection) -> str:
    words = f"{one_line(change.heading)} · {_WORDS[change.change]}"
    return tr("{words} · yours", words=words) if change.is_yours else words
