"""The app on the desktop: window, tray icon, hotkeys, notifications, quick ask. Qt thread."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QClipboard, QGuiApplication, QWindow
from PySide6.QtWidgets import QAbstractButton, QMessageBox, QWidget

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import Conversation
from desktop_rag.core.domain import Source, SourceState
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import pixels_in, read_part, update_object
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import ProgressChanged, SourcesChanged, Stage
from desktop_rag.core.paths import Home
from desktop_rag.core.question_scope import QuestionScope
from desktop_rag.core.settings import BackgroundSettings, Settings, WhenClosed
from desktop_rag.desktop.hotkeys.hotkey import (
    Action,
    Binding,
    Bound,
    Hotkey,
    HotkeyDesktop,
    OnPressed,
    has_portal_only,
)
from desktop_rag.desktop.notifier import Notifier
from desktop_rag.desktop.requests import (
    PassageRequested,
    QuickAskRequested,
    QuitRequested,
    WindowRequested,
)
from desktop_rag.ingest.library import Library
from desktop_rag.ui.composer.name_completion import NameFeed
from desktop_rag.ui.documents.document_opener import DocumentOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.quick_ask.about_files import AboutFiles
from desktop_rag.ui.quick_ask.popup import QuickAsk
from desktop_rag.ui.tray.app_icon import AppIcon
from desktop_rag.ui.tray.tray import Tray
from desktop_rag.ui.viewers.viewer import DocumentSpan
from desktop_rag.ui.widgets.controls import plain_question
from desktop_rag.ui.window.main_window import MainWindow
from desktop_rag.ui.window.window_pages import LIBRARY, SETTINGS

_TITLE = "desktop-rag"
_ANSWER = tr("Your answer is ready.")
_FAILED = tr("Something needs your attention.")
_INDEXED = tr("Your documents are indexed. You can ask about all of them.")


class Notifications(QObject):
    """Decides which events become notifications, only while the person looks elsewhere.

    `shown` carries a title and a text, without text of documents or chats: a desktop may show it on
    a locked screen. Pressing one requests its chat, or the window.
    """

    shown = Signal(str, str)
    conversation_requested = Signal(object)
    window_requested = Signal()

    def __init__(
        self, bridge: Bridge, is_wanted: Callable[[], bool], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._is_wanted = is_wanted
        self._offline: frozenset[str] = frozenset()
        self._is_first_indexing = False
        self._on_press: Callable[[], object] = self.window_requested.emit
        bridge.hear(SourcesChanged, self._on_sources_changed)
        bridge.hear(ProgressChanged, self._on_progress)
        bridge.hear(AppError, self._on_error)

    def begin(self, sources: Sequence[Source]) -> None:
        """Note the folders at the start: those already offline are no news."""
        self._offline = _offline(sources)
        self._is_first_indexing = not sources

    def _on_sources_changed(self, event: SourcesChanged) -> None:
        offline = _offline(event.sources)
        if offline - self._offline:
            self.tell(tr("A folder is offline. Its documents can't be updated."))
        self._offline = offline

    def _on_progress(self, event: ProgressChanged) -> None:
        is_done = event.progress.stage is Stage.IDLE and event.progress.files_total > 0
        if is_done and self._is_first_indexing:
            self._is_first_indexing = False
            self.tell(_INDEXED)

    def _on_error(self, _error: AppError) -> None:
        self.tell(_FAILED)

    def on_answered(self, conversation: Conversation | None) -> None:
        """Notify of a complete answer."""
        to_chat = partial(self.conversation_requested.emit, conversation)
        self.tell(_ANSWER, to_chat if conversation else None)

    @Slot()
    def on_pressed(self) -> None:
        """Request what the last notification, which was pressed, is about."""
        self._on_press()

    def tell(self, text: str, on_press: Callable[[], object] | None = None) -> None:
        """Show a text; pressing it leads to the window, unless there is another action."""
        if self._is_wanted() and QGuiApplication.focusWindow() is None:
            self._on_press = on_press or self.window_requested.emit
            self.shown.emit(_TITLE, text)


def _offline(sources: Sequence[Source]) -> frozenset[str]:
    return frozenset(s.source_id for s in sources if s.state is SourceState.OFFLINE)


_NOT_ASKED = Bound(Binding.FAILED, tr("The desktop has not been asked for this key yet."))


def open_hotkeys(on_pressed: OnPressed) -> HotkeyDesktop:
    """The hotkeys of this desktop; OSError where it has none for programs."""
    if sys.platform != "linux":
        raise OSError(sys.platform)
    if has_portal_only():
        from desktop_rag.desktop.hotkeys.portal_hotkeys import PortalHotkeys  # noqa: PLC0415

        return PortalHotkeys(on_pressed)
    from desktop_rag.desktop.hotkeys.x11_hotkeys import X11Hotkeys  # noqa: PLC0415

    return X11Hotkeys(on_pressed)


class HotkeyKeeper(QObject):
    """Keeps the global hotkeys bound as the settings say; binding runs on a worker thread.

    `bound` carries the outcomes, a dict of Bound by Action.
    """

    bound = Signal(object)

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._desktop: HotkeyDesktop | None = None
        self._wanted: dict[Action, Hotkey] | None = None
        self._is_closed = False
        # As `bound` carried it last.
        self.outcome: dict[Action, Bound] = {}

    def apply(self, background: BackgroundSettings) -> None:
        """Bind the hotkeys of these settings, if they differ from those in use."""
        keys = {Action.ASK: background.hotkey,
                Action.ASK_ABOUT_SELECTION: background.selection_hotkey}  # fmt: skip
        wanted = {action: key for action, text in keys.items() if (key := Hotkey.parse(text))}
        if has_portal_only() and wanted and not background.asks_for_hotkeys:
            self._on_bound(dict.fromkeys(wanted, _NOT_ASKED))
            return
        if wanted == self._wanted or (self._wanted is None and not wanted):
            return
        self._wanted = wanted
        self._bridge.run(self, lambda: self._bind(wanted), self._on_bound)

    def close(self) -> None:
        """Release all hotkeys."""
        self._is_closed = True
        if self._desktop:
            self._desktop.close()
            self._desktop = None

    def _bind(self, wanted: dict[Action, Hotkey]) -> dict[Action, Bound]:
        try:
            if self._desktop is None:
                self._desktop = open_hotkeys(self._on_pressed)
            return self._desktop.bind(wanted)
        except OSError as exc:
            words = tr("This desktop offers no hotkeys to programs ({exc}).", exc=exc)
            return dict.fromkeys(wanted, Bound(Binding.FAILED, words))

    def _on_bound(self, outcome: dict[Action, Bound]) -> None:
        if not self._is_closed:
            self.outcome = outcome
            self.bound.emit(outcome)

    def _on_pressed(self, action: Action) -> None:
        """Runs on a thread of the desktop."""
        takes_selection = action is Action.ASK_ABOUT_SELECTION
        self._bridge.post(QuickAskRequested(takes_selection=takes_selection))


_WITH_TRAY = tr("It stays in the tray and keeps your folders up to date.")
_WITHOUT_TRAY = tr(
    "This desktop has no tray. The app keeps your folders up to date without a window;"
    " start desktop-rag again to see it, ask with “desktop-rag quick-ask”, or end it with"
    " “desktop-rag quit”."
)
_LATER = tr("You can change this later in the settings.")


class Closing(QObject):
    """Decides what closing the window does: stay in the background, or quit. Asks once."""

    quit_requested = Signal()

    def __init__(
        self,
        window: QWidget,
        settings: Callable[[], Settings],
        change_settings: Callable[[Settings], None],
        has_tray: Callable[[], bool],
    ) -> None:
        super().__init__(window)
        self._window = window
        self._settings = settings
        self._change_settings = change_settings
        self._has_tray = has_tray
        self._box: QMessageBox | None = None

    def close(self) -> None:
        """Act on the person closing the window."""
        match self._settings().background.when_closed:
            case WhenClosed.STAY:
                self._window.hide()
            case WhenClosed.QUIT:
                self.quit_requested.emit()
            case WhenClosed.ASK:
                self._ask()

    def _ask(self) -> None:
        if self._box:
            self._box.raise_()
            return
        where = _WITH_TRAY if self._has_tray() else _WITHOUT_TRAY
        words = {"where": where, "LATER": _LATER}
        text = tr("Keep indexing in the background?\n\n{where} {LATER}", **words)
        self._box = box = plain_question(self._window, "desktop-rag", text)
        stay = box.addButton(tr("Keep running"), QMessageBox.ButtonRole.AcceptRole)
        leave = box.addButton(tr("Quit"), QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(stay)
        choices: dict[QAbstractButton, WhenClosed] = {stay: WhenClosed.STAY, leave: WhenClosed.QUIT}
        box.finished.connect(lambda _code: self._on_answered(choices.get(box.clickedButton())))
        box.open()

    def _on_answered(self, choice: WhenClosed | None) -> None:
        self._box = None
        if choice is None:
            return
        settings = self._settings()
        background = replace(settings.background, when_closed=choice)
        self._change_settings(replace(settings, background=background))
        self.close()


# The popup is built once the window has drawn, so that neither waits for the other.
_BUILD_POPUP_MS = 1_500


class Presence(QObject):
    """Keeps the app running without its window. `quit_requested` ends it.

    `needed` is emitted when the person comes back to the app: a question may follow. `popup_built`
    carries the quick ask, once.
    """

    quit_requested = Signal()
    needed = Signal()
    popup_built = Signal(QuickAsk)
    # Emitted on a thread of the notifier's.
    _notification_pressed = Signal()

    def __init__(  # noqa: PLR0917  the composition root passes everything in
        self,
        bridge: Bridge,
        library: Library,
        chat: Chat,
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
        self.notifications = Notifications(bridge, lambda: settings.value.background.notifies, self)
        self._notifier = Notifier(self._notification_pressed.emit)
        self._connect()

    def _connect(self) -> None:
        tray, window = self.tray, self._window
        tray.quick_ask_requested.connect(self.quick_ask)
        tray.window_requested.connect(window.raise_window)
        tray.settings_requested.connect(lambda: self._show_page(SETTINGS))
        tray.failures_requested.connect(self._on_failures_requested)
        tray.quit_requested.connect(self.quit_requested)
        window.close_requested.connect(self.closing.close)
        window.quit_requested.connect(self.quit_requested)
        self.closing.quit_requested.connect(self.quit_requested)
        self.notifications.shown.connect(self._notify)
        self._notification_pressed.connect(self.notifications.on_pressed)
        self.notifications.conversation_requested.connect(self._show_conversation)
        self.notifications.window_requested.connect(window.raise_window)
        tray.notification_pressed.connect(self.notifications.on_pressed)
        window.chats.sessions.answer_completed.connect(self.notifications.on_answered)
        window.settings.changed.connect(lambda settings: self.hotkeys.apply(settings.background))
        window.pages.built.connect(self._on_page_built)
        window.shortcuts_requested.connect(lambda: self.popup)
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.focusWindowChanged.connect(self._on_focus_changed)
        app.applicationStateChanged.connect(self._on_app_state)
        self._bridge.hear(WindowRequested, self._on_window_requested)
        self._bridge.hear(PassageRequested, self._on_passage_requested)
        self._bridge.hear(QuickAskRequested, self._on_quick_ask_requested)
        self._bridge.hear(QuitRequested, self._on_quit_requested)

    def begin(self) -> None:
        """Show the icon, and build the popup soon."""
        self.tray.show()
        self._bridge.run(self, self._library.sources.all, self.notifications.begin)
        self.hotkeys.apply(self._window.settings.value.background)
        QTimer.singleShot(_BUILD_POPUP_MS, self, lambda: self.popup)

    def end(self) -> None:
        """Hide everything and store the popup's size."""
        self.tray.hide()
        self.hotkeys.close()
        self._notifier.close()
        if self._popup:
            size = self._popup.remembered_size()
            kept = {"width": size.width(), "height": size.height()}
            update_object(self._home.window, popup=kept)
            self._popup.close()
            self._popup.deleteLater()
            self._popup = None

    @property
    def popup(self) -> QuickAsk:
        """The quick ask, built when it is first needed."""
        if self._popup is None:
            self._popup = self._build_popup()
            self.popup_built.emit(self._popup)
        return self._popup

    @Slot()
    def quick_ask(self, question: str = "", selection: str = "") -> None:
        """Show the popup, with this question or this text from another program."""
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

    def _on_window_requested(self, request: WindowRequested) -> None:
        self._window.raise_window(request.question)

    def _on_passage_requested(self, request: PassageRequested) -> None:
        self._window.raise_window()
        self._opener.read(DocumentSpan(request.document_id, request.start, request.end))

    def _on_quick_ask_requested(self, request: QuickAskRequested) -> None:
        if request.about:
            self.popup.begin_anew()
        self.quick_ask(request.question, selected_text() if request.takes_selection else "")
        if request.about:
            self._about.show(request.about)

    def _on_quit_requested(self, _request: QuitRequested) -> None:
        self.quit_requested.emit()

    def _build_popup(self) -> QuickAsk:
        sessions = self._window.chats.sessions
        popup = QuickAsk(self._bridge, self._library, self._chat, self._theme, sessions)
        if size := pixels_in(read_part(self._home.window, "popup"), "width", "height"):
            popup.set_remembered_size(QSize(*size))
        self._about = AboutFiles(self._bridge, self._library, self._chat, popup.field.scope_bar)
        self._about.folder_requested.connect(self._on_unknown_folder_requested)
        popup.continued.connect(self._on_continued)
        popup.hint.folder_requested.connect(self._on_folder_requested)
        popup.show_library(self.tray.facts)
        self.tray.facts_changed.connect(popup.show_library)
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
            self._window.library_page.show_unread()
        else:
            self._window.raise_window()

    def _show_page(self, page: int) -> None:
        self._window.show_page(page)
        self._window.raise_window()


def selected_text() -> str:
    """The text selected in another program, or the clipboard on desktops without a selection."""
    clipboard = QGuiApplication.clipboard()
    mode = QClipboard.Mode.Selection if clipboard.supportsSelection() else QClipboard.Mode.Clipboard
    return clipboard.text(mode)
