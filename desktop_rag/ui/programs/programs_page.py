"""The page about other programs: the local server, and the tokens that let them in. Qt thread."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QUrl, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication, QShowEvent
from PySide6.QtWidgets import QCheckBox, QWidget

from desktop_rag.core.files.private_files import persons_mask
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import ServerSwitched
from desktop_rag.core.programs.token_facts import TokenFacts, TokenWish
from desktop_rag.core.settings import Settings
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.error_words import failure_in_words
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.programs.address_section import AddressSection
from desktop_rag.ui.programs.exposure_dialog import ExposureDialog
from desktop_rag.ui.programs.filters_section import FiltersSection
from desktop_rag.ui.programs.program_access import ProgramAccess
from desktop_rag.ui.programs.requests_dialog import RequestsDialog
from desktop_rag.ui.programs.token_dialogs import NewTokenDialog, RevokeQuestion
from desktop_rag.ui.programs.token_list import TokenList
from desktop_rag.ui.programs.usage_section import UsageSection
from desktop_rag.ui.programs.users_section import UsersSection
from desktop_rag.ui.settings.edited_settings import EditedSettings
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import SettingsSection, note, show_checked
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage

_SERVER = tr(
    "Chat programs, editors and scripts can ask your library, with its sources: they connect to"
    " this address as to an OpenAI-compatible endpoint, or by MCP."
)
_ADMIN = tr(
    "In a browser: documents, tokens, prompts, web pages, requests. It asks for a token that allows"
    " everything."
)
_TOKENS = tr("Each program gets a token of its own, so that you can refuse one without the others.")
_EXPOSES = tr(
    "Every token may then also ask the models of your endpoints, without documents. When off,"
    " only the tokens that name a model may."
)


class ProgramsPage(ScrolledPage):
    """Switches the server, makes and revokes tokens, and shows what was asked."""

    def __init__(
        self,
        bridge: Bridge,
        access: ProgramAccess,
        settings: EditedSettings,
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Other programs"), parent)
        self._bridge = bridge
        self._access = access
        self._settings = settings
        self._theme = theme
        self._tokens: Sequence[TokenFacts] = ()
        self._is_on = QCheckBox(tr("Let other programs ask"))
        self._address = ElidedLabel()
        self._copy = TextButton(tr("Copy"))
        self._copy.setAccessibleDescription(tr("Copy the address"))
        self._admin = TextButton(tr("Open the admin page"))
        self._exposes = QCheckBox(tr("Expose the models of the endpoints"))
        self._reached = AddressSection(bridge, access, settings)
        self._fault = PlainLabel(tone="danger", wrap=True)
        self._new = TextButton(tr("New token…"), kind="primary")
        self._list = TokenList()
        self._usage = UsageSection(bridge, access.records, settings)
        self._users = UsersSection(bridge, access.records)
        self._filters = FiltersSection(bridge, access.records, settings)
        self._build()
        self._connect()
        self._show_settings(settings.value)
        self._show_state()

    def _build(self) -> None:
        server = SettingsSection(tr("Local server"), _SERVER)
        server.add_row(tr("Server"), self._is_on)
        server.add_row(tr("Address"), self._address, self._copy, is_wide=True)
        server.add_note(self._fault)
        server.add_row(tr("Models"), self._exposes)
        server.add_note(note(_EXPOSES))
        server.add_row(tr("Administration"), self._admin)
        server.add_note(note(_ADMIN))
        tokens = SettingsSection(tr("Tokens"), _TOKENS)
        tokens.add_note(self._list)
        tokens.add_row("", self._new)
        sections = (server, self._reached, tokens, self._usage, self._users, self._filters)
        for section in sections:
            self.column.addWidget(section)

    def _connect(self) -> None:
        self._is_on.toggled.connect(self._on_toggled)
        self._exposes.toggled.connect(self._on_exposes_toggled)
        self._copy.clicked.connect(self._on_copy_clicked)
        self._admin.clicked.connect(self._on_admin_clicked)
        self._new.clicked.connect(self._on_new_clicked)
        self._list.revoke_wanted.connect(self._ask_to_revoke)
        self._list.models_wanted.connect(self._ask_for_models)
        self._usage.log_wanted.connect(self._show_requests)
        self._settings.replaced.connect(self._show_settings)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Read the tokens, the rules, the figures and the state of the server again."""
        self._show_state()
        self._bridge.run(self, self._access.records.tokens, self._show_tokens)
        for section in (self._usage, self._users, self._filters):
            section.refresh()

    # --- the server --------------------------------------------------------------------------

    @Slot(object)
    def _show_settings(self, settings: Settings) -> None:
        show_checked(self._is_on, settings.server.is_on)
        show_checked(self._exposes, settings.server.exposes_models)

    @Slot(bool)
    def _on_toggled(self, is_on: bool) -> None:
        value = self._settings.value
        self._settings.edit(replace(value, server=replace(value.server, is_on=is_on)))
        self._address.set_full_text(tr("Starting…") if is_on else tr("Off"))

    @Slot(bool)
    def _on_exposes_toggled(self, is_on: bool) -> None:
        value = self._settings.value
        self._settings.edit(replace(value, server=replace(value.server, exposes_models=is_on)))

    def _show_state(self) -> None:
        address, fault = self._access.address, self._access.fault
        self._address.set_full_text(f"{address}/v1" if address else tr("Off"))
        self._copy.setEnabled(bool(address))
        self._admin.setEnabled(bool(address))
        self._fault.setText(failure_in_words(fault) if fault else "")
        self._fault.setVisible(fault is not None)
        self._reached.show_state()

    @Slot(object)
    def on_event(self, event: object) -> None:
        """Show what became of the server."""
        if isinstance(event, ServerSwitched):
            self._show_state()

    @Slot()
    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(f"{self._access.address}/v1")

    @Slot()
    def _on_admin_clicked(self) -> None:
        # The app's own address; the token is typed in there.
        with persons_mask():
            QDesktopServices.openUrl(QUrl(f"{self._access.address}/admin"))

    # --- tokens ------------------------------------------------------------------------------

    def _show_tokens(self, tokens: Sequence[TokenFacts]) -> None:
        self._tokens = tokens
        self._list.show_tokens(tokens)

    @Slot(object)
    def _ask_to_revoke(self, token: TokenFacts) -> None:
        question = RevokeQuestion(token.name, self)
        question.confirmed.connect(lambda: self._revoke(token))
        question.open()

    def _revoke(self, token: TokenFacts) -> None:
        revoke = self._access.records.revoke
        self._bridge.run(self, lambda: revoke(token.token_id), lambda _nothing: self.refresh())

    @Slot(object)
    def _ask_for_models(self, token: TokenFacts) -> None:
        def show(models: Mapping[str, str]) -> None:
            dialog = ExposureDialog(token, models, self)
            dialog.submitted.connect(lambda keys: self._set_models(token, keys))
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

        self._bridge.run(self, self._access.records.models, show)

    def _set_models(self, token: TokenFacts, keys: Sequence[str]) -> None:
        change = self._access.records.set_models
        self._bridge.run(self, lambda: change(token.token_id, keys), lambda _: self.refresh())

    @Slot()
    def _on_new_clicked(self) -> None:
        self._bridge.run(self, self._access.records.collections, self._ask_for_token)

    def _ask_for_token(self, collections: Mapping[str, str]) -> None:
        dialog = NewTokenDialog(collections, self)
        dialog.submitted.connect(lambda wish: self._add(dialog, wish))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _add(self, dialog: NewTokenDialog, wish: TokenWish) -> None:
        def done(secret: str) -> None:
            dialog.show_secret(secret)
            self.refresh()

        add = self._access.records.add_token
        self._bridge.run(dialog, lambda: add(wish), done, dialog.show_error)

    # --- what was asked ----------------------------------------------------------------------

    @Slot()
    def _show_requests(self) -> None:
        records = self._access.records
        RequestsDialog(self._bridge, records, self._theme, self._tokens, self).open()
