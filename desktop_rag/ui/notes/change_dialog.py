"""Shows what would be written to a note, to be accepted section by section. Qt thread."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.language.translation import tr
from desktop_rag.core.notes.note_changes import ProposedSection, SectionChange
from desktop_rag.core.notes.note_sources import note_citations
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
        if not 0 <= row < len(self._changes):
            self._text.clear()
            return
        change = self._changes[row]
        # A file has one number in a note, whichever of its places is cited.
        self._text.link([replace(source, n=n) for n, source in enumerate(change.cited, 1)])
        # Where the links of the note as it is now lead is not known.
        now = self._part(tr("Now:"), note_citations(change.before).in_words, {}, "danger_soft")
        after = note_citations(change.after)
        shown = after.numbered if change.cited else after.in_words
        then = self._part(tr("Then:"), shown, after.labels, "success_soft")
        self._text.show_html(now + then)

    def _part(self, word: str, text: str, labels: Mapping[int, int], role: str) -> str:
        """The HTML of a text, on a ground of its own below a word; "" without a text."""
        if not text:
            return ""
        ground, ink = self._theme.colours[role], self._theme.colours[f"{role}_text"]
        return (
            f'<p style="margin-bottom:4px;">{html.escape(word)}</p>'
            f'<table width="100%" cellpadding="8" bgcolor="{ground}"><tr>'
            f'<td style="color:{ink};">{self._text.written(text, labels)}</td></tr></table>'
        )

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
