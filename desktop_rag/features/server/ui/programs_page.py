"""The page about other programs: the local server, its tokens and its log. Qt thread."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QUrl, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication, QShowEvent
from PySide6.QtWidgets import QCheckBox, QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import persons_mask
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import ServerSwitched
from desktop_rag.core.settings import Settings
from desktop_rag.features.server.access.access_tokens import Token, TokenScope
from desktop_rag.features.server.mcp_programs.program_setup import (
    CheckedProgram,
    FileState,
    ProgramFile,
    ProgramFiles,
)
from desktop_rag.features.server.services import ServerSwitch, TokenFacts
from desktop_rag.features.server.ui.requests_and_filters import FiltersSection, RequestsDialog
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
from desktop_rag.ui.widgets.form_fields import SettingsSection, note, show_checked
from desktop_rag.ui.widgets.forms import FormDialog, RowAction, RowList, ask_first, row_of
from desktop_rag.ui.widgets.layouts import horizontal
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage

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


_INTRO = tr("Who asked, when, for how long and how it ended is kept for up to 90 days.")
_TEXT = tr(
    "Off, only their lengths are kept. The text is on this computer, in the app's folder, and shown"
    " on the admin page too."
)
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
_EXPOSES = tr(
    "Every token may then also ask the models of your endpoints, without documents. When off,"
    " only the tokens that name a model may."
)


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
        self._is_on = QCheckBox(tr("Let other programs ask"))
        self._address = ElidedLabel()
        self._copy = TextButton(tr("Copy"), then=self._on_copy_clicked)
        self._copy.setAccessibleDescription(tr("Copy the address"))
        self._admin = TextButton(tr("Open the admin page"), then=self._on_admin_clicked)
        self._exposes = QCheckBox(tr("Expose the models of the endpoints"))
        self._reached = AddressSection(bridge, access, settings)
        self._fault = PlainLabel(tone="danger", wrap=True)
        self._new = TextButton(tr("New token…"), kind="primary", then=self._on_new_clicked)
        self._list = RowList()
        self._logs_text = QCheckBox(tr("Keep questions and answers in the log"))
        self._log = TextButton(tr("Show the requests…"), then=self._show_requests)
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
        use = SettingsSection(tr("Use"), _INTRO)
        use.add_row(tr("Log"), self._logs_text)
        use.add_note(note(_TEXT))
        use.add_row("", self._log)
        for section in (server, self._reached, tokens, use, self._filters):
            self.column.addWidget(section)

    def _connect(self) -> None:
        self._is_on.toggled.connect(self._on_toggled)
        self._exposes.toggled.connect(self._on_exposes_toggled)
        self._logs_text.toggled.connect(self._on_logs_text_toggled)
        self._settings.replaced.connect(self._show_settings)
        self._bridge.hear(ServerSwitched, self._on_switched)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Read the tokens and the state of the server again."""
        self._show_state()
        self._bridge.run(self, self._access.records.tokens, self._show_tokens)
        self._filters.refresh()

    # --- the server --------------------------------------------------------------------------

    @Slot(object)
    def _show_settings(self, settings: Settings) -> None:
        show_checked(self._is_on, settings.server.is_on)
        show_checked(self._exposes, settings.server.exposes_models)
        show_checked(self._logs_text, settings.server.logs_text)

    def _edit(self, **changed: bool) -> None:
        value = self._settings.value
        self._settings.edit(replace(value, server=replace(value.server, **changed)))

    @Slot(bool)
    def _on_toggled(self, is_on: bool) -> None:
        self._edit(is_on=is_on)
        self._address.set_full_text(tr("Starting…") if is_on else tr("Off"))

    @Slot(bool)
    def _on_exposes_toggled(self, is_on: bool) -> None:
        self._edit(exposes_models=is_on)

    @Slot(bool)
    def _on_logs_text_toggled(self, is_on: bool) -> None:
        self._edit(logs_text=is_on)

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
