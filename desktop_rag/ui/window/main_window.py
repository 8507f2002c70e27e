"""The main window: navigation, pages, notices, status line and shortcuts. Qt thread.

It doesn't close by itself: `close_requested` and `quit_requested` ask the application to.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QRect, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QHeaderView,
    QLineEdit,
    QMainWindow,
    QProgressBar,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import Conversation
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import pixels_in
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import IndexProgress, Notice, ProgressChanged
from desktop_rag.core.paths import Home
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.core.settings import Settings
from desktop_rag.ingest.library import Library
from desktop_rag.models.connection_states import Place
from desktop_rag.progress_words import progress_line
from desktop_rag.ui.chat.chat_state import ChatState
from desktop_rag.ui.foundation.ask_request import AskAboutRequested, Done, UndoOffer, Wanted
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.delayed_change import DelayedChange
from desktop_rag.ui.foundation.focus_order import step
from desktop_rag.ui.foundation.shortcuts import NamedShortcut, bind, shortcuts_of
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.settings.edited_settings import EditedSettings
from desktop_rag.ui.widgets.controls import (
    ElidedLabel,
    PlainLabel,
    TextButton,
    add_clear_button,
    press_by_enter,
)
from desktop_rag.ui.widgets.layouts import horizontal, vertical
from desktop_rag.ui.widgets.notice_bar import NoticeBar
from desktop_rag.ui.window.window_pages import (
    CHAT,
    LIBRARY,
    PAGES,
    SEARCH,
    SETTINGS,
    NavigationRail,
    WindowPages,
)

if TYPE_CHECKING:
    from desktop_rag.ui.chat.chat_page import ChatPage
    from desktop_rag.ui.library.library_page import LibraryPage
    from desktop_rag.ui.search.search_page import SearchPage
    from desktop_rag.ui.settings.settings_page import SettingsPage

MINIMUM_SIZE = QSize(560, 330)
_INITIAL_SIZE = QSize(1200, 800)
# The frame that desktops add around a window, mostly the title bar.
_FRAME = QSize(8, 44)


def fitted(wanted: QRect, screen: QRect) -> QRect:
    """The rectangle moved, and shrunk if needed, to lie within the screen."""
    size = wanted.size().boundedTo(screen.size() - _FRAME).expandedTo(MINIMUM_SIZE)
    right = screen.right() - size.width() - _FRAME.width()
    bottom = screen.bottom() - size.height() - _FRAME.height()
    left = max(screen.left(), min(wanted.left(), right))
    top = max(screen.top(), min(wanted.top(), bottom))
    return QRect(QPoint(left, top), size)


def place_window(window: QMainWindow, kept: Mapping[str, object]) -> None:
    """Restore the place in `kept`, else the initial size, on an existing screen."""
    window.setMinimumSize(MINIMUM_SIZE)
    place = pixels_in(kept, "left", "top", "width", "height")
    if not place:
        screen = window.screen().availableGeometry()
        window.resize(fitted(QRect(screen.topLeft(), _INITIAL_SIZE), screen).size())
        return
    wanted = QRect(*place)
    there = QGuiApplication.screenAt(wanted.center()) or window.screen()
    on_screen = fitted(wanted, there.availableGeometry())
    window.resize(on_screen.size())
    # Of the frame: `setGeometry` would put the title bar above the screen.
    window.move(on_screen.topLeft())
    if kept.get("is_maximized") is True:
        window.setWindowState(window.windowState() | Qt.WindowState.WindowMaximized)


def place_of(window: QMainWindow) -> dict[str, int | bool]:
    """The window's place when it is not maximised, as `place_window` takes it."""
    place = window.normalGeometry() if window.isMaximized() else window.geometry()
    corner = place.topLeft() if window.isMaximized() else window.pos()
    return {
        "left": corner.x(),
        "top": corner.y(),
        "width": place.width(),
        "height": place.height(),
        "is_maximized": window.isMaximized(),
    }


_REPAINT_MS = 200
_STEPS = 1000


class StatusStrip(QPushButton):
    """A line with the library's progress and a small bar, repainted five times a second at most."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("statusStrip")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._progress = IndexProgress()
        self._label = ElidedLabel(tone="muted", scale="small")
        self._beside = PlainLabel(tone="muted", scale="small")
        self._bar = QProgressBar()
        self._bar.setRange(0, _STEPS)
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(120)
        for child in (self._label, self._beside, self._bar):
            child.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        horizontal(
            (self._label, 1), self._beside, self._bar, on=self, margins=(14, 0, 14, 0), spacing=12
        )
        self._repaint = QTimer(self, singleShot=True, interval=_REPAINT_MS)
        self._repaint.timeout.connect(self._show)
        self.show_beside("")
        self._show()

    @property
    def line(self) -> str:
        """The text before eliding."""
        return self._label.full_text

    @property
    def tells_of_unread(self) -> bool:
        """True while the line counts files that were not read."""
        return bool(self._progress.files_unread)

    def sizeHint(self) -> QSize:
        return QSize(200, self.fontMetrics().height() + 12)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_by_enter(self, event):
            super().keyPressEvent(event)

    def show_beside(self, words: str) -> None:
        """Say what else goes on in the background; "" for nothing."""
        self._beside.say(words)

    def show_progress(self, progress: IndexProgress) -> None:
        """Show this progress: after a short delay, or at once when the stage changes."""
        is_new_stage = progress.stage is not self._progress.stage
        self._progress = progress
        if is_new_stage:
            self._show()
        elif not self._repaint.isActive():
            self._repaint.start()

    @Slot()
    def _show(self) -> None:
        line = progress_line(self._progress)
        if file := self._progress.current_file:
            line = f"{line} · {one_line(file)}"
        self._label.set_full_text(line)
        self._bar.setValue(int(self._progress.fraction * _STEPS))
        self._bar.setVisible(bool(self._progress.steps))
        self.setAccessibleName(tr("Library: {line}", line=line))


_NONE = tr("No shortcut has these words.")


class ShortcutsDialog(QDialog):
    """Lists all shortcuts by page, with a search field; Esc or F1 closes it."""

    def __init__(self, shortcuts: Sequence[NamedShortcut], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keyboard shortcuts"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(560, min(640, parent.height()))
        self._field = QLineEdit(self, placeholderText=tr("Search by words or keys"))
        self._field.setAccessibleName(tr("Search shortcuts"))
        add_clear_button(self._field)
        self._tree = QTreeWidget(self, columnCount=2)
        self._tree.setAccessibleName(tr("Shortcuts"))
        self._tree.setHeaderLabels([tr("What it does"), tr("Keys")])
        self._tree.setRootIsDecorated(False)
        self._tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._tree.header().setStretchLastSection(False)
        self._tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self._none = PlainLabel(_NONE, self, tone="muted")
        self._none.hide()
        close = TextButton(tr("Close"), self, then=self.close)
        vertical(
            self._field,
            (self._tree, 1),
            self._none,
            (close, 0, Qt.AlignmentFlag.AlignRight),
            on=self,
        )
        for place, group in groupby(shortcuts, key=lambda shortcut: shortcut.place):
            head = QTreeWidgetItem(self._tree, [place])
            head.setFirstColumnSpanned(True)
            font = head.font(0)
            font.setBold(True)
            head.setFont(0, font)
            for shortcut in group:
                QTreeWidgetItem(head, [shortcut.words, shortcut.keys])
        self._tree.expandAll()
        self._field.textChanged.connect(self._on_text_changed)

    @Slot(str)
    def _on_text_changed(self, text: str) -> None:
        words = text.casefold().split()
        is_any = False
        for n in range(self._tree.topLevelItemCount()):
            head = self._tree.topLevelItem(n)
            assert head is not None
            children = (head.child(row) for row in range(head.childCount()))
            rows = [row for row in children if row is not None]
            for row in rows:
                said = f"{head.text(0)} {row.text(0)} {row.text(1)}".casefold()
                row.setHidden(not all(word in said for word in words))
            head.setHidden(all(row.isHidden() for row in rows))
            is_any = is_any or not head.isHidden()
        self._none.setVisible(not is_any)


class SettingsSaving(QObject):
    """Saves edited settings on a worker thread, the newest last. `failed` carries an AppError."""

    failed = Signal(object)

    def __init__(self, bridge: Bridge, save: Callable[[Settings], None], parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._save = save
        self._unsaved: Settings | None = None
        self._is_saving = False

    @Slot(object)
    def save(self, settings: Settings) -> None:
        """Save these settings once the save under way is done."""
        self._unsaved = settings
        self._save_next()

    def _save_next(self) -> None:
        if self._is_saving or self._unsaved is None:
            return
        settings, self._unsaved, self._is_saving = self._unsaved, None, True

        def finish() -> None:
            self._is_saving = False
            self._save_next()

        def report(error: AppError) -> None:
            self.failed.emit(error)
            finish()

        self._bridge.run(self, lambda: self._save(settings), lambda _: finish(), report)


# In the settings, where connections are switched on or off.
_HEADINGS = {
    Place.MODEL: tr("Model"),
    Place.HELPER: tr("Helper model"),
    Place.INDEXING: tr("Indexing"),
    Place.TRANSCRIPTION: tr("Transcription"),
    Place.SERVER: tr("Other programs"),
    Place.SHARED_LIBRARY: tr("Shared library"),
}


class MainWindow(QMainWindow):
    """Holds the pages and connects them with each other."""

    close_requested = Signal()
    quit_requested = Signal()
    demo_requested = Signal()
    # Emitted before all shortcuts are listed: build what has some.
    shortcuts_requested = Signal()

    def __init__(  # noqa: PLR0917  the composition root passes everything in
        self,
        bridge: Bridge,
        library: Library,
        chat: Chat,
        theme: Theme,
        settings: Settings,
        home: Home,
        on_settings_changed: Callable[[Settings], None],
        kinds_read: Sequence[str],
    ) -> None:
        """`on_settings_changed` stores and applies settings; `kinds_read` are supported file kinds.

        It runs on a worker thread, one call at a time; the last call has the newest settings.
        """
        super().__init__()
        self._bridge = bridge
        self._theme = theme
        self._saving = SettingsSaving(bridge, on_settings_changed, self)
        # What shows the ways to written answers; a wing may know more of them.
        self.ways_to_write: Callable[[], None] = self.show_models
        self.settings = EditedSettings(settings, self)
        self.chats = ChatState(bridge, library, chat, self)
        self.pages = WindowPages(
            bridge, library, chat, theme, home, self.chats, self.settings, kinds_read
        )
        self._build()
        self._connect()
        self._add_shortcuts()
        self.status.show_progress(library.indexing.progress())
        self.chats.refresh()

    @property
    def chat_page(self) -> "ChatPage":
        """The page of chats, built if need be; the other pages likewise."""
        return self.pages.chat

    @property
    def library_page(self) -> "LibraryPage":
        """The page of folders and files."""
        return self.pages.library

    @property
    def search_page(self) -> "SearchPage":
        """The page of the search."""
        return self.pages.search

    @property
    def settings_page(self) -> "SettingsPage":
        """The page of the settings."""
        return self.pages.settings

    def _build(self) -> None:
        self.setWindowTitle("desktop-rag")
        place_window(self, {})
        self._rail = NavigationRail(self._theme)
        self.notices = NoticeBar(self._theme)
        self.status = StatusStrip()
        above = horizontal(self._rail, (self.pages, 1), spacing=0)
        frame = QWidget()
        vertical((above, 1), self.status, on=frame, margins=0, spacing=0)
        self.setCentralWidget(self.notices.over(frame))

    def _connect(self) -> None:
        self._bridge.hear(AppError, self.notices.show_error)
        self._bridge.hear(Notice, self.notices.show_notice)
        self._bridge.hear(ProgressChanged, self._on_progress)
        self._bridge.hear(Done, self._on_done)
        self._bridge.hear(UndoOffer, self._on_undo_offered)
        self._bridge.hear(DelayedChange, self.notices.offer_undo)
        self._bridge.hear(Wanted, self._on_wanted)
        self._bridge.hear(AskAboutRequested, self._on_ask_about)
        self._rail.page_chosen.connect(self.show_page)
        self.status.clicked.connect(self._on_strip_clicked)
        self.settings.changed.connect(self._on_settings_changed)
        self.settings.edited.connect(self._saving.save)
        self._saving.failed.connect(self.notices.show_error)
        self.pages.built.connect(self._on_page_built)

    @Slot(int)
    def _on_page_built(self, position: int) -> None:
        if position == CHAT:
            self._connect_chat(self.chat_page)
        elif position == LIBRARY:
            self._connect_library(self.library_page)
        elif position == SEARCH:
            self._connect_search(self.search_page)
        elif position == SETTINGS:
            self._connect_settings(self.settings_page)

    def _connect_settings(self, page: "SettingsPage") -> None:
        page.shortcuts_requested.connect(self.show_shortcuts)
        page.own_model_requested.connect(self._on_writing_requested)
        page.offer_own_model(is_offered=self.ways_to_write != self.show_models)

    def _connect_chat(self, page: "ChatPage") -> None:
        page.models.offers_comparison = bool(self.pages.comparison)
        page.model_chosen.connect(self.settings.use_model)
        page.model_check_chosen.connect(self.settings.use_model_check)

    @Slot()
    def _on_writing_requested(self) -> None:
        self.ways_to_write()

    def _connect_library(self, page: "LibraryPage") -> None:
        page.demo_requested.connect(self.demo_requested)
        page.summary_requested.connect(self._on_summary_requested)
        page.load()

    def _connect_search(self, page: "SearchPage") -> None:
        page.question_requested.connect(self._on_question_requested)
        page.ask_requested.connect(self.ask_about)

    def _add_shortcuts(self) -> None:
        for keys, words, slot in (
            ("Ctrl+N", tr("New chat"), self._on_new_chat),
            ("Ctrl+K Ctrl+L", tr("Write a question"), lambda: self.show_page(CHAT)),
            ("Ctrl+1", tr("Show the chat"), lambda: self.show_page(CHAT)),
            ("Ctrl+2", tr("Show the library"), lambda: self.show_page(LIBRARY)),
            ("Ctrl+3 Ctrl+Shift+F", tr("Search"), lambda: self.show_page(SEARCH)),
            ("Ctrl+4", tr("Show the settings"), lambda: self.show_page(SETTINGS)),
            ("Ctrl++ Ctrl+=", tr("Larger text"), lambda: self._zoom(1)),
            ("Ctrl+-", tr("Smaller text"), lambda: self._zoom(-1)),
            ("Ctrl+0", tr("Usual size of text"), lambda: self._zoom(0)),
            ("F1", tr("Show these shortcuts"), self.show_shortcuts),
            ("Ctrl+Q", tr("Quit"), self.quit_requested.emit),
        ):
            bind(self, keys, words, slot)

    @Slot()
    def show_shortcuts(self) -> None:
        """Show all shortcuts of the app."""
        for position in range(len(PAGES)):
            self.pages.page_at(position)
        self.shortcuts_requested.emit()
        windows = QApplication.topLevelWidgets()
        ShortcutsDialog(shortcuts_of(windows), self).open()

    def show_settings(self, settings: Settings) -> None:
        """Show settings that are already stored and applied."""
        self.settings.show(settings)

    def refresh_chats(self) -> None:
        """Reload the chats, the assistants and the overview of the library."""
        if chat := self.pages.built_chat:
            chat.refresh()
        else:
            self.chats.refresh()

    @Slot(int)
    def show_page(self, position: int) -> None:
        """Show the page at this position in the navigation rail."""
        self._rail.choose(position)
        self.pages.page_at(position)
        self.pages.setCurrentIndex(position)
        if position == CHAT:
            self.chat_page.focus_composer()
        elif position == SEARCH:
            self.search_page.focus_field()

    @Slot(object)
    def show_place(self, place: Place) -> None:
        """Show the page where this kind of connection is switched on or off."""
        self.show_page(LIBRARY if place is Place.LIBRARY else SETTINGS)
        if heading := _HEADINGS.get(place):
            self.settings_page.reveal(heading)

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

    def _on_ask_about(self, request: AskAboutRequested) -> None:
        is_chatting = self.pages.currentIndex() == CHAT
        self.raise_window()
        if is_chatting:
            self.chat_page.ask_here(request.scope)
        else:
            self.ask_about(request.scope)

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

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.notices.dismiss()
        else:
            super().keyPressEvent(event)

    def setVisible(self, visible: bool) -> None:
        position = self.pages.currentIndex()
        if visible and not self.pages.is_built(position):
            self.show_page(position)
        if visible and self.pages.built_library:
            self.pages.built_library.load()
        super().setVisible(visible)

    def closeEvent(self, event: QCloseEvent) -> None:
        event.ignore()
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication) and app.isSavingSession():
            # The person logs out: a question now would hold that up.
            event.accept()
            self.quit_requested.emit()
        else:
            self.close_requested.emit()

    def _on_progress(self, event: ProgressChanged) -> None:
        self.status.show_progress(event.progress)

    def _on_done(self, done: Done) -> None:
        self.notices.show_done(done.notice)

    def _on_undo_offered(self, offer: UndoOffer) -> None:
        self.notices.offer(offer.notice, tr("Undo"), offer.undo)

    def _on_wanted(self, wanted: Wanted) -> None:
        match wanted:
            case Wanted.LIBRARY:
                self.show_page(LIBRARY)
                self.library_page.close_document()
            case Wanted.FIRST_FOLDER:
                self.library_page.choose_first_folder()
            case Wanted.FOLDER:
                self.show_page(LIBRARY)
                self.library_page.choose_folder()
            case Wanted.MODELS:
                self.raise_window()
                self.show_models()
            case Wanted.WRITTEN_ANSWERS:
                self.ways_to_write()
            case Wanted.COMPARISON:
                self.show_page(SETTINGS)
                self.settings_page.show_named(self.pages.comparison)
            case Wanted.DISMISSAL:
                self.notices.dismiss()

    @Slot(object)
    def _on_settings_changed(self, settings: Settings) -> None:
        self._theme.apply(settings.appearance)
        if chat := self.pages.built_chat:
            chat.apply(settings)

    def _zoom(self, steps: int) -> None:
        settings = self.settings.value
        self.settings.change(replace(settings, appearance=settings.appearance.zoomed(steps)))

    @Slot()
    def _on_new_chat(self) -> None:
        self.show_page(CHAT)
        self.chat_page.new_chat()

    @Slot()
    def _on_strip_clicked(self) -> None:
        """Open the library, at the files that the line counts as not read."""
        self.show_page(LIBRARY)
        if self.status.tells_of_unread:
            self.library_page.show_unread()

    @Slot(str)
    def _on_question_requested(self, question: str) -> None:
        self.show_page(CHAT)
        self.chat_page.write_question(question)

    @Slot(object)
    def _on_summary_requested(self, scope: QuestionScope) -> None:
        self.show_page(CHAT)
        self.chat_page.summarise(scope)
