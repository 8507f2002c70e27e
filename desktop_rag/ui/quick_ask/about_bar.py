"""What the question is about, above the field, and what of it is not in the library. Qt thread."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.core.attachment import Attachment
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import Card, ElidedLabel, IconButton, PlainLabel, TextButton


class AboutBar(QWidget):
    """`filters` and `attachments` belong to every question until `removed`; `changed` follows each
    change of either.

    `attach_requested` and `folder_requested` are the ways out for what is not in the library.
    """

    changed = Signal()
    removed = Signal()
    attach_requested = Signal()
    folder_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.filters = ""
        self.attachments: tuple[Attachment, ...] = ()
        self.is_reading = False
        self._label = ElidedLabel(tone="muted", scale="small")
        remove = IconButton(theme, "close:muted", "Ask about all documents instead")
        remove.clicked.connect(self.removed)
        self._chip = Card(kind="chip")
        row = QHBoxLayout(self._chip)
        row.setContentsMargins(8, 2, 2, 2)
        row.addWidget(self._label, 1)
        row.addWidget(remove)
        self._notice = PlainLabel(tone="warning", scale="small", wrap=True)
        self._attach = TextButton("Attach it", kind="quiet")
        self._attach.clicked.connect(self.attach_requested)
        self._folder = TextButton("", kind="quiet")
        self._folder.clicked.connect(self.folder_requested)
        self._offers = QWidget()
        offers = QHBoxLayout(self._offers)
        offers.setContentsMargins(0, 0, 0, 0)
        offers.addWidget(self._notice, 1)
        offers.addWidget(self._attach)
        offers.addWidget(self._folder)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self._chip)
        column.addWidget(self._offers)
        # Hidden one by one: shown before it is in its window, it would be a window of its own.
        for part in (self._chip, self._offers, self):
            part.hide()

    def show_scope(
        self,
        filters: str,
        names: str,
        attachments: tuple[Attachment, ...] = (),
        *,
        is_reading: bool = False,
    ) -> None:
        """Ask with these filters and attachments; `names` says what they are, "" for nothing."""
        self.filters, self.attachments, self.is_reading = filters, attachments, is_reading
        self._label.set_full_text(f"About: {names}")
        self._chip.setVisible(bool(names))
        self._show()

    def show_notice(self, text: str, *, attach: str = "", folder: str = "") -> None:
        """Say what is not in the library, with the buttons that have a text."""
        self._notice.setText(text)
        for button, offer in ((self._attach, attach), (self._folder, folder)):
            button.setText(offer)
            button.setVisible(bool(offer))
        self._offers.setVisible(bool(text))
        self._show()

    def _show(self) -> None:
        parts = (self._chip, self._offers)
        self.setVisible(any(not part.isHidden() for part in parts))
        self.changed.emit()
