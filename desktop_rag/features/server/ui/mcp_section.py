"""The programs that can start the library as an MCP server, each with a button. Qt thread."""

from collections.abc import Sequence

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.features.server.mcp_programs.program_setup import (
    CheckedProgram,
    FileState,
    ProgramFile,
    ProgramFiles,
)
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import failure_in_words
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import SettingsSection
from desktop_rag.ui.widgets.forms import RowList
from desktop_rag.ui.widgets.layouts import horizontal

_INTRO = tr(
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
        super().__init__(tr("Programs that speak MCP"), _INTRO)
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
