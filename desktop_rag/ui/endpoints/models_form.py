"""The settings sections for endpoints and the helper model. Qt thread."""

from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QWidget

from desktop_rag.answer.chat import Chat
from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import EndpointSettings, HelperSettings, Settings
from desktop_rag.ui.endpoints.endpoint_details import ListedModelBox
from desktop_rag.ui.endpoints.endpoint_form import EndpointForm
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import given_name
from desktop_rag.ui.widgets.form_fields import DropDown, SettingsSection, note
from desktop_rag.ui.widgets.layouts import vertical

_INTRO = tr(
    "The helper model does small background tasks: it completes follow-up questions before the"
    " search, and suggests what to ask next. A small, fast model is enough."
)
_SAME = tr("Same as for answers")


class HelperForm(SettingsSection):
    """Chooses the endpoint and model for background tasks; `changed` carries HelperSettings."""

    changed = Signal(object)

    def __init__(self, bridge: Bridge, chat: Chat) -> None:
        super().__init__(tr("Helper model"), _INTRO)
        self._helper = HelperSettings()
        self._endpoints = DropDown(self)
        self._endpoints.setAccessibleName(tr("Helper endpoint"))
        self._model = ListedModelBox(bridge, chat, self)
        self._model.edit.setPlaceholderText(tr("Choose or enter a model"))
        for part in (self._model, self._model.edit):
            part.setAccessibleName(tr("Helper model"))
        self._note = note()
        helping = tr("helper, small model, background tasks, cheap model, fast model")
        self.add_row(tr("Endpoint"), self._endpoints, is_wide=True, words=helping)
        self._model_label = self.add_row(tr("Model"), self._model, is_wide=True, words=helping)
        self.add_note(self._model.facts)
        self.add_note(self._note)
        self._endpoints.activated.connect(self._on_endpoint_chosen)
        self._model.activated.connect(self._on_model_edited)
        self._model.edit.editingFinished.connect(self._on_model_edited)

    def show_settings(self, settings: Settings) -> None:
        """Show the endpoints and the chosen helper model."""
        helper = settings.helper
        self._helper = helper
        with QSignalBlocker(self._endpoints):
            self._endpoints.clear()
            self._endpoints.addItem(_SAME, "")
            for endpoint in settings.endpoints:
                self._endpoints.addItem(given_name(endpoint.label), endpoint.base_url)
            self._endpoints.setCurrentIndex(max(0, self._endpoints.findData(helper.base_url)))
        self._model.set_address(helper.base_url)
        for widget in (self._model_label, self._model):
            widget.setVisible(bool(helper.base_url))
        self._model.setEditText(helper.model)
        is_missing = bool(helper.base_url and not helper.model)
        missing = tr("No model chosen yet. The model for answers is used.")
        self._note.setText(missing if is_missing else "")
        self._note.setVisible(is_missing)

    @Slot()
    def _on_endpoint_chosen(self) -> None:
        base_url = self._endpoints.currentData()
        if base_url != self._helper.base_url:
            self._apply(HelperSettings(base_url))

    @Slot()
    def _on_model_edited(self) -> None:
        self._apply(HelperSettings(self._helper.base_url, self._model.name))

    def _apply(self, helper: HelperSettings) -> None:
        if helper != self._helper:
            self.changed.emit(helper)


_GAP_PX = 14


class ModelsForm(QWidget):
    """Edits the endpoints in Settings; `changed` carries the new Settings.

    It shows one endpoint at a time, at first the one used for answers. `endpoint_shown` follows
    when the person chose another one.
    """

    changed = Signal(object)
    endpoint_shown = Signal()

    def __init__(self, bridge: Bridge, chat: Chat) -> None:
        super().__init__()
        self._settings = Settings()
        self.shown = ""
        self._endpoint = EndpointForm(bridge, chat, EndpointSettings())
        self.own_requested = self._endpoint.own_requested
        self.offer_own = self._endpoint.offer_own
        self._helper = HelperForm(bridge, chat)
        vertical(self._endpoint, self._helper, on=self, margins=0, spacing=_GAP_PX)
        self._endpoint.changed.connect(self._on_endpoint_changed)
        self._endpoint.choice.shown.connect(self._on_shown)
        self._endpoint.choice.used.connect(
            lambda base_url: self._change_to(self._settings.using(base_url), base_url or self.shown)
        )
        self._endpoint.choice.removed.connect(self._on_removed)
        self._helper.changed.connect(
            lambda helper: self._change_to(replace(self._settings, helper=helper), self.shown)
        )

    def show_settings(self, settings: Settings) -> None:
        """Show these settings without emitting `changed`."""
        known = [endpoint.base_url for endpoint in settings.endpoints]
        is_switched = settings.endpoint.base_url != self._settings.endpoint.base_url
        self._settings = settings
        if is_switched or self.shown not in known:
            self.shown = settings.endpoint.base_url or next(iter(known), "")
        self._show(self.shown)

    def connect_model(self) -> None:
        """Look for a model server on this computer, unless an endpoint is set."""
        if not self._settings.endpoints:
            self._endpoint.find_servers()

    def add_endpoint(self) -> None:
        """Show the empty form of a new endpoint."""
        self._on_shown("")

    @Slot(str)
    def _on_shown(self, base_url: str) -> None:
        self._show(base_url)
        if not base_url:
            self._endpoint.focus_address()
        self.endpoint_shown.emit()

    @Slot(str)
    def _show(self, base_url: str) -> None:
        settings, self.shown = self._settings, base_url
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
        is_new = not self.shown and bool(self._settings.endpoints)
        if is_new and not endpoint.base_url:
            return  # it is added once it has an address
        changed = self._settings.with_endpoint(self.shown, endpoint)
        first = next((e.base_url for e in changed.endpoints), "")
        self._change_to(changed, endpoint.base_url or changed.endpoint.base_url or first)

    @Slot(str)
    def _on_removed(self, base_url: str) -> None:
        changed = self._settings.without(base_url)
        first = next((e.base_url for e in changed.endpoints), "")
        self._change_to(changed, changed.endpoint.base_url or first)
