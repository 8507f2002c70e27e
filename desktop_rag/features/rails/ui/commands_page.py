"""The page "Commands": the registered programs, and the history of commands. Qt thread."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.features.rails.commands.command import Command, CommandsChanged, CommandState
from desktop_rag.features.rails.commands.registered_program import (
    LONGEST_NAME,
    MOST_SECONDS,
    RegisteredProgram,
)
from desktop_rag.features.rails.ui.command_card import literal_text, show_text
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.days import day_and_time
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import SettingsSection, note, number_field
from desktop_rag.ui.widgets.forms import (
    FormDialog,
    RowAction,
    RowList,
    ask_first,
    choose_file,
    choose_folder,
    row_of,
)
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage

if TYPE_CHECKING:
    from desktop_rag.features.rails.commands.commands import Commands

_WIDTH_PX = 620
_LINES = 3
_ARGUMENTS = tr(
    "One a line, passed on as they are: there is no shell. {name:text}, {name:number}, {name:file}"
    " and {name:folder} are slots, which your sentence fills."
)
_SENTENCES = tr(
    "What you say to have it run, one a line, with {name} for each slot. Without any: “run”, the"
    " name, then the values."
)
_FOLDER = tr(
    "It works there, and is given files and folders from there only. Empty: one of its own."
)
_TRUST = tr(
    "It runs as you, and may do whatever you may. Register only what you would start yourself."
)


class ProgramDialog(FormDialog):
    """Registers or changes a program; `submitted` carries the RegisteredProgram."""

    def __init__(self, program: RegisteredProgram, parent: QWidget) -> None:
        """A program with an empty `program_id` is new."""
        self._program = program
        self._name = QLineEdit(program.name, maxLength=LONGEST_NAME)
        self._path = QLineEdit(program.path)
        self._choose = TextButton(tr("Choose…"))
        self._arguments = _lines_field(tr("Arguments"), program.arguments)
        self._sentences = _lines_field(tr("Sentences"), program.sentences)
        self._folder = QLineEdit(program.folder)
        self._choose_folder = TextButton(tr("Choose folder…"))
        self._seconds = number_field(1, MOST_SECONDS, 10, tr(" seconds"))
        self._seconds.setValue(program.timeout_s)
        title = tr("Program") if program.program_id else tr("Register a program")
        super().__init__(title, self._section(title), _WIDTH_PX, parent)
        self._choose.clicked.connect(self._on_choose_clicked)
        self._choose_folder.clicked.connect(self._on_choose_folder_clicked)

    def _section(self, title: str) -> SettingsSection:
        section = SettingsSection(title, _TRUST)
        section.add_row(tr("Name"), self._name, is_wide=True)
        section.add_row(tr("Program"), self._path, self._choose, is_wide=True)
        section.add_row(tr("Arguments"), self._arguments, is_wide=True, is_tall=True)
        section.add_note(note(_ARGUMENTS))
        section.add_row(tr("Sentences"), self._sentences, is_wide=True, is_tall=True)
        section.add_note(note(_SENTENCES))
        section.add_row(tr("Folder"), self._folder, self._choose_folder, is_wide=True)
        section.add_note(note(_FOLDER))
        section.add_row(tr("Ends after"), self._seconds)
        return section

    def value(self) -> RegisteredProgram:
        """The program as entered."""
        return replace(
            self._program,
            name=self._name.text().strip(),
            path=self._path.text().strip(),
            arguments=_lines(self._arguments),
            sentences=_lines(self._sentences),
            folder=self._folder.text().strip(),
            timeout_s=self._seconds.value(),
        )

    @Slot()
    def _on_choose_clicked(self) -> None:
        choose_file(self, tr("Program"), self._path.setText, start=self._path.text())

    @Slot()
    def _on_choose_folder_clicked(self) -> None:
        title = tr("Folder of the program")
        choose_folder(self, title, self._folder.setText, start=self._folder.text())


def _lines_field(name: str, lines: tuple[str, ...]) -> QPlainTextEdit:
    field = QPlainTextEdit("\n".join(lines))
    field.setAccessibleName(name)
    field.setTabChangesFocus(True)
    field.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    field.setFixedHeight(field.fontMetrics().lineSpacing() * (_LINES + 1) + 12)
    return field


def _lines(field: QPlainTextEdit) -> tuple[str, ...]:
    """The lines that are not blank, as they are."""
    return tuple(line for line in field.toPlainText().split("\n") if line.strip())


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
        self._programs = RowList()
        self._history = RowList()
        self._register = TextButton(tr("Register a program…"), kind="primary")
        self._forget_all = TextButton(tr("Forget all…"), then=self._ask_to_forget_all)
        programs = SettingsSection(tr("Programs"), _PROGRAMS)
        programs.add_note(self._programs)
        programs.add_row("", self._register)
        history = SettingsSection(tr("History"), _HISTORY)
        history.add_note(self._history)
        history.add_row("", self._forget_all)
        self.column.addWidget(programs)
        self.column.addWidget(history)
        self._register.clicked.connect(lambda: self._edit(RegisteredProgram("", "", "")))
        bridge.hear(CommandsChanged, self._on_commands_changed)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Read the programs and the history again."""
        self._bridge.run(self, self._commands.programs.all, self._show_programs)
        self._bridge.run(self, self._commands.all, self._show_history)

    def _on_commands_changed(self, _event: CommandsChanged) -> None:
        if self.isVisible():
            self.refresh()

    def _show_programs(self, programs: Sequence[RegisteredProgram]) -> None:
        self._programs.show_rows(map(self._program_row, programs), tr("No program yet."))

    def _program_row(self, program: RegisteredProgram) -> QWidget:
        name = one_line(program.name)

        def remove() -> None:
            self._do(lambda: self._commands.programs.remove(program.program_id))

        actions = (
            (tr("Change…"), tr("Change {name}", name=name), lambda: self._edit(program)),
            (tr("Remove"), tr("Remove {name}", name=name), remove),
        )
        told = " ".join([program.path, *program.arguments])
        sentences = tr("Say: {sentence}", sentence=" · ".join(program.said_by))
        return row_of(name, actions, [_line(told), _line(sentences)])

    def _edit(self, program: RegisteredProgram) -> None:
        dialog = ProgramDialog(program, self)

        def register(edited: RegisteredProgram) -> None:
            def done(_program: RegisteredProgram) -> None:
                dialog.accept()
                self.refresh()

            put = self._commands.programs.put
            self._bridge.run(dialog, lambda: put(edited), done, dialog.show_error)

        dialog.submitted.connect(register)
        dialog.open()

    def _show_history(self, commands: Sequence[Command]) -> None:
        rows = [self._command_row(command) for command in commands[:_MOST_SHOWN]]
        if more := len(commands) - len(rows):
            rows.append(PlainLabel(tr("{count} older ones are kept.", count=more), tone="muted"))
        self._forget_all.setEnabled(bool(commands))
        self._history.show_rows(rows, tr("Nothing yet."))

    def _command_row(self, command: Command) -> QWidget:
        title, command_id = one_line(command.title), command.command_id
        actions: list[RowAction] = []
        if command.can_be_undone:
            told = tr("Undo: {title}", title=title)
            actions.append(
                (tr("Undo"), told, lambda: self._do(lambda: self._commands.undo(command_id)))
            )
        if command.state is not CommandState.RUNNING:
            told = tr("Forget: {title}", title=title)
            actions.append(
                (tr("Forget"), told, lambda: self._do(lambda: self._commands.forget([command_id])))
            )
        day = day_and_time(command.proposed_at)
        said = f"{day} · {command.state.in_words()} · “{command.prompt}”"
        outcome = literal_text(tr("Outcome of {title}", title=title))
        row = row_of(title, actions, [_line(said), outcome])
        show_text(outcome, command.outcome)
        return row

    @Slot()
    def _ask_to_forget_all(self) -> None:
        def forget_all() -> None:
            self._commands.forget([command.command_id for command in self._commands.all()])

        asked = (tr("Forget the whole history of commands?"), tr("What they did stays."))
        title = tr("Forget all")
        ask_first(self, title, "\n\n".join(asked), title, lambda: self._do(forget_all))

    def _do(self, change: Callable[[], object]) -> None:
        self._bridge.run(self, change, lambda _done: self.refresh())


def _line(words: str) -> ElidedLabel:
    return ElidedLabel(one_line(words), tone="muted", scale="small")
