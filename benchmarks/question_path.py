"""The files that a plain question runs through, from Enter to the answer on the screen.

QT_QPA_PLATFORM=offscreen python benchmarks/question_path.py [--most N]

The real window over a small library answers with a model and without one. A first question warms it
up; the second is traced in all threads. A file counts when one of its functions is entered. Prints
the files by package; exit code 1 when there are more than `--most`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from types import FrameType

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import AnswerSettings, Settings
from tests.servers.chat_server import ChatServer

_MOST = 150
_WAIT_S = 300.0
# What indexing, the first answer and typing have started ends in this time.
_REST_MS = 3000
_PACKAGE = f"{Path(__file__).parents[1] / 'desktop_rag'}{os.sep}"
_TEXT = "The lamp of the lighthouse is lit at dusk by the keeper. It burns oil from the store. " * 9
_QUESTIONS = ("Who lights the lamp of the lighthouse?", "When is the lamp of the lighthouse lit?")
_WAYS = ("with a model", "without a model")


class _Trace:
    """The code entered while `is_on`, in threads that start later and in this one."""

    def __init__(self) -> None:
        self.is_on = False
        self._entered: dict[str, set[str]] = defaultdict(set)
        threading.setprofile(self._on_event)
        sys.setprofile(self._on_event)

    def _on_event(self, frame: FrameType, event: str, _argument: object) -> None:
        if self.is_on and event == "call" and frame.f_code.co_name != "<module>":
            self._entered[frame.f_code.co_filename].add(frame.f_code.co_qualname)

    def rooms(self) -> dict[str, list[str]]:
        """Names of files with the number of functions entered in each, by package."""
        found: dict[str, list[str]] = defaultdict(list)
        for path, names in sorted(self._entered.items()):
            if path.startswith(_PACKAGE):
                room, _, name = path.removeprefix(_PACKAGE).rpartition(os.sep)
                found[room].append(f"{name.removesuffix('.py')} {len(names)}")
        return found


def main() -> None:
    """Trace each way in a process of its own, or `--way` in this one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=_MOST)
    parser.add_argument("--way", choices=_WAYS)
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if not arguments.way:
        again = [sys.executable, __file__, "--most", str(arguments.most), "--way"]
        sys.exit(max(subprocess.run([*again, way], check=False).returncode for way in _WAYS))
    trace = _Trace()
    with tempfile.TemporaryDirectory() as scratch, ChatServer("It is lit at dusk [1].") as server:
        (home := Home(Path(scratch) / "home")).root.mkdir()
        if arguments.way == _WAYS[0]:
            answers = AnswerSettings(suggests_questions=False)
            save_settings(home.settings, Settings(endpoint=server.endpoint(), answers=answers))
        (papers := Path(scratch) / "papers").mkdir()
        (papers / "lamp.md").write_text(_TEXT)
        ask_twice(home, papers, trace)
    rooms = trace.rooms()
    files = sum(map(len, rooms.values()))
    print(f"{arguments.way}: {files} files in {len(rooms)} packages, at most {arguments.most}")
    for room, names in sorted(rooms.items()):
        print(f"  {len(names):3} {room or '.'}: {', '.join(names)}")
    sys.exit(files > arguments.most)


def ask_twice(home: Home, papers: Path, trace: _Trace) -> None:
    """Open the window, ask both questions, and trace the second."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    from desktop_rag.app import build_services
    from desktop_rag.cli.running import run_for_another
    from desktop_rag.ui.composer.composer import Composer
    from desktop_rag.window_app import WindowApp

    qt = QApplication(sys.argv[:1])
    opened = WindowApp(build_services(home), run_for_another)
    opened.open()
    opened.services.library.sources.add(papers)
    assert opened.services.library.indexing.wait_until_idle(_WAIT_S)
    page = opened.window.chat_page
    [composer] = page.findChildren(Composer)
    field = composer.focusProxy() or composer
    for question in _QUESTIONS:
        trace.is_on = False
        page.new_chat()
        QTest.keyClicks(field, question)
        QTest.qWait(_REST_MS)
        trace.is_on = question == _QUESTIONS[-1]
        QTest.keyClick(field, Qt.Key.Key_Return)
        for is_answering in (True, False):
            give_up_at = time.monotonic() + _WAIT_S
            while page.is_answering is not is_answering:
                assert time.monotonic() < give_up_at, "the window does not get on"
                qt.processEvents()
                time.sleep(0.002)
    trace.is_on = False
    opened.shut_down()


if __name__ == "__main__":
    main()
