"""An X server and a session bus of a test's own. Tests that need one are skipped without it."""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

import pytest

_START_S = 20.0
_POLL_S = 0.1


@contextmanager
def x_server() -> Generator[str]:
    """The name of the display of an X server without a screen."""
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed")
    reading, writing = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    try:
        with os.fdopen(reading) as told:
            yield f":{told.readline().strip()}"
    finally:
        server.terminate()
        server.wait(_START_S)


@contextmanager
def session_bus(monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    """The address of a bus that is this test's session bus."""
    if shutil.which("dbus-daemon") is None:
        pytest.skip("dbus-daemon is not installed")
    daemon = subprocess.Popen(
        ["dbus-daemon", "--session", "--nofork", "--print-address"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert daemon.stdout
        address = daemon.stdout.readline().strip()
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        yield address
    finally:
        daemon.terminate()
        daemon.communicate(timeout=_START_S)


def press(display: str, keys: str) -> None:
    """Press keys as xdotool names them, such as `ctrl+alt+space`."""
    if shutil.which("xdotool") is None:
        pytest.skip("xdotool is not installed")
    subprocess.run(["xdotool", "key", keys], env={**os.environ, "DISPLAY": display}, check=True)


def visible_windows() -> set[str]:
    """The titles of the windows shown on the display of the environment."""
    if shutil.which("xdotool") is None:
        pytest.skip("xdotool is not installed")
    command = ["xdotool", "search", "--onlyvisible", "--name", ".", "getwindowname", "%@"]
    return set(
        subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    )


def wait_for_windows(titles: set[str]) -> None:
    """Return once exactly these windows are shown; fails after a while."""
    deadline = time.monotonic() + _START_S
    while (shown := visible_windows()) != titles:
        assert time.monotonic() < deadline, shown
        threading.Event().wait(_POLL_S)
