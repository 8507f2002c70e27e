"""N-11, R-10: verbs of other processes, and whatever else comes to the app's socket."""

import stat
import sys
import threading
from collections.abc import Iterator
from hmac import digest
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr, use_language
from desktop_rag.core.paths import Home
from desktop_rag.running_app import AppEnding, AppServer, Asker, ask_running_app


def fail(_: dict[str, object], _asker: Asker) -> None:
    raise AppError("It failed.", "Try another.")


@pytest.fixture
def server(home: Home) -> Iterator[AppServer]:
    home.create()
    running = AppServer(home, {"echo": lambda arguments, _: arguments, "fail": fail})
    yield running
    running.close()


def test_a_verb_is_answered_by_the_running_app(server: AppServer, home: Home) -> None:
    assert ask_running_app(home, "echo", {"text": "灯 lamp"}) == (True, {"text": "灯 lamp"})


def test_a_verb_tells_its_progress_before_it_answers(home: Home) -> None:
    home.create()

    def count(arguments: dict[str, Any], asker: Asker) -> int:
        for number in range(arguments["to"]):
            asker.tell(f"{number} counted")
        if not arguments["to"]:
            raise AppError("It failed.", "Try another.")
        return arguments["to"]

    running, said = AppServer(home, {"count": count}), list[str]()
    assert ask_running_app(home, "count", {"to": 2}, hear=said.append) == (True, 2)
    assert said == ["0 counted", "1 counted"]
    assert ask_running_app(home, "count", {"to": 2}) == (True, 2)
    with pytest.raises(AppError, match="It failed"):
        ask_running_app(home, "count", {"to": 0}, hear=said.append)
    running.close()


def test_a_verb_asks_and_goes_on_with_the_reply(home: Home) -> None:
    home.create()

    def greet(_: dict[str, Any], asker: Asker) -> str:
        return f"Hello {asker.ask('Who?')}"

    running, asked = AppServer(home, {"greet": greet}), list[str]()

    def reply(question: str) -> str:
        asked.append(question)
        return "keeper"

    assert ask_running_app(home, "greet", {}, hear=reply) == (True, "Hello keeper")
    assert asked == ["Who?"]
    running.close()


def test_a_verb_learns_that_nobody_waits(home: Home) -> None:
    home.create()
    ended = threading.Event()

    def ask(_: dict[str, Any], asker: Asker) -> None:
        try:
            asker.ask("Who?")
        except KeyboardInterrupt:
            ended.set()
            raise

    def leave(_: object) -> None:
        raise KeyboardInterrupt

    running = AppServer(home, {"ask": ask})
    with pytest.raises(KeyboardInterrupt):
        ask_running_app(home, "ask", {}, hear=leave)
    assert ended.wait(10)
    running.close()


def test_a_terminal_is_answered_in_english_whatever_the_window_speaks(home: Home) -> None:
    home.create()

    def save(_: dict[str, Any], asker: Asker) -> str:
        asker.tell(tr("Save"))
        return tr("Save")

    running, said = AppServer(home, {"save": save}), list[str]()
    use_language(lambda text: {"Save": "Sichern"}.get(text, ""))
    try:
        assert ask_running_app(home, "save", {}, hear=said.append) == (True, "Save")
    finally:
        use_language(None)
        running.close()
    assert said == ["Save"]


def test_no_app_no_answer(home: Home) -> None:
    home.create()
    assert ask_running_app(home, "echo", {}) == (False, None)


def test_the_address_of_an_app_that_died_is_taken_over(home: Home) -> None:
    home.create()
    home.socket.touch()
    server = AppServer(home, {"echo": lambda arguments, _: arguments})
    assert ask_running_app(home, "echo", {}) == (True, {})
    server.close()
    assert ask_running_app(home, "echo", {}) == (False, None)


@pytest.mark.slow
def test_an_app_that_starts_answers_or_is_not_there_yet(home: Home) -> None:
    home.create()
    for _ in range(50):
        told = list[tuple[bool, object]]()

        def ask(told: list[tuple[bool, object]] = told) -> None:
            while not told:
                answer = ask_running_app(home, "echo", {})
                told.extend([answer] if answer[0] else [])

        client = threading.Thread(target=ask)
        client.start()
        server = AppServer(home, {"echo": lambda arguments, _: arguments})
        client.join(10)
        server.close()
        assert told == [(True, {})]


@pytest.mark.parametrize(
    ("verb", "title"), [("fail", "It failed."), ("add", "open without a window")]
)
def test_errors_and_unknown_verbs_come_back_as_errors(
    server: AppServer, home: Home, verb: str, title: str
) -> None:
    with pytest.raises(AppError, match=title):
        ask_running_app(home, verb, {})


def _say(connection: "Connection[bytes, bytes]", text: bytes) -> None:
    connection.send_bytes(text)
    connection.recv_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of Windows have no path")
@pytest.mark.parametrize("garbage", [b"", b"x" * 32, b"{}" * 100_000])
def test_garbage_is_ignored(server: AppServer, home: Home, garbage: bytes) -> None:
    with Client(str(home.socket)) as connection:
        connection.recv_bytes()
        with pytest.raises((EOFError, ConnectionError)):
            _say(connection, garbage)
    assert ask_running_app(home, "echo", {}) == (True, {})


@pytest.mark.parametrize("token", [b"", b"x" * 32])
def test_a_request_with_another_token_is_not_answered(server: AppServer, token: bytes) -> None:
    with Client(server.address) as connection:
        challenges = connection.recv_bytes() + bytes(32)
        proof = digest(token, b"client" + challenges, "sha256")
        connection.send_bytes(challenges[32:] + proof)
        with pytest.raises((EOFError, ConnectionError)):
            _say(connection, b'{"verb": "echo", "arguments": {}}')


def test_a_silent_client_blocks_nobody(server: AppServer, home: Home) -> None:
    with Client(server.address):
        assert ask_running_app(home, "echo", {}) == (True, {})


@pytest.mark.skipif(sys.platform == "win32", reason="modes are those of POSIX")
def test_only_this_user_can_ask(server: AppServer, home: Home) -> None:
    assert stat.S_IMODE(home.root.stat().st_mode) == 0o700
    assert stat.S_IMODE((home.root / "app.token").stat().st_mode) == 0o600
    assert any(thread.name == "app-server" for thread in threading.enumerate())


def test_an_app_that_takes_no_notice_is_told(home: Home) -> None:
    home.create()
    server = AppServer(home, {})
    server.close()
    # It listens and never accepts, as a process that has been halted.
    with Listener(server.address), pytest.raises(AppError, match="did not answer"):
        ask_running_app(home, "search", {}, handshake_s=0.05)


def test_a_start_waits_for_the_end_of_an_app_that_is_ending(home: Home) -> None:
    home.create()
    is_overtaken = threading.Event()

    def overtaken(_: dict[str, object], _asker: Asker) -> None:
        server.begin_ending()
        is_overtaken.set()
        raise AppEnding

    server = AppServer(home, {"raise": overtaken})
    told = list[tuple[bool, object]]()
    client = threading.Thread(target=lambda: told.append(ask_running_app(home, "raise", {})))
    client.start()
    assert is_overtaken.wait(10)
    assert ask_running_app(home, "quit", {}) == (True, None)
    assert told == []
    server.close()
    client.join(10)
    assert told == [(False, None)]
