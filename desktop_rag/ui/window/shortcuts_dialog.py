"""The overview of all shortcuts, by page, with a field to search them. Qt thread."""

from collections.abc import Sequence
from itertools import groupby

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.shortcuts import NamedShortcut
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton, add_clear_button

_NONE = tr("No shortcut has these words.")


class ShortcutsDialog(QDialog):
    """Lists what keys do; closed by Esc or F1."""

    def __init__(self, shortcuts: Sequence[NamedShortcut], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keyboard shortcuts"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(560, min(640, parent.height()))
        self._field = QLineEdit(self)
        self._field.setPlaceholderText(tr("Search by words or keys"))
        self._field.setAccessibleName(tr("Search shortcuts"))
        add_clear_button(self._field)
        self._tree = QTreeWidget(self)
        self._tree.setAccessibleName(tr("Shortcuts"))
        self._tree.setColumnCount(2)
        self._tree.setHeaderLabels([tr("What it does"), tr("Keys")])
        self._tree.setRootIsDecorated(False)
        self._tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._tree.header().setStretchLastSection(False)
        self._tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self._none = PlainLabel(_NONE, self, tone="muted")
        self._none.hide()
        close = TextButton(tr("Close"), self)
        close.clicked.connect(self.close)
        column = QVBoxLayout(self)
        column.addWidget(self._field)
        column.addWidget(self._tree, 1)
        column.addWidget(self._none)
        column.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
        for place, group in groupby(shortcuts, key=lambda shortcut: shortcut.place):
            head = QTreeWidgetItem(self._tree, [place])
            head.setFirstColumnSpanned(True)
            font = head.font(0)
            font.setBold(True)
            head.setFont(0, font)
            for shortcut in group:
                QTreeWidgetItem(head, [shortcut.words, shortcut.keys])
        self._tree.expandAll()
        self._field.textChanged.connect(self._on_text_changed)

    @Slot(str)
    def _on_text_changed(self, text: str) -> None:
        """Show the shortcuts with these words, and the pages that have any."""
        words = text.casefold().split()
        is_any = False
        for n in range(self._tree.topLevelItemCount()):
            head = self._tree.topLevelItem(n)
            assert head is not None
            children = (head.child(row) for row in range(head.childCount()))
            rows = [row for row in children if row is not None]
            for row in rows:
                said = f"{head.text(0)} {row.text(0)} {row.text(1)}".casefold()
                row.setHidden(not all(word in said for word in words))
            head.setHidden(all(row.isHidden() for row in rows))
            is_any = is_any or not head.isHidden()
        self._none.setVisible(not is_any)
