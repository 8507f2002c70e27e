"""The choice of the model and the assistant above the chat, and the caution below it. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop_rag.answer.chat import Chat
from desktop_rag.core.assistant import Assistant
from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.ui.foundation.ask_request import Wanted
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import given_name, literal, one_line, shortened
from desktop_rag.ui.widgets.controls import MenuButton, PlainLabel, centred, set_tip
from desktop_rag.ui.widgets.layouts import vertical

_COMPARISON = "comparison"
_MAX_MODELS = 12
_MAX_NAME = 40


class ModelChoice(MenuButton):
    """Shows and changes the model of a chat; `chosen` carries an address and a model, "" for
    excerpts.
    """

    chosen = Signal(str, str)

    def __init__(self, theme: Theme, bridge: Bridge, chat: Chat) -> None:
        super().__init__(theme)
        self._bridge = bridge
        self._chat = chat
        self._settings = Settings()
        self._assistant_model = ""
        self._is_without_model = False
        # True where there is a page that compares models.
        self.offers_comparison = False
        self._offers: dict[str, list[str]] = {}
        self.setObjectName("modelChoice")
        self.choices.aboutToShow.connect(self._look_up_offers)
        self.choices.triggered.connect(self._on_triggered)

    def show_settings(self, settings: Settings) -> None:
        """Show the model of these settings."""
        self._settings = settings
        self._show()
        self._look_up_offers()

    def show_assistant_model(self, model: str) -> None:
        """Show the assistant's own model instead; "" if it has none."""
        self._assistant_model = model
        self._show()

    def show_without_model(self, *, is_without_model: bool) -> None:
        """Show that the chat has excerpts only, or the model of the settings."""
        self._is_without_model = is_without_model
        self._show()
        self._fill()

    @property
    def _used(self) -> EndpointSettings:
        return EndpointSettings() if self._is_without_model else self._settings.endpoint

    @property
    def _excerpts(self) -> str:
        """While a model is in use, they are the choice of one chat."""
        has_model = self._settings.endpoint.is_set
        return tr("Excerpts only in this chat") if has_model else tr("Excerpts only, no model")

    def _show(self) -> None:
        endpoint = self._used
        self.setEnabled(not self._assistant_model)
        chosen = endpoint.model if endpoint.is_set else self._excerpts
        self.setText(shortened(self._assistant_model or chosen, _MAX_NAME))
        full_name = (
            tr("Model: {model} at {label}", model=endpoint.model, label=given_name(endpoint.label))
            if endpoint.is_set
            else self._excerpts
        )
        action = tr("Set by the assistant") if self._assistant_model else tr("Press to change")
        self.setAccessibleName(f"{one_line(self._assistant_model or full_name)}. {action}")
        set_tip(self, tr("Set by the assistant") if self._assistant_model else "")
        self.setVisible(bool(self._settings.endpoints or self._assistant_model))

    @Slot()
    def _look_up_offers(self) -> None:
        addresses = [endpoint.base_url for endpoint in self._settings.endpoints]
        self._fill()
        self._bridge.run(
            self,
            lambda: {url: list(self._chat.models.offered(url)) for url in addresses},
            self._on_offers,
        )

    def _on_offers(self, offers: dict[str, list[str]]) -> None:
        if offers != self._offers:
            self._offers = offers
            self._fill()

    def _fill(self) -> None:
        self.choices.clear()
        for endpoint in self._settings.endpoints:
            self.choices.addAction(literal(given_name(endpoint.label))).setEnabled(False)
            for model in self._models_of(endpoint):
                self._add(model, endpoint.base_url, model)
            self.choices.addSeparator()
        self._add(self._excerpts, "", "")
        count = sum(len(self._models_of(endpoint)) for endpoint in self._settings.endpoints)
        if self.offers_comparison and count > 1:
            self.choices.addAction(tr("Compare models…")).setData(_COMPARISON)
        self.choices.addAction(tr("Settings…")).setData(None)

    def _models_of(self, endpoint: EndpointSettings) -> list[str]:
        """The endpoint's chosen model first, then others it offers."""
        own = [endpoint.model] if endpoint.model else []
        offered = [name for name in self._offers.get(endpoint.base_url, []) if name not in own]
        return (own + offered)[:_MAX_MODELS]

    def _add(self, label: str, base_url: str, model: str) -> None:
        action = self.choices.addAction(literal(label))
        action.setData((base_url, model))
        action.setCheckable(True)
        used = self._used
        now = (used.base_url, used.model) if used.is_set else ("", "")
        action.setChecked((base_url, model) == now)

    @Slot(QAction)
    def _on_triggered(self, action: QAction) -> None:
        data = action.data()
        if data is None:
            self._bridge.post(Wanted.MODELS)
            return
        if data == _COMPARISON:
            self._bridge.post(Wanted.COMPARISON)
            return
        base_url, model = data
        self.chosen.emit(base_url, model)


NO_ASSISTANT = tr("No assistant")
_MAX_ASSISTANT_NAME = 30
_MAX_ENTRY = 60


class AssistantChoice(MenuButton):
    """Shows and changes the assistant, once there is one; `chosen` carries an Assistant or None."""

    chosen = Signal(object)
    new_requested = Signal()
    list_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._assistants: Sequence[Assistant] = ()
        self._wanted_id = ""
        self.setObjectName("assistantChoice")
        self.choices.triggered.connect(self._on_triggered)
        self._show()

    @property
    def assistant(self) -> Assistant | None:
        """The selected assistant; None if there is none or it was deleted."""
        found = (a for a in self._assistants if a.assistant_id == self._wanted_id)
        return next(found, None)

    @property
    def assistant_id(self) -> str:
        """The id of the selected assistant; "" for none."""
        return self.assistant.assistant_id if self.assistant else ""

    def show_assistants(self, assistants: Sequence[Assistant]) -> None:
        """Offer these; a selected assistant that was deleted and restored stays selected."""
        if list(assistants) != list(self._assistants):
            self._assistants = assistants
            self._show()

    def choose(self, assistant_id: str) -> None:
        """Select an assistant; "" or a deleted one selects none."""
        self._wanted_id = assistant_id
        self._show()

    def _show(self) -> None:
        """Show the selection and emit `chosen`."""
        name = self.assistant.name if self.assistant else NO_ASSISTANT
        self.setText(shortened(name, _MAX_ASSISTANT_NAME))
        self.setAccessibleName(
            tr("Assistant: {one_line}. Press to change", one_line=one_line(name))
        )
        self.setVisible(bool(self._assistants))
        set_tip(self, tr("Assistant: {one_line}", one_line=one_line(name)))
        self._fill()
        self.chosen.emit(self.assistant)

    def _fill(self) -> None:
        self.choices.clear()
        self._add(NO_ASSISTANT, "")
        for assistant in self._assistants:
            self._add(shortened(assistant.name, _MAX_ENTRY), assistant.assistant_id)
        self.choices.addSeparator()
        self.choices.addAction(tr("New assistant…")).triggered.connect(self.new_requested)
        if self._assistants:
            self.choices.addAction(tr("Manage assistants…")).triggered.connect(self.list_requested)

    def _add(self, label: str, assistant_id: str) -> None:
        action = self.choices.addAction(label)
        action.setData(assistant_id)
        action.setCheckable(True)
        action.setChecked(assistant_id == self.assistant_id)

    @Slot(QAction)
    def _on_triggered(self, action: QAction) -> None:
        if action.isCheckable():
            self.choose(action.data())


_WIDTH_PX = 780
_CAUTION = tr("Answers can be wrong. Press a number to read the source.")


def above_caution(field: QWidget) -> QHBoxLayout:
    """A row with the field in its middle, above the permanent caution."""
    caution = PlainLabel(_CAUTION, tone="muted", scale="small", wrap=True)
    caution.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    whole = QWidget()
    vertical(field, caution, on=whole, margins=0, spacing=4)
    row = centred(whole, _WIDTH_PX)
    row.setContentsMargins(16, 4, 16, 8)
    return row
