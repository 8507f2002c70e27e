"""Loads, saves and deletes the person's saved prompts through the bridge. Qt thread."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from desktop_rag.core.saved_prompts import SavedPrompt
from desktop_rag.ui.composer.slash_prompts import SlashPrompts
from desktop_rag.ui.documents.file_opener import FileOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.personal.prompts_dialog import PromptsDialog

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat


class PromptActions(QObject):
    """Opens the prompts dialog over `parent`, and keeps `slash` up to date."""

    def __init__(self, bridge: Bridge, chat: "Chat", slash: SlashPrompts, parent: QWidget) -> None:
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
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
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
