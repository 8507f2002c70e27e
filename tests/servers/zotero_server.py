"""A stand-in for the local API of Zotero, written from its documentation; served over loopback.

with ZoteroServer() as zotero:
    zotero.put("AAAA", "book", title="Boats")
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.servers.dav_server import Fault
from tests.servers.loopback_server import LoopbackHandler, LoopbackServer


@dataclass
class ZoteroServer(LoopbackServer):
    """Listens between `__enter__` and `__exit__`; `files` are by the key of their attachment."""

    rows: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    collections: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    files: dict[str, Path] = field(default_factory=dict[str, Path])
    faults: dict[str, Fault] = field(default_factory=dict[str, Fault])
    asked: list[str] = field(default_factory=list[str])
    version: int = 0

    def __post_init__(self) -> None:
        super().__init__(Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def put(self, key: str, kind: str, parsed: str = "", **data: Any) -> None:
        self.version += 1
        row = {"key": key, "version": self.version, "meta": {"parsedDate": parsed}}
        self.rows[key] = row | {"data": {"key": key, "itemType": kind, **data}}

    def collect(self, key: str, name: str, above: str = "") -> None:
        self.version += 1
        data = {"name": name, "parentCollection": above or False}
        self.collections[key] = {"key": key, "data": data}

    def delete(self, key: str) -> None:
        self.version += 1
        del self.rows[key]


class Handler(LoopbackHandler):
    """Answers requests; a fault of the server may take over."""

    def do_GET(self) -> None:  # noqa: N802
        zotero = self.owner
        assert isinstance(zotero, ZoteroServer)
        zotero.asked.append(self.path)
        for beginning, fault in list(zotero.faults.items()):
            if self.path.startswith(beginning) and fault(self):
                return
        place = urlsplit(self.path)
        query = {name: int(values[0]) for name, values in parse_qs(place.query).items()}
        first, most = query.get("start", 0), query.get("limit", 10**6)
        match place.path.removeprefix("/api/users/0/").split("/"):
            case ["items"]:
                rows = list(zotero.rows.values())[first : first + most]
                self.answer(200, json.dumps(rows).encode())
            case ["collections"]:
                rows = list(zotero.collections.values())[first : first + most]
                self.answer(200, json.dumps(rows).encode())
            case ["items", key, "file", "view", "url"] if key in zotero.files:
                self.answer(200, zotero.files[key].as_uri().encode())
            case _:
                self.answer(404)

    def answer(self, status: int, body: bytes = b"", headers: Any = None) -> bool:
        zotero = self.owner
        assert isinstance(zotero, ZoteroServer)
        self.send_response(status)
        self.send_header("Last-Modified-Version", str(zotero.version))
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        return True
