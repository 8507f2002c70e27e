"""A server that speaks to clients of endpoints with whatever bytes a test gives it.

    with HostileServer(lambda: [head("200 OK"), b"data: ", forever(b"x")]) as server:
        client = ChatClient(server.endpoint(), key)

Unlike `chat_server` it knows no HTTP, so that it may break it in any way. `asked` has what came,
`sent_bytes` what the clients took of what it had to say.
"""

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from desktop_rag.core.settings import EndpointSettings

Script = Callable[[], Iterable[bytes]]
_END_OF_HEAD = b"\r\n\r\n"
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: its first line, and everything before its body in lower case."""

    line: str
    head: str


class HostileServer:
    """Answers each request on a new connection with the parts of `script`, then closes it."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.pause_s = 0.0  # before each part
        self.asked: list[Asked] = []
        self.connections = 0
        self.sent_bytes = 0
        self._is_over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(_POLL_S)
        self._threads: list[threading.Thread] = []

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"

    def endpoint(self, *, timeout_s: float = 5.0) -> EndpointSettings:
        return EndpointSettings(self.base_url, "test-model", timeout_s=timeout_s)

    def __enter__(self) -> Self:
        self._start(self._listen)
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        for thread in list(self._threads):
            thread.join()
        self._listener.close()

    def _start(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name="hostile-server")
        self._threads.append(thread)
        thread.start()

    def _listen(self) -> None:
        while not self._is_over.is_set():
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            self.connections += 1
            self._start(lambda taken=connection: self._serve(taken))

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(_POLL_S)
            try:
                if self._hear(connection):
                    self._speak(connection)
            except OSError:
                return  # the client has gone, as expected

    def _hear(self, connection: socket.socket) -> bool:
        """Read one request; False when there is none."""
        heard = b""
        while _END_OF_HEAD not in heard:
            if not (part := self._receive(connection)):
                return False
            heard += part
        head, _, body = heard.partition(_END_OF_HEAD)
        text = head.decode("latin-1")
        fields = dict(line.lower().split(": ", 1) for line in text.split("\r\n")[1:])
        left = int(fields.get("content-length", 0)) - len(body)
        while left > 0:
            left -= len(self._receive(connection))
        self.asked.append(Asked(text.partition("\r\n")[0], text.lower()))
        return True

    def _receive(self, connection: socket.socket) -> bytes:
        while not self._is_over.is_set():
            try:
                return connection.recv(65536)
            except TimeoutError:
                continue
        return b""

    def _speak(self, connection: socket.socket) -> None:
        for part in self.script():
            left = memoryview(part)
            while left:
                if self._is_over.is_set():
                    return
                try:
                    sent = connection.send(left)
                except TimeoutError:
                    continue
                self.sent_bytes += sent
                left = left[sent:]
            if self._is_over.wait(self.pause_s):
                return


def head(status: str = "200 OK", kind: str = "text/event-stream", **fields: str) -> bytes:
    """The head of a response that ends with the connection; `_` in a name stands for `-`."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def forever(part: bytes) -> Iterator[bytes]:
    """Endless repetition."""
    while True:
        yield part
