"""Loads and changes assistants through the bridge, and opens their dialogs. Qt thread."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QDialog, QMessageBox, QWidget

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.domain import Collection
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.settings import Settings
from desktop_rag.ui.composer.assistant_choice import AssistantChoice
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.personal.assistant_dialog import AssistantDialog
from desktop_rag.ui.personal.assistant_documents import (
    AssistantDocuments,
    OwnDocument,
    RemovedDocuments,
    WishedDocuments,
)
from desktop_rag.ui.personal.assistants_dialog import AssistantsDialog
from desktop_rag.ui.rails.teaching import Teaching

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.ingest.library import Library

_REMOVAL = tr(
    "“{name}” has documents of its own. They are removed from the library with it; the files stay"
    " where they are."
)


class AssistantActions(QObject):
    """`choice` is the button above the chat; it is updated after every change.

    `teaching` makes questions examples of the chosen assistant's rails.
    """

    def __init__(
        self, bridge: Bridge, library: "Library", chat: "Chat", theme: Theme, window: QWidget
    ) -> None:
        """Dialogs open over the `window`."""
        super().__init__(window)
        self._bridge = bridge
        self._chat = chat
        self._documents = AssistantDocuments(library, chat)
        self._theme = theme
        self._window = window
        self._settings = Settings()
        self._collections: Sequence[Collection] = ()
        self._assistants: Sequence[Assistant] = ()
        self.choice = AssistantChoice(theme)
        self.teaching = Teaching(bridge, chat, window)
        self.choice.chosen.connect(self.teaching.choose)
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
        is_new = not assistant.assistant_id
        saving = _Saving(self._chat, self._documents, assistant)

        def finish(kept: Assistant) -> None:
            dialog.accept()
            self.refresh()
            if is_new:
                self.choice.choose(kept.assistant_id)

        def save(written: Assistant) -> None:
            wished = dialog.own_documents.wished
            self._bridge.run(
                dialog, lambda: saving.save(written, wished), finish, dialog.show_error
            )

        dialog.submitted.connect(save)
        self._connect_documents(dialog, assistant)
        self._connect_rails(dialog)
        _open(dialog)

    def _connect_documents(self, dialog: AssistantDialog, assistant: Assistant) -> None:
        """Show an assistant's own documents with their states in its form."""
        field, documents = dialog.own_documents, self._documents

        def show_states() -> None:
            self._bridge.run(dialog, lambda: documents.of(assistant), field.show_documents)

        def look_again() -> list[OwnDocument]:
            documents.refresh(assistant)
            return documents.of(assistant)

        field.states_requested.connect(show_states)
        field.refresh_requested.connect(
            lambda: self._bridge.run(dialog, look_again, field.show_documents, dialog.show_error)
        )
        show_states()

    def _connect_rails(self, dialog: AssistantDialog) -> None:
        """Try the sentences of its form."""
        field, rails = dialog.rails, self._chat.assistants.rails
        if rails is None:
            return

        def try_sentence(chosen: str, text: str) -> None:
            self._bridge.run(
                dialog,
                lambda: rails.try_sentence(chosen, text).in_words(),
                field.show_tried,
                field.show_error,
            )

        field.try_requested.connect(try_sentence)
        self._bridge.run(dialog, rails.folders, field.offer, field.show_error)

    @Slot(object)
    def _on_copy_requested(self, assistant: Assistant) -> None:
        self._change(lambda: self._chat.assistants.copy(assistant))

    @Slot(object)
    def _on_delete_requested(self, assistant: Assistant) -> None:
        if not assistant.own_collection_id:
            self._delete(assistant)
            return
        box = QMessageBox(self._list or self._window)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setWindowTitle(tr("Delete assistant"))
        box.setText(_REMOVAL.format(name=one_line(assistant.name)))
        with_documents = box.addButton(
            tr("Delete with its documents"), QMessageBox.ButtonRole.DestructiveRole
        )
        without = box.addButton(tr("Keep the documents"), QMessageBox.ButtonRole.AcceptRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        with_documents.clicked.connect(lambda: self._delete(assistant, with_documents=True))
        without.clicked.connect(lambda: self._delete(assistant))
        box.open()

    def _delete(self, assistant: Assistant, *, with_documents: bool = False) -> None:
        chat, documents = self._chat, self._documents

        def delete() -> RemovedDocuments | None:
            chat.assistants.delete(assistant.assistant_id)
            return documents.remove(assistant) if with_documents else None

        def offer(removed: RemovedDocuments | None) -> None:
            def restore() -> None:
                chat.assistants.restore(assistant)
                if removed:
                    documents.put_back(assistant, removed)

            self.refresh()
            if self._list:
                self._list.offer_undo(assistant, lambda: self._change(restore))

        self._bridge.run(self, delete, offer, self._show_error)

    def _change(self, change: Callable[[], object]) -> None:
        self._bridge.run(self, change, lambda _nothing: self.refresh(), self._show_error)

    def _show_error(self, error: AppError) -> None:
        if self._list:
            self._list.show_error(error)
        else:
            self._bridge.post(error)


class _Saving:
    """Saves one form; pressed again after an error, it goes on with what was stored."""

    def __init__(self, chat: "Chat", documents: AssistantDocuments, assistant: Assistant) -> None:
        self._assistants = chat.assistants
        self._documents = documents
        self._stored = assistant

    def save(self, written: Assistant, wished: WishedDocuments) -> Assistant:
        """The stored assistant, with its documents added. AppError when one can't be."""
        stored = self._stored
        own = stored.own_collection_id
        gained = (own,) if own and own not in written.collection_ids else ()
        named = replace(
            written,
            assistant_id=stored.assistant_id,
            own_collection_id=own,
            collection_ids=(*written.collection_ids, *gained),
        )
        keep = self._assistants.change if stored.assistant_id else self._assistants.add
        self._stored = keep(named)
        self._stored = self._documents.with_collection(self._stored, wished)
        self._documents.apply(self._stored, wished)
        return self._stored


def _open(dialog: QDialog) -> None:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
