"""R-26: killed while an answer streams, the next start shows what was shown, marked as cut."""

import dataclasses
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.conversation import Message, MessageState, Role
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from tests.asking import ask
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow


QUESTION = "When does the ferry leave?"
WORDS = " ".join(f"word{n}" for n in range(120))
ANSWER = f"The ferry leaves at noon [1]. It is said in [9]. {WORDS}"
# In pieces of four characters, the server sends half of them, rounded down.
HALF = ANSWER[: (len(ANSWER) + 3) // 4 // 2 * 4]
# There is no ninth source, and nobody sees that the model named one.
SHOWN = HALF.replace(" [9]", "").rstrip()
_POLL_S = 0.02
_ASK = """
import sys, threading
from pathlib import Path
from desktop_rag.app import build_services
from desktop_rag.core.conversation import TextDelta
from desktop_rag.core.paths import Home
services = build_services(Home(Path(sys.argv[1])))
chat, cancel = services.chat, threading.Event()
again = sys.argv[2]
events = chat.retry(again, cancel=cancel) if again else chat.ask(sys.argv[3], cancel=cancel)
for event in events:
    if isinstance(event, TextDelta):
        sys.stdout.write(event.text)
        sys.stdout.flush()
"""


@pytest.fixture
def server(home: Home) -> Iterator[ChatServer]:
    with ChatServer(ANSWER, mode="stall") as server:
        home.create()
        endpoint = server.endpoint(timeout_s=60)
        save_settings(home.settings, dataclasses.replace(Settings(), endpoint=endpoint))
        yield server


@pytest.fixture
def indexed(build_services: Callable[[], Services], tmp_path: Path, server: ChatServer) -> None:
    """A closed library with one note, in a home whose endpoint stops halfway."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ferry.md").write_text("# Ferry\n\nThe ferry leaves at noon from the northern pier.")
    services = build_services()
    services.library.sources.add(folder)
    services.library.start()
    assert services.library.indexing.wait_until_searchable(30)
    services.close()


def shown_until_killed(home: Home, conversation_id: str = "") -> str:
    """What a process showed of an answer that stopped growing; it is then killed."""
    command = [sys.executable, "-c", _ASK, str(home.root), conversation_id, QUESTION]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        shown = b""
        while shown.decode().rstrip() != SHOWN:
            piece = os.read(process.stdout.fileno(), 65_536)
            assert piece, "the process ended"
            shown += piece
        wait_until_kept(home, shown.decode())
        process.send_signal(signal.SIGKILL)
    return shown.decode()


def wait_until_kept(home: Home, shown: str) -> None:
    """The last word that was shown is in a file, although no more came after it."""
    last = json.dumps(shown.rsplit(maxsplit=1)[-1])[1:-1].encode()
    for _ in itertools.count():
        if any(last in f.read_bytes() for f in home.root.glob("unfinished/*")):
            return
        threading.Event().wait(_POLL_S)


def messages(services: Services) -> list[Message]:
    [chat] = services.chat.history.all()
    return services.chat.history.messages(chat.conversation_id)


@pytest.mark.usefixtures("indexed")
def test_r26_what_was_shown_before_a_kill_is_there_and_marked_as_cut(
    home: Home, build_services: Callable[[], Services]
) -> None:
    shown = shown_until_killed(home)
    assert len(shown.split()) > 60
    services = build_services()
    question, answer = messages(services)
    assert (question.role, question.text) == (Role.USER, QUESTION)
    assert answer.state is MessageState.CUT
    assert answer.text == shown.rstrip()
    assert [s.title for s in answer.sources if s.is_cited] == ["Ferry"]
    assert answer.model == "test-model"
    assert answer.error_title == "This answer was cut off."
    exported = services.chat.history.export(question.conversation_id, ".json")
    assert json.loads(exported)["messages"][1]["state"] == "cut"
    assert "cut off" in services.chat.history.export(question.conversation_id, ".md")
    services.close()
    assert len(messages(build_services())) == 2


@pytest.mark.usefixtures("indexed")
def test_r26_a_cut_answer_is_replaced_when_it_is_asked_again(
    home: Home, build_services: Callable[[], Services], server: ChatServer
) -> None:
    shown_until_killed(home)
    services = build_services()
    server.mode = "answer"
    [chat] = services.chat.history.all()
    list(services.chat.retry(chat.conversation_id, cancel=threading.Event()))
    assert [m.state for m in messages(services)] == [MessageState.DONE] * 2
    services.close()
    assert [m.state for m in messages(build_services())] == [MessageState.DONE] * 2


@pytest.mark.usefixtures("indexed")
def test_r26_a_whole_answer_stays_when_its_new_version_is_cut(
    home: Home, build_services: Callable[[], Services], server: ChatServer
) -> None:
    server.mode = "answer"
    services = build_services()
    whole = ask(services, QUESTION)
    services.close()
    server.mode = "stall"
    shown_until_killed(home, whole.conversation_id)
    services = build_services()
    _, first, second = messages(services)
    assert (first.text, first.state) == (whole.text, MessageState.DONE)
    assert second.state is MessageState.CUT
    server.mode = "answer"
    list(services.chat.retry(whole.conversation_id, cancel=threading.Event()))
    assert [m.state for m in messages(services)[1:]] == [MessageState.DONE] * 2


@pytest.mark.usefixtures("indexed")
def test_nothing_is_left_of_an_answer_that_came_to_its_end(
    home: Home, build_services: Callable[[], Services], server: ChatServer
) -> None:
    server.mode = "answer"
    services = build_services()
    ask(services, QUESTION)
    assert not list(home.root.rglob("unfinished/*"))
