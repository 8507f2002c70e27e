"""Asks what a note is to be about, and where its file is to be. Qt thread."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QDialog, QFileDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.ui.standing.standing_dialog import scope_field
from desktop_rag.ui.widgets.controls import TextButton
from desktop_rag.ui.widgets.form_fields import SettingsSection, fit_height, note

_WIDTH_PX = 560
_FOLDER = tr(
    "A Markdown file of yours is written there. The folder becomes a part of the library, so that"
    " later questions find the note as yours."
)


class NoteDialog(QDialog):
    """`submitted` carries the topic, the folder and the QuestionScope."""

    submitted = Signal(str, object, object)

    def __init__(
        self, folder: Path, scopes: Sequence[QuestionScope], cost: str, parent: QWidget
    ) -> None:
        """`folder` is suggested, `scopes` can be chosen, `cost` says what each question uses."""
        super().__init__(parent)
        self.setObjectName("noteDialog")
        self.setWindowTitle(tr("Write a note about…"))
        self._topic = QLineEdit()
        self._topic.setAccessibleName(tr("Topic"))
        self._topic.setPlaceholderText(tr("A topic, a person, a project"))
        self._folder = QLineEdit(str(folder))
        self._choose = TextButton(tr("Choose…"))
        self._about = scope_field(ALL_DOCUMENTS, scopes)
        self._write = TextButton(tr("Write"), kind="primary")
        self._cancel = TextButton(tr("Cancel"))
        section = SettingsSection(self.windowTitle())
        section.add_row(tr("Topic"), self._topic, is_wide=True)
        section.add_row(tr("From"), self._about, is_wide=True)
        section.add_note(note(cost))
        section.add_row(tr("Folder"), self._folder, self._choose, is_wide=True)
        section.add_note(note(_FOLDER))
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self._cancel)
        buttons.addWidget(self._write)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(12)
        column.addWidget(section)
        column.addLayout(buttons)
        self._write.setDefault(True)
        fit_height(self, _WIDTH_PX)
        self._topic.textChanged.connect(self._on_edited)
        self._folder.textChanged.connect(self._on_edited)
        self._choose.clicked.connect(self._on_choose_clicked)
        self._cancel.clicked.connect(self.reject)
        self._write.clicked.connect(self._on_write_clicked)
        self._on_edited()

    @Slot()
    def _on_edited(self) -> None:
        texts = (self._topic.text().strip(), self._folder.text().strip())
        self._write.setEnabled(all(texts))

    @Slot()
    def _on_choose_clicked(self) -> None:
        dialog = QFileDialog(self, tr("Folder of the note"), self._folder.text())
        dialog.setObjectName("noteFolderDialog")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self._folder.setText)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @Slot()
    def _on_write_clicked(self) -> None:
        folder = Path(self._folder.text().strip()).expanduser()
        self.submitted.emit(self._topic.text(), folder, self._about.currentData())
        self.accept()
