"""Buttons for the model servers on this computer. Qt thread; the bridge contacts the servers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.models.endpoints.local_servers import USUAL, LocalServer
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.widgets.controls import TextButton
from desktop_rag.ui.widgets.flow_row import FlowRow

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat

# The number of buttons that fit in a row before a search.
_DEFAULT_COUNT = 3


class LocalServerList(QWidget):
    """One button per known server, and one that searches for running servers.

    `chosen` carries an address, `searched` the servers found.
    """

    chosen = Signal(str)
    searched = Signal(object)

    def __init__(self, bridge: Bridge, chat: "Chat", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._chat = chat
        self._search = TextButton(tr("Find running servers"), kind="quiet")
        self._search.clicked.connect(self.search)
        self._uses = {name: TextButton(_in_words(name)) for name in USUAL}
        row = FlowRow(spacing=8)
        for name, button in self._uses.items():
            button.setAccessibleDescription(tr("Use {value} and test it", value=USUAL[name]))
            button.clicked.connect(self._on_use_clicked)
            row.addWidget(button)
        for name in list(USUAL)[_DEFAULT_COUNT:]:
            self._uses[name].hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(row)
        column.addWidget(self._search, 0, Qt.AlignmentFlag.AlignLeft)

    @property
    def buttons(self) -> list[TextButton]:
        """The buttons in Tab order."""
        return [*self._uses.values(), self._search]

    @Slot()
    def _on_use_clicked(self) -> None:
        used = next(name for name, button in self._uses.items() if button is self.sender())
        self.chosen.emit(USUAL[used])

    @Slot()
    def search(self) -> None:
        """Search for running servers, unless a search is running."""
        if not self._search.isEnabled():
            return
        self._search.setEnabled(False)
        self._search.setText(tr("Searching…"))
        self._bridge.run(self, self._chat.models.running_servers, self._on_found)

    def _on_found(self, found: Sequence[LocalServer]) -> None:
        self._search.setEnabled(True)
        self._search.setText(tr("Find running servers"))
        models = {server.name: len(server.models) for server in found}
        for place, (name, button) in enumerate(self._uses.items()):
            count = models.get(name)
            has = count_of(count, tr("model"), tr("models")) if count is not None else ""
            words = _in_words(name)
            button.setText(f"{words} · {has}" if has else words)
            button.setVisible(name in models if models else place < _DEFAULT_COUNT)
        self.searched.emit(found)


def _in_words(name: str) -> str:
    """The name of a server, or those of the programs that share its address."""
    return tr(" or ").join(name.split(" or "))
