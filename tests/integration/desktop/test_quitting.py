"""The app in a process of its own is ended from outside, window open or not."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from desktop_rag.core.paths import Home
from desktop_rag.running_app import ask_running_app
from tests.command_line import run, wait_for_window

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


def test_quit_ends_it(app: "subprocess.Popen[bytes]", home: Home) -> None:
    assert run("quit").returncode == 0
    assert app.wait(_ENOUGH_S) == 0
    assert ask_running_app(home, "raise", {}) == (False, None)


def test_a_signal_ends_it(app: "subprocess.Popen[bytes]") -> None:
    app.terminate()
    assert app.wait(_ENOUGH_S) == 0


def test_a_second_start_and_a_quick_ask_reach_it(app: "subprocess.Popen[bytes]") -> None:
    assert run().returncode == 0
    assert run("quick-ask", "When?").returncode == 0
    assert run("open-url", "desktop-rag://ask?q=Why").returncode == 0
    refused = run("open-url", "https://example.com")
    assert refused.returncode == 1
    assert "not one of desktop-rag" in refused.stderr
    assert app.poll() is None


def test_without_an_app_there_is_nothing_to_quit(home: Home) -> None:
    home.create()
    assert run("quit").returncode == 1
