"""The quick ask and the app at rest, over a large library, beside a bare PySide6 app.

python benchmarks/quick_ask.py [--files N] [--keep FOLDER] [--rest-seconds S]

Measures, each in processes of its own and in one run:

- key to popup: the request that a hotkey or `desktop-rag quick-ask` posts, until the popup is
  drawn; beside a bare popup of a line and a list.
- letter to passages: a letter typed, until the passages for the text so far are drawn.
- stalls: how late a timer of the event loop is meanwhile, which is due every 5 ms.
- start to tray: from the start of the process until it runs in the background; beside a bare app.
- cold quick ask: from the start of the process, with no app running, until the popup is drawn.
- rest: after memory was freed, the share of one core and the memory of all processes, and the time
  of the first search, without and with the preparation that opening the popup begins.

The library is made by synthetic_library.py through the store's own tables, with two passages a
file and random vectors: embedding 100,000 passages takes hours. On a busy computer the ratios to
the bare app say more than the times; the load is printed. Also runs offscreen.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from bars import Bar, at_most, reported, table
from synthetic_library import Generator, fill_home

from desktop_rag.core.paths import Home
from desktop_rag.desktop.requests import QuickAskRequested
from desktop_rag.features.evaluation.measures.metrics import percentile

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

_FILES = 50_000
_PASSAGES_A_FILE = 2
_OPENINGS = 40
_STARTS = 5
_TICK_MS, _MS, _WAIT_S = 5, 1000.0, 120.0
_CALM_S = 10.0
_BARE_START = """
import sys
from PySide6 import QtCore, QtGui, QtWidgets
qt = QtWidgets.QApplication(sys.argv)
tray = QtWidgets.QSystemTrayIcon(QtGui.QIcon(QtGui.QPixmap(16, 16)))
tray.show()
QtCore.QTimer.singleShot(0, lambda: (print("shown", flush=True), qt.quit()))
qt.exec()
"""
# In a script, as everything that this module imports would be measured as well. Its arguments: the
# home, and the class whose first painting ends it, "" for the begin of the event loop.
_OWN_START = """
import sys
from pathlib import Path
from PySide6 import QtCore, QtWidgets
from desktop_rag.cli.desktop_verbs import open_window
from desktop_rag.core.paths import Home
from desktop_rag.desktop.requests import QuickAskRequested
home, drawn = sys.argv[1:]
qt = QtWidgets.QApplication(sys.argv[:1])
def end():
    print("shown", flush=True)
    QtCore.QTimer.singleShot(0, qt.exit)
class Watch(QtCore.QObject):
    def eventFilter(self, watched, event):
        if event.type() is QtCore.QEvent.Type.Paint and type(watched).__name__ == drawn:
            qt.removeEventFilter(self)
            QtCore.QTimer.singleShot(0, end)
        return False
watch = Watch()
if drawn:
    qt.installEventFilter(watch)
else:
    QtCore.QTimer.singleShot(0, end)
open_window(
    Home(Path(home)), is_shown=False, first_event=QuickAskRequested() if drawn else None
)
"""


def main() -> None:
    """Run every part in a process of its own, and print the bars."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=_FILES)
    parser.add_argument("--keep", type=Path, help="build here, or use what was built here before")
    parser.add_argument("--rest-seconds", type=float, default=60.0)
    parser.add_argument("--part", choices=[*_PARTS], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    # Bytecode is written when the app is installed, or at its first start.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if arguments.part:
        print(json.dumps(_PARTS[arguments.part](arguments.keep, arguments.rest_seconds)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        place = arguments.keep or Path(scratch)
        fill_home(place, arguments.files, _PASSAGES_A_FILE)
        bars = measure(place, arguments.rest_seconds)
    print("\n".join(table(bars)))
    print(json.dumps([bar.to_json() for bar in bars]))


def measure(place: Path, rest_s: float) -> list[Bar]:
    """All bars."""
    starts = _starts(place)
    popup, rest = _part("popup", place, rest_s), _part("rest", place, rest_s)
    bare_ms, tray_ms, cold_ms = (statistics.median(times) for times in starts.values())
    opened_ms = percentile(popup["opened_ms"], 0.95)
    bare_opened_ms = percentile(popup["bare_ms"], 0.95)
    return [
        reported("load of the last minute", os.getloadavg()[0]),
        reported("bare popup p95, ms", bare_opened_ms),
        at_most("key to popup p95, ms", 150, opened_ms),
        at_most("key to popup / bare popup", 3, opened_ms / bare_opened_ms),
        at_most("letter to passages p95, ms", 120, percentile(popup["typed_ms"], 0.95)),
        reported("event loop late p99.9, ms", percentile(popup["late_ms"], 0.999)),
        at_most("event loop late at most, ms", 50, max(popup["late_ms"])),
        reported("bare app to tray, ms", bare_ms),
        at_most("app to tray / bare app", 2.5, tray_ms / bare_ms),
        at_most("cold quick ask, ms", 1500, cold_ms),
        reported("in use, MB", rest["used_mb"]),
        at_most("at rest, MB", 300, rest["rest_mb"]),
        reported("at rest: the app alone, MB", rest["own_mb"]),
        at_most("at rest, % of a core", 1, rest["core_percent"]),
        reported("first search after rest, ms", rest["cold_ms"]),
        at_most("preparation after rest, ms", 1000, rest["prepare_ms"]),
        reported("first search once prepared, ms", rest["prepared_ms"]),
        reported("search in use, ms", rest["warm_ms"]),
    ]


# --- starts --------------------------------------------------------------------------------------


def _starts(place: Path) -> dict[str, list[float]]:
    """Milliseconds from the start of a process to its first line, for each kind, in turn."""
    own = [sys.executable, "-c", _OWN_START, str(place / "home")]
    commands = {
        "bare": [sys.executable, "-c", _BARE_START],
        "tray": [*own, ""],
        "cold": [*own, "QuickAsk"],
    }
    for command in commands.values():
        _to_first_line_ms(command)
    found: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(_STARTS):
        for name, command in commands.items():
            found[name].append(_to_first_line_ms(command))
    return found


def _to_first_line_ms(command: Sequence[str]) -> float:
    began_at = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        child.stdout.readline()
        took_ms = _MS * (time.perf_counter() - began_at)
        child.stdout.read()
    return took_ms


# --- the popup -----------------------------------------------------------------------------------


class _Opened:
    """The app in the background, its library at rest, and the watch over its event loop."""

    def __init__(self, place: Path) -> None:
        from PySide6.QtCore import Qt, QTimer
        from PySide6.QtWidgets import QApplication

        from desktop_rag.app import build_services
        from desktop_rag.cli.running import run_for_another
        from desktop_rag.idle_memory import share_memory
        from desktop_rag.window_app import WindowApp

        share_memory()
        existing = QApplication.instance()
        self.qt = existing if isinstance(existing, QApplication) else QApplication(sys.argv[:1])
        self.app = WindowApp(build_services(Home(place / "home")), run_for_another)
        self.app.open(is_shown=False)
        indexing = self.app.services.library.indexing
        self.until(lambda: indexing.progress().stage.value == "idle")
        self.late_ms: list[float] = []
        self._due_at = 0.0
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_tick)

    def watch(self) -> None:
        """Begin to measure how late the event loop is."""
        self._due_at = time.perf_counter() + _TICK_MS / _MS
        self._timer.start(_TICK_MS)

    def until(self, is_so: Callable[[], bool]) -> None:
        """Run the event loop until a condition holds."""
        from PySide6.QtCore import QEventLoop

        ends_at = time.monotonic() + _WAIT_S
        while not is_so():
            if time.monotonic() > ends_at:
                raise SystemExit("what was waited for did not happen")
            self.qt.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 5)
            time.sleep(0.0005)

    def pause(self, seconds: float) -> None:
        """Run the event loop for a while."""
        ends_at = time.monotonic() + seconds
        self.until(lambda: time.monotonic() >= ends_at)

    def _on_tick(self) -> None:
        now = time.perf_counter()
        self.late_ms.append(max(0.0, _MS * (now - self._due_at)))
        self._due_at = now + _TICK_MS / _MS


class _Measured:
    """The popup over the app, and a bare one, opened and typed into."""

    def __init__(self, opened: _Opened) -> None:
        from PySide6.QtCore import Qt
        from PySide6.QtWidgets import QLineEdit, QListView, QVBoxLayout, QWidget

        self._opened = opened
        self.bare = QWidget(None, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        column = QVBoxLayout(self.bare)
        column.addWidget(QLineEdit())
        column.addWidget(QListView())
        self.popup = opened.app.presence.popup
        self._paintings = {
            widget: _paintings_of(widget)
            for widget in (self.bare, self.popup, self.popup.passages.viewport())
        }

    def request(self) -> None:
        """What a hotkey, the tray and the command line post."""
        self._opened.app.bridge.post(QuickAskRequested())

    def opening_ms(self, widget: "QWidget", show: Callable[[], None]) -> float:
        """Until the widget is drawn; it is hidden again."""
        painted = self._paintings[widget]
        before, began_at = len(painted), time.perf_counter()
        show()
        self._opened.until(lambda: len(painted) > before)
        took_ms = _MS * (time.perf_counter() - began_at)
        self._opened.pause(0.1)
        widget.hide()
        self._opened.pause(0.1)
        return took_ms

    def typing_ms(self, text: str) -> list[float]:
        """For each letter, until the passages for the text so far are drawn."""
        from PySide6.QtTest import QTest

        from desktop_rag.ui.passages.passage_search import PassageSearch

        found: list[str] = []
        search = self.popup.findChild(PassageSearch)
        assert search is not None
        search.found.connect(lambda searched, _passages: found.append(searched))
        painted = self._paintings[self.popup.passages.viewport()]
        times_ms: list[float] = []
        for end, letter in enumerate(text, start=1):
            wanted, before, began_at = text[:end], len(painted), time.perf_counter()
            QTest.keyClicks(self.popup.focusWidget(), letter)
            if letter != " " and end > 1:
                self._opened.until(lambda: wanted in found)  # noqa: B023
                if self.popup.passages.isVisible():
                    self._opened.until(lambda: len(painted) > before)  # noqa: B023
                times_ms.append(_MS * (time.perf_counter() - began_at))
            self._opened.pause(0.15)
        return times_ms


def _paintings_of(widget: "QWidget") -> list[object]:
    """A list that grows with each painting of the widget."""
    from PySide6.QtCore import QEvent, QObject

    painted: list[object] = []

    class Watch(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
            if event.type() is QEvent.Type.Paint:
                painted.append(watched)
            return False

    widget.installEventFilter(Watch(widget))
    return painted


def _popup(place: Path, _rest_s: float) -> dict[str, Any]:
    opened = _Opened(place)
    measured = _Measured(opened)
    opened.watch()
    opened_ms: list[float] = []
    bare_ms: list[float] = []
    for _ in range(_OPENINGS):
        bare_ms.append(measured.opening_ms(measured.bare, measured.bare.show))
        opened_ms.append(measured.opening_ms(measured.popup, measured.request))
    measured.request()
    opened.until(measured.popup.isVisible)
    opened.pause(1.0)
    typed_ms = measured.typing_ms(_typed())
    late_ms = opened.late_ms
    opened.app.shut_down()
    return {
        "opened_ms": opened_ms, "bare_ms": bare_ms, "typed_ms": typed_ms, "late_ms": late_ms
    }  # fmt: skip


def _typed() -> str:
    """Words of one subject among frequent ones, as a person types them."""
    made = Generator()
    return " ".join(made.word(30 + 97 * n) for n in range(12))


# --- at rest -------------------------------------------------------------------------------------


def _rest(place: Path, rest_s: float) -> dict[str, float]:
    from PySide6.QtCore import QTimer

    from desktop_rag.ui.foundation.module_sources import leave_sources_unread

    leave_sources_unread()

    opened = _Opened(place)
    services = opened.app.services
    found: dict[str, float] = {}
    questions = iter([f"What is the {made} of it?" for made in _typed().split()])

    def search_ms() -> float:
        began_at = time.perf_counter()
        services.chat.search(next(questions))
        return _MS * (time.perf_counter() - began_at)

    for _ in range(3):
        search_ms()
    found["warm_ms"] = search_ms()
    found["used_mb"] = _memory_mb()[1]
    # The app waits for five minutes, and what follows a start is over by then.
    opened.pause(_CALM_S)
    services.idle_memory.release()
    opened.pause(2.0)
    spent, began_at = _core_s(), time.monotonic()
    # As the app does: it sleeps between events.
    QTimer.singleShot(int(rest_s * _MS), opened.qt.exit)
    opened.qt.exec()
    found["core_percent"] = 100 * (_core_s() - spent) / (time.monotonic() - began_at)
    found["own_mb"], found["rest_mb"] = _memory_mb()
    found["cold_ms"] = search_ms()
    services.idle_memory.release()
    opened.pause(2.0)
    began_at = time.perf_counter()
    services.idle_memory.prepare()
    found["prepare_ms"] = _MS * (time.perf_counter() - began_at)
    found["prepared_ms"] = search_ms()
    opened.app.shut_down()
    return found


def _processes() -> list[psutil.Process]:
    own = psutil.Process()
    return [own, *own.children(recursive=True)]


def _core_s() -> float:
    return sum(sum(each.cpu_times()[:2]) for each in _processes())


def _memory_mb() -> tuple[float, float]:
    """The resident memory of this process, and of it with its children."""
    sizes = [each.memory_info().rss / 1e6 for each in _processes()]
    return sizes[0], sum(sizes)


def _part(name: str, place: Path, rest_s: float) -> dict[str, Any]:
    command = [sys.executable, __file__, "--keep", str(place), "--part", name]
    done = subprocess.run(
        [*command, "--rest-seconds", str(rest_s)], stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


_PARTS: dict[str, Callable[[Path, float], Any]] = {
    "popup": _popup, "rest": _rest
}  # fmt: skip


if __name__ == "__main__":
    main()
