"""A dialog for adding web pages. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QDialog, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from desktop_rag.core.domain import Collection, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.ui.library.collection_field import CollectionField
from desktop_rag.ui.settings.settings_fields import note, number_field
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton

_WIDTH_PX = 560
_HEIGHT_PX = 420
_REFRESH_HOURS = {
    "Manually": 0.0,
    "Every hour": 1.0,
    "Every day": 24.0,
    "Every week": 168.0,
}
_DEFAULT = "Every day"


class LinksDialog(QDialog):
    """`submitted` carries the collection's name and the WebLinks when the person confirms.

    The dialog stays open until the links are added, so that nothing typed is lost.
    """

    submitted = Signal(str, object)

    def __init__(self, collections: Sequence[Collection], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Add web links")
        self._addresses = QPlainTextEdit()
        self._addresses.setTabChangesFocus(True)
        self._addresses.setPlaceholderText(
            "https://example.org/guide\nhttps://example.org/sitemap.xml"
        )
        self._addresses.setAccessibleName("Addresses")
        self._limit = number_field(1, 10_000, 50, " pages")
        self._limit.setValue(WebLinks(()).page_limit)
        self._limit.setAccessibleName("Maximum number of pages")
        self._refresh = QComboBox()
        self._refresh.addItems(list(_REFRESH_HOURS))
        self._refresh.setCurrentText(_DEFAULT)
        self._refresh.setAccessibleName("Update")
        self._collection = CollectionField(collections)
        self._confirm = TextButton("Add links", kind="primary")
        self._cancel = TextButton("Cancel")
        self._build()
        self._error = PlainLabel(tone="danger", wrap=True)
        self._error.hide()
        self._column.insertWidget(2, self._error)
        self._confirm.setDefault(True)
        self._confirm.setEnabled(False)
        self._addresses.textChanged.connect(self._on_text_changed)
        self._confirm.clicked.connect(self._on_confirm_clicked)
        self._cancel.clicked.connect(self.reject)

    def _build(self) -> None:
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(8)
        column.addWidget(PlainLabel("Addresses", scale="heading"))
        column.addWidget(self._addresses, 1)
        column.addWidget(
            note(
                "One per line. A sitemap adds all pages it lists. Pages are downloaded by this "
                "computer, from public addresses only."
            )
        )
        for label, field in (
            ("Page limit", self._limit),
            ("Update", self._refresh),
            ("Collection", self._collection),
        ):
            row = QHBoxLayout()
            row.addWidget(PlainLabel(label), 1)
            row.addWidget(field, 2)
            column.addLayout(row)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self._cancel)
        buttons.addWidget(self._confirm)
        column.addSpacing(6)
        column.addLayout(buttons)
        self.resize(_WIDTH_PX, _HEIGHT_PX)

    def show_error(self, error: AppError) -> None:
        """Show what is wrong with the addresses."""
        self._error.setText(f"{error.title} {error.hint}")
        self._error.show()
        self._confirm.setEnabled(True)
        self._addresses.setFocus()

    @Slot()
    def _on_text_changed(self) -> None:
        self._error.hide()
        self._confirm.setEnabled(bool(self._urls()))

    @Slot()
    def _on_confirm_clicked(self) -> None:
        hours = _REFRESH_HOURS[self._refresh.currentText()]
        links = WebLinks(self._urls(), self._limit.value(), hours)
        self._confirm.setEnabled(False)
        self.submitted.emit(self._collection.name, links)

    def _urls(self) -> tuple[str, ...]:
        return tuple(self._addresses.toPlainText().split())
