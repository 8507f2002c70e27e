"""The page "Commands": the registered programs, and the history of commands. Qt thread."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
    QWidget,
)

from desktop_rag.core.errors import AppError
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
from desktop_rag.ui.foundation.wording import failure_in_words, one_line
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import SettingsSection, fit_height, note, number_field
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical
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


class ProgramDialog(QDialog):
    """Registers or changes a program; `submitted` carries the RegisteredProgram."""

    submitted = Signal(object)

    def __init__(self, program: RegisteredProgram, parent: QWidget) -> None:
        """A program with an empty `program_id` is new."""
        super().__init__(parent)
        self.setWindowTitle(tr("Program") if program.program_id else tr("Register a program"))
        self._program = program
        self._name = QLineEdit(program.name)
        self._name.setMaxLength(LONGEST_NAME)
        self._path = QLineEdit(program.path)
        self._choose = TextButton(tr("Choose…"))
        self._arguments = _lines_field(tr("Arguments"), program.arguments)
        self._sentences = _lines_field(tr("Sentences"), program.sentences)
        self._folder = QLineEdit(program.folder)
        self._choose_folder = TextButton(tr("Choose folder…"))
        self._seconds = number_field(1, MOST_SECONDS, 10, tr(" seconds"))
        self._seconds.setValue(program.timeout_s)
        self._error = PlainLabel(tone="danger", wrap=True)
        self._error.hide()
        self._save = TextButton(tr("Save"), kind="primary")
        self._cancel = TextButton(tr("Cancel"))
        self._build()
        self._choose.clicked.connect(self._on_choose_clicked)
        self._choose_folder.clicked.connect(self._on_choose_folder_clicked)
        self._cancel.clicked.connect(self.reject)
        self._save.clicked.connect(self._on_save_clicked)

    def _build(self) -> None:
        section = SettingsSection(self.windowTitle(), _TRUST)
        section.add_row(tr("Name"), self._name, is_wide=True)
        section.add_row(tr("Program"), self._path, self._choose, is_wide=True)
        section.add_row(tr("Arguments"), self._arguments, is_wide=True, is_tall=True)
        section.add_note(note(_ARGUMENTS))
        section.add_row(tr("Sentences"), self._sentences, is_wide=True, is_tall=True)
        section.add_note(note(_SENTENCES))
        section.add_row(tr("Folder"), self._folder, self._choose_folder, is_wide=True)
        section.add_note(note(_FOLDER))
        section.add_row(tr("Ends after"), self._seconds)
        vertical(
            section,
            self._error,
            horizontal(Stretch(), self._cancel, self._save),
            on=self,
            margins=(20, 18, 20, 16),
            spacing=12,
        )
        self._save.setDefault(True)
        fit_height(self, _WIDTH_PX)

    def show_error(self, error: AppError) -> None:
        """Say why it was not registered."""
        self._error.setText(failure_in_words(error))
        self._error.show()
        self._save.setEnabled(True)

    @Slot()
    def _on_save_clicked(self) -> None:
        self._save.setEnabled(False)
        self.submitted.emit(
            replace(
                self._program,
                name=self._name.text().strip(),
                path=self._path.text().strip(),
                arguments=_lines(self._arguments),
                sentences=_lines(self._sentences),
                folder=self._folder.text().strip(),
                timeout_s=self._seconds.value(),
            )
        )

    @Slot()
    def _on_choose_clicked(self) -> None:
        dialog = QFileDialog(self, tr("Program"), self._path.text())
        dialog.setObjectName("programFileDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self._path.setText)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @Slot()
    def _on_choose_folder_clicked(self) -> None:
        dialog = QFileDialog(self, tr("Folder of the program"), self._folder.text())
        dialog.setObjectName("programFolderDialog")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self._folder.setText)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()


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
    vertical(on=rows, margins=0, spacing=12)
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
    """A row, and its first line: the name, with room for buttons."""
    row = QWidget()
    line = horizontal((ElidedLabel(name), 1), spacing=10)
    vertical(line, on=row, margins=0, spacing=2)
    return row, line


def _add(row: QWidget, widget: QWidget) -> None:
    column = row.layout()
    assert column is not None
    column.addWidget(widget)
