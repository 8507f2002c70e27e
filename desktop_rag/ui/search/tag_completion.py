"""Tags that are offered while `tag:` is written in a field. Qt thread."""

import re
from collections.abc import Sequence

from PySide6.QtCore import QObject, QStringListModel, Qt, Slot
from PySide6.QtWidgets import QCompleter, QLineEdit, QListView

from desktop_rag.core.language.translation import tr
from desktop_rag.core.search_syntax import quoted_value

_BEGUN = re.compile(r"(?:^|(?<=\s))-?tag:(\"?)([^\"\s]*(?:(?<=\")[^\"]*)?)$", re.IGNORECASE)
_SHOWN_ROWS = 8


class TagCompletion(QObject):
    """Offers the tags that hold what is written behind `tag:`, and writes the chosen one."""

    def __init__(self, field: QLineEdit) -> None:
        super().__init__(field)
        self._field = field
        self._names = QStringListModel(self)
        self._completer = QCompleter(self._names, self)
        self._completer.setWidget(field)
        self._completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self._completer.setMaxVisibleItems(_SHOWN_ROWS)
        self._list = QListView()
        self._list.setAccessibleName(tr("Tags"))
        self._completer.setPopup(self._list)
        self._completer.activated.connect(self._on_chosen)
        field.textEdited.connect(self._on_edited)

    def set_tags(self, names: Sequence[str]) -> None:
        """Offer these from now on."""
        if list(names) != self._names.stringList():
            self._names.setStringList(list(names))

    @property
    def offered(self) -> list[str]:
        """The tags that are offered now."""
        if not self._list.isVisible():
            return []
        model = self._completer.completionModel()
        return [str(model.index(row, 0).data()) for row in range(model.rowCount())]

    @Slot(str)
    def _on_edited(self, _text: str) -> None:
        begun = self._begun()
        if begun is None:
            self._list.hide()
            return
        self._completer.setCompletionPrefix(begun[2])
        is_written = self._completer.currentCompletion() == begun[2]
        if self._completer.completionCount() == 0 or (
            is_written and self._completer.completionCount() == 1
        ):
            self._list.hide()
        else:
            self._completer.complete()

    def _begun(self) -> re.Match[str] | None:
        return _BEGUN.search(self._field.text()[: self._field.cursorPosition()])

    @Slot(str)
    def _on_chosen(self, name: str) -> None:
        begun = self._begun()
        if begun is None:
            return
        value = quoted_value(name) if " " in name else name
        before = self._field.text()[: begun.start(1)]
        after = self._field.text()[self._field.cursorPosition() :].lstrip()
        self._field.setText(f"{before}{value} {after}")
        self._field.setCursorPosition(len(before) + len(value) + 1)
