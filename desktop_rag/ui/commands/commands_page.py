"""The page "Commands": the programs that may be run, and what was done after consent. Qt thread."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMessageBox, QVBoxLayout, QWidget

from desktop_rag.core.commands.command import Command, CommandsChanged, CommandState
from desktop_rag.core.commands.registered_program import RegisteredProgram
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.commands.command_card import literal_text, show_text
from desktop_rag.ui.commands.program_dialog import ProgramDialog
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.days import day_and_time
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import SettingsSection
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage

if TYPE_CHECKING:
    from desktop_rag.commands.commands import Commands

_PROGRAMS = tr(
    "An assistant with the rails “Commands with consent” can run these when you say their sentence,"
    " each time after you agreed to exactly what would be run."
)
_HISTORY = tr(
    "What was proposed, what you said, and what came of it. Later answers of the same assistant are"
    " told what succeeded. Forgetting takes nothing back."
)
_MOST_SHOWN = 50


class CommandsPage(ScrolledPage):
    """Registers programs and shows the history."""

    def __init__(self, bridge: Bridge, commands: "Commands") -> None:
        super().__init__(tr("Commands"))
        self._bridge = bridge
        self._commands = commands
        self._programs = _rows()
        self._history = _rows()
        self._register = TextButton(tr("Register a program…"), kind="primary")
        self._forget_all = TextButton(tr("Forget all…"))
        programs = SettingsSection(tr("Programs"), _PROGRAMS)
        programs.add_note(self._programs)
        programs.add_row("", self._register)
        history = SettingsSection(tr("History"), _HISTORY)
        history.add_note(self._history)
        history.add_row("", self._forget_all)
        self.column.addWidget(programs)
        self.column.addWidget(history)
        self._register.clicked.connect(lambda: self._edit(RegisteredProgram("", "", "")))
        self._forget_all.clicked.connect(self._ask_to_forget_all)
        bridge.posted.connect(self._on_posted)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Read the programs and the history again."""
        self._bridge.run(self, self._commands.programs.all, self._show_programs)
        self._bridge.run(self, self._commands.all, self._show_history)

    @Slot(object)
    def _on_posted(self, event: object) -> None:
        if isinstance(event, CommandsChanged) and self.isVisible():
            self.refresh()

    # --- programs ----------------------------------------------------------------------------

    def _show_programs(self, programs: Sequence[RegisteredProgram]) -> None:
        rows = [self._program_row(program) for program in programs]
        _fill(self._programs, rows or [PlainLabel(tr("No program yet."), tone="muted")])

    def _program_row(self, program: RegisteredProgram) -> QWidget:
        name = one_line(program.name)
        row, line = _row(name)
        change = TextButton(tr("Change…"), kind="quiet")
        change.setAccessibleName(tr("Change {name}", name=name))
        change.clicked.connect(lambda: self._edit(program))
        remove = TextButton(tr("Remove"), kind="quiet")
        remove.setAccessibleName(tr("Remove {name}", name=name))
        remove.clicked.connect(
            lambda: self._do(lambda: self._commands.programs.remove(program.program_id))
        )
        line.addWidget(change)
        line.addWidget(remove)
        told = " ".join([program.path, *program.arguments])
        sentences = tr("Say: {sentence}", sentence=" · ".join(program.said_by))
        for words in (told, sentences):
            _add(row, ElidedLabel(one_line(words), tone="muted", scale="small"))
        return row

    def _edit(self, program: RegisteredProgram) -> None:
        dialog = ProgramDialog(program, self)

        def register(edited: RegisteredProgram) -> None:
            def done(_program: RegisteredProgram) -> None:
                dialog.accept()
                self.refresh()

            put = self._commands.programs.put
            self._bridge.run(dialog, lambda: put(edited), done, dialog.show_error)

        dialog.submitted.connect(register)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    # --- history -----------------------------------------------------------------------------

    def _show_history(self, commands: Sequence[Command]) -> None:
        rows = [self._command_row(command) for command in commands[:_MOST_SHOWN]]
        if more := len(commands) - len(rows):
            rows.append(PlainLabel(tr("{count} older ones are kept.", count=more), tone="muted"))
        self._forget_all.setEnabled(bool(commands))
        _fill(self._history, rows or [PlainLabel(tr("Nothing yet."), tone="muted")])

    def _command_row(self, command: Command) -> QWidget:
        title = one_line(command.title)
        row, line = _row(title)
        if command.can_be_undone:
            undo = TextButton(tr("Undo"), kind="quiet")
            undo.setAccessibleName(tr("Undo: {title}", title=title))
            undo.clicked.connect(lambda: self._do(lambda: self._commands.undo(command.command_id)))
            line.addWidget(undo)
        if command.state is not CommandState.RUNNING:
            forget = TextButton(tr("Forget"), kind="quiet")
            forget.setAccessibleName(tr("Forget: {title}", title=title))
            forget.clicked.connect(
                lambda: self._do(lambda: self._commands.forget([command.command_id]))
            )
            line.addWidget(forget)
        day = day_and_time(command.proposed_at)
        said = f"{day} · {command.state.in_words()} · “{one_line(command.prompt)}”"
        _add(row, ElidedLabel(said, tone="muted", scale="small"))
        outcome = literal_text(tr("Outcome of {title}", title=title))
        _add(row, outcome)
        show_text(outcome, command.outcome)
        return row

    @Slot()
    def _ask_to_forget_all(self) -> None:
        question = QMessageBox(self)
        question.setWindowTitle(tr("Forget all"))
        question.setTextFormat(Qt.TextFormat.PlainText)
        asked = (tr("Forget the whole history of commands?"), tr("What they did stays."))
        question.setText("\n\n".join(asked))
        forget = question.addButton(tr("Forget all"), QMessageBox.ButtonRole.DestructiveRole)
        question.setDefaultButton(question.addButton(QMessageBox.StandardButton.Cancel))

        def forget_all() -> None:
            self._commands.forget([command.command_id for command in self._commands.all()])

        forget.clicked.connect(lambda: self._do(forget_all))
        question.finished.connect(question.deleteLater)
        question.open()

    def _do(self, change: Callable[[], object]) -> None:
        self._bridge.run(self, change, lambda _done: self.refresh())


def _rows() -> QWidget:
    rows = QWidget()
    column = QVBoxLayout(rows)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(12)
    return rows


def _fill(rows: QWidget, widgets: Sequence[QWidget]) -> None:
    column = rows.layout()
    assert column is not None
    while item := column.takeAt(0):
        if widget := item.widget():
            widget.hide()
            widget.deleteLater()
    for widget in widgets:
        column.addWidget(widget)


def _row(name: str) -> tuple[QWidget, QHBoxLayout]:
    """A row with a name on its first line, to which buttons are added."""
    row = QWidget()
    column = QVBoxLayout(row)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(2)
    line = QHBoxLayout()
    line.setSpacing(10)
    line.addWidget(ElidedLabel(name), 1)
    column.addLayout(line)
    return row, line


def _add(row: QWidget, widget: QWidget) -> None:
    column = row.layout()
    assert column is not None
    column.addWidget(widget)
