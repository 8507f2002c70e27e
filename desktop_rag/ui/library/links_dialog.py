"""Asks for pages of the web to read. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QDialog, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from desktop_rag.core.domain import Collection, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.ui.composer.collection_field import CollectionField
from desktop_rag.ui.settings.settings_fields import note, whole_number
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton

_WIDTH_PX = 560
_HEIGHT_PX = 420
_REFRESH_HOURS = {
    "when I ask for it": 0.0,
    "every hour": 1.0,
    "every day": 24.0,
    "every week": 168.0,
}
_USUAL = "every day"


class LinksDialog(QDialog):
    """`decided(name of the collection, WebLinks)` comes when the person agrees.

    The dialog stays until it is told that the links were taken, so that nothing typed is lost.
    """

    decided = Signal(str, object)

    def __init__(self, collections: Sequence[Collection], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Add web links")
        self._addresses = QPlainTextEdit()
        self._addresses.setTabChangesFocus(True)
        self._addresses.setPlaceholderText(
            "https://example.org/guide\nhttps://example.org/sitemap.xml"
        )
        self._addresses.setAccessibleName("Addresses")
        self._limit = whole_number(1, 10_000, 50, " pages")
        self._limit.setValue(WebLinks(()).page_limit)
        self._limit.setAccessibleName("Pages at most")
        self._refresh = QComboBox()
        self._refresh.addItems(list(_REFRESH_HOURS))
        self._refresh.setCurrentText(_USUAL)
        self._refresh.setAccessibleName("Fetch again")
        self._collection = CollectionField(collections)
        self._agree = TextButton("Add links", kind="primary")
        self._refuse = TextButton("Cancel")
        self._build()
        self._error = PlainLabel(tone="danger", wrap=True)
        self._error.hide()
        self._column.insertWidget(2, self._error)
        self._agree.setDefault(True)
        self._agree.setEnabled(False)
        self._addresses.textChanged.connect(self._on_text_changed)
        self._agree.clicked.connect(self._on_agreed)
        self._refuse.clicked.connect(self.reject)

    def _build(self) -> None:
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(8)
        column.addWidget(PlainLabel("Addresses", scale="heading"))
        column.addWidget(self._addresses, 1)
        column.addWidget(
            note(
                "One a line. The address of a sitemap stands for the pages it lists. The pages "
                "are fetched by this computer, and only from public addresses."
            )
        )
        for label, field in (
            ("At most", self._limit),
            ("Fetch again", self._refresh),
            ("Collection", self._collection),
        ):
            row = QHBoxLayout()
            row.addWidget(PlainLabel(label), 1)
            row.addWidget(field, 2)
            column.addLayout(row)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self._refuse)
        buttons.addWidget(self._agree)
        column.addSpacing(6)
        column.addLayout(buttons)
        self.resize(_WIDTH_PX, _HEIGHT_PX)

    def show_error(self, error: AppError) -> None:
        """Say what is wrong with the addresses."""
        self._error.setText(f"{error.title} {error.hint}")
        self._error.show()
        self._agree.setEnabled(True)
        self._addresses.setFocus()

    @Slot()
    def _on_text_changed(self) -> None:
        self._error.hide()
        self._agree.setEnabled(bool(self._urls()))

    @Slot()
    def _on_agreed(self) -> None:
        hours = _REFRESH_HOURS[self._refresh.currentText()]
        links = WebLinks(self._urls(), self._limit.value(), hours)
        self._agree.setEnabled(False)
        self.decided.emit(self._collection.name, links)

    def _urls(self) -> tuple[str, ...]:
        return tuple(self._addresses.toPlainText().split())
