"""The prompts a person keeps: fetched for the question field, and managed. Qt thread.

Their files are read and written through the bridge.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from desktop_rag.core.saved_prompts import SavedPrompt
from desktop_rag.ui.composer.slash_prompts import SlashPrompts
from desktop_rag.ui.documents.file_opening import FileOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.personal.prompts_dialog import PromptsDialog

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat


class PromptActions(QObject):
    """Opens the dialog over `parent`, and tells `slash` what there is."""

    def __init__(self, bridge: Bridge, chat: "Chat", slash: SlashPrompts, parent: QWidget) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._library = chat.prompts
        self._slash = slash
        self._window = parent
        self._opener = FileOpener(bridge, self)
        slash.wanted.connect(self.refresh)
        slash.managing_requested.connect(self.manage)

    @Slot()
    def refresh(self) -> None:
        """Fetch what there is."""
        self._bridge.run(self, self._library.all, self._slash.show_prompts)

    @Slot()
    def manage(self) -> None:
        """Open the dialog."""
        dialog = PromptsDialog(self._window)
        dialog.saved.connect(lambda prompt, former: self._save(dialog, prompt, former))
        dialog.deleted.connect(lambda prompt: self._delete(dialog, prompt))
        dialog.bring_back_requested.connect(lambda: self._change(dialog, self._bring_back))
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

    def _bring_back(self) -> str:
        self._library.bring_back()
        return ""

    def _change(self, dialog: PromptsDialog, change: Callable[[], str]) -> None:
        """Do it, then show what there is, the prompt chosen whose name `change` returns."""

        def work() -> tuple[list[SavedPrompt], str]:
            name = change()
            return self._library.all(), name

        def show(found: tuple[list[SavedPrompt], str]) -> None:
            dialog.show_prompts(*found)
            self._slash.show_prompts(found[0])

        self._bridge.run(dialog, work, show, dialog.show_error)
