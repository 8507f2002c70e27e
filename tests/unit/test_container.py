"""What the files of the container promise: no root, one volume, one port, no Qt, nothing unpinned.

They are read, not built: that the base image starts, that compose starts both services, and that
the model server answers is not checked here. `packaging/container/try_steps.py` runs the steps.
"""

# The folder of the container is no package.
# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownParameterType=false, reportUnknownArgumentType=false

import os
import re
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from desktop_rag.core.paths import Home
from tests.command_line import run, run_json, settled

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "packaging" / "container"
sys.path[:0] = [str(FOLDER), str(FOLDER.parent)]

from build_sbom import lock_text  # noqa: E402
from containerfile import CONTAINERFILE, Instruction, instructions, last_stage  # noqa: E402
from health import is_well  # noqa: E402
from server_lock import server_lock  # noqa: E402

_PORT = "8642"


@pytest.fixture
def image() -> list[Instruction]:
    """The instructions of the image itself."""
    return last_stage(instructions(CONTAINERFILE.read_text("utf-8")))


@pytest.fixture
def service() -> dict[str, Any]:
    """The service of the compose example."""
    return yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))["services"]["desktop-rag"]


def of(image: list[Instruction], name: str) -> list[Instruction]:
    return [each for each in image if each.name == name]


def test_the_server_runs_as_a_user_without_rights(image: list[Instruction]) -> None:
    [user] = of(image, "USER")
    assert re.search(rf"--uid 10001 .* {user.text}(?: |$)", " ".join(r.text for r in image))
    later = image[image.index(user) :]
    assert not {"RUN", "COPY", "ADD"} & {each.name for each in later}, "the code stays root's"


def test_there_are_one_volume_one_port_and_a_check(image: list[Instruction]) -> None:
    assert [each.words for each in of(image, "VOLUME")] == [["/data"]]
    assert of(image, "ENV")[0].pairs["DESKTOP_RAG_HOME"] == "/data"
    assert [each.text for each in of(image, "EXPOSE")] == [_PORT]
    [command] = of(image, "CMD")
    assert command.words == ["serve", "--host", "0.0.0.0", "--port", _PORT]
    [check] = of(image, "HEALTHCHECK")
    assert "health.py" in check.text


def test_bases_are_slim_and_everything_installed_is_pinned() -> None:
    read = instructions(CONTAINERFILE.read_text("utf-8"))
    assert {each.words[0] for each in of(read, "FROM")} == {"python:3.11-slim"}
    lines = [line for each in of(read, "RUN") for line in each.text.split("&&")]
    installs = [line for line in lines if "pip " in line]
    assert installs
    for line in installs:
        assert "--no-deps" in line
        assert "--require-hashes" in line or "--no-index" in line
    assert not any("apt" in each.text for each in of(read, "RUN"))


@pytest.mark.slow
def test_what_is_installed_is_the_lock_without_the_window() -> None:
    for name, is_for_tools in (("requirements.txt", False), ("build-requirements.txt", True)):
        written = (FOLDER / name).read_text("utf-8")
        assert written == server_lock(lock_text(), is_for_tools=is_for_tools), "make container-lock"
        assert "pyside" not in written.lower()
        assert "shiboken" not in written.lower()


def test_what_is_copied_is_there_and_is_sent_to_the_build() -> None:
    sent = (FOLDER / "Containerfile.dockerignore").read_text("utf-8").splitlines()
    for each in of(instructions(CONTAINERFILE.read_text("utf-8")), "COPY"):
        if each.words[0].startswith("--from"):
            continue
        for source in each.words[:-1]:
            assert (ROOT / source).exists(), source
            assert any(source.startswith(line.removeprefix("!")) for line in sent if line[0] == "!")


def test_the_example_opens_nothing_to_the_network(service: dict[str, Any]) -> None:
    assert service["ports"] == [f"127.0.0.1:{_PORT}:{_PORT}"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert [v for v in service["volumes"] if not v.endswith(":ro")] == ["library:/data"]
    assert not service.get("privileged")
    text = (FOLDER / "compose.yaml").read_text("utf-8")
    assert "docker.sock" not in text
    others = yaml.safe_load(text)["services"]
    assert all("ports" not in each for name, each in others.items() if name != "desktop-rag")


@pytest.mark.slow
def test_no_verb_but_the_window_imports_qt(home: Home, tmp_path: Path) -> None:
    # Where Qt is not installed every import of it fails, as it does here.
    (tmp_path / "PySide6.py").write_text("raise ImportError('there is no Qt')")
    (tmp_path / "lamp").mkdir()
    (tmp_path / "lamp" / "lamp.md").write_text("The lamp is lit at dusk.")
    settled(tmp_path / "lamp")
    environment = os.environ | {
        "DESKTOP_RAG_HOME": str(home.root), "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}",
    }  # fmt: skip

    server = subprocess.Popen(
        [sys.executable, "-m", "desktop_rag", "serve", "--port", "0"], env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stderr
    heard = ""
    while "Serving at" not in heard:
        line = server.stderr.readline()
        assert line, heard
        heard += line
    found = re.search(r"Serving at http://127\.0\.0\.1:(\d+)", heard)
    assert found
    assert is_well(int(found[1]))
    # The command line reaches the server that runs.
    assert run_json("index", str(tmp_path / "lamp"))["searchable"] == 1
    # A change of the settings, in which the server is off, does not turn it off.
    assert run("endpoint", "add", "http://127.0.0.1:9/v1", "--model", "none").returncode == 0
    assert is_well(int(found[1]))
    secret = run_json("token", "add", "first", "--allow", "admin")["token"]
    server.send_signal(signal.SIGTERM)
    rest = server.communicate(timeout=50)[1]
    assert server.returncode == 0
    assert secret
    assert secret not in heard + rest


@pytest.mark.slow
def test_the_check_tells_a_sick_server() -> None:
    class Sick(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(503)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Sick) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        port = server.server_address[1]
        assert not is_well(port)
        server.shutdown()
        thread.join()
    assert not is_well(port), "nobody listens"
