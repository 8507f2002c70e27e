"""The main window: navigation, pages, notices above them, a status line below. Qt thread.

It passes the events posted to the bridge on to the pages. It doesn't close by itself:
`close_requested` and `quit_requested` ask the application to.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QGuiApplication, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QMainWindow,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.activity.activity_event import ActivityEvent
from desktop_rag.core.conversation import Conversation, MessagesStored
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import (
    DocumentsChanged,
    NothingUsed,
    Notice,
    ProgressChanged,
    RequestRefused,
    SourceScanned,
    SourcesChanged,
)
from desktop_rag.core.model_profile import ExaminationChanged
from desktop_rag.core.paths import Home
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.core.settings import Settings
from desktop_rag.desktop.requests import (
    PassageRequested,
    QuickAskRequested,
    QuitRequested,
    WindowRequested,
)
from desktop_rag.models.connection_kinds import Place
from desktop_rag.ui.chat.chat_page import ChatPage
from desktop_rag.ui.foundation.ask_request import AskAboutRequested
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.focus_order import step
from desktop_rag.ui.foundation.shortcuts import PLACE, bind, shortcuts_of
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.library.library_page import LibraryPage
from desktop_rag.ui.search.search_page import SearchPage
from desktop_rag.ui.settings.settings_page import SettingsPage
from desktop_rag.ui.widgets.notice_bar import NoticeBar
from desktop_rag.ui.window.navigation import PAGES, NavigationRail
from desktop_rag.ui.window.shortcuts_dialog import ShortcutsDialog
from desktop_rag.ui.window.status_strip import StatusStrip
from desktop_rag.ui.window.window_place import place_window

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.ingest.library import Library

CHAT, LIBRARY, SEARCH, SETTINGS = range(len(PAGES))
# Events for pages and the presence on the desktop, which listen to the bridge themselves.
_HEARD_ELSEWHERE = (
    ActivityEvent,
    MessagesStored,
    PassageRequested,
    QuickAskRequested,
    QuitRequested,
    RequestRefused,
    WindowRequested,
)


class MainWindow(QMainWindow):
    """Holds the pages and connects them with each other."""

    close_requested = Signal()
    quit_requested = Signal()
    demo_requested = Signal()

    def __init__(  # noqa: PLR0917  the composition root passes everything in
        self,
        bridge: Bridge,
        library: "Library",
        chat: "Chat",
        theme: Theme,
        settings: Settings,
        home: Home,
        on_settings_changed: Callable[[Settings], None],
        kinds_read: Sequence[str],
    ) -> None:
        """`on_settings_changed` stores and applies settings. It runs on a worker thread, one call
        at a time; the last call has the newest settings. `kinds_read` names the
        supported kinds of files.
        """
        super().__init__()
        self._bridge = bridge
        self._library = library
        self._theme = theme
        self._on_settings_changed = on_settings_changed
        self._unsaved: Settings | None = None
        self._is_saving = False
        self.chat_page = ChatPage(bridge, library, chat, theme, home.reading)
        self.library_page = LibraryPage(bridge, library, theme, kinds_read)
        self.search_page = SearchPage(bridge, library, chat, theme)
        self.settings_page = SettingsPage(bridge, chat, settings, self._on_settings_edited, home)
        self.chat_page.apply(settings)
        self._build()
        self._connect()
        self._add_shortcuts()
        self._strip.show_progress(library.indexing.progress())
        self.chat_page.refresh()
        self.chat_page.focus_composer()

    def _build(self) -> None:
        self.setWindowTitle("desktop-rag")
        place_window(self, {})
        self._rail = NavigationRail(self._theme)
        self._notices = NoticeBar(self._theme)
        self._strip = StatusStrip()
        self._pages = QStackedWidget()
        for page in (self.chat_page, self.library_page, self.search_page, self.settings_page):
            self._pages.addWidget(page)
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(self._notices)
        right.addWidget(self._pages, 1)
        above = QHBoxLayout()
        above.setSpacing(0)
        above.addWidget(self._rail)
        above.addLayout(right, 1)
        frame = QWidget()
        column = QVBoxLayout(frame)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(above, 1)
        column.addWidget(self._strip)
        self.setCentralWidget(frame)

    def _connect(self) -> None:
        self._bridge.posted.connect(self._on_posted)
        self._rail.page_chosen.connect(self.show_page)
        self._strip.clicked.connect(self._on_strip_clicked)
        self.chat_page.undo_offered.connect(self._on_undo_offered)
        self.chat_page.notified.connect(self._notices.show_notice)
        self.chat_page.settings_requested.connect(self.show_models)
        self.chat_page.models.settings_requested.connect(self.show_models)
        self.chat_page.models.chosen.connect(self.settings_page.use_model)
        self.chat_page.folder_requested.connect(self._on_folder_requested)
        self.chat_page.library_requested.connect(self._on_strip_clicked)
        self.library_page.settings_requested.connect(self.show_models)
        self.chat_page.overview.loaded.connect(self.search_page.show_library)
        self.search_page.folder_requested.connect(self._on_folder_requested)
        self.search_page.library_requested.connect(self._on_strip_clicked)
        self.search_page.question_requested.connect(self._on_question_requested)
        self.search_page.ask_requested.connect(self.ask_about)
        self.settings_page.prompts_requested.connect(self.chat_page.prompts.manage)
        self.library_page.demo_requested.connect(self.demo_requested)
        self.library_page.summary_requested.connect(self._on_summary_requested)
        self.library_page.undo_offered.connect(self._on_undo_offered)

    def _add_shortcuts(self) -> None:
        for keys, words, slot in (
            ("Ctrl+N", tr("New chat"), self._on_new_chat),
            ("Ctrl+K Ctrl+L", tr("Write a question"), self._on_compose),
            ("Ctrl+1", tr("Show the chat"), self._on_chat_requested),
            ("Ctrl+2", tr("Show the library"), self._on_strip_clicked),
            ("Ctrl+3 Ctrl+Shift+F", tr("Search"), self._on_search_requested),
            ("Ctrl+4", tr("Show the settings"), self._on_settings_requested),
            ("Ctrl++ Ctrl+=", tr("Larger text"), lambda: self._zoom(1)),
            ("Ctrl+-", tr("Smaller text"), lambda: self._zoom(-1)),
            ("Ctrl+0", tr("Usual size of text"), lambda: self._zoom(0)),
            ("F1", tr("Show these shortcuts"), self.show_shortcuts),
            ("Ctrl+Q", tr("Quit"), self.quit_requested.emit),
        ):
            bind(self, keys, words, slot)
        pages = (self.chat_page, self.library_page, self.search_page, self.settings_page)
        for (name, _icon), page in zip(PAGES, pages, strict=True):
            page.setProperty(PLACE, name)

    @Slot()
    def show_shortcuts(self) -> None:
        """Show all shortcuts of the app."""
        windows = QApplication.topLevelWidgets()
        ShortcutsDialog(shortcuts_of(windows), self).open()

    def show_settings(self, settings: Settings) -> None:
        """Show settings that changed outside the settings page."""
        self._theme.apply(settings.appearance)
        self.chat_page.apply(settings)
        self.settings_page.show_settings(settings)

    @property
    def notices(self) -> NoticeBar:
        """The notices above the pages."""
        return self._notices

    @Slot(int)
    def show_page(self, position: int) -> None:
        """Show the page at this position in the navigation rail."""
        self._rail.choose(position)
        self._pages.setCurrentIndex(position)
        if position == CHAT:
            self.chat_page.focus_composer()
        elif position == SEARCH:
            self.search_page.focus_field()

    @Slot(object)
    def show_place(self, place: Place) -> None:
        """Show where a kind of connection is switched."""
        self.show_page(LIBRARY if place is Place.LIBRARY else SETTINGS)
        if place.section:
            self.settings_page.reveal(place.section)

    @Slot()
    def show_models(self) -> None:
        """Show where a model is chosen; without one, look for one on this computer."""
        self.show_page(SETTINGS)
        self.settings_page.connect_model()

    def ask(self, question: str) -> None:
        """Ask a question in a new chat."""
        self.show_page(CHAT)
        self.chat_page.new_chat()
        self.chat_page.ask(question)

    def show_conversation(self, conversation: Conversation) -> None:
        """Show a stored conversation on the chat page."""
        self.show_page(CHAT)
        self.chat_page.open_conversation(conversation)

    def ask_about(self, scope: QuestionScope, question: str = "") -> None:
        """Show a new chat about this scope; a question is asked at once, else it can be typed."""
        self.show_page(CHAT)
        self.chat_page.ask_about(scope, question)

    def _on_ask_about(self, scope: QuestionScope) -> None:
        is_chatting = self._pages.currentIndex() == CHAT
        self.raise_window()
        if is_chatting:
            self.chat_page.ask_here(scope)
        else:
            self.ask_about(scope)

    def raise_window(self, question: str = "", scope: QuestionScope = ALL_DOCUMENTS) -> None:
        """Raise the window; a question about this scope goes into the composer, unsent."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()
        if question:
            self.show_page(CHAT)
            self.chat_page.write_question(question, scope)

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: A002  the name in Qt
        return step(self, is_forward=next)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.library_page.load()

    def closeEvent(self, event: QCloseEvent) -> None:
        event.ignore()
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication) and app.isSavingSession():
            # The person logs out: a question now would hold that up.
            event.accept()
            self.quit_requested.emit()
        else:
            self.close_requested.emit()

    @Slot(object)
    def _on_posted(self, event: object) -> None:
        match event:
            case AppError():
                self._notices.show_error(event)
            case Notice():
                self._notices.show_notice(event)
            case ProgressChanged(progress=progress):
                self._strip.show_progress(progress)
                self.search_page.show_progress(progress)
                self.library_page.on_library_event(event)
            case SourcesChanged():
                self.chat_page.overview.refresh()
                self.library_page.on_library_event(event)
            case DocumentsChanged():
                self.chat_page.overview.refresh_soon()
                self.search_page.on_library_changed()
                self.library_page.on_library_event(event)
            case SourceScanned() | NothingUsed():
                self.library_page.on_library_event(event)
            case AskAboutRequested(scope=scope):
                self._on_ask_about(scope)
            case ExaminationChanged():
                self.settings_page.on_examination_changed(event)
            case _ if isinstance(event, _HEARD_ELSEWHERE):
                pass
            case _:
                raise TypeError(type(event).__name__)

    @Slot(object, object)
    def _on_undo_offered(self, notice: Notice, undo: Callable[[], None]) -> None:
        self._notices.offer(notice, tr("Undo"), undo)

    def _on_settings_edited(self, settings: Settings) -> None:
        self._theme.apply(settings.appearance)
        self.chat_page.apply(settings)
        self._unsaved = settings
        self._save_settings()

    def _save_settings(self) -> None:
        if self._is_saving or self._unsaved is None:
            return
        settings, self._unsaved, self._is_saving = self._unsaved, None, True

        def finish() -> None:
            self._is_saving = False
            self._save_settings()

        def report(error: AppError) -> None:
            self._notices.show_error(error)
            finish()

        self._bridge.run(
            self, lambda: self._on_settings_changed(settings), lambda _: finish(), report
        )

    def _zoom(self, steps: int) -> None:
        settings = self.settings_page.settings
        self.settings_page.change(replace(settings, appearance=settings.appearance.zoomed(steps)))

    @Slot()
    def _on_new_chat(self) -> None:
        self.show_page(CHAT)
        self.chat_page.new_chat()

    @Slot()
    def _on_compose(self) -> None:
        self.show_page(CHAT)

    @Slot()
    def _on_chat_requested(self) -> None:
        self.show_page(CHAT)

    @Slot()
    def _on_strip_clicked(self) -> None:
        self.show_page(LIBRARY)

    @Slot()
    def _on_search_requested(self) -> None:
        self.show_page(SEARCH)

    @Slot()
    def _on_settings_requested(self) -> None:
        self.show_page(SETTINGS)

    @Slot(str)
    def _on_question_requested(self, question: str) -> None:
        self.show_page(CHAT)
        self.chat_page.write_question(question)

    @Slot(str)
    def _on_summary_requested(self, request: str) -> None:
        self.show_page(CHAT)
        self.chat_page.summarise(request)

    @Slot()
    def _on_folder_requested(self) -> None:
        self.show_page(LIBRARY)
        self.library_page.choose_folder()
