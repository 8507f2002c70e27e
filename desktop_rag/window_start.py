"""The start of the app: its icon at once, the library on a thread, the window last. Qt thread.

While the library is opened or repaired, the icon and, unless the app starts in the background, a
small window say so, and requests are kept.
"""

import gc
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication, QLabel, QProgressBar, QVBoxLayout, QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.log import start_logging
from desktop_rag.core.paths import Home, resources_dir
from desktop_rag.desktop.launching import APP_NAME
from desktop_rag.desktop.requests import DesktopRequest, QuickAskRequested
from desktop_rag.registry import hooks
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.window_language import ENGLISH, translate_qt
from desktop_rag.ui.foundation.wording import show_fatal
from desktop_rag.ui.tray.app_icon import AppIcon, DesktopApplication, OpeningIcon, name_app

if TYPE_CHECKING:
    from desktop_rag.app import RunVerb, Services
    from desktop_rag.core.library_events import Notice
    from desktop_rag.window_app import WindowApp

_HEARTBEAT_MS = 500
# An opening that is quicker than this needs no window.
_SHOWN_AFTER_MS = 800
_WIDTH_PX, _MARGIN_PX = 380, 24


def run_window(
    home: Home,
    load_verbs: Callable[[], "RunVerb"],
    language: str = ENGLISH,
    *,
    starts_demo: bool = False,
    is_shown: bool = True,
    first_event: DesktopRequest | None = None,
) -> int:
    """Open the app over the home and run it until the person quits; returns the exit code.

    `load_verbs`, called on a worker thread, returns what runs the verbs of other processes.
    `language` is the code of the one in use. Without `is_shown` the app starts in the background.
    `first_event` is posted to the window at once.
    """
    qt = DesktopApplication.instance() or DesktopApplication(sys.argv[:1])
    assert isinstance(qt, QApplication)
    translate_qt(qt, language)
    try:
        home.create()
        start_logging(home.logs)
    except AppError as error:
        return show_start_error(error)
    start = WindowStart(home, load_verbs, is_shown=is_shown, starts_demo=starts_demo)
    # `quit` would ask the window first, which never closes by itself.
    start.ended.connect(qt.exit)
    # Through the event loop: it may not have begun, and ends nothing then.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: QTimer.singleShot(0, start.quit))
    # Python handles a signal only while it runs bytecode, which an idle window does not.
    heartbeat = QTimer()
    heartbeat.timeout.connect(lambda: None)
    heartbeat.start(_HEARTBEAT_MS)
    if isinstance(qt, DesktopApplication):
        qt.requested.connect(start.request)
    if first_event is not None:
        start.request(first_event)
    start.begin()
    code = qt.exec()
    start.end()
    return code


def show_start_error(error: AppError) -> int:
    """Say in a dialog and on stderr why no window opens; returns the exit code."""
    _qt = QApplication.instance() or QApplication(sys.argv[:1])
    show_fatal(error)
    return 1


class OpeningWindow(QWidget):
    """Says that the library is being opened or repaired. Closing it stops nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.setWindowTitle(APP_NAME)
        self.setMinimumWidth(_WIDTH_PX)
        self._text = QLabel(wordWrap=True)
        bar = QProgressBar(minimum=0, maximum=0, textVisible=False)
        bar.setAccessibleName(tr("Opening the library"))
        column = QVBoxLayout(self)
        column.setContentsMargins(_MARGIN_PX, _MARGIN_PX, _MARGIN_PX, _MARGIN_PX)
        column.addWidget(self._text)
        column.addWidget(bar)
        self._timer = QTimer(self, singleShot=True, interval=_SHOWN_AFTER_MS)
        self._timer.timeout.connect(self.show)

    @property
    def text(self) -> str:
        """The text it shows."""
        return self._text.text()

    def show_soon(self, *, is_repairing: bool) -> None:
        """Show it after a moment, unless `end` is called first."""
        repair = tr("Repairing the library…\nThis can take some minutes. What is damaged is kept.")
        self._text.setText(repair if is_repairing else tr("Opening the library…"))
        self._timer.start()

    def end(self) -> None:
        """Hide it; if it is not shown yet, it never will be."""
        self._timer.stop()
        self.close()


class _Opened(NamedTuple):
    """The result of the worker thread: the services, and what the window needs."""

    services: "Services"
    notices: "list[Notice]"
    run_verb: "RunVerb"
    window_app: "type[WindowApp]"


class WindowStart(QObject):
    """Opens the app in steps; `ended` carries the exit code when the event loop shall end."""

    ended = Signal(int)

    def __init__(
        self, home: Home, load_verbs: Callable[[], "RunVerb"], *, is_shown: bool, starts_demo: bool
    ) -> None:
        """Nothing is shown or opened before `begin`."""
        super().__init__()
        self._home = home
        self._load_verbs = load_verbs
        self._is_shown = is_shown
        self._starts_demo = starts_demo
        self._bridge = Bridge(self)
        self._app_icon = AppIcon(resources_dir())
        self._icon = OpeningIcon(self._app_icon, self)
        self._icon.quick_ask_requested.connect(lambda: self.request(QuickAskRequested()))
        self._icon.quit_requested.connect(self.quit)
        self._window = OpeningWindow()
        self._requests: list[object] = []
        self._app: WindowApp | None = None
        # Set on the worker thread.
        self._services: Services | None = None
        self._is_ending = False
        self._bug: BaseException | None = None

    def begin(self) -> None:
        """Show the icon, and open the library on a thread."""
        name_app(self._app_icon)
        self._icon.show()
        if self._is_shown:
            self._window.show_soon(is_repairing=self._home.repair_request.exists())
        self._bridge.run(self, self._open, self._on_opened, self._on_failed)

    @property
    def app(self) -> "WindowApp | None":
        """The window with everything under it, once it is open."""
        return self._app

    @Slot(object)
    def request(self, event: object) -> None:
        """Pass a request of the desktop to the window, now or once there is one."""
        if self._app:
            self._app.bridge.post(event)
        else:
            self._requests.append(event)

    @Slot()
    def quit(self) -> None:
        """End the app; a library that is being opened is closed as soon as it is open."""
        self._is_ending = True
        if self._app:
            self._app.presence.quit_requested.emit()

    def end(self) -> None:
        """Close what is open, after the event loop. A bug during the start is raised here."""
        self._bridge.close()
        self._window.end()
        if self._app:
            self._app.shut_down()
            # Else the widgets keep the services, and the store complains at the end of the process.
            self._app.window.deleteLater()
        elif self._services:
            self._services.close()
        # What holds the services in a circle is found again.
        gc.unfreeze()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        if self._bug:
            raise self._bug

    def _open(self) -> _Opened | BaseException:
        """Runs on a worker thread, so that the icon responds: the imports take longest."""
        with _uncollected():
            from desktop_rag.app import build_services
            from desktop_rag.ui.window.window_pages import import_chat_page
            from desktop_rag.window_app import WindowApp

            if self._is_shown:
                import_chat_page()
        try:
            notices = [n for repair in hooks("repair").values() for n in repair(self._home)]
            self._services = build_services(self._home)
            return _Opened(self._services, notices, self._load_verbs(), WindowApp)
        except AppError:
            raise
        except BaseException as bug:
            return bug

    def _on_opened(self, opened: _Opened | BaseException) -> None:
        if isinstance(opened, BaseException):
            self._bug = opened
            self.ended.emit(1)
        elif self._is_ending:
            self.ended.emit(0)
        else:
            self._show(opened)

    def _show(self, opened: _Opened) -> None:
        app = opened.window_app(opened.services, opened.run_verb, self._app_icon, opened.notices)
        self._app = app
        app.presence.quit_requested.connect(partial(self.ended.emit, 0))
        app.presence.tray.take_over(self._icon.hand_over())
        self._window.end()
        app.open(is_shown=self._is_shown, requests=self._requests)
        if self._starts_demo:
            app.start_demo()

    def _on_failed(self, error: AppError) -> None:
        self._window.end()
        show_fatal(error)
        self.ended.emit(1)


@contextmanager
def _uncollected() -> Generator[None]:
    """Leaves imported modules out of garbage collection: they stay until the end.

    Collections would examine them again and again, for a seventh of the time of the imports.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
