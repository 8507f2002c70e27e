"""The time from the endpoint's first token to the first word on the screen.

QT_QPA_PLATFORM=offscreen python benchmarks/first_token.py [--answers N]

The real window over a library of its own asks a real server on this computer, over HTTP, which
starts to answer after a pause, like a model. The time is taken from the server's first write until
the window has painted the piece. Prints a table and, on the last line, JSON; exit code 1 when a bar
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

from bars import Bar, at_most, reported, table

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import AnswerSettings, Settings
from tests.servers.chat_server import ChatServer

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
        times_ms = sorted(measure(home, folder, server, arguments.answers))
    bars = bars_of(times_ms)
    print("\n".join(table(bars)))
    print(json.dumps([bar.to_json() for bar in bars]))
    sys.exit(any(bar.is_met is False for bar in bars))


def bars_of(times_ms: list[float]) -> list[Bar]:
    """The figures with their limit."""
    return [
        reported("first word shown after, median ms", times_ms[len(times_ms) // 2]),
        at_most("first word shown after, slowest ms", _LIMIT_MS, times_ms[-1]),
    ]


def measure(home: Home, folder: Path, server: ChatServer, answers: int) -> list[float]:
    """Milliseconds from the first piece sent to the first word painted, one per answer."""
    from PySide6.QtWidgets import QApplication

    from desktop_rag.app import build_services
    from desktop_rag.ui.messages.segment_view import SegmentView
    from desktop_rag.window_app import WindowApp

    qt = QApplication(sys.argv[:1])
    opened = WindowApp(build_services(home), {})
    opened.open()
    opened.services.library.sources.add(folder)
    assert opened.services.library.indexing.wait_until_idle(_WAIT_S)
    # The endpoint is examined once, on first use; that is not measured.
    opened.services.chat.models.examine(server.endpoint())
    page = opened.window.chat_page

    def wait_for(is_so: Callable[[], bool]) -> None:
        give_up_at = time.monotonic() + _WAIT_S
        while not is_so():
            assert time.monotonic() < give_up_at, "the window does not get on"
            qt.processEvents()
            time.sleep(_LOOK_EVERY_S)  # the interpreter is shared

    def has_words() -> bool:
        views = page.findChildren(SegmentView)
        return any(view.isVisible() and bool(view.toPlainText()) for view in views)

    times_ms: list[float] = []
    for _ in range(answers):
        page.new_chat()
        wait_for(lambda: not has_words())
        page.ask("When is the lamp of the lighthouse lit?")
        wait_for(has_words)
        page.grab()
        times_ms.append(1000 * (time.monotonic() - server.first_sent_at))
        wait_for(lambda: not page.is_answering)
    opened.shut_down()
    return times_ms


if __name__ == "__main__":
    main()
