"""The list of endpoints in the settings, to select, use, add and remove one. Qt thread."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import Settings
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import TextButton

_NEW = tr("New endpoint")


class EndpointChoice(QWidget):
    """A list of endpoints with buttons for the selected one.

    All signals carry an address; `shown` carries "" for a new endpoint.
    """

    shown = Signal(str)
    used = Signal(str)
    removed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.list = QComboBox(self)
        self.list.setAccessibleName(tr("Endpoint"))
        self.list.setMinimumContentsLength(16)
        self._use = TextButton(tr("Use for answers"))
        self._add = TextButton(tr("Add endpoint"))
        self._remove = TextButton(tr("Remove"), kind="quiet")
        self._remove.setAccessibleDescription(
            tr("Remove this endpoint; its key stays in the keyring")
        )
        # The fields below stay where they are while an endpoint is added.
        kept = self._add.sizePolicy()
        kept.setRetainSizeWhenHidden(True)
        self._add.setSizePolicy(kept)
        row = QHBoxLayout()
        row.setSpacing(8)
        for button in (self._use, self._add, self._remove):
            row.addWidget(button)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.list)
        column.addLayout(row)
        self.list.activated.connect(self._on_chosen)
        self._use.clicked.connect(self._on_use_clicked)
        self._add.clicked.connect(self._on_add_clicked)
        self._remove.clicked.connect(self._on_remove_clicked)

    @property
    def buttons(self) -> list[QWidget]:
        """The buttons in Tab order, after the list."""
        return [self._use, self._add, self._remove]

    def show_endpoints(self, settings: Settings, shown: str) -> None:
        """List the endpoints and select the one at this address; "" for a new one."""
        used = settings.endpoint.base_url
        self.list.blockSignals(True)
        self.list.clear()
        for endpoint in settings.endpoints:
            in_use = tr(" · in use") if endpoint.base_url == used else ""
            self.list.addItem(one_line(f"{endpoint.label}{in_use}"), endpoint.base_url)
        if not shown:
            self.list.addItem(_NEW, "")
        self.list.setCurrentIndex(self.list.findData(shown))
        self.list.blockSignals(False)
        self._use.setVisible(bool(shown) and shown != used)
        self._add.setVisible(bool(shown))
        self._remove.setVisible(bool(shown))

    @property
    def _shown(self) -> str:
        return self.list.currentData() or ""

    @Slot()
    def _on_chosen(self) -> None:
        self.shown.emit(self._shown)

    @Slot()
    def _on_use_clicked(self) -> None:
        self.used.emit(self._shown)

    @Slot()
    def _on_add_clicked(self) -> None:
        self.shown.emit("")

    @Slot()
    def _on_remove_clicked(self) -> None:
        self.removed.emit(self._shown)
