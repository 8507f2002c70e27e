"""S-12: no telemetry. Every way into the app runs under strace, which sees what native code
resolves, connects to and writes.
"""

import contextlib
import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import HOME_VARIABLE, Home
from desktop_rag.core.settings import Settings
from tests.command_line import run_json, wait_for_window
from tests.servers.chat_server import ChatServer
from tests.servers.tiny_llama import write_model
from tests.unit.ingest.read.pdf_samples import rendered

pytestmark = [
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed"),
    pytest.mark.timeout(120),
]

needs_a_runtime = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None, reason="the extra `local-model` is not installed"
)
_CALLS = "connect,sendto,sendmsg,sendmmsg,open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2"
# Kernel interfaces that are not connections: routes, network interfaces, devices.
_LOCAL_FAMILY = "AF_NETLINK"
# Allowed inside the test's folder: the app's home and temporary files. Not the user's home.
_OUR_FOLDERS = ("home", "temporary")
_DEVICES = ("/dev/", "/proc/")
_WRITES = re.compile(r"O_CREAT|O_WRONLY|O_RDWR")
_DIALOGUE = re.compile(r"\b(connect|sendto|sendmsg|sendmmsg)\(.*AF_(INET|INET6|UNIX|NETLINK)")
_INTERNET = re.compile(r'connect\(.*sin_port=htons\((\d+)\), sin_addr=inet_addr\("([\d.]+)"\)')
_ENOUGH_S = 60.0

LIBRARY_USE = """
import sys
from pathlib import Path
from desktop_rag.models.embedding.joined_embedding import OnnxEmbedder
print(OnnxEmbedder(Path(sys.argv[1])).embed_passages(["The lamp is lit."]).shape)
"""
MODEL = Path(__file__).parents[3] / "resources" / "models" / "all-MiniLM-L6-v2"


class Trace:
    """The system calls of a process and its children."""

    def __init__(self, room: Path) -> None:
        self._room = room
        self._log = room / "strace.log"

    def command(self, arguments: Sequence[str]) -> list[str]:
        """The traced command that runs Python with these arguments."""
        watching = ["-f", "--seccomp-bpf", "-y", "-qq", "-e", f"trace={_CALLS}"]
        return ["strace", *watching, "-o", str(self._log), sys.executable, *arguments]

    def lines(self) -> list[str]:
        """One call per line."""
        return self._log.read_text(errors="replace").splitlines()

    def connections(self) -> list[str]:
        """Every attempt to communicate: hosts, resolvers, sockets of other programs."""
        spoken = [line for line in self.lines() if _DIALOGUE.search(line)]
        return [c for c in spoken if _LOCAL_FAMILY not in c and str(self._room) not in c]

    def foreign_files(self) -> list[str]:
        """Every file and folder created or written outside the test's folder."""
        made = [line for line in self.lines() if _WRITES.search(line) or " mkdir" in line]
        # The first half of a call that another thread interrupted has the path.
        made = [line for line in made if "= -1" not in line and " resumed>" not in line]
        return [line for line in made if not self._is_ours(line)]

    def _is_ours(self, line: str) -> bool:
        # With -y the result of an open call is followed by its path.
        where = re.findall(r"= \d+<([^>]*)>|\"([^\"]+)\"", line)
        path = [a or b for a, b in where][-1]
        ours = (str(self._room / folder) for folder in _OUR_FOLDERS)
        return path.startswith((*ours, *_DEVICES))


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A separate home folder with a document and an image."""
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "lamp.md").write_text("# Lamp\n\nThe lamp is lit at dusk.", encoding="utf-8")
    _write_picture(documents / "sign.png")
    places = {"HOME": "user", "TMPDIR": "temporary", "XDG_RUNTIME_DIR": "runtime"}
    for variable, name in places.items():
        (tmp_path / name).mkdir(mode=0o700)
        monkeypatch.setenv(variable, str(tmp_path / name))
    for variable in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    return tmp_path


def _write_picture(path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="the extra `ocr` is not installed")
    width, height, rgb = rendered("The treasurer keeps the keys")
    image.frombytes("RGB", (width, height), rgb).crop((0, 0, width, 400)).save(path)


def _assert_private(trace: Trace) -> None:
    assert len(trace.lines()) > 100
    assert trace.connections() == []
    assert trace.foreign_files() == []


def test_the_command_line_and_the_parser_tell_nobody(room: Path) -> None:
    trace = Trace(room)
    arguments = ["-m", "desktop_rag", "index", str(room / "documents"), "--json"]
    done = subprocess.run(trace.command(arguments), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert '"embedded_chunks": 2' in done.stdout, done.stdout
    _assert_private(trace)


def test_library_use_tells_nobody(room: Path) -> None:
    trace = Trace(room)
    command = trace.command(["-c", LIBRARY_USE, str(MODEL)])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "(1, 384)", done.stderr
    _assert_private(trace)


def test_the_window_tells_nobody(room: Path) -> None:
    trace = Trace(room)
    run_json("index", str(room / "documents" / "lamp.md"))
    with _window(trace, Home(room / "home")):
        answer = run_json("ask", "When is the lamp lit?")
        assert "dusk" in answer["answer"]
    _assert_private(trace)


def test_an_answer_goes_to_the_addresses_of_the_privacy_page_and_nowhere_else(room: Path) -> None:
    home = Home(room / "home")
    run_json("index", str(room / "documents" / "lamp.md"))
    with ChatServer("It is lit at dusk [1].") as server:
        endpoint = server.endpoint()
        save_settings(home.settings, Settings(endpoint=endpoint))
        rows = run_json("privacy")
        listed = {address for row in rows if row["state"] == "on" for address in row["addresses"]}
        trace = Trace(room)
        command = trace.command(["-m", "desktop_rag", "ask", "When is the lamp lit?", "--json"])
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert server.chats
    assert done.returncode == 0, done.stderr
    assert listed == {server.base_url}
    contacted = {_target(line) for line in trace.connections()}
    assert contacted == {urlsplit(server.base_url).netloc}


@needs_a_runtime
def test_models_are_listed_and_added_without_a_network(room: Path) -> None:
    write_model(room / "documents" / "lamp.gguf")
    trace = Trace(room)
    with _window(trace, Home(room / "home")):
        assert run_json("model", "list")["offered"]
        assert run_json("model", "add", str(room / "documents" / "lamp.gguf"))["name"] == "lamp"
    _assert_private(trace)


@needs_a_runtime
def test_a_model_of_this_computer_is_asked_over_loopback_alone(room: Path) -> None:
    write_model(room / "documents" / "lamp.gguf")
    run_json("model", "add", str(room / "documents" / "lamp.gguf"))
    trace = Trace(room)
    with _window(trace, Home(room / "home")):
        run_json("index", str(room / "documents" / "lamp.md"))
        assert run_json("model", "use", "lamp")["is_used"]
        assert run_json("ask", "When is the lamp lit?")["model"] == "lamp"
    assert {_target(line).partition(":")[0] for line in trace.connections()} == {"127.0.0.1"}


def _target(line: str) -> str:
    """`host:port` of a connection in a trace; the whole line of any other."""
    found = _INTERNET.search(line)
    return f"{found[2]}:{found[1]}" if found else line


@contextlib.contextmanager
def _window(trace: Trace, home: Home) -> Iterator[None]:
    """The window under strace, open and answering other processes."""
    opened = subprocess.Popen(trace.command(["-m", "desktop_rag"]), stderr=subprocess.PIPE)
    try:
        wait_for_window(home, opened)
        yield
    finally:
        for child in psutil.Process(opened.pid).children():
            child.terminate()
        opened.communicate(timeout=_ENOUGH_S)
