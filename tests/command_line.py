"""The command line as other programs use it: arguments, an exit code, one JSON document.

`run` calls it in this process, which saves a start; `run_process` is for tests that need a separate
process: locks, signals, another process that answers.
"""

import io
import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from desktop_rag.app import Services
from desktop_rag.cli.main import main
from desktop_rag.cli.running import answer_others
from desktop_rag.core.paths import Home
from desktop_rag.running_app import ask_running_app

Done = subprocess.CompletedProcess[str]

_WINDOW_S = 60.0
_POLL_S = 0.1


def run(*arguments: str) -> Done:
    """The result of `desktop-rag` with these arguments."""
    out, err = io.StringIO(), io.StringIO()
    mask = os.umask(0o077)
    os.umask(mask)
    with logging_of_its_own(), redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(arguments)
        except SystemExit as wrong_use:
            code = int(wrong_use.code or 0)
        finally:
            os.umask(mask)  # the program keeps its files private, the tests need not
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


@contextmanager
def answering(services: Services) -> Iterator[None]:
    """The services run the verbs of others, as those of an open window do."""
    with closing(answer_others(services, lambda: None)):
        yield


def run_process(*arguments: str) -> Done:
    """The same in a separate process."""
    command = [sys.executable, "-m", "desktop_rag", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=50)


def run_json(*arguments: str) -> Any:
    """The JSON document it printed."""
    return document_of(run(*arguments, "--json"))


def document_of(done: Done) -> Any:
    """The document in the output of a successful run."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def settled(folder: Path) -> Path:
    """The folder, its files an hour old: a scan waits until a new one is left alone."""
    hour_ago = time.time() - 3600
    for path in folder.rglob("*"):
        os.utime(path, (hour_ago, hour_ago))
    return folder


@contextmanager
def logging_of_its_own() -> Iterator[None]:
    """Log handlers as in a new process; the test's own are restored at the end."""
    root, ours = logging.getLogger(), logging.getLogger("desktop_rag")
    before, levels = root.handlers[:], (root.level, ours.level)
    root.handlers.clear()
    try:
        yield
    finally:
        for handler in root.handlers:
            handler.close()
        root.handlers[:] = before
        root.setLevel(levels[0])
        ours.setLevel(levels[1])


def wait_for_window(home: Home, window: subprocess.Popen[bytes]) -> None:
    """Return once the window of another process answers; fails when it ends or takes a minute."""
    deadline = time.monotonic() + _WINDOW_S
    while not ask_running_app(home, "nothing", {})[0]:
        assert window.poll() is None, window.communicate()
        assert time.monotonic() < deadline, "the window did not open"
        threading.Event().wait(_POLL_S)
