"""WebDAV as another program has it: wsgidav, over a folder of this computer."""

import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from wsgidav.wsgidav_app import WsgiDAVApp

from desktop_rag.core.library_events import ChangeSummary
from desktop_rag.core.paths import Home
from tests.remote_room import RemoteRoom

pytestmark = pytest.mark.slow


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    logging.getLogger("wsgidav").setLevel(logging.CRITICAL)
    folder = tmp_path / "shared"
    folder.mkdir()
    app: Any = WsgiDAVApp(
        {
            "provider_mapping": {"/": str(folder)},
            "simple_dc": {"user_mapping": {"*": {"ann": {"password": "secret"}}}},
            "http_authenticator": {"accept_digest": False, "default_to_digest": False},
            "verbose": 0,
            "logging": {"enable": False},
        }
    )
    server = make_server("127.0.0.1", 0, app, handler_class=_Quiet)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), name="wsgidav")
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def room(home: Home) -> Iterator[RemoteRoom]:
    made = RemoteRoom(home)
    made.start()
    yield made
    made.close()


def test_a_shared_folder_is_read_and_followed(room: RemoteRoom, shared: tuple[Path, str]) -> None:
    folder, address = shared
    (folder / "Reports").mkdir()
    for name in ("Reports/Größe & Maß.txt", "Reports/100%.txt", "a b.md"):
        (folder / name).write_text(f"This is {name}.", "utf-8")
    room.add_remote(address)
    assert room.settle_remote() == ChangeSummary(added=3)
    assert room.texts()["Reports/Größe & Maß.txt"] == "This is Reports/Größe & Maß.txt."
    assert room.again() == ChangeSummary(unchanged=3)
    (folder / "a b.md").rename(folder / "Reports" / "b.md")
    (folder / "Reports" / "100%.txt").unlink()
    (folder / "new.txt").write_text("New.", "utf-8")
    assert room.again() == ChangeSummary(added=1, moved=1, gone=1, unchanged=1)
    assert set(room.texts()) == {"Reports/Größe & Maß.txt", "Reports/b.md", "new.txt"}


def test_a_wrong_password_is_refused(room: RemoteRoom, shared: tuple[Path, str]) -> None:
    room.add_remote(shared[1], "wrong")
    room.settle_remote()
    [notice] = room.heard.told
    assert notice.hint.startswith("The server refused the password.")
