"""A host of models on this computer, for tests: states the hash, and sends the file by ranges."""

import hashlib
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ModelHost:
    """Serves `content` as the host of models does: a redirect that states the hash, then the file.

    After `most` bytes it waits until `goes_on` is set, or closes the connection with `breaks`.
    So many requests for the file are `refused` with a status and the seconds to wait.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.stated, self.size = hashlib.sha256(content).hexdigest(), len(content)
        self.most, self.breaks, self.knows_ranges = 1 << 30, 0, True
        self.refused, self.refusal = 0, (429, "0.1")
        self.goes_on = threading.Event()
        self.requests: list[tuple[str, str, str]] = []
        self.sent_bytes = 0
        host = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                host.head(self)

            def do_GET(self) -> None:
                host.get(self)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.goes_on.set()
        self._server.shutdown()
        self._server.server_close()

    def head(self, request: BaseHTTPRequestHandler) -> None:
        self.requests.append(("HEAD", request.path, ""))
        request.send_response(302)
        if self.stated:
            request.send_header("X-Linked-Etag", f'"{self.stated}"')
        request.send_header("X-Linked-Size", str(self.size))
        request.send_header("Location", "/store/blob")
        request.send_header("Content-Length", "0")
        request.end_headers()

    def get(self, request: BaseHTTPRequestHandler) -> None:
        asked = request.headers.get("Range", "")
        self.requests.append(("GET", request.path, asked))
        if request.path != "/store/blob":
            request.send_response(302)
            request.send_header("Location", "/store/blob")
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        if self.refused:
            self.refused -= 1
            status, wait_s = self.refusal
            request.send_response(status)
            request.send_header("Retry-After", wait_s)
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        begin = int(re.findall(r"\d+", asked)[0]) if asked and self.knows_ranges else 0
        request.send_response(206 if begin else 200)
        request.send_header("Content-Length", str(len(self.content) - begin))
        request.end_headers()
        for at in range(begin, len(self.content), 65_536):
            if self.sent_bytes >= self.most:
                if self.breaks:
                    self.breaks -= 1
                    self.most = 1 << 30
                    request.close_connection = True
                    return
                self.goes_on.wait(30)
            piece = self.content[at : at + 65_536]
            try:
                request.wfile.write(piece)
            except OSError:
                return
            self.sent_bytes += len(piece)
