"""A dialog for rewriting an answer. Qt thread."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QDialog, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.shortcuts import bind
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import note, text_area
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical

_WIDTH_PX = 640
_HEIGHT_PX = 460
_NOTE = tr(
    "Saved as a Markdown file in your library. Answers to later questions can cite it as your own"
    " answer. The answer in this chat does not change."
)


class RewriteDialog(QDialog):
    """`submitted` carries the text; `delete_requested` asks to delete the saved version."""

    submitted = Signal(str)
    delete_requested = Signal()

    def __init__(self, text: str, parent: QWidget, *, is_rewritten: bool) -> None:
        super().__init__(parent)
        self.setObjectName("rewriteDialog")
        self.setWindowTitle(tr("Rewrite answer"))
        self._text = text_area(tr("Your answer"), text)
        self._save = TextButton(tr("Save"), kind="primary", then=self._on_submitted)
        self._cancel = TextButton(tr("Cancel"), then=self.reject)
        self._delete = TextButton(tr("Delete"), kind="danger", then=self._on_deleted)
        self._build()
        self._delete.setVisible(is_rewritten)
        self._text.textChanged.connect(self._on_text_changed)
        bind(self, "Ctrl+Return", tr("Save the answer"), self._on_submitted)
        self._on_text_changed()

    def _build(self) -> None:
        vertical(
            PlainLabel(tr("Your answer"), scale="heading"),
            (self._text, 1),
            note(_NOTE),
            horizontal(self._delete, Stretch(), self._cancel, self._save),
            on=self,
            margins=(20, 18, 20, 16),
            spacing=8,
        )
        self.resize(_WIDTH_PX, _HEIGHT_PX)

    @Slot()
    def _on_text_changed(self) -> None:
        self._save.setEnabled(bool(self._text.toPlainText().strip()))

    @Slot()
    def _on_submitted(self) -> None:
        if text := self._text.toPlainText().strip():
            self.submitted.emit(text)
            self.accept()

    @Slot()
    def _on_deleted(self) -> None:
        self.delete_requested.emit()
        self.accept()
