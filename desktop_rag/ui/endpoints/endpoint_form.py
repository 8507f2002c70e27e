"""The endpoint section of the settings: choice, service, address, model, key and test. Qt thread.

Keyring and network are reached through the bridge. The key is never part of a setting, a log or a
repr.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QLineEdit, QWidget

from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import EndpointReport
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.models.endpoint_address import (
    OWN_ADDRESS,
    host_of,
    is_this_computer,
    key_in,
    normalise_base_url,
)
from desktop_rag.models.endpoints.endpoint_check import USUAL, LocalServer
from desktop_rag.models.endpoints.providers import (
    Provider,
    blank_in,
    model_at,
    provider_at,
    services,
)
from desktop_rag.ui.documents.document_opener import confirm_and_open
from desktop_rag.ui.endpoints.endpoint_details import EndpointLimits, ListedModelBox
from desktop_rag.ui.endpoints.key_field import KeyField
from desktop_rag.ui.endpoints.model_findings import (
    ModelFindings,
    ReportCard,
    ServerTestButton,
    nobody_there,
)
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import failure_in_words, given_name
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton, add_clear_button, set_property
from desktop_rag.ui.widgets.flow_row import FlowRow
from desktop_rag.ui.widgets.form_fields import DropDown, note
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical
from desktop_rag.ui.widgets.value_form import ValueForm

_NONE = tr("Choose a service…")


class ServiceChoice(QWidget):
    """Lists the known online services; `chosen` carries a Provider.

    The widget is the note below the row; `fields` are the list and the button in the row.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._services = services()
        self._list = DropDown()
        self._list.setAccessibleName(tr("Online service"))
        self._list.addItem(_NONE)
        self._list.addItems([service.name for service in self._services])
        self._open = TextButton(tr("Get a key…"), then=self._on_open_clicked)
        self._open.setAccessibleDescription(tr("Open the service's page for keys in your browser"))
        self._note = PlainLabel(tone="muted", scale="small", wrap=True)
        vertical(self._note, on=self, margins=0)
        self._list.activated.connect(self._on_chosen)
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
        self._note.say(service.note if service else "")

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


_NOBODY = tr(
    "No model server answers at the usual addresses on this computer. To get a free one, install"
    " Ollama (ollama.com), enter “ollama pull llama3.2” in a terminal, and search again."
)
# The number of buttons that fit in a row before a search.
_DEFAULT_COUNT = 3


class LocalServerList(QWidget):
    """One button per known server, and one that searches for running servers.

    `chosen` carries an address, `searched` the servers found.
    """

    chosen = Signal(str)
    searched = Signal(object)

    def __init__(self, bridge: Bridge, chat: Chat, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._chat = chat
        self._search = TextButton(tr("Find running servers"), kind="quiet", then=self.search)
        self._uses = {name: TextButton(_in_words(name)) for name in USUAL}
        row = FlowRow(spacing=8)
        for name, button in self._uses.items():
            button.setAccessibleDescription(tr("Use {value} and test it", value=USUAL[name]))
            button.clicked.connect(self._on_use_clicked)
            row.addWidget(button)
        for name in list(USUAL)[_DEFAULT_COUNT:]:
            self._uses[name].hide()
        self._nobody = note(_NOBODY)
        self._nobody.hide()
        left = Qt.AlignmentFlag.AlignLeft
        vertical(row, (self._search, 0, left), self._nobody, on=self, margins=0, spacing=6)

    @property
    def buttons(self) -> list[TextButton]:
        """The buttons in Tab order."""
        return [*self._uses.values(), self._search]

    @Slot()
    def _on_use_clicked(self) -> None:
        used = next(name for name, button in self._uses.items() if button is self.sender())
        self.chosen.emit(USUAL[used])

    @Slot()
    def search(self) -> None:
        """Search for running servers, unless a search is running."""
        if not self._search.isEnabled():
            return
        self._search.setEnabled(False)
        self._search.setText(tr("Searching…"))
        self._nobody.hide()
        self._bridge.run(self, self._chat.models.running_servers, self._on_found)

    def _on_found(self, found: Sequence[LocalServer]) -> None:
        self._search.setEnabled(True)
        self._search.setText(tr("Find running servers"))
        models = {server.name: len(server.models) for server in found}
        for place, (name, button) in enumerate(self._uses.items()):
            count = models.get(name)
            has = count_of(count, tr("model"), tr("models")) if count is not None else ""
            words = _in_words(name)
            button.setText(f"{words} · {has}" if has else words)
            button.setVisible(name in models if models else place < _DEFAULT_COUNT)
        self._nobody.setVisible(not found)
        self.searched.emit(found)


def _in_words(name: str) -> str:
    """The name of a server, or the names of the programs that share its address."""
    return tr(" or ").join(name.split(" or "))


_NEW = tr("New endpoint")


class EndpointChoice(QWidget):
    """A list of endpoints with buttons for the selected one.

    All signals carry an address; `shown` carries "" for a new endpoint, `used` for none.
    """

    shown = Signal(str)
    used = Signal(str)
    removed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.list = DropDown(self)
        self.list.setMinimumContentsLength(16)
        self.list.setAccessibleName(tr("Endpoint"))
        self._use = TextButton("", then=self._on_use_clicked)
        self._used = ""
        self._add = TextButton(tr("Add endpoint"), then=lambda: self.shown.emit(""))
        self._remove = TextButton(tr("Remove"), kind="quiet")
        self._remove.setAccessibleDescription(
            tr("Remove this endpoint; its key stays in the keyring")
        )
        # The fields below stay where they are while an endpoint is added.
        kept = self._add.sizePolicy()
        kept.setRetainSizeWhenHidden(True)
        self._add.setSizePolicy(kept)
        vertical(
            self.list,
            horizontal(self._use, self._add, self._remove, Stretch(), spacing=8),
            on=self,
            margins=0,
            spacing=6,
        )
        self.list.activated.connect(lambda _row: self.shown.emit(self._shown))
        self._remove.clicked.connect(lambda: self.removed.emit(self._shown))

    @property
    def buttons(self) -> list[QWidget]:
        """The buttons in Tab order, after the list."""
        return [self._use, self._add, self._remove]

    def show_endpoints(self, settings: Settings, shown: str) -> None:
        """List the endpoints and select the one at this address; "" for a new one."""
        used = settings.endpoint.base_url
        with QSignalBlocker(self.list):
            self.list.clear()
            for endpoint in settings.endpoints:
                in_use = tr(" · in use") if endpoint.base_url == used else ""
                self.list.addItem(f"{given_name(endpoint.label)}{in_use}", endpoint.base_url)
            if not shown:
                self.list.addItem(_NEW, "")
            self.list.setCurrentIndex(self.list.findData(shown))
        self._used = used
        self._use.setText(tr("Use excerpts only") if shown == used else tr("Use for answers"))
        self._use.setVisible(bool(shown))
        self._add.setVisible(bool(shown))
        self._remove.setVisible(bool(shown))

    @Slot()
    def _on_use_clicked(self) -> None:
        self.used.emit("" if self._shown == self._used else self._shown)

    @property
    def _shown(self) -> str:
        return self.list.currentData() or ""


_INTRO = tr(
    "Any server with an OpenAI-compatible API, on this computer or elsewhere. Without one, answers "
    "are excerpts from your documents. With one, only the prompt is sent to it: your question, the "
    "conversation so far and the passages found for it. Each new model is also tested once with "
    "sample text."
)
_DUPLICATE = tr("Another endpoint already has this address. Select it above.")
_MAX_NAME = 40


def privacy_note(base_url: str) -> str:
    """A sentence on who receives the prompt at a normalised address."""
    if is_this_computer(base_url):
        return tr("This is your own computer. Nothing leaves it.")
    host = host_of(base_url)
    sent = tr("Your question and the passages found for it are sent to {host_of}", host_of=host)
    is_encrypted = base_url.startswith("https:")
    return f"{sent}." if is_encrypted else tr("{sent} without encryption.", sent=sent)


class EndpointForm(ValueForm):
    """Edits one endpoint; `changed` carries a valid EndpointSettings.

    The address of a server on this computer is a draft until something answers there. Where the app
    runs a model itself, `own_requested` asks for the list of them, and there is no address to edit.
    """

    own_requested = Signal()

    def __init__(self, bridge: Bridge, chat: Chat, endpoint: EndpointSettings) -> None:
        super().__init__(tr("Model"), endpoint, _INTRO)
        self._bridge = bridge
        self._chat = chat
        self._taken: frozenset[str] = frozenset()
        self._is_draft = False
        self._build()
        self._connect()
        self.show_endpoint(endpoint)

    def show_endpoint(
        self, endpoint: EndpointSettings, *, taken: frozenset[str] = frozenset()
    ) -> None:
        """Show these settings without emitting `changed`; `taken` are the other addresses."""
        self._is_draft = False
        self._show(endpoint, taken)

    def _show(self, endpoint: EndpointSettings, taken: frozenset[str]) -> None:
        before, now = ((e.base_url, e.model) for e in (self.value, endpoint))
        self._taken = taken
        self._address.setText(endpoint.base_url)
        if now != before:
            # The report is about the tested address and model.
            self._test.stop()
            self._report.hide()
        self._name.setPlaceholderText(given_name(endpoint.label) or tr("Any name you like"))
        self._model.set_address(endpoint.base_url)
        self.show_value(endpoint)
        self._limits.show_address(endpoint.base_url)
        self._show_address_note()
        self._key.set_address(endpoint.base_url)
        self._findings.show_endpoint(endpoint)
        self._services.show_address(endpoint.base_url)
        for widget in self._remote:
            widget.setVisible(endpoint.base_url != OWN_ADDRESS)

    def find_servers(self) -> None:
        """Search for model servers on this computer."""
        self._servers.search()

    def offer_own(self, *, is_offered: bool) -> None:
        """Show or hide the way to the models that the app runs itself."""
        self._own_label.setVisible(is_offered)
        self._own.setVisible(is_offered)

    def focus_address(self) -> None:
        """Put the cursor into the address."""
        self._address.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_choice(self, *, is_visible: bool) -> None:
        """Show the list of endpoints, or hide it while there is none."""
        for widget in (self._choice_label, self.choice, self._name_label, self._name):
            widget.setVisible(is_visible)

    # --- building --------------------------------------------------------------------------------

    def _build(self) -> None:
        self.choice = EndpointChoice(self)
        self._name = QLineEdit(self, maxLength=_MAX_NAME)
        self._address = QLineEdit(self)
        self._address.setPlaceholderText("http://localhost:11434/v1, https://api.example.com/v1")
        add_clear_button(self._address)
        self._address_note = note()
        self._model = ListedModelBox(self._bridge, self._chat, self)
        self._key = KeyField(self._bridge, self._chat, self)
        self._findings = ModelFindings(self._bridge, self._chat, lambda: self._key.typed, self)
        self._test = ServerTestButton(self._bridge, self._on_test_clicked)
        self._report = ReportCard(self)
        self._own = TextButton(tr("Choose a model…"), self, then=self.own_requested)
        self._servers = LocalServerList(self._bridge, self._chat, self)
        self._services = ServiceChoice(self)
        self._add_rows()
        self._limits = EndpointLimits(self._bridge, self._chat, self)
        self._order_stops()

    def _add_rows(self) -> None:
        self._choice_label = self.add_row(
            tr("Endpoint"),
            self.choice,
            is_wide=True,
            is_tall=True,
            words=tr("provider, service, switch model, add, remove, another server, excerpts only"),
        )
        self._name_label = self.add_field("name", self._name, is_wide=True)
        self._own_label = self.add_row(
            tr("In this app"),
            self._own,
            words=tr("download a model, GGUF, llama, local, offline, install, run here"),
        )
        self.offer_own(is_offered=False)
        self.add_row(
            tr("On this computer"),
            self._servers,
            is_tall=True,
            words=tr("local, offline, Ollama, LM Studio, llama.cpp, own computer, private"),
        )
        self.add_row(
            tr("Online service"),
            *self._services.fields,
            words=tr("cloud, OpenAI, ChatGPT, Claude, Mistral, provider, internet"),
        )
        self.add_note(self._services)
        address = self.add_row(
            tr("Address"), self._address, is_wide=True, words=tr("URL, host, port, base URL, link")
        )
        self.add_note(self._address_note)
        key = self.add_row(
            tr("API key"),
            *self._key.fields,
            is_wide=True,
            words=tr("password, token, secret, credentials, sign in"),
        )
        self.add_note(self._key)
        # What an endpoint that the app runs itself has none of.
        self._remote = (address, self._address, key, *self._key.fields, self._key)
        self._add_model_rows()

    def _add_model_rows(self) -> None:
        self.add_row(
            tr("Model"),
            self._model,
            self._test,
            is_wide=True,
            words=tr("AI, LLM, ChatGPT, which model, test the connection"),
        )
        self.add_note(self._model.facts)
        self.add_note(self._report)
        self.add_row(
            tr("Capabilities"),
            self._findings,
            is_wide=True,
            words=tr("what the model can, images, vision, tools, weak model"),
        )
        self._numbers = self.add("context_tokens", "timeout_s")

    def _order_stops(self) -> None:
        tests = (self._test, self._findings.button)
        fields = (self._address, *self._key.fields, self._model, *tests)
        chosen = (self.choice.list, *self.choice.buttons, self._name)
        numbers = (*self._numbers, *self._limits.fields)
        offered = (self._own, *self._servers.buttons, *self._services.fields)
        stops = [*chosen, *offered, *fields, *numbers]
        for before, after in pairwise(stops):
            self.setTabOrder(before, after)

    def _connect(self) -> None:
        self._servers.chosen.connect(self._on_server_chosen)
        self._servers.searched.connect(self._on_servers_searched)
        self._services.chosen.connect(self._on_service_chosen)
        self.ended(self._address).connect(self._on_address_edited)
        edited = (self.ended(self._model.edit), self._model.activated)
        self.bind("model", self._model.setEditText, lambda: self._model.name, *edited)

    # --- address, model and limits ---------------------------------------------------------------

    @Slot(str)
    def _on_server_chosen(self, base_url: str) -> None:
        if base_url in self._taken:
            self.choice.shown.emit(base_url)
        elif base_url != self.value.base_url:
            self._keep_shown()
            self._is_draft = True
            self._address.setText(base_url)
            self.change_to(replace(self.value, base_url=base_url))
        self._on_test_clicked()

    def _keep_shown(self) -> None:
        """Switch to a new endpoint, unless the one on show has no model yet."""
        if self.value.base_url and self.value.model:
            self.choice.shown.emit("")

    @Slot(object)
    def _on_servers_searched(self, found: Sequence[LocalServer]) -> None:
        if len(found) == 1 and not self.value.base_url:
            self._on_server_chosen(found[0].base_url)

    @Slot(object)
    def _on_service_chosen(self, service: Provider) -> None:
        if provider_at(self.value.base_url) != service:
            self._keep_shown()
        self._address.setText(service.address)
        if not service.blank:
            self._on_address_edited()
            self._key.focus()
            return
        self._address.setFocus()
        self._address.setSelection(service.address.index(service.blank), len(service.blank))

    @Slot()
    def _on_address_edited(self) -> None:
        typed = self._address.text().strip()
        if blank := blank_in(typed):
            self._reject_address(tr("Replace {blank} in the address.", blank=blank))
            return
        try:
            base_url = normalise_base_url(typed) if typed else ""
        except AppError as error:
            self._reject_address(failure_in_words(error))
            return
        if base_url in self._taken:
            self._reject_address(_DUPLICATE)
            return
        if base_url != self.value.base_url:
            self._is_draft = False
        model = self.value.model or model_at(base_url)
        self.change_to(replace(self.value, base_url=base_url, model=model))
        if key := key_in(typed):
            self._key.take(key)

    def _reject_address(self, reason: str) -> None:
        set_property(self._address, "state", "wrong")
        self._address_note.set_tone("danger")
        self._address_note.setText(reason)

    def change_to(self, value: EndpointSettings) -> None:
        is_changed = value != self.value
        if is_changed or value.base_url != self._address.text():
            self._show(value, self._taken)
        else:
            self._show_address_note()
        if is_changed and not self._is_draft:
            self.changed.emit(value)

    def _show_address_note(self) -> None:
        set_property(self._address, "state", "")
        self._address_note.set_tone("muted")
        base_url = self.value.base_url
        self._address_note.setText(
            privacy_note(base_url) if base_url else tr("Without an address, answers are excerpts.")
        )

    # --- test ------------------------------------------------------------------------------------

    @Slot()
    def _on_test_clicked(self) -> None:
        self.settle()
        if self._address.property("state") == "wrong":
            self._address.setFocus()
            return
        endpoint, key = self.value, self._key.typed
        self._test.run(lambda: self._chat.models.test_endpoint(endpoint, key), self._on_tested)

    def _on_tested(self, report: EndpointReport) -> None:
        if self._is_draft:
            report = self._settled(report)
        self._report.show_report(report)
        if report.listed:
            self._model.show_models(report.listed)
            if len(report.listed) == 1 and not self._model.name:
                self._model.setCurrentIndex(0)
                self.change_to(self.read())
                self._on_test_clicked()

    def _settled(self, report: EndpointReport) -> EndpointReport:
        """Save the draft if an endpoint answered, else explain how to start one."""
        if not report.is_endpoint:
            return nobody_there(self.value.base_url)
        self._is_draft = False
        self.changed.emit(self.value)
        return report
