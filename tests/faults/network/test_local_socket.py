"""S-14: another program or another user at the place of the running app's socket.

A child process becomes the other user, which only root may; the tests that need one are skipped
for anyone else.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hmac import digest
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox

from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.running_app import AppServer, address_of, ask_running_app
from tests.command_line import run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes of Windows have no folder")
as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root becomes another user"
)

TOKEN = b"t" * 32
QUESTION = "Where is the key of the lamp room?"
OTHER_USER = 65534
_LISTENS_S = 3.0  # a client that tells its question waits for an answer to it
Play = Callable[["Connection[bytes, bytes]"], None]


@contextmanager
def impostor(home: Home, play: Play) -> Iterator[list[bytes]]:
    """A program that answers at the app's address; yields all that it receives."""
    home.create()
    (home.root / "app.token").write_bytes(TOKEN)
    heard: list[bytes] = []

    def serve(listener: Listener) -> None:
        with listener.accept() as connection:
            try:
                play(connection)
                while connection.poll(_LISTENS_S):
                    heard.append(connection.recv_bytes())
            except (EOFError, OSError):
                return

    with Listener(str(home.socket)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        yield heard
        thread.join()


def proven(answer: bytes) -> Play:
    """Proves itself as the app does, then gives this answer."""

    def play(connection: "Connection[bytes, bytes]") -> None:
        challenge = bytes(32)
        connection.send_bytes(challenge)
        reply = connection.recv_bytes()
        connection.send_bytes(digest(TOKEN, b"server" + challenge + reply[:32], "sha256"))
        connection.recv_bytes()
        connection.send_bytes(answer)

    return play


def echoing(connection: "Connection[bytes, bytes]") -> None:
    """Sends the client's own proof back."""
    connection.send_bytes(bytes(32))
    connection.send_bytes(connection.recv_bytes()[32:])


def forging(connection: "Connection[bytes, bytes]") -> None:
    """Gives an answer before anything was asked."""
    connection.send_bytes(bytes(32))
    connection.send_bytes(json.dumps({"result": True}).encode())


@pytest.mark.parametrize("play", [echoing, forging])
def test_s14_a_program_in_place_of_the_app_learns_nothing(home: Home, play: Play) -> None:
    with impostor(home, play) as heard, pytest.raises(AppError):
        ask_running_app(home, "ask", {"question": QUESTION})
    assert TOKEN not in b"".join(heard)
    assert QUESTION.encode() not in b"".join(heard)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\xff\xfe garbage",
        b"7",
        b"[]",
        b"{}",
        b'{"error": "no"}',
        b'{"error": {"title": 1, "hint": []}}',
        b"[" * 200_000,
        b"x" * (65 << 20),
    ],
    ids=["empty", "bytes", "number", "list", "object", "error", "fields", "deep", "oversized"],
)
def test_s14_a_malformed_answer_is_a_clear_error(home: Home, answer: bytes) -> None:
    with impostor(home, proven(answer)), pytest.raises(AppError, match="did not answer"):
        ask_running_app(home, "search", {})


@pytest.mark.usefixtures("qapp")
def test_s14_a_second_start_shows_why_no_window_opens(home: Home) -> None:
    shown: list[str] = []

    def close_box() -> None:
        box = QApplication.activeModalWidget()
        if isinstance(box, QMessageBox):
            shown.append(box.text())
            box.accept()

    clock = QTimer()
    clock.timeout.connect(close_box)
    clock.start(10)
    with impostor(home, forging):
        done = run()
    clock.stop()
    assert done.returncode == 1
    assert "Another program answers" in shown[0]


# --- another user ---------------------------------------------------------------------------

LISTEN = """
import os, sys
from multiprocessing.connection import Listener
os.chdir(sys.argv[1])
os.setuid(int(sys.argv[2]))
with Listener("app.sock") as listener:
    os.chmod("app.sock", 0o777)
    print("ready", flush=True)
    with listener.accept() as connection:
        try:
            connection.send_bytes(bytes(32))
            print("heard", connection.recv_bytes())
        except (EOFError, OSError):
            print("nothing")
"""

CONNECT = """
import os, sys
from hmac import digest
from multiprocessing.connection import Client
os.chdir(sys.argv[1])
token = open("app.token", "rb").read()
os.setuid(int(sys.argv[2]))
with Client("app.sock") as connection:
    try:
        challenges = connection.recv_bytes() + bytes(32)
        connection.send_bytes(challenges[32:] + digest(token, b"client" + challenges, "sha256"))
        print("heard", connection.recv_bytes())
    except (EOFError, OSError):
        print("nothing")
"""


def as_other_user(script: str, folder: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", script, str(folder), str(OTHER_USER)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@as_root
def test_s14_a_listener_of_another_user_learns_nothing(home: Home) -> None:
    home.create()
    home.root.chmod(0o777)
    (home.root / "app.token").write_bytes(TOKEN)
    with as_other_user(LISTEN, home.root) as listener:
        assert listener.stdout
        assert listener.stdout.readline() == "ready\n"
        with pytest.raises(AppError, match="another user"):
            ask_running_app(home, "ask", {"question": QUESTION})
        assert listener.communicate()[0] == "nothing\n"


@as_root
def test_s14_a_client_of_another_user_is_not_answered_even_with_the_token(home: Home) -> None:
    home.create()
    server = AppServer(home, {"echo": lambda arguments, _: arguments})
    try:
        home.root.chmod(0o755)
        home.socket.chmod(0o777)
        with as_other_user(CONNECT, home.root) as client:
            assert client.communicate()[0] == "nothing\n"
    finally:
        server.close()


# --- the folder for a home with a long path -------------------------------------------------


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files that everybody may write to, and no folder of the session.

    Its path is short, as that of the system's own.
    """
    with tempfile.TemporaryDirectory(prefix="s14-") as name:
        folder = Path(name)
        folder.chmod(0o1777)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder / "missing"))
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield folder


@pytest.fixture
def far_home(tmp_path: Path) -> Home:
    """A home whose path is too long for a socket."""
    home = Home(tmp_path / ("x" * 100))
    home.create()
    return home


def test_s14_the_socket_of_a_far_home_is_in_a_private_folder(
    far_home: Home, temporary: Path
) -> None:
    server = AppServer(far_home, {"echo": lambda arguments, _: arguments})
    try:
        folder = Path(server.address).parent
        assert folder.parent == temporary
        assert folder.stat().st_mode & 0o777 == 0o700
        assert ask_running_app(far_home, "echo", {"a": 1}) == (True, {"a": 1})
    finally:
        server.close()


def test_s14_the_folder_of_the_session_goes_first(
    far_home: Home, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = temporary / "s"
    session.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(session))
    assert Path(address_of(far_home)).parent == session
    session.chmod(0o755)
    assert Path(address_of(far_home)).parent.parent == temporary


def foreign(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    os.chown(folder, OTHER_USER, OTHER_USER)


def linked(folder: Path) -> None:
    target = folder.parent / "elsewhere"
    target.mkdir(mode=0o700)
    folder.symlink_to(target)


def opened(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o755)


@pytest.mark.parametrize("prepare", [pytest.param(foreign, marks=as_root), linked, opened])
def test_s14_a_folder_that_is_not_this_users_alone_is_refused(
    far_home: Home, temporary: Path, prepare: Callable[[Path], None]
) -> None:
    folder = Path(address_of(far_home)).parent
    assert folder.parent == temporary
    prepare(folder)
    with pytest.raises(AppError, match="of this user alone"):
        AppServer(far_home, {})
    (far_home.root / "app.token").write_bytes(TOKEN)
    with Listener(address_of(far_home)):
        assert ask_running_app(far_home, "ask", {"question": QUESTION}) == (False, None)


def test_s14_a_client_that_proves_itself_is_answered(home: Home) -> None:
    """The counterpart, so that the refusals above are for the right reason."""
    home.create()
    server = AppServer(home, {"echo": lambda arguments, _: arguments})
    token = (home.root / "app.token").read_bytes()
    try:
        with Client(server.address) as connection:
            challenges = connection.recv_bytes() + bytes(32)
            proof = digest(token, b"client" + challenges, "sha256")
            connection.send_bytes(challenges[32:] + proof)
            assert connection.recv_bytes() == digest(token, b"server" + challenges, "sha256")
            connection.send_bytes(b'{"verb": "echo", "arguments": {}}')
            assert json.loads(connection.recv_bytes()) == {"result": {}}
    finally:
        server.close()
