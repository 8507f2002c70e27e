"""The app on the desktop: window, tray icon, quick ask, and what connects them. Qt thread."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QClipboard, QGuiApplication, QWindow

from desktop_rag.core.conversation import Conversation
from desktop_rag.core.files.atomic_file import read_object, write_object
from desktop_rag.core.paths import Home
from desktop_rag.core.question_scope import QuestionScope
from desktop_rag.desktop.notifier import Notifier
from desktop_rag.desktop.requests import (
    PassageRequested,
    QuickAskRequested,
    QuitRequested,
    WindowRequested,
)
from desktop_rag.ui.composer.name_completion import NameFeed
from desktop_rag.ui.documents.document_opener import DocumentOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.quick_ask.about_files import AboutFiles
from desktop_rag.ui.quick_ask.popup import QuickAsk
from desktop_rag.ui.tray.app_icon import AppIcon
from desktop_rag.ui.tray.closing import Closing
from desktop_rag.ui.tray.hotkey_keeper import HotkeyKeeper
from desktop_rag.ui.tray.notifications import Notifications
from desktop_rag.ui.tray.tray import Tray
from desktop_rag.ui.viewers.document_span import DocumentSpan
from desktop_rag.ui.window.main_window import MainWindow
from desktop_rag.ui.window.window_pages import LIBRARY, SETTINGS

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.ingest.library import Library

# The popup is built once the window has drawn, so that neither waits for the other.
_BUILD_POPUP_MS = 1_500


class Presence(QObject):
    """Keeps the app running without its window. `quit_requested` ends it.

    `needed` says that the person came back to the app: a question may follow.
    """

    quit_requested = Signal()
    needed = Signal()
    # Emitted on a thread of the notifier's.
    _notification_pressed = Signal()

    def __init__(  # noqa: PLR0917  the composition root passes everything in
        self,
        bridge: Bridge,
        library: "Library",
        chat: "Chat",
        theme: Theme,
        window: MainWindow,
        app_icon: AppIcon,
        home: Home,
    ) -> None:
        super().__init__(window)
        self._bridge = bridge
        self._library = library
        self._chat = chat
        self._theme = theme
        self._window = window
        self._home = home
        self._popup: QuickAsk | None = None
        self._opener = DocumentOpener(bridge, library, theme, window)
        self.tray = Tray(bridge, library, app_icon, self)
        settings = window.settings
        self.closing = Closing(
            window, lambda: settings.value, settings.change, lambda: self.tray.is_there
        )
        self.hotkeys = HotkeyKeeper(bridge, self)
        self.notifications = Notifications(lambda: settings.value.background.notifies, self)
        self._notifier = Notifier(self._notification_pressed.emit)
        self._connect()

    def _connect(self) -> None:
        tray, window = self.tray, self._window
        tray.quick_ask_requested.connect(self.quick_ask)
        tray.window_requested.connect(window.raise_window)
        tray.settings_requested.connect(lambda: self._show_page(SETTINGS))
        tray.failures_requested.connect(self._on_failures_requested)
        tray.conversation_requested.connect(self._show_conversation)
        tray.quit_requested.connect(self.quit_requested)
        window.close_requested.connect(self.closing.close)
        window.quit_requested.connect(self.quit_requested)
        self.closing.quit_requested.connect(self.quit_requested)
        window.chats.feed.loaded.connect(tray.show_conversations)
        self.notifications.shown.connect(self._notify)
        self._notification_pressed.connect(self.notifications.on_pressed)
        self.notifications.conversation_requested.connect(self._show_conversation)
        self.notifications.window_requested.connect(window.raise_window)
        tray.notification_pressed.connect(self.notifications.on_pressed)
        window.chats.sessions.answer_completed.connect(self.notifications.on_answered)
        self._bridge.posted.connect(self.notifications.on_posted)
        window.settings.changed.connect(lambda settings: self.hotkeys.apply(settings.background))
        window.pages.built.connect(self._on_page_built)
        window.shortcuts_requested.connect(lambda: self.popup)
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.focusWindowChanged.connect(self._on_focus_changed)
        app.applicationStateChanged.connect(self._on_app_state)
        self._bridge.posted.connect(tray.on_posted)
        self._bridge.posted.connect(self._on_posted)

    def begin(self) -> None:
        """Show the icon, and build the popup soon."""
        self.tray.show()
        self._bridge.run(self, self._library.sources.all, self.notifications.begin)
        self.hotkeys.apply(self._window.settings.value.background)
        QTimer.singleShot(_BUILD_POPUP_MS, self, lambda: self.popup)

    def end(self) -> None:
        """Hide everything and keep the popup's size."""
        self.tray.hide()
        self.hotkeys.close()
        self._notifier.close()
        if self._popup:
            size = self._popup.remembered_size()
            write_object(self._home.popup, {"width": size.width(), "height": size.height()})
            self._popup.close()
            self._popup.deleteLater()
            self._popup = None

    @property
    def popup(self) -> QuickAsk:
        """The quick ask, built when it is first needed."""
        if self._popup is None:
            self._popup = self._build_popup()
        return self._popup

    @Slot()
    def quick_ask(self, question: str = "", selection: str = "") -> None:
        """Show the popup, with this question or this text of another program."""
        self.popup.pop_up(question, selection)
        # After the popup is on the screen, and while the person types the first letters.
        self.needed.emit()

    @Slot(int)
    def _on_page_built(self, position: int) -> None:
        if position == SETTINGS:
            form = self._window.settings_page.background
            form.show_hotkeys(self.hotkeys.outcome)
            self.hotkeys.bound.connect(form.show_hotkeys)

    @Slot(str, str)
    def _notify(self, title: str, text: str) -> None:
        if not self.tray.notify(title, text):
            self._bridge.run(self, lambda: self._notifier.notify(title, text))

    @Slot(Qt.ApplicationState)
    def _on_app_state(self, state: Qt.ApplicationState) -> None:
        if state is Qt.ApplicationState.ApplicationActive:
            self.needed.emit()

    @Slot(object)
    def _on_posted(self, event: object) -> None:
        match event:
            case WindowRequested(question=question):
                self._window.raise_window(question)
            case PassageRequested(document_id=document_id, start=start, end=end):
                self._window.raise_window()
                self._opener.read(DocumentSpan(document_id, start, end))
            case QuickAskRequested(about=(_, *_)):
                self._ask_about(event)
            case QuickAskRequested(question=question, takes_selection=takes_selection):
                self.quick_ask(question, selected_text() if takes_selection else "")
            case QuitRequested():
                self.quit_requested.emit()
            case _:
                pass

    def _ask_about(self, request: QuickAskRequested) -> None:
        self.popup.begin_anew()
        self.quick_ask(request.question, selected_text() if request.takes_selection else "")
        self._about.show(request.about)

    def _build_popup(self) -> QuickAsk:
        sessions = self._window.chats.sessions
        popup = QuickAsk(self._bridge, self._library, self._chat, self._theme, sessions)
        size = read_object(self._home.popup)
        width, height = size.get("width"), size.get("height")
        if isinstance(width, int) and isinstance(height, int):
            popup.set_remembered_size(QSize(width, height))
        self._about = AboutFiles(self._bridge, self._library, self._chat, popup.field.about)
        self._about.folder_requested.connect(self._on_unknown_folder_requested)
        popup.continued.connect(self._on_continued)
        popup.hint.folder_requested.connect(self._on_folder_requested)
        popup.show_library(self.tray.facts)
        self.tray.facts_changed.connect(popup.show_library)
        popup.settings_requested.connect(self._on_models_requested)
        popup.field.prompts.prompts_requested.connect(self._load_prompts)
        popup.field.prompts.manage_requested.connect(self._on_prompts_requested)
        NameFeed(self._bridge, self._chat, popup.field.names)
        return popup

    def _load_prompts(self) -> None:
        prompts = self.popup.field.prompts
        self._bridge.run(self.popup, self._chat.prompts.all, prompts.show_prompts)

    @Slot()
    def _on_prompts_requested(self) -> None:
        self.popup.hide()
        self._window.raise_window()
        self._window.chat_page.prompts.manage()

    @Slot()
    def _on_folder_requested(self) -> None:
        self.popup.hide()
        self._show_page(LIBRARY)
        self._window.library_page.choose_folder()

    @Slot(object, str, object)
    def _on_continued(
        self, conversation: Conversation | None, question: str, scope: QuestionScope
    ) -> None:
        if conversation:
            self._show_conversation(conversation)
        else:
            self._window.raise_window(question, scope)

    @Slot(object)
    def _show_conversation(self, conversation: Conversation) -> None:
        self._window.show_conversation(conversation)
        self._window.raise_window()

    @Slot(QWindow)
    def _on_focus_changed(self, focused: QWindow | None) -> None:
        # Its notices say what failed.
        if focused and focused is self._window.windowHandle():
            self.tray.forget_error()

    @Slot(object)
    def _on_unknown_folder_requested(self, folder: Path) -> None:
        self.popup.hide()
        self._show_page(LIBRARY)
        self._window.library_page.add_paths([folder])

    @Slot()
    def _on_failures_requested(self) -> None:
        facts = self.tray.facts
        if facts.failed or facts.offline:
            self._show_page(LIBRARY)
            self._window.library_page.show_failed()
        else:
            self._window.raise_window()

    @Slot()
    def _on_models_requested(self) -> None:
        self._window.raise_window()
        self._window.show_models()

    def _show_page(self, page: int) -> None:
        self._window.show_page(page)
        self._window.raise_window()


def selected_text() -> str:
    """The text selected in another program; where the desktop has no such thing, the clipboard."""
    clipboard = QGuiApplication.clipboard()
    mode = QClipboard.Mode.Selection if clipboard.supportsSelection() else QClipboard.Mode.Clipboard
    return clipboard.text(mode)
