"""The page about other programs: the local server, and the tokens that let them in. Qt thread."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from PySide6.QtCore import Slot
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import ServerSwitched
from desktop_rag.core.settings import Settings
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.programs.token_dialogs import NewTokenDialog, RevokeQuestion
from desktop_rag.ui.settings.edited_settings import EditedSettings
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import SettingsSection, note, show_checked
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage

_SERVER = tr(
    "Chat programs, editors and scripts can ask your library, with its sources: they connect to"
    " this address as to an OpenAI-compatible endpoint, or by MCP."
)
_LOOPBACK = tr(
    "Only programs on this computer reach it, and only with a token. Their questions are not"
    " stored."
)
_TOKENS = tr("Each program gets a token of its own, so that you can refuse one without the others.")
ALLOWED = {
    "ask": tr("ask questions"),
    "read": tr("search and read documents"),
    "write": tr("change documents"),
    "admin": tr("everything"),
}
_ListedToken = tuple[str, tuple[str, ...], float]


class ProgramAccess(Protocol):
    """The local server and its tokens. Methods block."""

    @property
    def address(self) -> str:
        """Where it is asked, "" while it is off."""
        ...

    @property
    def fault(self) -> AppError | None:
        """Why it is off although it should be on."""
        ...

    def tokens(self) -> Sequence[_ListedToken]:
        """The name of each token, what it allows, and when it ends (0 for never)."""
        ...

    def add_token(self, name: str, allows: Sequence[str]) -> str:
        """Make a token; returns its secret. AppError for a taken name."""
        ...

    def revoke(self, name: str) -> None:
        """Refuse a token from now on."""
        ...


class ProgramsPage(ScrolledPage):
    """Switches the server, and makes and revokes tokens."""

    def __init__(
        self,
        bridge: Bridge,
        access: ProgramAccess,
        settings: EditedSettings,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Other programs"), parent)
        self._bridge = bridge
        self._access = access
        self._settings = settings
        self._is_on = QCheckBox(tr("Let other programs ask"))
        self._address = ElidedLabel()
        self._copy = TextButton(tr("Copy"))
        self._copy.setAccessibleDescription(tr("Copy the address"))
        self._fault = PlainLabel(tone="danger", wrap=True)
        self._new = TextButton(tr("New token…"), kind="primary")
        self._rows = QVBoxLayout()
        self._rows.setSpacing(6)
        self._build()
        self._is_on.toggled.connect(self._on_toggled)
        self._copy.clicked.connect(self._on_copy_clicked)
        self._new.clicked.connect(self._on_new_clicked)
        settings.replaced.connect(self._show_settings)
        self._show_settings(settings.value)
        self._show_state()

    def _build(self) -> None:
        server = SettingsSection(tr("Local server"), _SERVER)
        server.add_row(tr("Server"), self._is_on)
        server.add_note(note(_LOOPBACK))
        server.add_row(tr("Address"), self._address, self._copy, is_wide=True)
        server.add_note(self._fault)
        tokens = SettingsSection(tr("Tokens"), _TOKENS)
        listed = QWidget()
        listed.setLayout(self._rows)
        self._rows.setContentsMargins(0, 0, 0, 0)
        tokens.add_note(listed)
        tokens.add_row("", self._new)
        self.column.addWidget(server)
        self.column.addWidget(tokens)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Read the tokens and the state of the server again."""
        self._show_state()
        self._bridge.run(self, self._access.tokens, self._show_tokens)

    # --- the server --------------------------------------------------------------------------

    @Slot(object)
    def _show_settings(self, settings: Settings) -> None:
        show_checked(self._is_on, settings.server.is_on)

    @Slot(bool)
    def _on_toggled(self, is_on: bool) -> None:
        value = self._settings.value
        self._settings.edit(replace(value, server=replace(value.server, is_on=is_on)))
        self._address.set_full_text(tr("Starting…") if is_on else tr("Off"))

    def _show_state(self) -> None:
        address, fault = self._access.address, self._access.fault
        self._address.set_full_text(f"{address}/v1" if address else tr("Off"))
        self._copy.setEnabled(bool(address))
        self._fault.setText(f"{fault.title} {fault.hint}" if fault else "")
        self._fault.setVisible(fault is not None)

    @Slot(object)
    def on_event(self, event: object) -> None:
        """Show what became of the server."""
        if isinstance(event, ServerSwitched):
            self._show_state()

    @Slot()
    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(f"{self._access.address}/v1")

    # --- tokens ------------------------------------------------------------------------------

    def _show_tokens(self, tokens: Sequence[_ListedToken]) -> None:
        while item := self._rows.takeAt(0):
            if widget := item.widget():
                widget.deleteLater()
        for token in tokens:
            self._rows.addWidget(self._row_of(token))
        if not tokens:
            self._rows.addWidget(PlainLabel(tr("No tokens yet."), tone="muted"))

    def _row_of(self, token: _ListedToken) -> QWidget:
        name, allows, _ = token
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(10)
        line.addWidget(ElidedLabel(one_line(name)), 1)
        line.addWidget(PlainLabel(", ".join(ALLOWED[each] for each in allows), tone="muted"))
        revoke = TextButton(tr("Revoke…"), kind="quiet")
        revoke.setAccessibleName(tr("Revoke {name}", name=one_line(name)))
        revoke.clicked.connect(lambda: self._ask_to_revoke(name))
        line.addWidget(revoke)
        return row

    def _ask_to_revoke(self, name: str) -> None:
        question = RevokeQuestion(name, self)
        question.confirmed.connect(lambda: self._revoke(name))
        question.open()

    def _revoke(self, name: str) -> None:
        self._bridge.run(self, lambda: self._access.revoke(name), lambda _nothing: self.refresh())

    @Slot()
    def _on_new_clicked(self) -> None:
        dialog = NewTokenDialog({each: ALLOWED[each] for each in ("ask", "read")}, self)
        dialog.submitted.connect(lambda name, allows: self._add(dialog, name, allows))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _add(self, dialog: NewTokenDialog, name: str, allows: Sequence[str]) -> None:
        def done(secret: str) -> None:
            dialog.show_secret(secret)
            self.refresh()

        self._bridge.run(
            dialog, lambda: self._access.add_token(name, allows), done, dialog.show_error
        )
