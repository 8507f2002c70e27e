"""Loads and changes assistants through the bridge; their list and dialogs. Qt thread."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QDialog, QMessageBox, QWidget

from desktop_rag.answer.chat import Chat
from desktop_rag.core.assistant import Assistant, parse_filters
from desktop_rag.core.domain import Collection
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.library_events import Notice
from desktop_rag.core.search_syntax import limits_in_words
from desktop_rag.core.settings import Settings
from desktop_rag.ingest.library import Library
from desktop_rag.ui.composer.model_choice import AssistantChoice
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import collection_name, one_line
from desktop_rag.ui.personal.assistant_dialog import AssistantDialog, RailsField
from desktop_rag.ui.personal.assistant_documents import (
    AssistantDocuments,
    OwnDocument,
    RemovedDocuments,
    WishedDocuments,
)
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton, plain_question
from desktop_rag.ui.widgets.form_fields import note
from desktop_rag.ui.widgets.forms import RowList, open_once, row_of
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical
from desktop_rag.ui.widgets.notice_bar import NoticeBar
from desktop_rag.ui.widgets.scrolled_page import ContentScroll

# The words for rails: by default the name of their folder.
RailsTitle = Callable[[str], str]


def _folder_name(rails: str) -> str:
    return Path(rails).name


def summary_of(
    assistant: Assistant, collections: Mapping[str, str], rails_title: RailsTitle = _folder_name
) -> str:
    """The assistant's model, documents and options on one line; `collections` maps ids to names."""
    parts = [assistant.model if assistant.has_model else tr("Same model as the chat")]
    names = [collections[i] for i in assistant.collection_ids if i in collections]
    parts += names or [
        tr("all documents") if not assistant.collection_ids else tr("its collections were removed")
    ]
    if gone := len(assistant.collection_ids) - len(names):
        removed = count_of(gone, tr("collection"), tr("collections"))
        parts += [tr("{count_of} removed", count_of=removed)] if names else []
    if limits := limits_in_words(parse_filters(assistant.filters)):
        parts.append(limits[0].lower() + limits[1:])
    if assistant.is_open:
        parts.append(tr("may answer from its own knowledge"))
    if assistant.rails:
        parts.append(tr("rails: {title}", title=rails_title(assistant.rails)))
    return one_line(" · ".join(parts))


_WIDTH_PX = 560
_HEIGHT_PX = 440
_INTRO = tr(
    "An assistant combines instructions, a model, collections and filters under one name. Create"
    " one, then select it above the chat."
)


class AssistantsDialog(QDialog):
    """Lists all assistants, to create, edit, copy and delete them.

    All signals carry an Assistant; `edit_requested` carries None for a new one. It has its own
    notices for Undo, because a dialog covers those of the window.
    """

    edit_requested = Signal(object)
    copy_requested = Signal(object)
    delete_requested = Signal(object)

    def __init__(
        self, theme: Theme, parent: QWidget, rails_title: RailsTitle = _folder_name
    ) -> None:
        super().__init__(parent)
        self._rails_title = rails_title
        self.setWindowTitle(tr("Assistants"))
        self._rows = RowList()
        self._notices = NoticeBar(theme)
        new = TextButton(tr("New assistant…"), kind="primary")
        new.clicked.connect(lambda: self.edit_requested.emit(None))
        vertical(
            PlainLabel(tr("Assistants"), scale="heading"),
            self._notices,
            (ContentScroll(self._rows), 1),
            horizontal(new, Stretch(), TextButton(tr("Close"), then=self.reject)),
            on=self,
            margins=(20, 18, 20, 16),
            spacing=10,
        )
        self.resize(_WIDTH_PX, _HEIGHT_PX)

    def show_assistants(
        self, assistants: Sequence[Assistant], collections: Mapping[str, str]
    ) -> None:
        """Show these assistants; `collections` maps ids to names."""
        self._rows.show_rows([self._row_of(each, collections) for each in assistants], _INTRO)

    def _row_of(self, assistant: Assistant, collections: Mapping[str, str]) -> QWidget:
        name = one_line(assistant.name)
        actions = (
            (tr("Edit…"), tr("Edit {name}", name=name), self.edit_requested),
            (tr("Duplicate"), tr("Duplicate {name}", name=name), self.copy_requested),
            (tr("Delete"), tr("Delete {name}", name=name), self.delete_requested),
        )
        return row_of(
            name,
            [(text, told, partial(signal.emit, assistant)) for text, told, signal in actions],
            [note(summary_of(assistant, collections, self._rails_title))],
        )

    def offer_undo(self, assistant: Assistant, undo: Callable[[], None]) -> None:
        """Show that an assistant was deleted, with Undo."""
        hint = tr("Its chats continue without an assistant.")
        notice = Notice(tr("Deleted “{one_line}”.", one_line=one_line(assistant.name)), hint)
        self._notices.offer(notice, tr("Undo"), undo)

    def show_error(self, error: AppError) -> None:
        """Show an error."""
        self._notices.show_error(error)


_REMOVAL = tr(
    "“{name}” has documents of its own. They are removed from the library with it; the files stay"
    " where they are."
)


class AssistantActions(QObject):
    """`choice` is the button above the chat; it is updated after every change.

    `make_rails_field` makes the form's field for rails; without it the form has none.
    """

    def __init__(
        self, bridge: Bridge, library: Library, chat: Chat, theme: Theme, window: QWidget
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
        self.rails_title: RailsTitle = _folder_name
        self.make_rails_field: Callable[[str], RailsField] | None = None
        self.choice.new_requested.connect(self.create)
        self.choice.list_requested.connect(self.show_all)
        self._load_job = Job()
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
        self._load_job.cancel()
        self._load_job = self._bridge.run(self, self._chat.assistants.all, self._on_listed)

    @Slot()
    def show_all(self) -> None:
        """Open the dialog with all assistants."""
        self._list = dialog = AssistantsDialog(self._theme, self._window, self.rails_title)
        dialog.edit_requested.connect(self._on_edit_requested)
        dialog.copy_requested.connect(self._on_copy_requested)
        dialog.delete_requested.connect(self._on_delete_requested)
        dialog.finished.connect(self._on_list_closed)
        self._show_list()
        open_once(dialog)

    @Slot()
    def create(self) -> None:
        """Let the person create an assistant, which is then selected."""
        self._on_edit_requested(None)

    def _on_listed(self, assistants: list[Assistant]) -> None:
        self._assistants = assistants
        self._show_list()
        self.choice.show_assistants(assistants)

    def _show_list(self) -> None:
        if self._list:
            names = {c.collection_id: collection_name(c) for c in self._collections}
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
            assistant, self._settings, offers, self._collections, self._list or self._window,
            self.make_rails_field(assistant.rails) if self.make_rails_field else None,
        )  # fmt: skip
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
        open_once(dialog)

    def _connect_documents(self, dialog: AssistantDialog, assistant: Assistant) -> None:
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

    @Slot(object)
    def _on_copy_requested(self, assistant: Assistant) -> None:
        self._change(lambda: self._chat.assistants.copy(assistant))

    @Slot(object)
    def _on_delete_requested(self, assistant: Assistant) -> None:
        if not assistant.own_collection_id:
            self._delete(assistant)
            return
        text = _REMOVAL.format(name=one_line(assistant.name))
        box = plain_question(self._list or self._window, tr("Delete assistant"), text)
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
    """Saves one form; a retry after an error continues with what was stored."""

    def __init__(self, chat: Chat, documents: AssistantDocuments, assistant: Assistant) -> None:
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
