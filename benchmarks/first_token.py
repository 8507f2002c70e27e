"""The time from the endpoint's first token to the first word on the screen, and to stop it.

QT_QPA_PLATFORM=offscreen python benchmarks/first_token.py [--answers N]

The real window over a library of its own asks a real server on this computer, over HTTP, which
starts to answer after a pause, like a model. The time is taken from the server's first write until
the window has painted the piece. Then half an answer is stopped: that time is taken until the
server sees the connection end. Prints a table and, on the last line, JSON; exit code 1 when a bar
is missed.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from bars import Bar, at_most, reported, table

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import AnswerSettings, Settings
from tests.servers.chat_server import ChatServer

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from desktop_rag.ui.chat.chat_page import ChatPage

_ANSWERS = 30
_LIMIT_MS = 100.0
_PAUSE_S = 0.15
_WAIT_S = 60.0
_LOOK_EVERY_S = 0.002
_TEXT = "The lamp of the lighthouse is lit at dusk by the keeper. " * 40
_ANSWER = "The lamp is lit at dusk [1]. It burns oil."


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=_ANSWERS)
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as scratch, ChatServer(_ANSWER) as server:
        server.pause_s = _PAUSE_S
        home = Home(Path(scratch) / "home")
        home.root.mkdir()
        # Nothing else may use the server, which records a single time.
        after = AnswerSettings(suggests_questions=False)
        settings = Settings(endpoint=server.endpoint(), answers=after)
        save_settings(home.settings, settings)
        folder = Path(scratch) / "papers"
        folder.mkdir()
        (folder / "lamp.md").write_text(_TEXT)
        times_ms, stops_ms = map(sorted, measure(home, folder, server, arguments.answers))
    bars = bars_of(times_ms, stops_ms)
    print("\n".join(table(bars)))
    print(json.dumps([bar.to_json() for bar in bars]))
    sys.exit(any(bar.is_met is False for bar in bars))


def bars_of(times_ms: list[float], stops_ms: list[float]) -> list[Bar]:
    """The figures with their limit."""
    return [
        reported("first word shown after, median ms", times_ms[len(times_ms) // 2]),
        at_most("first word shown after, slowest ms", _LIMIT_MS, times_ms[-1]),
        reported("stop seen by the server after, median ms", stops_ms[len(stops_ms) // 2]),
        at_most("stop seen by the server after, slowest ms", _LIMIT_MS, stops_ms[-1]),
    ]


def measure(
    home: Home, folder: Path, server: ChatServer, answers: int
) -> tuple[list[float], list[float]]:
    """Milliseconds from the first piece sent to the first word painted, one per answer; and from
    Stop to the end of the connection.
    """
    from PySide6.QtWidgets import QApplication

    from desktop_rag.app import build_services
    from desktop_rag.cli.running import run_for_another
    from desktop_rag.window_app import WindowApp

    qt = QApplication(sys.argv[:1])
    opened = WindowApp(build_services(home), run_for_another)
    opened.open()
    opened.services.library.sources.add(folder)
    assert opened.services.library.indexing.wait_until_idle(_WAIT_S)
    # The endpoint is examined once, on first use; that is not measured.
    opened.services.chat.models.examine(server.endpoint())
    asking = _Asking(qt, opened.window.chat_page, server)
    times_ms = [asking.first_word_ms() for _ in range(answers)]
    # A server that is writing notices the end only with its next pieces.
    server.mode, server.pause_s = "stall", 0.0
    stops_ms = [asking.stop_ms() for _ in range(answers)]
    opened.shut_down()
    return times_ms, stops_ms


class _Asking:
    """Asks in the window, and takes the times."""

    def __init__(self, qt: "QApplication", page: "ChatPage", server: ChatServer) -> None:
        self._qt = qt
        self._page = page
        self._server = server

    def first_word_ms(self) -> float:
        self._ask_and_wait_for_words()
        self._page.grab()
        took_ms = 1000 * (time.monotonic() - self._server.first_sent_at)
        self._wait_for(lambda: not self._page.is_answering)
        return took_ms

    def stop_ms(self) -> float:
        self._server.has_lost_client.clear()
        self._ask_and_wait_for_words()
        stopped_at = time.monotonic()
        self._page.stop()
        self._wait_for(self._server.has_lost_client.is_set)
        took_ms = 1000 * (time.monotonic() - stopped_at)
        self._wait_for(lambda: not self._page.is_answering)
        return took_ms

    def _ask_and_wait_for_words(self) -> None:
        self._page.new_chat()
        self._wait_for(lambda: not self._has_words())
        self._page.ask("When is the lamp of the lighthouse lit?")
        self._wait_for(self._has_words)

    def _has_words(self) -> bool:
        from desktop_rag.ui.messages.answer_body import SegmentView

        views = self._page.findChildren(SegmentView)
        return any(view.isVisible() and bool(view.toPlainText()) for view in views)

    def _wait_for(self, is_so: Callable[[], bool]) -> None:
        give_up_at = time.monotonic() + _WAIT_S
        while not is_so():
            assert time.monotonic() < give_up_at, "the window does not get on"
            self._qt.processEvents()
            time.sleep(_LOOK_EVERY_S)  # the interpreter is shared


if __name__ == "__main__":
    main()
