"""The app in a process of its own is ended from outside, window open or not."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.core.paths import Home
from desktop_rag.running_app import ask_running_app
from tests.command_line import run, run_json, wait_for_window

_ENOUGH_S = 50.0


@pytest.fixture(params=["window", "background"])
def app(request: pytest.FixtureRequest, home: Home) -> Iterator["subprocess.Popen[bytes]"]:
    options = ["--background"] if request.param == "background" else []
    command = [sys.executable, "-m", "desktop_rag", *options]
    opened = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        wait_for_window(home, opened)
        yield opened
    finally:
        opened.kill()
        opened.communicate()


def ends_cleanly(app: "subprocess.Popen[bytes]") -> bool:
    """True when it ends well, and DuckDB, which looks for what was not closed, has no complaint."""
    assert app.stderr
    return app.wait(_ENOUGH_S) == 0 and b"leaked" not in app.stderr.read()


def test_quit_ends_it(app: "subprocess.Popen[bytes]", home: Home) -> None:
    assert run("quit").returncode == 0
    assert ends_cleanly(app)
    assert ask_running_app(home, "raise", {}) == (False, None)


def test_a_signal_ends_it(app: "subprocess.Popen[bytes]") -> None:
    app.terminate()
    assert ends_cleanly(app)


def test_a_second_start_and_a_quick_ask_reach_it(
    app: "subprocess.Popen[bytes]", home: Home
) -> None:
    assert run().returncode == 0
    assert run("quick-ask", "When?").returncode == 0
    assert run("open-url", "desktop-rag://ask?q=Why").returncode == 0
    refused = run("open-url", "https://example.com")
    assert refused.returncode == 1
    assert "not one of desktop-rag" in refused.stderr
    assert run("quit").returncode == 0
    assert ends_cleanly(app)
    assert not [log.name for log in home.logs.iterdir() if "Traceback" in log.read_text()]


def test_a_folder_is_indexed_by_it(
    app: "subprocess.Popen[bytes]", home: Home, tmp_path: Path
) -> None:
    (folder := tmp_path / "papers").mkdir()
    (folder / "lamp.md").write_text("The lamp is lit at dusk by the keeper.")
    report = run_json("index", str(folder), "--collection", "Harbour")
    assert (report["files"], report["searchable"]) == (1, 1)
    assert run_json("index", str(folder), "--collection", "Harbour")["files"] == 1
    assert "dusk" in run_json("ask", "When is the lamp lit?")["answer"]
    assert app.poll() is None


def test_without_an_app_there_is_nothing_to_quit(home: Home) -> None:
    home.create()
    assert run("quit").returncode == 1
