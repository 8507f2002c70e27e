"""How long the window stands still while it indexes, streams answers and scrolls a long chat.

python benchmarks/responsiveness.py [--documents FOLDER] [--seconds S] [--messages N]

The real window over real services indexes a folder while answers stream in, one after the other,
from a server in a separate process over real HTTP. Then a chat of 10,000 messages is opened,
scrolled upwards from its end through thousands of messages, and back, while an answer streams into
it. Prints the delays of each part against the limits (p99.9 of 50 ms, none above 100 ms), the
longest work of the Qt thread, and the load of the computer. Also runs offscreen.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.window.event_loop import Tick, limits, report, settle, wait_until, watched
from desktop_rag.core.conversation import Message, Role
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.library_events import Stage
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import EndpointSettings, Settings

if TYPE_CHECKING:
    from desktop_rag.window_app import WindowApp

_DOCUMENTS = Path(__file__).parents[2] / "shared" / "bench" / "docs_cpp" / "files"
_QUESTIONS = ("How do I declare a pure virtual function?", "What does a linker error 2019 mean?")
_ANSWERED_S = 120.0
_SERVER = """
import sys, time
from tests.servers.chat_server import ChatServer
answer = " ".join(f"Sentence {n} of a **long** answer about `templates` [1]." for n in range(150))
server = ChatServer(answer)
server.pause_s = 0.01
with server:
    print(server.endpoint().base_url, flush=True)
    sys.stdin.read()
"""
_ANSWER = """The *linker* joins {n} object files:

- `main.o`, with the entry point
- `list.o`, which holds **{n}** templates

```cpp
int main() {{ return {n}; }}
```

| file | size |
|------|------|
| main | {n} kB |

It fails when a symbol has no definition, as the documents say."""


def main() -> None:
    """Parse the arguments, run the window, print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=Path, default=_DOCUMENTS)
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--messages", type=int, default=10_000)
    arguments = parser.parse_args()
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as scratch, chat_server() as base_url:
        home = Home(Path(scratch) / "home")
        home.create()
        endpoint = EndpointSettings(base_url=base_url, model="test-model")
        save_settings(home.settings, replace(Settings(), endpoint=endpoint))
        found = measure(home, arguments.documents, arguments.seconds, arguments.messages)
        print(json.dumps(found, indent=1))


@contextmanager
def chat_server() -> Generator[str]:
    """An endpoint in another process, so that it does not compete with this one's threads."""
    command = [sys.executable, "-c", _SERVER]
    root = Path(__file__).parents[1]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        yield child.stdout.readline().strip()
        child.stdin.close()


def measure(home: Home, documents: Path, seconds: float, messages: int) -> dict[str, Any]:
    """Run the window; the delays of its event loop by what happens meanwhile."""
    from PySide6.QtWidgets import QApplication

    from desktop_rag.app import build_services
    from desktop_rag.cli.running import run_for_another
    from desktop_rag.window_app import WindowApp

    qt = QApplication(sys.argv[:1])
    opened = WindowApp(build_services(home), run_for_another)
    opened.window.resize(1366, 768)
    opened.open()
    settle(1.0)
    library = opened.services.library
    opened.bridge.run(opened.window, lambda: library.sources.add(documents), lambda _: None)
    use = _Use(opened)
    parts = {"indexing and streaming": use.stream(seconds)}
    use.open_chat(messages)
    parts["scrolling and streaming"] = use.scroll(seconds)
    opened.window.hide()
    opened.shut_down()
    del qt
    every = [tick for ticks in parts.values() for tick in ticks]
    figures: dict[str, Any] = {"load": round(os.getloadavg()[0], 1), **use.counts}
    figures |= {name: report(ticks) for name, ticks in parts.items()}
    return figures | {"all": report(every), "limits": limits()}


class _Use:
    """Asks and scrolls in an open window."""

    def __init__(self, opened: "WindowApp") -> None:
        from desktop_rag.ui.messages.message_view import MessageView

        self._opened = opened
        self._page = opened.window.chat_page
        [self._view] = self._page.findChildren(MessageView)
        self.counts = {"questions": 0, "messages scrolled through": 0}

    def stream(self, seconds: float) -> list[Tick]:
        """Ask one question after the other."""
        ends_at = time.perf_counter() + seconds
        indexing = self._opened.services.library.indexing
        stages: list[bool] = []
        with watched() as ticks:
            while time.perf_counter() < ends_at:
                self._ask()
                stages.append(indexing.progress().stage is not Stage.IDLE)
                settle(0.1)
        self.counts["% of the time indexing"] = round(100 * sum(stages) / len(stages))
        return ticks

    def open_chat(self, messages: int) -> None:
        """Open a long chat, of which only the newest messages are built."""
        self._page.stop()
        wait_until(lambda: not self._page.is_answering, _ANSWERED_S)
        conversation = self._opened.services.engine.conversations.add("A long chat", "")
        self._page.sessions.show_copy(
            conversation, made_messages(conversation.conversation_id, messages)
        )
        wait_until(lambda: self._view.is_settled, _ANSWERED_S)

    def scroll(self, seconds: float) -> list[Tick]:
        """Scroll upwards by pages, and show earlier messages wherever there are some; then back."""
        bar = self._view.verticalScrollBar()
        ends_at = time.perf_counter() + seconds
        with watched() as ticks:
            self._ask()
            settle(1.0)
            while time.perf_counter() < ends_at and self._view.first_row_in_view() > 0:
                bar.triggerAction(bar.SliderAction.SliderPageStepSub)
                settle(0.03)
            self.counts["messages scrolled through"] = (
                self._page.sessions.current.model.rows - self._view.first_row_in_view()
            )
            self._view.scroll_to_end()
            settle(1.0)
        return ticks

    def _ask(self) -> None:
        if not self._page.is_answering:
            asked = self.counts["questions"]
            self._page.ask(_QUESTIONS[asked % len(_QUESTIONS)])
            self.counts["questions"] = asked + 1


def made_messages(conversation_id: str, count: int) -> Sequence[Message]:
    """Questions and answers in turn."""
    return [
        Message(
            uuid.uuid4().hex,
            conversation_id,
            Role.ASSISTANT if n % 2 else Role.USER,
            _ANSWER.format(n=n) if n % 2 else f"Question {n}: what does the linker do?",
            time.time() - count + n,
        )
        for n in range(count)
    ]


if __name__ == "__main__":
    main()
