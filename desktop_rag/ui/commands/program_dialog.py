"""Registers a program, or changes one: path, arguments, what is said to run it. Qt thread."""

from dataclasses import replace

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.commands.registered_program import (
    LONGEST_NAME,
    MOST_SECONDS,
    RegisteredProgram,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.error_words import failure_in_words
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import SettingsSection, fit_height, note, number_field

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
    """`submitted` carries the RegisteredProgram."""

    submitted = Signal(object)

    def __init__(self, program: RegisteredProgram, parent: QWidget) -> None:
        """An empty `program_id` is a new one."""
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
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self._cancel)
        buttons.addWidget(self._save)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(12)
        column.addWidget(section)
        column.addWidget(self._error)
        column.addLayout(buttons)
        self._save.setDefault(True)
        fit_height(self, _WIDTH_PX)

    def show_error(self, error: AppError) -> None:
        """Say why it was not registered; the form stays."""
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
    """The lines that hold something; spaces within them are kept."""
    return tuple(line for line in field.toPlainText().split("\n") if line.strip())
