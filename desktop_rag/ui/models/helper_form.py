"""The settings section for the helper model. Qt thread."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import HelperSettings, Settings
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.form_fields import SettingsSection, WheelGuard, note

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat

_INTRO = tr(
    "The helper model does small background tasks: it completes follow-up questions before the"
    " search, and suggests what to ask next. A small, fast model is enough."
)
_SAME = tr("Same as for answers")


class HelperForm(SettingsSection):
    """Chooses an endpoint and one of its models; `changed` carries HelperSettings."""

    changed = Signal(object)

    def __init__(
        self, bridge: Bridge, chat: "Chat", guard: WheelGuard, parent: QWidget | None = None
    ) -> None:
        super().__init__(tr("Helper model"), _INTRO, parent)
        self._bridge = bridge
        self._chat = chat
        self._helper = HelperSettings()
        self._job: Job | None = None
        self._endpoints = QComboBox(self)
        self._endpoints.setAccessibleName(tr("Helper endpoint"))
        self._model = QComboBox(self)
        self._name = QLineEdit()
        self._name.setPlaceholderText(tr("Choose or enter a model"))
        self._name.setAccessibleName(tr("Helper model"))
        self._model.setLineEdit(self._name)
        self._model.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self._model.setMinimumContentsLength(20)
        self._model.setAccessibleName(tr("Helper model"))
        self._note = note()
        for field in (self._endpoints, self._model):
            guard.guard(field)
        self.add_row(tr("Endpoint"), self._endpoints, is_wide=True)
        self._model_label = self.add_row(tr("Model"), self._model, is_wide=True)
        self.add_note(self._note)
        self._endpoints.activated.connect(self._on_endpoint_chosen)
        self._model.activated.connect(self._on_model_edited)
        self._name.editingFinished.connect(self._on_model_edited)

    def show_settings(self, settings: Settings) -> None:
        """Show the endpoints and the chosen helper model."""
        helper = settings.helper
        is_other_address = helper.base_url != self._helper.base_url
        self._helper = helper
        self._endpoints.blockSignals(True)
        self._endpoints.clear()
        self._endpoints.addItem(_SAME, "")
        for endpoint in settings.endpoints:
            self._endpoints.addItem(one_line(endpoint.label), endpoint.base_url)
        self._endpoints.setCurrentIndex(max(0, self._endpoints.findData(helper.base_url)))
        self._endpoints.blockSignals(False)
        if is_other_address:
            self._list_models()
        for widget in (self._model_label, self._model):
            widget.setVisible(bool(helper.base_url))
        self._model.setEditText(helper.model)
        missing = (
            tr("No model chosen yet. The model for answers is used.") if helper.base_url else ""
        )
        self._note.setText("" if helper.model else missing)
        self._note.setVisible(bool(self._note.text()))

    @Slot()
    def _on_endpoint_chosen(self) -> None:
        base_url = self._endpoints.currentData()
        if base_url != self._helper.base_url:
            self._apply(HelperSettings(base_url))

    @Slot()
    def _on_model_edited(self) -> None:
        self._apply(HelperSettings(self._helper.base_url, self._model.currentText().strip()))

    def _apply(self, helper: HelperSettings) -> None:
        if helper != self._helper:
            self.changed.emit(helper)

    def _list_models(self) -> None:
        if self._job:
            self._job.cancel()
        self._model.clear()
        if base_url := self._helper.base_url:
            self._job = self._bridge.run(
                self, lambda: self._chat.models.offered(base_url), self._show_models
            )

    def _show_models(self, models: Sequence[str]) -> None:
        self._model.clear()
        self._model.addItems(list(models))
        self._model.setCurrentIndex(-1)
        self._model.setEditText(self._helper.model)
