"""The local socket of the running app, for a second start and for the command line. Any thread.

Only one process can open the store, so the others send their verbs to it. Requests and responses
are JSON, never pickle. Only this user can connect, and before a request is sent both sides prove
that they know the token in the home, which itself is never sent. A verb may tell and ask something
before its result. The verbs are a fixed set.
"""

import ctypes
import json
import logging
import os
import secrets
import socket
import stat
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from hmac import compare_digest, digest
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.files.own_files import close_to_others
from desktop_rag.core.language.translation import in_english
from desktop_rag.core.paths import Home

log = logging.getLogger(__name__)

# The limit for the path of a Unix socket is 104 bytes on macOS, 108 on Linux.
_LONGEST_ADDRESS = 100
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_CREDENTIALS = struct.Struct("iII")  # process, user and group: the `ucred` of Linux


def address_of(home: Home) -> str:
    """The address for this home: inside it or, where that is too long, in a private folder."""
    name = digest(b"desktop-rag", os.fsencode(home.root.absolute()), "sha256").hex()[:16]
    if sys.platform == "win32":
        return rf"\\.\pipe\desktop-rag-{name}"
    if _fits(home.socket):
        return str(home.socket)
    # The system empties this folder at log-out and gives it to this user alone.
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.geteuid()}")
    in_runtime = runtime / f"desktop-rag-{name}.sock"
    if _is_private(runtime) and _fits(in_runtime):
        return str(in_runtime)
    return str(Path(tempfile.gettempdir()) / f"desktop-rag-{os.geteuid()}" / f"{name}.sock")


def clear_address(home: Home) -> str:
    """The address to listen at, without the socket that a crashed app left.

    Raises AppError when the folder belongs to another user or is open to others, since then
    another program could answer in place of this one.
    """
    address = address_of(home)
    if sys.platform == "win32":
        return address
    folder = Path(address).parent
    with os_error_as("The command line cannot reach this window.", address):
        if folder != home.root:
            folder.mkdir(mode=0o700, exist_ok=True)
        if not can_be_listened_at(home, address):
            hint = f"{folder} is not a folder of this user alone. Remove it and start again."
            raise AppError("The command line cannot reach this window.", hint)
        Path(address).unlink(missing_ok=True)
    return address


def close_address(address: str) -> None:
    """Remove the rights of others from the socket, whatever the umask of the process."""
    if sys.platform != "win32":
        close_to_others(Path(address))


def can_be_listened_at(home: Home, address: str) -> bool:
    """False when the folder of the address is not this user's alone."""
    folder = Path(address).parent
    return sys.platform == "win32" or folder == home.root or _is_private(folder)


def is_same_user(connection: Connection) -> bool:
    """True for a process of this user at the other end, and on Windows, which doesn't tell."""
    if sys.platform == "win32":
        return True
    if sys.platform == "linux":
        with socket.socket(fileno=os.dup(connection.fileno())) as end:
            told = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        return _CREDENTIALS.unpack(told)[1] == os.geteuid()
    user, group = ctypes.c_uint32(), ctypes.c_uint32()
    failed = ctypes.CDLL(None).getpeereid(
        connection.fileno(), ctypes.byref(user), ctypes.byref(group)
    )
    return not failed and user.value == os.geteuid()


def _fits(path: Path) -> bool:
    return len(os.fsencode(path)) <= _LONGEST_ADDRESS


def _is_private(folder: Path) -> bool:
    """True for a real folder, no link, of this user alone."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    return is_ours and not status.st_mode & _OTHERS


_MAX_REQUEST_BYTES = 64 * 1024
_MAX_ANSWER_BYTES = 64 * 1024 * 1024
_HANDSHAKE_S = 5.0
# An app that has just started on a busy computer takes its time.
_ACCEPTED_S = 20.0
# An app that ends waits for its writes.
_ENDING_S = 60.0
_POLL_S = 0.1
_TOKEN_BYTES = 32
_BUG = {
    "error": {
        "title": "An error in the running app interrupted this.",
        "hint": "The details are in its log.",
    }
}
# The side is part of its proof, so that a proof sent back proves nothing.
_CLIENT, _SERVER = b"client", b"server"


class AppEnding(Exception):  # noqa: N818  it is no error
    """The running app began to end before it dealt with the request."""


class Asker:
    """The process that waits for the result of a verb. Any thread."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sending = threading.Lock()
        self._replies = SimpleQueue[object]()
        # Nobody waits any longer: the process ended, or this app does.
        self.is_gone = threading.Event()

    def tell(self, told: object) -> None:
        """Send a JSON value; nothing happens when nobody waits any longer."""
        self.send({"told": told})

    def ask(self, asked: object) -> Any:  # noqa: ANN401  JSON
        """The reply to a JSON value; KeyboardInterrupt when nobody is there to give one."""
        self.send({"asked": asked})
        reply = self._replies.get()
        if self.is_gone.is_set():
            raise KeyboardInterrupt
        return reply

    def send(self, message: dict[str, Any]) -> None:
        """Send a message of the protocol."""
        try:
            with self._sending:
                self._connection.send_bytes(json.dumps(message).encode())
        except OSError as exc:
            log.info("a response could not be sent: %s", exc)
            self.leave()

    def leave(self) -> None:
        """Let the verb know that nobody waits for it."""
        self.is_gone.set()
        self._replies.put(None)

    def listen(self) -> None:
        """Take in replies until the other process leaves. On a thread of its own."""
        try:
            while True:
                self._replies.put(json.loads(self._connection.recv_bytes(_MAX_REQUEST_BYTES)))
        except (OSError, EOFError, ValueError, RecursionError):
            self.leave()


# Takes the arguments of a verb and the process that asks, and returns the result as JSON.
Handler = Callable[[dict[str, Any], Asker], Any]


class AppServer:
    """Answers requests of other processes while the window is open. Handlers run on threads."""

    def __init__(
        self,
        home: Home,
        handlers: Mapping[str, Handler],
        refused: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Listen, replacing the socket that a crashed app left; AppError when that fails.

        `refused` is called with the reason when another process is turned away.
        """
        self._refused = refused
        self._handlers = dict(handlers)
        self._askers = set[Asker]()
        self._lock = threading.Lock()
        self._token = secrets.token_bytes(_TOKEN_BYTES)
        self.address = clear_address(home)
        with os_error_as("The command line cannot reach this window.", self.address):
            # Before it listens: who is connected finds the token.
            _write_token(home, self._token)
            self._listener = Listener(self.address)
            close_address(self.address)
        self._is_closed = False
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._accept, name="app-server", daemon=True)
        self._thread.start()

    def begin_ending(self) -> None:
        """Answer from now on that the app is ending, so that others wait, and interrupt verbs."""
        self._ending.set()
        with self._lock:
            for asker in self._askers:
                asker.leave()

    @property
    def is_ending(self) -> bool:
        """True once the app has begun to end."""
        return self._ending.is_set()

    def close(self) -> None:
        """Stop listening, once nothing of the app is open; pending responses are still sent.

        Verbs that still run are interrupted.
        """
        self.begin_ending()
        self._is_closed = True
        try:
            # A connection wakes the thread, which waits in accept.
            Client(self.address).close()
        except OSError as exc:
            log.info("the listener had ended: %s", exc)
        self._thread.join()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except OSError as exc:
                log.info("a connection failed: %s", exc)
                continue
            if self._is_closed:
                connection.close()
                return
            threading.Thread(
                target=self._serve, args=(connection,), name="app-request", daemon=True
            ).start()

    def _serve(self, connection: Connection) -> None:
        with connection:
            try:
                request = self._receive(connection)
            except (OSError, EOFError, ValueError, RecursionError) as exc:
                log.info("a request was refused: %s", exc)
                self._refused(str(exc) or "It ended early.")
                return

            asker = Asker(connection)
            with self._lock:
                self._askers.add(asker)
            threading.Thread(
                target=lambda: asker.send(self._answer(request, asker)),
                name="app-verb",
                daemon=True,
            ).start()
            asker.listen()
            with self._lock:
                self._askers.discard(asker)

    def _receive(self, connection: Connection) -> dict[str, Any]:
        if not is_same_user(connection):
            raise ValueError("another user")
        challenge = secrets.token_bytes(_TOKEN_BYTES)
        connection.send_bytes(challenge)
        reply = _received(connection, 2 * _TOKEN_BYTES)
        counter_challenge, proof = reply[:_TOKEN_BYTES], reply[_TOKEN_BYTES:]
        challenges = challenge + counter_challenge
        if not compare_digest(proof, _proof(self._token, _CLIENT, challenges)):
            raise ValueError("wrong token")
        connection.send_bytes(_proof(self._token, _SERVER, challenges))
        request = json.loads(_received(connection, _MAX_REQUEST_BYTES))
        if not isinstance(request, dict) or not isinstance(request.get("arguments"), dict):
            raise ValueError("not a request")
        return request

    def _answer(self, request: dict[str, Any], asker: Asker) -> dict[str, Any]:
        if self.is_ending:
            is_done = request.get("verb") == "quit"
            return {"result": None} if is_done else {"ending": True}
        handler = self._handlers.get(str(request.get("verb")))
        if handler is None:
            return {"error": {"title": "The library is open without a window.",
                              "hint": "End that first: desktop-rag quit"}}  # fmt: skip
        try:
            # The process that asks has only English texts, whatever the window's language is.
            with in_english():
                return {"result": handler(request["arguments"], asker)}
        except (AppEnding, KeyboardInterrupt):
            return {"ending": True}
        except AppError as error:
            return {"error": {"title": error.title, "hint": error.hint}}
        except Exception:
            asker.send(_BUG)
            raise


def ask_running_app(
    home: Home,
    verb: str,
    arguments: dict[str, Any],
    *,
    handshake_s: float = _ACCEPTED_S,
    hear: Callable[[Any], object] = lambda _: None,
) -> tuple[bool, Any]:
    """(True, result) of the verb in the running app; (False, None) when no app is running.

    `hear` is called with what the verb tells and asks before its result; what it returns is the
    reply to a question. Waits for the end of an app that is ending. AppError when the app refused
    or failed, did not accept within `handshake_s`, or another program or user is in its place.
    """
    deadline = time.monotonic() + _ENDING_S
    while True:
        try:
            return _ask_once(home, verb, arguments, handshake_s, hear)
        except AppEnding:
            if time.monotonic() > deadline:
                hint = "It stores its work. Try again in a minute."
                raise AppError("The app is still ending.", hint) from None
            time.sleep(_POLL_S)


def _ask_once(
    home: Home,
    verb: str,
    arguments: dict[str, Any],
    handshake_s: float,
    hear: Callable[[Any], object],
) -> tuple[bool, Any]:
    """The same without waiting; AppEnding when the running app is ending."""
    request = json.dumps({"verb": verb, "arguments": arguments}).encode()
    if len(request) > _MAX_REQUEST_BYTES:
        raise AppError("The question is too long.", "Ask it in the window.")
    address = address_of(home)
    if not can_be_listened_at(home, address):
        log.info("no app listens in the folder of %s, which others can use", address)
        return False, None
    try:
        with Client(address) as connection:
            # Read only now: the file may be of an app that ended before.
            token = _token_path(home).read_bytes()
            _introduce(connection, token, address, handshake_s)
            connection.send_bytes(request)
            return True, _result_of(_last_message(connection, hear))
    except (FileNotFoundError, NotADirectoryError, ConnectionError):
        return False, None
    except (OSError, EOFError, ValueError, RecursionError) as exc:
        hint = "Close its window and try again."
        raise AppError("The running app did not answer.", hint) from exc


def _introduce(connection: Connection, token: bytes, address: str, timeout_s: float) -> None:
    """Exchange proofs with the running app; AppError when another program is in its place."""
    if not is_same_user(connection):
        title = "A program of another user answers in place of the app."
        raise AppError(title, f"Nothing was sent to it. Remove {address} and try again.")
    challenge = _received(connection, _TOKEN_BYTES, timeout_s)
    counter_challenge = secrets.token_bytes(_TOKEN_BYTES)
    challenges = challenge + counter_challenge
    connection.send_bytes(counter_challenge + _proof(token, _CLIENT, challenges))
    proof = _received(connection, _TOKEN_BYTES, timeout_s)
    if not compare_digest(proof, _proof(token, _SERVER, challenges)):
        hint = f"Your question was not sent. End the program that listens at {address}."
        raise AppError("Another program answers in place of the app.", hint)


def _received(connection: Connection, max_bytes: int, timeout_s: float = _HANDSHAKE_S) -> bytes:
    if not connection.poll(timeout_s):
        raise ValueError("timeout")
    return connection.recv_bytes(max_bytes)


def _proof(token: bytes, side: bytes, challenges: bytes) -> bytes:
    return digest(token, side + challenges, "sha256")


def _last_message(connection: Connection, hear: Callable[[Any], object]) -> object:
    """The message after what the verb tells and asks."""
    while True:
        match message := json.loads(connection.recv_bytes(_MAX_ANSWER_BYTES)):
            case {"told": told}:
                _heard(hear, told)
            case {"asked": asked}:
                connection.send_bytes(json.dumps(_heard(hear, asked)).encode())
            case _:
                return message


def _heard(hear: Callable[[Any], object], message: object) -> object:
    """The reply; a failure of the terminal is none of the connection."""
    with os_error_as("The terminal can't be read or written."):
        return hear(message)


def _result_of(answer: object) -> object:
    """The result in the answer; raises its AppError or AppEnding, ValueError for anything else."""
    match answer:
        case {"error": {"title": str(title), "hint": str(hint)}}:
            raise AppError(title, hint)
        case {"result": result}:
            return result
        case {"ending": True}:
            raise AppEnding
        case _:
            raise ValueError("not an answer")


def _token_path(home: Home) -> Path:
    return home.root / "app.token"


def _write_token(home: Home, token: bytes) -> None:
    """Write the token that proves requests of this user, who alone can read it."""
    path = _token_path(home)
    unfinished = path.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(token)
    unfinished.replace(path)
