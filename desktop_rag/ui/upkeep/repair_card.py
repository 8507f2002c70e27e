"""Offers a repair of the library at the next start, and says what it keeps. Qt thread."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QMessageBox, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.diagnosis.repair_request import RepairRequest
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton

_NEEDED = tr(
    "The library needs a repair. It cannot be repaired while it is open, so the repair is done when"
    " the app starts next."
)
_ARRANGED = tr(
    "The library is repaired when the app starts next. Close the window and open it again."
)
_CONFIRMATION = tr(
    "Repair the library at the next start?\n\n"
    "Kept: your own files, which are never changed; chats, collections, folders, assistants and"
    " feedback, also from the journal beside the library; and a damaged library file, under another"
    " name.\n\n"
    "Made again from your files: the parts of the index that are wrong. Until they are read again,"
    " some documents are not found."
)


class RepairCard(Card):
    """Shown when a finding can be mended by a repair, or one is arranged already."""

    def __init__(
        self, bridge: Bridge, request: RepairRequest, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent, kind="notice", tone="warning")
        self._bridge = bridge
        self._request = request
        self._is_needed = False
        self._text = PlainLabel(_NEEDED, wrap=True)
        self.arrange = TextButton(tr("Repair at next start…"))
        self.take_back = TextButton(tr("Do not repair"))
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.addWidget(self._text)
        buttons = QHBoxLayout()
        for button in (self.arrange, self.take_back):
            buttons.addWidget(button)
        buttons.addStretch(1)
        column.addLayout(buttons)
        self.arrange.clicked.connect(self._on_arrange_clicked)
        self.take_back.clicked.connect(self._on_take_back_clicked)
        self._show_state(False)
        bridge.run(self, lambda: request.is_made, self._show_state)

    def show_needed(self, is_needed: bool) -> None:
        """Offer the repair, or not."""
        self._is_needed = is_needed
        self._show_state(not self.take_back.isHidden())

    @Slot()
    def _on_arrange_clicked(self) -> None:
        box = QMessageBox(self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setWindowTitle(tr("Repair the library"))
        box.setText(_CONFIRMATION)
        yes = box.addButton(tr("Repair at next start"), QMessageBox.ButtonRole.AcceptRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        yes.clicked.connect(lambda: self._arrange(True))
        box.open()

    @Slot()
    def _on_take_back_clicked(self) -> None:
        self._arrange(False)

    def _arrange(self, is_wanted: bool) -> None:
        def work() -> bool:
            self._request.make(is_wanted=is_wanted)
            return self._request.is_made

        self._bridge.run(self, work, self._show_state)

    def _show_state(self, is_arranged: bool) -> None:
        self.setVisible(self._is_needed or is_arranged)
        self._text.setText(_ARRANGED if is_arranged else _NEEDED)
        self.arrange.setVisible(not is_arranged)
        self.take_back.setVisible(is_arranged)
