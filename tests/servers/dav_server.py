"""A small WebDAV server for tests, with ids and ETags of folders as Nextcloud has them, and faults.

    with DavServer() as cloud:
        cloud.write("Reports/a.txt", "text")
        cloud.url()

`files` may be changed at any time. `asked` holds the requests as (method, target, depth). For
WebDAV as another program has it there is `wsgidav`; this one is for what that can't do.
"""

import base64
import email.utils
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import quote, unquote
from xml.sax.saxutils import escape

from tests.servers.loopback_server import LoopbackHandler, LoopbackServer

PREFIX = "/remote.php/dav/files/ann"
Fault = Callable[[Any], bool]


@dataclass
class DavFile:
    """A file with its id and version; `declared` is the size that is listed, if it is another."""

    content: bytes
    file_id: str
    version: int
    declared: int | None = None


@dataclass
class DavServer(LoopbackServer):
    """Listens between `__enter__` and `__exit__`."""

    has_ids: bool = True
    has_sync: bool = False
    has_etags: bool = True
    password: str = "secret"
    files: dict[str, DavFile] = field(default_factory=dict[str, DavFile])
    asked: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    # By the path, or "" for all: answers in place of the server, and says so; None is taken out.
    faults: dict[tuple[str, str], Fault] = field(default_factory=dict[tuple[str, str], Fault])
    sent_bytes: int = 0

    def __post_init__(self) -> None:
        super().__init__(Handler)
        self._numbers = count(1)
        self.history: list[tuple[int, str]] = []
        self.lock = threading.RLock()

    def url(self, folder: str = "") -> str:
        return f"http://127.0.0.1:{self.port}{PREFIX}/{quote(folder)}"

    def write(self, path: str, text: str | bytes, declared: int | None = None) -> None:
        content = text.encode() if isinstance(text, str) else text
        with self.lock:
            number = next(self._numbers)
            known = self.files.get(path)
            file_id = known.file_id if known else str(number)
            self.files[path] = DavFile(content, file_id, number, declared)
            self.history.append((number, path))

    def move(self, before: str, now: str) -> None:
        with self.lock:
            number = next(self._numbers)
            for path in [p for p in self.files if p == before or p.startswith(f"{before}/")]:
                target = now + path[len(before) :]
                self.files[target] = self.files.pop(path)
                self.history += [(number, path), (number, target)]

    def delete(self, path: str) -> None:
        with self.lock:
            number = next(self._numbers)
            for each in [p for p in self.files if p == path or p.startswith(f"{path}/")]:
                del self.files[each]
            self.history.append((number, path))

    def asked_for(self, method: str) -> list[str]:
        """The paths of all requests of a method, below the folder of the user."""
        targets = [target for m, target, _ in self.asked if m == method]
        return [unquote(t.removeprefix(PREFIX)).strip("/") for t in targets]

    # --- what is listed --------------------------------------------------------------------------

    def folders(self) -> set[str]:
        found = {""}
        for path in self.files:
            above = path.split("/")[:-1]
            found |= {"/".join(above[: n + 1]) for n in range(len(above))}
        return found

    def listing(self, folder: str, depth: str) -> str:
        prefix = f"{folder}/" if folder else ""
        rows = [self.folder_row(folder)]
        if depth != "0":
            below = {p.removeprefix(prefix) for p in self.files if p.startswith(prefix)}
            names = sorted({name.split("/")[0] for name in below})
            for name in names:
                path = f"{prefix}{name}"
                rows.append(self.file_row(path) if path in self.files else self.folder_row(path))
        return multistatus("".join(rows))

    def folder_row(self, path: str) -> str:
        prefix = f"{path}/" if path else ""
        number = max((n for n, p in self.history if p.startswith(prefix)), default=0)
        props = "<d:resourcetype><d:collection/></d:resourcetype>"
        if self.has_ids:
            props += f"<oc:fileid>{hash(path) % 10**6}x</oc:fileid>"
            props += f'<d:getetag>"f{number}"</d:getetag>'
        if self.has_sync and not path:
            props += (
                "<d:supported-report-set><d:supported-report><d:report><d:sync-collection/>"
                "</d:report></d:supported-report></d:supported-report-set>"
            )
        return response(f"{path}/" if path else "", props)

    def file_row(self, path: str) -> str:
        file = self.files[path]
        size = len(file.content) if file.declared is None else file.declared
        props = f"<d:resourcetype/><d:getcontentlength>{size}</d:getcontentlength>"
        props += "<d:getlastmodified>Mon, 01 Jan 2024 00:00:00 GMT</d:getlastmodified>"
        if self.has_etags:
            props += f'<d:getetag>"{file.version}-{file.file_id}"</d:getetag>'
        if self.has_ids:
            props += f"<oc:fileid>{file.file_id}</oc:fileid>"
        return response(path, props)

    def changes(self, since: int) -> str:
        changed = dict.fromkeys(path for number, path in self.history if number > since)
        rows = [
            self.file_row(path) if path in self.files else gone(path)
            for path in (changed if since else self.files)
        ]
        latest = self.history[-1][0] if self.history else 1
        return multistatus("".join(rows), f"<d:sync-token>t{latest}</d:sync-token>")


def multistatus(rows: str, more: str = "") -> str:
    space = 'xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"'
    return f'<?xml version="1.0"?><d:multistatus {space}>{rows}{more}</d:multistatus>'


def response(path: str, props: str) -> str:
    href = escape(quote(f"{PREFIX}/{path}"))
    return (
        f"<d:response><d:href>{href}</d:href><d:propstat><d:prop>{props}</d:prop>"
        "<d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
    )


def gone(path: str) -> str:
    href = escape(quote(f"{PREFIX}/{path}"))
    return f"<d:response><d:href>{href}</d:href><d:status>HTTP/1.1 404 No</d:status></d:response>"


class Handler(LoopbackHandler):
    """Answers requests; a fault of the server may take over."""

    @property
    def cloud(self) -> DavServer:
        assert isinstance(self.owner, DavServer)
        return self.owner

    @property
    def place(self) -> str:
        return unquote(self.path.removeprefix(PREFIX)).strip("/")

    def _begin(self) -> bytes | None:
        """The body of a request that is to be answered; None when a fault did."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.cloud.asked.append((self.command, self.path, self.headers.get("Depth", "")))
        for place in (self.place, ""):
            fault = self.cloud.faults.get((self.command, place))
            if fault and fault(self):
                return None
        login = base64.b64encode(f"ann:{self.cloud.password}".encode()).decode()
        if self.cloud.password and self.headers.get("Authorization") != f"Basic {login}":
            self.answer(401)
            return None
        return body

    def do_PROPFIND(self) -> None:  # noqa: N802
        if self._begin() is None:
            return
        with self.cloud.lock:
            if self.place in self.cloud.folders():
                text = self.cloud.listing(self.place, self.headers.get("Depth", "1"))
                self.answer(207, text.encode())
            elif self.place in self.cloud.files:
                self.answer(207, multistatus(self.cloud.file_row(self.place)).encode())
            else:
                self.answer(404)

    def do_REPORT(self) -> None:  # noqa: N802
        body = self._begin()
        if body is None:
            return
        token = body.decode().partition("<d:sync-token>")[2].partition("<")[0]
        with self.cloud.lock:
            self.answer(207, self.cloud.changes(int(token.removeprefix("t") or 0)).encode())

    def do_GET(self) -> None:  # noqa: N802
        if self._begin() is None:
            return
        with self.cloud.lock:
            file = self.cloud.files.get(self.place)
        if file is None:
            self.answer(404)
            return
        etag = {"ETag": f'"{file.version}-{file.file_id}"'} if self.cloud.has_etags else {}
        self.cloud.sent_bytes += len(file.content)
        self.answer(200, file.content, etag)

    def answer(self, status: int, body: bytes = b"", headers: Any = None) -> bool:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        return True


def says(status: int, times: int = 10**9, **headers: str) -> Fault:
    """A fault: this status, so many times."""
    left = count(1)

    def fault(handler: Any) -> bool:
        if next(left) > times:
            return False
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return handler.answer(status, b"", named)

    return fault


def cut_off(handler: Any) -> bool:
    """A fault: the connection ends in the middle of the body."""
    handler.send_response(207 if handler.command == "PROPFIND" else 200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"<?xml")
    handler.close_connection = True
    return True


def date_after(seconds: float, skew_s: float = 0.0) -> str:
    """A date of HTTP, by a clock that is off by `skew_s`."""
    return email.utils.formatdate(time.time() + seconds + skew_s, usegmt=True)
