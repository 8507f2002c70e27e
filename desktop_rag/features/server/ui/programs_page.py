"""The page about other programs: the local server, its tokens and its log. Qt thread."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QUrl, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication, QShowEvent
from PySide6.QtWidgets import QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import persons_mask
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import ServerSwitched
from desktop_rag.core.settings import ServerSettings, Settings
from desktop_rag.features.server.access.access_tokens import Token, TokenScope
from desktop_rag.features.server.mcp_programs.program_setup import (
    CheckedProgram,
    FileState,
    ProgramFile,
    ProgramFiles,
)
from desktop_rag.features.server.services import ServerSwitch, TokenFacts
from desktop_rag.features.server.ui.requests_dialog import RequestsDialog
from desktop_rag.features.server.ui.server_address import AddressSection
from desktop_rag.features.server.ui.token_dialogs import (
    NewTokenDialog,
    TickedList,
    limits_in_words,
    times_in_words,
)
from desktop_rag.features.server.values.access_values import TokenWish
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import failure_in_words, one_line
from desktop_rag.ui.settings.edited_settings import EditedSettings
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import SettingsSection, note
from desktop_rag.ui.widgets.forms import FormDialog, RowAction, RowList, ask_first, row_of
from desktop_rag.ui.widgets.layouts import horizontal
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage
from desktop_rag.ui.widgets.value_form import ValueForm

_MCP_INTRO = tr(
    "These programs start a command of this app and search, read and ask by MCP, without a token"
    " and without the server. A button enters the command in the program's settings, keeps a copy"
    " of the file as it was, and starts the command once to see that it answers."
)
_STATES = {
    FileState.NOT_FOUND: tr("Not found on this computer"),
    FileState.NOT_SET: tr("Not set up"),
    FileState.OTHER: tr("Set up with another command"),
    FileState.SET: tr("Set up"),
    FileState.UNREADABLE: tr("Its settings can't be read"),
}


class MCPSection(SettingsSection):
    """Lists the programs and sets them up."""

    def __init__(self, bridge: Bridge, files: ProgramFiles) -> None:
        super().__init__(tr("Programs that speak MCP"), _MCP_INTRO)
        self._bridge = bridge
        self._files = files
        self._rows = RowList(6)
        self._buttons: dict[str, TextButton] = {}
        self._result = PlainLabel(wrap=True, selectable=True)
        self._result.hide()
        self.add_note(self._rows)
        self.add_note(self._result)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Look at the programs again."""
        self._bridge.run(self, self._files.look_at_all, self._show)

    def _show(self, listed: Sequence[ProgramFile]) -> None:
        self._buttons.clear()
        self._rows.show_rows([self._row_of(found) for found in listed])

    def _row_of(self, found: ProgramFile) -> QWidget:
        name, title, is_set = found.program.name, found.program.title, found.state is FileState.SET
        row = QWidget()
        line = horizontal((PlainLabel(title, wrap=True), 1), on=row, margins=0, spacing=10)
        tone = "success" if is_set else "muted"
        line.addWidget(PlainLabel(_STATES[found.state], tone=tone, wrap=True), 1)
        button = TextButton(tr("Check") if is_set else tr("Set it up"), kind="quiet")
        said = tr("Check {name}", name=title) if is_set else tr("Set up {name}", name=title)
        button.setAccessibleName(said)
        button.setEnabled(found.state is not FileState.NOT_FOUND)
        button.clicked.connect(lambda: self._set_up(name, title))
        self._buttons[name] = button
        line.addWidget(button)
        return row

    def _set_up(self, name: str, title: str) -> None:
        for button in self._buttons.values():
            button.setEnabled(False)
        self._result.say(tr("Starting the command as {name} would…", name=title), "muted")
        self._bridge.run(self, lambda: self._files.set_up(name), self._on_done, self._on_failed)

    def _on_done(self, done: CheckedProgram) -> None:
        said = tr(
            "{name} reaches the library: {count} tools answered. Restart it if it is open; it may"
            " ask whether you trust the server.",
            name=done.program.title,
            count=len(done.tools),
        )
        backup = done.written.backup
        kept = tr("Its settings as they were: {file}", file=str(backup)) if backup else ""
        self._result.say(f"{said} {kept}".strip(), "success")
        self.refresh()

    def _on_failed(self, error: AppError) -> None:
        self._result.say(failure_in_words(error), "danger")
        self.refresh()


_WIDTH_PX = 480
_NOTE = tr(
    "With none ticked, it may use everything that is exposed, now and later. Tick a model of an"
    " endpoint to expose it; it answers without documents."
)


class ExposureDialog(FormDialog):
    """Limits a token to certain models and assistants, those with the ticked keys."""

    def __init__(self, token: Token, models: Mapping[str, str], parent: QWidget) -> None:
        """`models` has the names of all by key."""
        question = tr("“{name}” may ask:", name=one_line(token.name))
        gone = {key: tr("{name} (gone)", name=key) for key in token.models}
        self._ticks = TickedList(question, {**gone, **models}, token.models)
        super().__init__(tr("Models and assistants"), self._ticks, _WIDTH_PX, parent)
        self.column.insertWidget(0, PlainLabel(question, wrap=True))
        self.column.insertWidget(2, note(_NOTE))
        self.submitted.connect(self.accept)

    def value(self) -> tuple[str, ...]:
        """The ticked keys."""
        return self._ticks.ticked


_SERVER = tr(
    "Chat programs, editors and scripts can ask your library, with its sources: they connect to"
    " this address as to an OpenAI-compatible endpoint, or by MCP."
)
_ADMIN = tr(
    "In a browser: documents, tokens, prompts, web pages, figures of use, users of other"
    " applications. It asks for a token that allows everything."
)
_TOKENS = tr("Each program gets a token of its own, so that you can refuse one without the others.")


class ProgramsPage(ScrolledPage):
    """Switches the server, makes and revokes tokens, and shows what was asked."""

    def __init__(
        self, bridge: Bridge, access: ServerSwitch, settings: EditedSettings, theme: Theme
    ) -> None:
        super().__init__(tr("Other programs"))
        self._bridge = bridge
        self._access = access
        self._settings = settings
        self._theme = theme
        self._tokens: Sequence[TokenFacts] = ()
        self._form = ValueForm(tr("Local server"), settings.value.server, _SERVER)
        self._address = ElidedLabel()
        self._copy = TextButton(tr("Copy"), then=self._on_copy_clicked)
        self._copy.setAccessibleDescription(tr("Copy the address"))
        self._admin = TextButton(tr("Open the admin page"), then=self._on_admin_clicked)
        self._reached = AddressSection(bridge, access, settings)
        self._fault = PlainLabel(tone="danger", wrap=True)
        self._new = TextButton(tr("New token…"), kind="primary", then=self._on_new_clicked)
        self._list = RowList()
        self._log = TextButton(tr("Show the requests…"), then=self._show_requests)
        self._build()
        self._connect()
        self._show_settings(settings.value)
        self._show_state()

    def _build(self) -> None:
        form = self._form
        form.add("is_on")
        form.add_row(tr("Address"), self._address, self._copy, is_wide=True)
        form.add_note(self._fault)
        form.add("exposes_models")
        form.add_row(tr("Administration"), self._admin)
        form.add_note(note(_ADMIN))
        form.add("logs_text")
        form.add_row("", self._log)
        form.add("filters")
        tokens = SettingsSection(tr("Tokens"), _TOKENS)
        tokens.add_note(self._list)
        tokens.add_row("", self._new)
        for section in (form, self._reached, tokens):
            self.column.addWidget(section)

    def _connect(self) -> None:
        self._form.changed.connect(self._on_changed)
        self._settings.replaced.connect(self._show_settings)
        self._bridge.hear(ServerSwitched, self._on_switched)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Read the tokens and the state of the server again."""
        self._show_state()
        self._bridge.run(self, self._access.records.tokens, self._show_tokens)

    # --- the server --------------------------------------------------------------------------

    @Slot(object)
    def _show_settings(self, settings: Settings) -> None:
        self._form.show_value(settings.server)

    @Slot(object)
    def _on_changed(self, server: ServerSettings) -> None:
        value = self._settings.value
        self._settings.edit(replace(value, server=server))
        if server.is_on != value.server.is_on:
            self._address.set_full_text(tr("Starting…") if server.is_on else tr("Off"))

    def _show_state(self) -> None:
        address, fault = self._access.address, self._access.fault
        self._address.set_full_text(f"{address}/v1" if address else tr("Off"))
        self._copy.setEnabled(bool(address))
        self._admin.setEnabled(bool(address))
        self._fault.say(failure_in_words(fault) if fault else "")
        self._reached.show_state()

    def _on_switched(self, _event: ServerSwitched) -> None:
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
        self._list.show_rows(map(self._row_of, tokens), tr("No tokens yet."))

    def _row_of(self, facts: TokenFacts) -> QWidget:
        token = facts.token
        name, actions = one_line(token.name), list[RowAction]()
        if token.allows(TokenScope.ASK):
            told = tr("What {name} may ask", name=name)
            actions.append((tr("Models…"), told, lambda: self._ask_for_models(token)))
        told = tr("Revoke {name}", name=name)
        actions.append((tr("Revoke…"), told, lambda: self._ask_to_revoke(token)))
        lines = (limits_in_words(facts), times_in_words(facts, time.time()))
        return row_of(name, actions, map(note, lines))

    def _ask_to_revoke(self, token: Token) -> None:
        text = tr(
            "Refuse “{name}” from now on?\n\nThe program needs a new token to ask again.",
            name=one_line(token.name),
        )
        ask_first(self, tr("Revoke token"), text, tr("Revoke"), lambda: self._revoke(token))

    def _revoke(self, token: Token) -> None:
        revoke = self._access.records.book.revoke
        self._bridge.run(self, lambda: revoke(token.token_id), lambda _nothing: self.refresh())

    def _ask_for_models(self, token: Token) -> None:
        def show(models: Mapping[str, str]) -> None:
            dialog = ExposureDialog(token, models, self)
            dialog.submitted.connect(lambda keys: self._set_models(token, keys))
            dialog.open()

        self._bridge.run(self, self._access.records.models, show)

    def _set_models(self, token: Token, keys: Sequence[str]) -> None:
        change = self._access.records.set_models
        self._bridge.run(self, lambda: change(token.token_id, keys), lambda _: self.refresh())

    @Slot()
    def _on_new_clicked(self) -> None:
        self._bridge.run(self, self._access.records.collections, self._ask_for_token)

    def _ask_for_token(self, collections: Mapping[str, str]) -> None:
        dialog = NewTokenDialog(collections, self)
        dialog.submitted.connect(lambda wish: self._add(dialog, wish))
        dialog.open()

    def _add(self, dialog: NewTokenDialog, wish: TokenWish) -> None:
        def done(secret: str) -> None:
            dialog.show_secret(secret)
            self.refresh()

        add = self._access.records.add_token
        self._bridge.run(dialog, lambda: add(wish), done, dialog.show_error)

    @Slot()
    def _show_requests(self) -> None:
        records = self._access.records
        RequestsDialog(self._bridge, records, self._theme, self._tokens, self).open()
