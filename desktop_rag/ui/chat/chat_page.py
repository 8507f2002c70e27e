"""The chat page: the conversation list, the open conversation, and its sources. Qt thread."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QLocale, Qt, Signal, Slot
from PySide6.QtWidgets import QBoxLayout, QMenu, QStackedWidget, QToolButton, QWidget
from shiboken6 import isValid

from desktop_rag.answer.chat import Chat
from desktop_rag.core.assistant import Assistant
from desktop_rag.core.conversation import Conversation, Message
from desktop_rag.core.domain import Collection
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import Notice, Stage
from desktop_rag.core.question import Question
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.ingest.library import Library
from desktop_rag.ui.chat.chat_session import ChatSession
from desktop_rag.ui.chat.chat_state import ChatState
from desktop_rag.ui.chat.conversation_actions import ConversationActions
from desktop_rag.ui.chat.conversation_list import ConversationList, FoundMessages
from desktop_rag.ui.chat.conversation_model import UNTITLED, title_of
from desktop_rag.ui.chat.empty_chat import EmptyChat
from desktop_rag.ui.chat.source_reading import ChatAttachments, SourceReading
from desktop_rag.ui.composer.composer import Composer
from desktop_rag.ui.composer.model_choice import AssistantChoice, ModelChoice, above_caution
from desktop_rag.ui.composer.name_completion import NameFeed
from desktop_rag.ui.composer.scope_bar import ScopeCheck
from desktop_rag.ui.documents.document_opener import DocumentOpener
from desktop_rag.ui.foundation.ask_request import Done, UndoOffer, Wanted
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.shortcuts import INSIDE, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.markdown.formula_drawing import FormulaDrawer
from desktop_rag.ui.messages.message_view import MessageView
from desktop_rag.ui.personal.assistant_actions import AssistantActions
from desktop_rag.ui.personal.memory_actions import MemoryActions
from desktop_rag.ui.personal.prompt_actions import PromptActions
from desktop_rag.ui.widgets.controls import ElidedButton, ElidedLabel, IconButton, begin_with_window
from desktop_rag.ui.widgets.layouts import horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import put_in_place

# A question waits so long for the words of the first files, then for their meaning.
_WORDS_S, _MEANING_S = 120.0, 20.0


_MIN_TITLE_PX = 120


class ChatHeader(QWidget):
    """Shows the title, the assistant and model, a menu, and the toggles of the side panels."""

    list_toggled = Signal()
    sources_toggled = Signal()
    rename_requested = Signal()
    pin_requested = Signal()
    export_requested = Signal()
    delete_requested = Signal()
    import_requested = Signal()

    def __init__(self, theme: Theme, assistants: AssistantChoice, models: ModelChoice) -> None:
        super().__init__()
        self._title = ElidedLabel()
        self._title.setObjectName("chatTitle")
        begin_with_window(self._title)
        chats = IconButton(
            theme, "panel-left:muted", tr("Show or hide chats"), then=self.list_toggled
        )
        self._menu_button = IconButton(theme, "more:muted", tr("Chat options"))
        self._menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        self._pin = menu.addAction(tr("Pin"), self.pin_requested.emit)
        self._of_stored = [
            self._pin,
            menu.addAction(tr("Rename"), self.rename_requested.emit),
            menu.addAction(tr("Export…"), self.export_requested.emit),
            menu.addAction(tr("Delete"), self.delete_requested.emit),
        ]
        menu.addSeparator()
        menu.addAction(tr("Import chat…"), self.import_requested.emit)
        menu.addAction(tr("New assistant…"), assistants.new_requested.emit)
        self._menu_button.setMenu(menu)
        self._sources = IconButton(
            theme, "panel-right:muted", tr("Show or hide sources"), then=self.sources_toggled
        )
        self._title.setMinimumWidth(_MIN_TITLE_PX)
        horizontal(
            chats, (self._title, 1), assistants, models, self._menu_button, self._sources,
            on=self, margins=(8, 6, 8, 6), spacing=4,
        )  # fmt: skip

    def show_chat(self, title: str, *, is_stored: bool, is_pinned: bool) -> None:
        """Show a title; most of the menu is for a stored conversation."""
        self._title.set_full_text(title)
        for action in self._of_stored:
            action.setVisible(is_stored)
        self._pin.setText(tr("Unpin") if is_pinned else tr("Pin"))


class InPlaceOfChat(QStackedWidget):
    """Shows the chat, or one of the widgets that have a button below the list of chats.

    Each is built when it is first shown. `other_shown` carries True when one of them is shown,
    False when the chat is.
    """

    other_shown = Signal(bool)

    def __init__(self, buttons: QBoxLayout, chat: QWidget) -> None:
        """The buttons are added to the layout `buttons`."""
        super().__init__()
        self._layout = buttons
        self._chat = chat
        self._buttons: dict[str, ElidedButton] = {}
        self._unbuilt: dict[str, Callable[[], QWidget]] = {}
        self.addWidget(chat)

    @property
    def names(self) -> list[str]:
        """The names on the buttons."""
        return list(self._buttons)

    def add(self, name: str, build: Callable[[], QWidget]) -> None:
        """Add a button, and what is built when it is first pressed."""
        button = ElidedButton(name, kind="quiet")
        button.setCheckable(True)
        button.clicked.connect(partial(self._on_clicked, name))
        self._buttons[name] = button
        self._unbuilt[name] = build
        self._layout.addWidget(button)
        self.addWidget(QWidget())

    def show_named(self, name: str) -> QWidget:
        """Show what has this name; returns it."""
        at = 1 + list(self._buttons).index(name)
        if build := self._unbuilt.pop(name, None):
            put_in_place(self, at, build())
        self.setCurrentIndex(at)
        self._mark(name)
        self.other_shown.emit(True)
        widget = self.currentWidget()
        assert widget is not None, "it was added"
        return widget

    def show_chat(self) -> None:
        """Show the chat again, unless it is shown."""
        if self.currentWidget() is not self._chat:
            self.setCurrentWidget(self._chat)
            self._mark("")
            self.other_shown.emit(False)

    def _on_clicked(self, name: str) -> None:
        if self._buttons[name].isChecked():
            self.show_named(name)
        else:
            self.show_chat()

    def _mark(self, name: str) -> None:
        for known, button in self._buttons.items():
            button.setChecked(known == name)


class ChatPage(QWidget):
    """Connects the conversation list, the messages, the composer and the sources.

    `model_check_chosen` carries a ModelCheck, `model_chosen` an address and a model.
    """

    model_check_chosen = Signal(object)
    model_chosen = Signal(str, str)

    def __init__(
        self, bridge: Bridge, library: Library, chat: Chat, theme: Theme, state: ChatState,
        remembered: Path | None = None,
    ) -> None:  # fmt: skip
        """`remembered` is the file that keeps the width of the document beside the chat."""
        super().__init__()
        self._bridge = bridge
        self._library = library
        self._chat = chat
        self._theme = theme
        self._is_library_empty, self._files = False, 0
        self._endpoint: EndpointSettings | None = None
        self._is_scope_loading = False
        self._opener = DocumentOpener(bridge, library, theme, self)
        self._state = state
        self.feed, self.sessions, self.overview = state.feed, state.sessions, state.overview
        self._actions = ConversationActions(bridge, chat, self)
        self._memory = MemoryActions(bridge, chat, self)
        self.assistants = AssistantActions(bridge, library, chat, theme, self)
        self._build(library, remembered)
        self.prompts = PromptActions(bridge, chat, self._composer.prompts, self)
        self._attachments = ChatAttachments(
            bridge, library, chat, self._composer, self.sessions, self._opener,
            choice=self.assistants.choice, page=self,
        )  # fmt: skip
        self._connect()
        self.sessions.show_current()
        self.assistants.refresh()
        if self.feed.conversations is not None:
            self._on_conversations_loaded(self.feed.conversations)

    def _build(self, library: Library, remembered: Path | None) -> None:
        self._list = ConversationList(self._theme)
        self.models = ModelChoice(self._theme, self._bridge, self._chat)
        self._header = ChatHeader(self._theme, self.assistants.choice, self.models)
        self._empty = EmptyChat(self._theme)
        self.messages = MessageView(self._theme, FormulaDrawer(self._bridge, self))
        self._composer = Composer(self._theme)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._found = FoundMessages(self._bridge, self._theme, self.messages)
        self._stack.addWidget(self._found)
        centre = QWidget()
        self.above_composer = vertical()
        column = vertical(
            self._header, (self._stack, 1), self.above_composer, on=centre, margins=0, spacing=0
        )
        column.addLayout(above_caution(self._composer))
        self._places = InPlaceOfChat(self._list.below, centre)
        self.reading = SourceReading(
            self._bridge, library, self._chat, self._theme, self._opener,
            self._list, self._places, self, remembered,
        )  # fmt: skip
        horizontal(self.reading.sides, on=self, margins=0)
        self._found.add_keys(centre)
        self._found.add_keys(self._list)
        # Only on this page: elsewhere Esc closes a dialog or a list.
        bind(self, "Esc", tr("Stop the answer"), self._on_escape, INSIDE)

    def _connect(self) -> None:
        self._connect_messages()
        self._connect_sessions()
        self.assistants.choice.chosen.connect(self._on_assistant_chosen)
        self.overview.tell(self._on_overview_loaded)
        self.feed.loaded.connect(self._on_conversations_loaded)
        self.feed.restored.connect(self.open_conversation)
        self._list.new_requested.connect(self.new_chat)
        self._list.opened.connect(self.open_conversation)
        self._list.opened.connect(
            lambda c: self._found.find_when_loaded(self._list.words_found_in(c))
        )
        self._list.chosen_again.connect(self._places.show_chat)
        self._list.renamed.connect(self.feed.rename)
        self._list.delete_requested.connect(self._on_delete_requested)
        self._list.pinned.connect(self.feed.set_pinned)
        self._list.search_requested.connect(self.feed.search)
        self.feed.search_finished.connect(self._list.show_matches)
        self._header.import_requested.connect(lambda: self._actions.import_into(self._show_copy))
        self._header.list_toggled.connect(self.reading.sides.toggle_left)
        self._header.sources_toggled.connect(self.reading.toggle_sources)
        self._header.rename_requested.connect(self._list.rename_current)
        self._header.delete_requested.connect(self._list.delete_current)
        self._header.pin_requested.connect(self._on_pin_requested)
        self._header.export_requested.connect(self._on_export_requested)
        self._empty.question_chosen.connect(self.ask)
        self._empty.summary_requested.connect(lambda: self.summarise(ALL_DOCUMENTS))
        self._composer.submitted.connect(self._on_submitted)
        self._composer.edit_submitted.connect(self._on_edit_submitted)
        self._composer.stop_requested.connect(self.stop)
        self._places.other_shown.connect(
            lambda is_shown: self.reading.sides.show_other(is_shown=is_shown)
        )

    def _connect_messages(self) -> None:
        asked = self.messages.asked
        for signal, wanted in (
            (asked.folder_requested, Wanted.FIRST_FOLDER),
            (self._empty.folder_requested, Wanted.FIRST_FOLDER),
            (asked.writing_requested, Wanted.WRITTEN_ANSWERS),
            (self._empty.writing_requested, Wanted.WRITTEN_ANSWERS),
            (asked.settings_requested, Wanted.MODELS),
        ):
            signal.connect(partial(self._bridge.post, wanted))
        asked.retry_requested.connect(lambda e: self._session.retry(as_excerpts=e))
        asked.every_file_requested.connect(lambda: self._actions.ask_every_file(self._session))
        asked.sources_requested.connect(self.reading.show_sources)
        asked.edit_requested.connect(self._composer.edit)
        asked.attachment_opened.connect(self._attachments.open)
        asked.fork_requested.connect(lambda m: self._actions.fork(m, self._show_copy))
        asked.feedback_given.connect(lambda m, f: self._session.give_feedback(m, feedback=f))
        asked.rewrite_requested.connect(
            lambda m: self._actions.ask_to_rewrite(m, self._reload_later())
        )
        asked.removal_requested.connect(
            lambda m: self._actions.remove_answer(m, self._reload_later())
        )
        asked.follow_up_chosen.connect(self.ask)
        asked.query_change_requested.connect(self._composer.set_text)
        asked.view_requested.connect(self.reading.read)
        asked.verification_requested.connect(self._actions.find_best_passage)
        asked.past_answers_requested.connect(self._memory.show_past_answers)
        asked.sent_requested.connect(self._actions.show_sent)
        asked.offer_pressed.connect(
            lambda offer: self._actions.ask_for_check(
                offer, self._session, self.model_check_chosen.emit
            )
        )
        asked.citation_clicked.connect(self.reading.read_citation)
        asked.address_clicked.connect(self.reading.open_address)

    def _connect_sessions(self) -> None:
        self.sessions.shown.connect(self._on_session_shown)
        self.sessions.answered.connect(self._on_answered)
        self.sessions.messages_changed.connect(self._on_messages_changed)
        self.sessions.conversation_stored.connect(self._on_conversation_stored)
        self.sessions.busy_changed.connect(self._composer.set_busy)
        self.sessions.scope_loaded.connect(self._show_model)
        self.sessions.scope_loaded.connect(self._show_scope)
        self.sessions.shown.connect(self._show_scope)
        composer, choice = self._composer, self.assistants.choice
        NameFeed(self._bridge, self._chat, composer.names)
        check = ScopeCheck(
            self._bridge, self._chat, composer.scope_bar, lambda: choice.assistant_id
        )
        choice.chosen.connect(check.check)
        composer.assistant_chosen.connect(choice.choose)
        composer.scope_changed.connect(self._on_scope_changed)
        self.models.chosen.connect(self._on_model_chosen)
        self.sessions.replaced.connect(
            lambda session, previous, current: self._actions.offer_former_answer(
                previous, current, lambda: self.sessions.reload(session)
            )
        )

    # --- called by the window -------------------------------------------------------------------

    def apply(self, settings: Settings) -> None:
        """Apply the settings that affect this page."""
        endpoint, before = settings.endpoint, self._endpoint
        if endpoint.is_set and before and endpoint != before:
            # A person who connects a model wants it to answer here.
            self._session.is_without_model = False
            self._show_model()
        self._endpoint = endpoint
        self.models.show_settings(settings)
        self.assistants.apply(settings)
        self._empty.apply(settings)
        self._attachments.check()
        self.messages.offer_writing(is_offered=not settings.endpoint.is_set)

    def refresh(self) -> None:
        """Load the conversations, the assistants and the library overview."""
        self._state.refresh()
        self.assistants.refresh()

    @Slot()
    def new_chat(self) -> None:
        """Show an empty conversation; it is stored with its first question."""
        if self._session.conversation_id or self._session.is_busy:
            self.sessions.show_unsent()
        self.focus_composer()

    @Slot()
    def focus_composer(self) -> None:
        """Show the chat, and move the focus to the question field."""
        self._places.show_chat()
        self._composer.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @Slot()
    def stop(self) -> None:
        """Stop the answer that is being written."""
        self._session.stop()

    @Slot()
    def _on_escape(self) -> None:
        if self._found.is_open:
            self._found.close_bar()
        elif self._session.is_busy:
            self.stop()
        else:
            self._bridge.post(Wanted.DISMISSAL)

    @property
    def is_answering(self) -> bool:
        """True while an answer is being written."""
        return self._session.is_busy

    @Slot(object)
    def open_conversation(self, conversation: Conversation) -> None:
        """Show a stored conversation."""
        self._places.show_chat()
        self.sessions.show_conversation(conversation)

    @Slot(str)
    def ask(self, question: str) -> None:
        """Ask in the open conversation, with the chosen collection."""
        self._composer.send(question)

    def summarise(self, scope: QuestionScope) -> None:
        """Ask for a summary in a new chat, after a confirmation if it takes many requests."""

        def ask(question: Question) -> None:
            self.sessions.show_new()
            # The person confirmed the request without an assistant.
            self.assistants.choice.choose("")
            self._on_submitted(question)

        self._actions.ask_about_files(Question(tr("Summarise"), scope=scope), ask)

    def write_question(self, question: str, scope: QuestionScope = ALL_DOCUMENTS) -> None:
        """Put a question about this scope into the composer of a new chat, unsent."""
        self.new_chat()
        if scope != ALL_DOCUMENTS:
            self._composer.choose_documents("", scope)
        self._composer.set_text(question)

    def ask_here(self, scope: QuestionScope) -> None:
        """Make the next question of the open chat about this scope."""
        self._composer.scope_bar.set_scope(scope)
        self.focus_composer()

    def ask_about(self, scope: QuestionScope, question: str = "") -> None:
        """Show a new chat about this scope; a given question is asked at once."""
        self.new_chat()
        self._composer.choose_documents("", scope)
        if question:
            self.ask(question)

    def add_below_chats(self, name: str, build: Callable[[], QWidget]) -> None:
        """Add a button below the list of chats for what is then shown in place of the chat."""
        self._places.add(name, build)

    @property
    def below_chats(self) -> list[str]:
        """The names of what was added."""
        return self._places.names

    def show_below_chats(self, name: str) -> QWidget:
        """Show what was added under this name; returns its widget."""
        return self._places.show_named(name)

    # --- sessions -------------------------------------------------------------------------------

    @property
    def _session(self) -> ChatSession:
        return self.sessions.current

    @Slot(object)
    def _on_session_shown(self, session: ChatSession) -> None:
        self.reading.leave()
        self._found.set_model(session.model)
        self._composer.set_busy(session.is_busy)
        self._show_model()
        self.assistants.choice.choose(session.assistant_id)
        self._composer.end_editing()
        self._list.choose(session.conversation_id)
        self._show_header()

    @Slot()
    def _show_scope(self) -> None:
        """Show what the last question was about."""
        self._is_scope_loading = True
        self._composer.choose_documents(self._session.collection_id, self._session.scope)
        self._is_scope_loading = False

    @Slot(object)
    def _on_scope_changed(self, scope: QuestionScope) -> None:
        self._empty.show_scope(scope)
        # Kept even before the first question, but only if the person set it.
        if not self._is_scope_loading:
            self._session.scope = scope

    def _show_header(self) -> None:
        conversation = self._session.conversation
        self._header.show_chat(
            title_of(conversation) if conversation else UNTITLED,
            is_stored=conversation is not None,
            is_pinned=conversation is not None and conversation.is_pinned,
        )

    @Slot()
    def _on_messages_changed(self) -> None:
        model = self._session.model
        self._stack.setCurrentWidget(self._found if model.rows else self._empty)
        self.reading.follow(model)

    @Slot(object)
    def _on_conversation_stored(self, conversation: Conversation) -> None:
        self._list.choose(conversation.conversation_id)
        self._show_header()

    @Slot(object)
    def _on_conversations_loaded(self, conversations: list[Conversation]) -> None:
        self._list.show_conversations(conversations)
        for conversation in conversations:
            if conversation.conversation_id == self._session.conversation_id:
                self._session.conversation = conversation
                self._show_header()

    # --- actions of the person ------------------------------------------------------------------

    @Slot(object)
    def _on_submitted(self, question: Question) -> None:
        if not self._session.is_busy:
            self._session.ask(replace(question, assistant_id=self.assistants.choice.assistant_id))
            self._composer.choose_documents(question.collection_id, question.scope)
            self.messages.scroll_to_end()

    @Slot(object, object)
    def _on_edit_submitted(self, message: Message, question: Question) -> None:
        assistant_id = self.assistants.choice.assistant_id
        is_without_model = self._session.is_without_model

        def ask(copy: Conversation, messages: list[Message]) -> None:
            self._show_copy(copy, messages)
            ask_here()

        def ask_here() -> None:
            self._session.is_without_model = is_without_model
            self._show_model()
            self.assistants.choice.choose(assistant_id)
            self._on_submitted(question)

        if self._session.model.turn(0).message == message:
            self.sessions.show_new()
            ask_here()
        else:
            self._actions.fork_before(message, ask)

    def _show_copy(self, copy: Conversation, messages: list[Message]) -> None:
        self.sessions.show_copy(copy, messages)
        self.feed.refresh()
        self.focus_composer()

    def _reload_later(self) -> Callable[[], None]:
        session = self._session
        return lambda: self.sessions.reload(session)

    @Slot()
    def _on_pin_requested(self) -> None:
        if conversation := self._session.conversation:
            self.feed.set_pinned(conversation.conversation_id, not conversation.is_pinned)

    @Slot()
    def _on_export_requested(self) -> None:
        if conversation := self._session.conversation:
            self._actions.ask_where_to_export(conversation)

    @Slot(object)
    def _on_delete_requested(self, conversation: Conversation) -> None:
        self.sessions.leave(conversation.conversation_id)
        self.feed.delete(conversation)
        notice = Notice(tr("Deleted “{title_of}”.", title_of=title_of(conversation)))
        self._bridge.post(UndoOffer(notice, lambda: self.feed.restore(conversation)))

    @Slot(object)
    def _on_assistant_chosen(self, assistant: Assistant | None) -> None:
        self._composer.documents.restrict(assistant.collection_ids if assistant else ())
        has_model = assistant is not None and assistant.has_model
        if has_model:
            self._session.is_without_model = False
            self._show_model()
        self.models.show_assistant_model(assistant.model if assistant and has_model else "")

    @Slot(str, str)
    def _on_model_chosen(self, base_url: str, model: str) -> None:
        """Excerpts only are for this chat, a model is for all."""
        self._session.is_without_model = not base_url
        self._show_model()
        if base_url:
            self.model_chosen.emit(base_url, model)

    @Slot()
    def _show_model(self) -> None:
        self.models.show_without_model(is_without_model=self._session.is_without_model)

    @Slot(object, int, int)
    def _on_overview_loaded(self, collections: list[Collection], sources: int, files: int) -> None:
        self._composer.documents.set_collections(collections)
        self.assistants.set_collections(collections)
        self._empty.show_library(sources, files)
        if files != self._files:
            language = QLocale().name().partition("_")[0]
            first = partial(self._chat.first_questions, language)
            self._bridge.run(self, first, self._empty.show_examples)
        self._files = files
        if sources and self._is_library_empty:
            self._ask_what_waits()
        self._is_library_empty = not sources

    @Slot()
    def _on_answered(self) -> None:
        """Ask again later what found nothing while files were still unread."""
        model = self._session.model
        last = model.turn(-1).message if model.rows else None
        found_none = last and last.notes and not (last.sources or last.model or last.error_title)
        if not found_none:
            return
        if self._library.indexing.progress().stage in (Stage.SCANNING, Stage.READING):
            self._session.is_too_early = True
            self._ask_what_waits()

    def _ask_what_waits(self) -> None:
        """Answer a question that was asked too early again, once the files are read."""
        session, indexing = self._session, self._library.indexing
        is_too_early = session.is_too_early

        def wait() -> bool:
            is_read = indexing.wait_until_searchable(_WORDS_S)
            # Who asked too early has waited for an answer once already.
            return is_read and (is_too_early or indexing.wait_until_idle(_MEANING_S))

        def retry(_is_read: bool) -> None:
            if isValid(session) and session.waits_for_documents:
                session.retry()

        if session.waits_for_documents:
            said = tr("Your question is asked once the files can be searched.")
            self._bridge.post(Done(Notice(said)))
            self._bridge.run(self, wait, retry)
