"""The choice of a service on the network, and where its key is made. Qt thread."""

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.models.endpoints.providers import Provider, provider_at, services
from desktop_rag.ui.documents.link_confirmation import confirm_and_open
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton

_NONE = tr("Choose a service…")


class ServiceChoice(QWidget):
    """Lists the services that are known; `chosen` carries a Provider.

    The widget is the note below the row; `fields` are the list and the button in the row.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services()
        self._list = QComboBox()
        self._list.setAccessibleName(tr("Online service"))
        self._list.addItem(_NONE)
        self._list.addItems([service.name for service in self._services])
        self._open = TextButton(tr("Get a key…"))
        self._open.setAccessibleDescription(tr("Open the service's page for keys in your browser"))
        self._note = PlainLabel(tone="muted", scale="small", wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._note)
        self._list.activated.connect(self._on_chosen)
        self._open.clicked.connect(self._on_open_clicked)
        self._show(None)

    @property
    def fields(self) -> list[QWidget]:
        """The list and the button, in Tab order."""
        return [self._list, self._open]

    def show_address(self, base_url: str) -> None:
        """Select the service at this address, if it is one."""
        self._show(provider_at(base_url))

    @property
    def _service(self) -> Provider | None:
        place = self._list.currentIndex() - 1
        return self._services[place] if place >= 0 else None

    def _show(self, service: Provider | None) -> None:
        is_listed = service in self._services
        with QSignalBlocker(self._list):
            place = self._services.index(service) + 1 if service and is_listed else 0
            self._list.setCurrentIndex(place)
        self._open.setEnabled(is_listed)
        self._note.setText(service.note if service else "")
        self._note.setVisible(bool(self._note.text()))

    @Slot()
    def _on_chosen(self) -> None:
        service = self._service
        self._show(service)
        if service:
            self.chosen.emit(service)

    @Slot()
    def _on_open_clicked(self) -> None:
        if service := self._service:
            confirm_and_open(service.key_page, self)
