"""N-08: the key of an endpoint is in no file of the home, and in no process but the app's."""

import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from desktop_rag.core.paths import Home
from tests.driving.driven_app import DrivenApp
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
_KEY = "sk-canary-5be1f0c2a9d84713"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        server.wanted_key = _KEY
        yield server


@pytest.fixture
def app(tmp_path: Path) -> Iterator[DrivenApp]:
    app = DrivenApp(Home(tmp_path / "home"), {"DESKTOP_RAG_API_KEY": _KEY})
    app.open()
    yield app
    app.kill()


def processes_with_the_key(app_pid: int) -> list[str]:
    """The command lines that hold it, and the children whose environment does."""
    app = psutil.Process(app_pid)
    children = app.children(recursive=True)
    assert children, "the parser process runs"
    lines = [" ".join(process.cmdline()) for process in (app, *children)]
    shown = [line for line in lines if _KEY in line]
    return shown + [child.name() for child in children if _KEY in str(child.environ())]


def files_with_the_key(folder: Path) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 3
    return [str(path) for path in files if _KEY.encode() in path.read_bytes()]


@pytest.mark.timeout(180)
def test_n08_the_key_stays_in_the_process(
    app: DrivenApp, tmp_path: Path, server: ChatServer
) -> None:
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "lamp.md").write_text("The lamp is lit at dusk.")
    app.call("start")
    app.call("add_source", path=str(documents), collection="Papers")
    while not app.call("find", words=["dusk"])["dusk"]:
        app.call("is_idle", timeout_s=0.1)
    assert processes_with_the_key(app.pid) == []
    app.call("use_endpoint", base_url=server.base_url)
    answered = app.call("ask", question="When is the lamp lit?", conversation_id="", goes_on=True)
    assert (answered["error"], answered["is_excerpts"]) == ("", False)
    # A server that repeats the key in its error, which the answer and the log tell of.
    server.wanted_key, server.is_echoing_key = "another", True
    refused = app.call("ask", question="When is the lamp lit?", conversation_id="")
    assert refused["error"]
    assert files_with_the_key(app.home.root) == []
    app.close()
    assert files_with_the_key(app.home.root) == []
    assert server.requests[-1].headers["authorization"] == f"Bearer {_KEY}"
