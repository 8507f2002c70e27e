"""The settings sections for endpoints and the helper model. Qt thread."""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from desktop_rag.core.model_profile import ExaminationChanged
from desktop_rag.core.settings import EndpointSettings, HelperSettings, Settings
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.models.endpoint_form import EndpointForm
from desktop_rag.ui.models.helper_form import HelperForm
from desktop_rag.ui.widgets.form_fields import WheelGuard

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat

_GAP_PX = 14


class ModelsForm(QWidget):
    """Edits the endpoints in Settings; `changed` carries the new Settings.

    It shows one endpoint at a time, at first the one used for answers. `endpoint_shown` follows
    when the person chose another one to be shown.
    """

    changed = Signal(object)
    endpoint_shown = Signal()

    def __init__(
        self, bridge: Bridge, chat: "Chat", guard: WheelGuard, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._settings = Settings()
        self._shown = ""
        self._endpoint = EndpointForm(bridge, chat, EndpointSettings(), guard)
        self._helper = HelperForm(bridge, chat, guard)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(_GAP_PX)
        column.addWidget(self._endpoint)
        column.addWidget(self._helper)
        self._endpoint.changed.connect(self._on_endpoint_changed)
        self._endpoint.choice.shown.connect(self._on_shown)
        self._endpoint.choice.used.connect(self._on_used)
        self._endpoint.choice.removed.connect(self._on_removed)
        self._helper.changed.connect(self._on_helper_changed)

    def show_settings(self, settings: Settings) -> None:
        """Show these settings without emitting `changed`."""
        known = [endpoint.base_url for endpoint in settings.endpoints]
        is_switched = settings.endpoint.base_url != self._settings.endpoint.base_url
        self._settings = settings
        if is_switched or self._shown not in known:
            self._shown = settings.endpoint.base_url or next(iter(known), "")
        self._show(self._shown)

    def connect_model(self) -> None:
        """Look for a model server on this computer, unless an endpoint is set."""
        if not self._settings.endpoints:
            self._endpoint.find_servers()

    def add_endpoint(self) -> None:
        """Show the empty form of a new endpoint; the first one has its form already."""
        self._on_shown("")

    def on_examination_changed(self, event: ExaminationChanged) -> None:
        """Show the progress or the result of measuring a model."""
        self._endpoint.on_examination_changed(event)

    @property
    def shown(self) -> str:
        """The address of the endpoint that is shown; "" for a new one."""
        return self._shown

    @Slot(str)
    def _on_shown(self, base_url: str) -> None:
        self._show(base_url)
        if not base_url:
            self._endpoint.focus_address()
        self.endpoint_shown.emit()

    @Slot(str)
    def _show(self, base_url: str) -> None:
        settings, self._shown = self._settings, base_url
        known = {endpoint.base_url: endpoint for endpoint in settings.endpoints}
        # Choices made before an address is entered are kept.
        unset = EndpointSettings() if known else settings.endpoint
        self._endpoint.show_endpoint(
            known.get(base_url, unset), taken=frozenset(known) - {base_url}
        )
        self._endpoint.choice.show_endpoints(settings, base_url)
        self._endpoint.show_choice(is_visible=bool(known))
        self._helper.show_settings(settings)
        self._helper.setVisible(bool(known))

    def _change_to(self, settings: Settings, shown: str) -> None:
        self._settings = settings
        self._show(shown)
        self.changed.emit(settings)

    @Slot(object)
    def _on_endpoint_changed(self, endpoint: EndpointSettings) -> None:
        is_new = not self._shown and bool(self._settings.endpoints)
        if is_new and not endpoint.base_url:
            return  # it is added once it has an address
        changed = self._settings.with_endpoint(self._shown, endpoint)
        first = next((e.base_url for e in changed.endpoints), "")
        self._change_to(changed, endpoint.base_url or changed.endpoint.base_url or first)

    @Slot(str)
    def _on_used(self, base_url: str) -> None:
        self._change_to(self._settings.using(base_url), base_url)

    @Slot(str)
    def _on_removed(self, base_url: str) -> None:
        changed = self._settings.without(base_url)
        first = next((e.base_url for e in changed.endpoints), "")
        self._change_to(changed, changed.endpoint.base_url or first)

    @Slot(object)
    def _on_helper_changed(self, helper: HelperSettings) -> None:
        self._change_to(replace(self._settings, helper=helper), self._shown)
