"""A stand-in for Google's login and Drive, written from their documentation; served on loopback.

with DriveServer() as drive:
    drive.put("f1", "Notes.txt", b"text")
    drive.agree    # what a person's browser does with the address of the login
"""

import base64
import hashlib
import http.client
import json
import threading
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.servers.dav_server import Fault
from tests.servers.loopback_server import LoopbackHandler, LoopbackServer

FOLDER = "application/vnd.google-apps.folder"
DOCUMENT = "application/vnd.google-apps.document"


@dataclass
class DriveServer(LoopbackServer):
    """Listens between `__enter__` and `__exit__`; `logins` are the tokens that it gave out."""

    files: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    contents: dict[str, bytes] = field(default_factory=dict[str, bytes])
    faults: dict[str, Fault] = field(default_factory=dict[str, Fault])
    asked: list[str] = field(default_factory=list[str])
    is_willing: bool = True
    change: int = 1
    challenge: str = ""
    refresh_token: str = "r-1"

    def __post_init__(self) -> None:
        super().__init__(Handler)
        self.browsers: list[threading.Thread] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def put(
        self, file_id: str, name: str, content: bytes = b"", kind: str = "text/plain",
        parent: str = "root", **more: Any,
    ) -> None:  # fmt: skip
        self.change += 1
        row = {
            "id": file_id, "name": name, "mimeType": kind, "parents": [parent] if parent else [],
            "modifiedTime": f"2024-05-01T10:00:{self.change:02}.000Z",
            "webViewLink": f"https://drive.example/{file_id}",
        }  # fmt: skip
        if not kind.startswith("application/vnd.google-apps"):
            digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
            row |= {"md5Checksum": digest, "size": str(len(content))}
        self.files[file_id] = row | more
        self.contents[file_id] = content

    def delete(self, file_id: str) -> None:
        self.change += 1
        del self.files[file_id]

    def agree(self, address: str) -> bool:
        """Do what a browser does when its person agrees, or does not."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert query["code_challenge_method"] == "S256"
        self.challenge = query["code_challenge"]
        back = {"state": query["state"]}
        back |= {"code": "c-1"} if self.is_willing else {"error": "access_denied"}
        port = int(query["redirect_uri"].rpartition(":")[2])
        browser = threading.Thread(target=_visit, args=(port, f"/?{urlencode(back)}"))
        browser.start()
        self.browsers.append(browser)
        return True


def _visit(port: int, target: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", target)
    connection.getresponse().read()
    connection.close()


class Handler(LoopbackHandler):
    """Answers requests; a fault of the server may take over."""

    @property
    def drive(self) -> DriveServer:
        assert isinstance(self.owner, DriveServer)
        return self.owner

    def do_POST(self) -> None:  # noqa: N802
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        sent = {name: values[0] for name, values in parse_qs(body).items()}
        self.drive.asked.append(self.path)
        answer = {"access_token": "a-1", "expires_in": 3600}
        if sent["grant_type"] == "authorization_code":
            digest = hashlib.sha256(sent["code_verifier"].encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            is_right = challenge == self.drive.challenge and sent["client_secret"] == "secret"
            answer["refresh_token"] = self.drive.refresh_token
        else:
            is_right = sent["refresh_token"] == self.drive.refresh_token
        error = b'{"error": "invalid_grant"}'
        self.answer(200 if is_right else 400, json.dumps(answer).encode() if is_right else error)

    def do_GET(self) -> None:  # noqa: N802
        self.drive.asked.append(self.path)
        for beginning, fault in list(self.drive.faults.items()):
            if self.path.startswith(beginning) and fault(self):
                return
        if self.headers.get("Authorization") != "Bearer a-1":
            self.answer(401)
            return
        place = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(place.query).items()}
        now = self.drive.change
        match place.path.removeprefix("/drive/v3/").split("/"):
            case ["changes", "startPageToken"]:
                self.say({"startPageToken": f"t{now}"})
            case ["changes"]:
                is_same = query["pageToken"] == f"t{now}"
                self.say({"changes": [] if is_same else [{}], "newStartPageToken": f"t{now}"})
            case ["files"]:
                begun, rows = int(query.get("pageToken", "0")), list(self.drive.files.values())
                more = {"nextPageToken": f"{begun + 2}"} if begun + 2 < len(rows) else {}
                self.say({"files": rows[begun : begun + 2], **more})
            case ["files", file_id, *_] if file_id in self.drive.files:
                self.answer(200, self.drive.contents[file_id])
            case _:
                self.answer(404)

    def say(self, value: object) -> None:
        self.answer(200, json.dumps(value).encode())

    def answer(self, status: int, body: bytes = b"", headers: Any = None) -> bool:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        return True
