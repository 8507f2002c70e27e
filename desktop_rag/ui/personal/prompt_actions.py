"""Loads, saves and deletes the person's saved prompts through the bridge. Qt thread."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QWidget

from desktop_rag.answer.chat import Chat
from desktop_rag.core.assistant import LONGEST_PROMPT_NAME, SavedPrompt
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.composer.field_completion import SlashPrompts
from desktop_rag.ui.documents.external_viewer import FileOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import failure_in_words, one_line
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import note, text_area
from desktop_rag.ui.widgets.forms import open_once
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical

_WIDTH_PX = 760
_HEIGHT_PX = 500
_LIST_PX = 200
_NOTE = tr(
    "Type / in the question field to use a prompt. You fill in {{placeholders}} when you use it."
    " Each prompt is a Markdown file, so you can copy and share it."
)


class PromptsDialog(QDialog):
    """Writes, renames and deletes saved prompts, one at a time.

    `save_requested` carries a SavedPrompt and its previous name, "" for a new one;
    `delete_requested` carries a SavedPrompt. `show_prompts` and `show_error` update the dialog.
    """

    save_requested = Signal(object, str)
    delete_requested = Signal(object)
    restore_defaults_requested = Signal()
    folder_requested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("promptsDialog")
        self.setWindowTitle(tr("Prompts"))
        self._prompts: Sequence[SavedPrompt] = ()
        self._deleted: SavedPrompt | None = None
        self._names = QListWidget()
        self._names.setAccessibleName(tr("Prompts"))
        self._names.setObjectName("promptNames")
        self._names.setFixedWidth(_LIST_PX)
        self._name = QLineEdit(maxLength=LONGEST_PROMPT_NAME)
        self._name.setAccessibleName(tr("Name"))
        self._text = text_area(tr("Prompt"))
        self._status = PlainLabel(wrap=True)
        self._undo = TextButton(tr("Undo"), kind="quiet", then=self._on_undo_clicked)
        self._new = TextButton(tr("New prompt"), then=self._on_new_clicked)
        self._delete = TextButton(tr("Delete"), kind="danger", then=self._on_delete_clicked)
        self._save = TextButton(tr("Save"), kind="primary", then=self._on_save_clicked)
        self._build()
        self._connect()
        self.show_prompts((), "")

    def _build(self) -> None:
        right = vertical(
            PlainLabel(tr("Name")),
            self._name,
            PlainLabel(tr("Prompt")),
            (self._text, 1),
            horizontal((self._status, 1), self._undo),
            spacing=6,
        )
        column = vertical(
            (horizontal(vertical((self._names, 1), self._new), (right, 1), spacing=14), 1),
            note(_NOTE),
            on=self,
            margins=(20, 18, 20, 16),
            spacing=10,
        )
        self._back = TextButton(
            tr("Restore built-in prompts"), kind="quiet", then=self.restore_defaults_requested
        )
        self._folder = TextButton(tr("Open folder"), kind="quiet", then=self.folder_requested)
        self._close = TextButton(tr("Close"), then=self.reject)
        buttons = horizontal(
            self._back, self._folder, Stretch(), self._delete, self._close, self._save
        )
        column.addLayout(buttons)
        self.resize(_WIDTH_PX, _HEIGHT_PX)

    def _connect(self) -> None:
        self._names.currentRowChanged.connect(self._on_row_changed)
        self._name.textChanged.connect(self._show_buttons)
        self._text.textChanged.connect(self._show_buttons)

    @property
    def _chosen(self) -> SavedPrompt | None:
        """The selected prompt; None while writing a new one."""
        row = self._names.currentRow()
        return self._prompts[row] if row >= 0 else None

    def show_prompts(self, prompts: Sequence[SavedPrompt], name: str) -> None:
        """Show these prompts and select the one with this name, else the first."""
        self._prompts = tuple(prompts)
        with QSignalBlocker(self._names):
            self._names.clear()
            self._names.addItems([f"/{one_line(prompt.name)}" for prompt in prompts])
            rows = [row for row, prompt in enumerate(prompts) if prompt.name == name]
            self._names.setCurrentRow(rows[0] if rows else min(0, len(prompts) - 1))
        self._on_row_changed()
        self._show_deleted()

    def show_error(self, error: AppError) -> None:
        """Show why a prompt can't be saved."""
        self._status.setText(failure_in_words(error))

    def _show_deleted(self) -> None:
        gone = self._deleted
        words = tr("Deleted /{one_line}.", one_line=one_line(gone.name)) if gone else ""
        self._status.setText(words)
        self._undo.setVisible(gone is not None)

    @Slot()
    def _on_row_changed(self) -> None:
        chosen = self._chosen
        self._name.setText(chosen.name if chosen else "")
        self._text.setPlainText(chosen.text if chosen else "")
        self._show_buttons()

    @Slot()
    def _show_buttons(self) -> None:
        chosen = self._chosen
        written = SavedPrompt(self._name.text().strip(), self._text.toPlainText().strip())
        self._save.setEnabled(bool(written.name and written.text) and written != chosen)
        self._delete.setVisible(chosen is not None)

    @Slot()
    def _on_new_clicked(self) -> None:
        self._names.setCurrentRow(-1)
        self._name.setFocus()

    @Slot()
    def _on_save_clicked(self) -> None:
        previous_name = self._chosen.name if self._chosen else ""
        self._deleted = None
        self._show_deleted()
        self.save_requested.emit(
            SavedPrompt(self._name.text(), self._text.toPlainText()), previous_name
        )

    @Slot()
    def _on_delete_clicked(self) -> None:
        self._deleted = self._chosen
        self.delete_requested.emit(self._deleted)

    @Slot()
    def _on_undo_clicked(self) -> None:
        deleted, self._deleted = self._deleted, None
        self.save_requested.emit(deleted, "")


class PromptActions(QObject):
    """Opens the prompts dialog over `parent`, and keeps `slash` up to date."""

    def __init__(self, bridge: Bridge, chat: Chat, slash: SlashPrompts, parent: QWidget) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._library = chat.prompts
        self._slash = slash
        self._window = parent
        self._opener = FileOpener(bridge, self)
        slash.prompts_requested.connect(self.refresh)
        slash.manage_requested.connect(self.manage)

    @Slot()
    def refresh(self) -> None:
        """Load the prompts for the question field."""
        self._bridge.run(self, self._library.all, self._slash.show_prompts)

    @Slot()
    def manage(self) -> None:
        """Open the prompts dialog."""
        dialog = PromptsDialog(self._window)
        dialog.save_requested.connect(lambda prompt, former: self._save(dialog, prompt, former))
        dialog.delete_requested.connect(lambda prompt: self._delete(dialog, prompt))
        dialog.restore_defaults_requested.connect(
            lambda: self._change(dialog, self._restore_defaults)
        )
        dialog.folder_requested.connect(lambda: self._opener.open(self._library.folder))
        open_once(dialog)
        self._change(dialog, lambda: "")

    def _save(self, dialog: PromptsDialog, prompt: SavedPrompt, former: str) -> None:
        self._change(dialog, lambda: self._library.save(prompt, former).name)

    def _delete(self, dialog: PromptsDialog, prompt: SavedPrompt) -> None:
        def delete() -> str:
            self._library.delete(prompt.name)
            return ""

        self._change(dialog, delete)

    def _restore_defaults(self) -> str:
        self._library.restore_built_in()
        return ""

    def _change(self, dialog: PromptsDialog, change: Callable[[], str]) -> None:
        """Run `change`, then show all prompts and select the one whose name it returns."""

        def work() -> tuple[list[SavedPrompt], str]:
            name = change()
            return self._library.all(), name

        def show(found: tuple[list[SavedPrompt], str]) -> None:
            dialog.show_prompts(*found)
            self._slash.show_prompts(found[0])

        self._bridge.run(dialog, work, show, dialog.show_error)
