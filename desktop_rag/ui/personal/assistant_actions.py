"""Loads and changes assistants through the bridge, and opens their dialogs. Qt thread."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QDialog, QWidget

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.domain import Collection
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import Settings
from desktop_rag.ui.composer.assistant_choice import AssistantChoice
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.personal.assistant_dialog import AssistantDialog
from desktop_rag.ui.personal.assistants_dialog import AssistantsDialog

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat


class AssistantActions(QObject):
    """`choice` is the button above the chat; it is updated after every change."""

    def __init__(self, bridge: Bridge, chat: "Chat", theme: Theme, window: QWidget) -> None:
        """Dialogs open over the `window`."""
        super().__init__(window)
        self._bridge = bridge
        self._chat = chat
        self._theme = theme
        self._window = window
        self._settings = Settings()
        self._collections: Sequence[Collection] = ()
        self._assistants: Sequence[Assistant] = ()
        self.choice = AssistantChoice(theme)
        self.choice.new_requested.connect(self.create)
        self.choice.list_requested.connect(self.show_all)
        self._load_job: Job | None = None
        self._list: AssistantsDialog | None = None

    def apply(self, settings: Settings) -> None:
        """Offer the endpoints of these settings."""
        self._settings = settings

    def set_collections(self, collections: Sequence[Collection]) -> None:
        """Set the collections that the dialogs offer."""
        self._collections = collections

    @Slot()
    def refresh(self) -> None:
        """Load the assistants again and show them."""
        if self._load_job:
            self._load_job.cancel()
        self._load_job = self._bridge.run(self, self._chat.assistants.all, self._on_listed)

    @Slot()
    def show_all(self) -> None:
        """Open the dialog with all assistants."""
        self._list = dialog = AssistantsDialog(self._theme, self._window)
        dialog.edit_requested.connect(self._on_edit_requested)
        dialog.copy_requested.connect(self._on_copy_requested)
        dialog.delete_requested.connect(self._on_delete_requested)
        dialog.finished.connect(self._on_list_closed)
        self._show_list()
        _open(dialog)

    @Slot()
    def create(self) -> None:
        """Let the person create an assistant, which is then selected."""
        self._on_edit_requested(None)

    def _on_listed(self, assistants: list[Assistant]) -> None:
        self._load_job = None
        self._assistants = assistants
        self._show_list()
        self.choice.show_assistants(assistants)

    def _show_list(self) -> None:
        if self._list:
            names = {c.collection_id: c.name for c in self._collections}
            self._list.show_assistants(self._assistants, names)

    @Slot()
    def _on_list_closed(self) -> None:
        self._list = None

    @Slot(object)
    def _on_edit_requested(self, assistant: Assistant | None) -> None:
        models = self._chat.models
        addresses = [endpoint.base_url for endpoint in self._settings.endpoints]
        self._bridge.run(
            self,
            lambda: {url: list(models.offered(url)) for url in addresses},
            lambda offers: self._edit(assistant or Assistant("", ""), offers),
        )

    def _edit(self, assistant: Assistant, offers: dict[str, list[str]]) -> None:
        dialog = AssistantDialog(
            assistant, self._settings, offers, self._collections, self._list or self._window
        )
        assistants = self._chat.assistants
        is_new = not assistant.assistant_id

        def finish(kept: Assistant) -> None:
            dialog.accept()
            self.refresh()
            if is_new:
                self.choice.choose(kept.assistant_id)

        def save(written: Assistant) -> None:
            keep = assistants.add if is_new else assistants.change
            self._bridge.run(dialog, lambda: keep(written), finish, dialog.show_error)

        dialog.submitted.connect(save)
        _open(dialog)

    @Slot(object)
    def _on_copy_requested(self, assistant: Assistant) -> None:
        self._change(lambda: self._chat.assistants.copy(assistant))

    @Slot(object)
    def _on_delete_requested(self, assistant: Assistant) -> None:
        def restore() -> None:
            self._change(lambda: self._chat.assistants.restore(assistant))

        def offer(_nothing: object) -> None:
            self.refresh()
            if self._list:
                self._list.offer_undo(assistant, restore)

        assistant_id = assistant.assistant_id
        self._bridge.run(
            self, lambda: self._chat.assistants.delete(assistant_id), offer, self._show_error
        )

    def _change(self, change: Callable[[], object]) -> None:
        self._bridge.run(self, change, lambda _nothing: self.refresh(), self._show_error)

    def _show_error(self, error: AppError) -> None:
        if self._list:
            self._list.show_error(error)
        else:
            self._bridge.post(error)


def _open(dialog: QDialog) -> None:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
