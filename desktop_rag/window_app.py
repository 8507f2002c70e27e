"""The window over the services. Imported only when a window opens: the command line needs no Qt."""

import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from types import TracebackType
from typing import Any
from weakref import WeakMethod

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from desktop_rag.app import RunVerb, Services
from desktop_rag.core.conversation import Conversation
from desktop_rag.core.errors import AppError, put_off
from desktop_rag.core.files.own_files import read_object, update_object
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import Notice
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.settings import Settings
from desktop_rag.demo_library import add_demo
from desktop_rag.desktop.launching import set_autostart, starts_at_login
from desktop_rag.desktop.requests import RequestHandled, request_of_verb
from desktop_rag.idle_memory import EVERY_S, SmallCollections
from desktop_rag.ingest.read.foundation.format_table import kinds_read
from desktop_rag.registry import hooks
from desktop_rag.running_app import AppEnding, AppServer, Asker, Handler
from desktop_rag.settings_changes import Change
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.tray.app_icon import AppIcon, name_app
from desktop_rag.ui.tray.presence import Presence
from desktop_rag.ui.window.main_window import MainWindow, place_of, place_window
from desktop_rag.ui.window.window_pages import SETTINGS, import_pages

log = logging.getLogger(__name__)

_OnBug = Callable[[type[BaseException], BaseException | None, TracebackType | None], None]

_DEMO_S, _MEANING_S = 120.0, 20.0
_DRAWN_MS = 100
_SWITCH_S = 0.001
# A window that is busy for longer does what it was asked later.
_HANDLED_S = 5.0
_POLL_S = 0.05


class WindowApp:
    """The window with everything under it. Qt thread, unless a method says otherwise."""

    def __init__(
        self,
        services: Services,
        run_verb: RunVerb,
        app_icon: AppIcon | None = None,
        notices: Sequence[Notice] = (),
    ) -> None:
        """`run_verb` runs the verbs of other processes. `notices` are shown first.

        The services are closed by `shut_down`.
        """
        qt = QApplication.instance()
        assert isinstance(qt, QApplication), "the application is made first"
        app_icon = app_icon or AppIcon(resources_dir())
        name_app(app_icon)
        self.services = services
        self._notices = (*notices, *services.notices)
        home, settings = services.home, services.settings
        library, chat = self.services.library, self.services.chat
        self.bridge = Bridge()
        self.theme = theme = Theme(qt, resources_dir(), settings.appearance)
        self.window = MainWindow(
            self.bridge, library, chat, theme, settings, home, self._save_settings, kinds_read()
        )
        place_window(self.window, read_object(home.window))
        self._garbage = SmallCollections()
        looks = QTimer(self.window, interval=round(1000 * EVERY_S))
        looks.timeout.connect(self._garbage.look)
        looks.start()
        self.presence = Presence(self.bridge, library, chat, theme, self.window, app_icon, home)
        self.window.pages.built.connect(self._on_page_built)
        for join in hooks("join_window").values():
            join(self)
        self._stop_hearing = services.changes.hear(object, self.bridge.post)
        services.settings_changes.leave_to(self._change_settings)
        self.window.notices.shown.connect(self._on_notice_shown)
        self._previous_hook = sys.excepthook
        sys.excepthook = hook = _without_keeping(self._on_bug)
        threading.excepthook = lambda failed: hook(
            failed.exc_type, failed.exc_value, failed.exc_traceback
        )
        self.presence.needed.connect(self._prepare)
        self._server = self._listen(run_verb)
        self.window.demo_requested.connect(self.start_demo)
        self.presence.quit_requested.connect(self._begin_ending)
        self.bridge.hear(RequestHandled, self._on_request_handled)

    def _listen(self, run_verb: RunVerb) -> AppServer | None:
        """Answer other processes; a failure is only a notice."""
        try:
            return AppServer(self.services.home, self._handlers(run_verb), self._on_process_refused)
        except AppError as error:
            self.bridge.post(Notice(error.title, error.hint))
            return None

    def _begin_ending(self) -> None:
        if self._server:
            self._server.begin_ending()

    def _on_request_handled(self, event: RequestHandled) -> None:
        if not (self._server and self._server.is_ending):
            event.handled.set()

    def _reach(self, verb: str, asked: dict[str, Any], _asker: Asker) -> None:
        """Pass a request of another process to the window. On a thread of its own.

        Returns once the Qt thread has dealt with it; AppEnding when the app ends before that.
        """
        self.bridge.post(request_of_verb(verb, asked))
        after = RequestHandled()
        self.bridge.post(after)
        server, deadline = self._server, time.monotonic() + _HANDLED_S
        while not after.handled.wait(_POLL_S) and time.monotonic() < deadline:
            if server and server.is_ending:
                raise AppEnding

    def _on_page_built(self, position: int) -> None:
        if position == SETTINGS:
            from desktop_rag.settings_pages import SettingsPages

            SettingsPages(self.services, self.bridge, self.theme, self.window).add()

    def open(self, *, is_shown: bool = True, requests: Sequence[object] = ()) -> None:
        """Show the window or stay in the background, handle the requests, start the services."""
        # The longest time the window waits for the interpreter while background threads compute.
        sys.setswitchinterval(_SWITCH_S)
        self._garbage.start()
        for notice in self._notices:
            self.bridge.post(notice)
        if is_shown:
            self.window.show()
        self.presence.begin()
        for event in requests:
            self.bridge.post(event)
        begin = partial(self.bridge.run, self.window, self._start_services)
        if requests:
            # It is drawn first: the models and the library take both cores for a second.
            QTimer.singleShot(_DRAWN_MS, self.window, begin)
        else:
            begin()

    def _prepare(self) -> None:
        self.bridge.run(self.window, self.services.idle_memory.prepare)

    def start_demo(self) -> None:
        """Add the demo library and ask its first question once it is searchable, also by meaning.

        A chat that began with it is opened instead.
        """
        library, window = self.services.library, self.window

        def prepare() -> tuple[str, Conversation | None]:
            question = add_demo(library)
            known = self.services.chat.history.begun_with(question)
            if known is None:
                library.indexing.wait_until_searchable(_DEMO_S)
                # Else the answer says for ever what was not ready.
                library.indexing.wait_until_idle(_MEANING_S)
            return question, known

        def show(prepared: tuple[str, Conversation | None]) -> None:
            question, known = prepared
            window.show_conversation(known) if known else window.ask(question)

        self.bridge.run(window, prepare, show)

    def shut_down(self) -> None:
        """Close everything in reverse order; unfinished work resumes at the next start."""
        self._begin_ending()
        self.services.settings_changes.leave_to(None)
        self._stop_hearing()
        self.presence.end()
        update_object(self.services.home.window, **place_of(self.window))
        # First the services that jobs of the bridge may be waiting for, then the bridge.
        self.services.chat.stop()
        self.services.stop()
        if library_page := self.window.pages.built_library:
            library_page.make_removals()
        self.services.library.close()
        self.bridge.close()
        self.services.close()
        # Last: who waits for the end may open the store now.
        if self._server:
            self._server.close()
        sys.excepthook = self._previous_hook
        threading.excepthook = threading.__excepthook__
        self._garbage.close()

    def _start_services(self) -> None:
        services = self.services
        with put_off("what was deleted"):
            services.chat.history.purge_deleted()
            services.chat.assistants.purge_deleted()
        services.chat.warm_up()
        self._garbage.keep()
        services.run()
        services.begin_keeping(self.bridge.post)
        services.idle_memory.start()
        # So that the first look at each page is quick.
        import_pages()

    def _change_settings(self, change: Change) -> Settings:
        """Have the window change its settings for another process. On a thread of its own.

        Returns once the change is stored and applied; AppEnding when the app ends before that.
        """
        edited, models = self.window.settings, self.services.chat.models
        changed: Future[Settings] = Future()

        def on_window(_nothing: None) -> None:
            try:
                settings = change(edited.value)
            except AppError as error:
                changed.set_exception(error)
            else:
                edited.change(settings)
                changed.set_result(settings)

        self.bridge.run(self.window, lambda: None, on_window)
        deadline = time.monotonic() + _HANDLED_S
        while not (changed.done() and (changed.exception() or models.settings == changed.result())):
            if self._server and self._server.is_ending:
                raise AppEnding
            if time.monotonic() > deadline:
                raise AppError(tr("The window is busy."), tr("Look there, then try again."))
            time.sleep(_POLL_S)
        return changed.result()

    def _save_settings(self, settings: Settings) -> None:
        self.services.settings_changes.store(settings)
        if settings.background.starts_at_login != starts_at_login():
            set_autostart(settings.background.starts_at_login)
        self.services.chat.warm_up()

    def _on_notice_shown(self, notice: Notice, is_error: bool) -> None:
        self.services.recorder.notice(notice, is_error=is_error)

    def _on_process_refused(self, reason: str) -> None:
        self.services.recorder.refused(tr("Another process was turned away."), reason)

    def _handlers(self, run_verb: RunVerb) -> dict[str, Handler]:
        return {
            **{verb: partial(self._reach, verb) for verb in ("raise", "popup", "quick-ask", "url")},
            "quit": lambda asked, _: self.bridge.post(request_of_verb("quit", asked)),
            "nothing": lambda _asked, _asker: None,
            "run": partial(run_verb, self.services),
        }

    def _on_bug(
        self, kind: type[BaseException], bug: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Log an unexpected exception and show a notice."""
        log.critical("bug: %s", "".join(traceback.format_exception(kind, bug, trace)))
        self._previous_hook(kind, bug or kind(), trace)
        logs = self.services.home.logs
        hint = tr("Your files are safe. The details are in {logs}.", logs=logs)
        self.bridge.post(AppError(tr("An error in the app interrupted this."), hint))


def _without_keeping(on_bug: _OnBug) -> _OnBug:
    """A hook that calls the method while its object lives.

    Every thread keeps the hooks of its start, and some threads outlive the window.
    """
    method = WeakMethod(on_bug)

    def hook(
        kind: type[BaseException], bug: BaseException | None, trace: TracebackType | None
    ) -> None:
        if found := method():
            found(kind, bug, trace)

    return hook
