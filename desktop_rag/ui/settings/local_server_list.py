"""The model servers on this computer, each one click away. Qt thread; they are asked elsewhere."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.models.endpoints.local_servers import USUAL, LocalServer
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.widgets.controls import TextButton

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat

# So many have room in a row before it is known which of them run.
_SHOWN = 3


class LocalServerList(QWidget):
    """Buttons that use a server, and one that looks which of them run."""

    chosen = Signal(str)
    looked = Signal(object)

    def __init__(self, bridge: Bridge, chat: "Chat", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._chat = chat
        self._look = TextButton("Look for running ones", kind="quiet")
        self._look.clicked.connect(self._on_look_clicked)
        self._uses = {name: TextButton(name) for name in USUAL}
        row = QHBoxLayout()
        for name, button in self._uses.items():
            button.setAccessibleDescription(f"Use {USUAL[name]} and test it")
            button.clicked.connect(self._on_use_clicked)
            row.addWidget(button)
        for name in list(USUAL)[_SHOWN:]:
            self._uses[name].hide()
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(row)
        column.addWidget(self._look, 0, Qt.AlignmentFlag.AlignLeft)

    @property
    def buttons(self) -> list[TextButton]:
        """In the order of the row."""
        return [*self._uses.values(), self._look]

    @Slot()
    def _on_use_clicked(self) -> None:
        used = next(name for name, button in self._uses.items() if button is self.sender())
        self.chosen.emit(USUAL[used])

    @Slot()
    def _on_look_clicked(self) -> None:
        self._look.setEnabled(False)
        self._look.setText("Looking…")
        self._bridge.run(self, self._chat.models.running_servers, self._on_found)

    def _on_found(self, found: Sequence[LocalServer]) -> None:
        self._look.setEnabled(True)
        self._look.setText("Look for running ones")
        models = {server.name: len(server.models) for server in found}
        for place, (name, button) in enumerate(self._uses.items()):
            count = models.get(name)
            said = f"{name} · {count} {'model' if count == 1 else 'models'}"
            button.setText(name if count is None else said)
            button.setVisible(name in models if models else place < _SHOWN)
        self.looked.emit(found)
