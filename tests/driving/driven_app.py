"""The near side of a driven app: starts its process, sends commands, kills it. One thread uses it;
another may kill it.

    app = DrivenApp(home)
    app.open()
    app.call("start")
    asked = app.send("ask", question="…", conversation_id="")
    app.kill()

A reader thread takes every line off the pipe, so that what the app said before it was killed
counts, too.
"""

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from desktop_rag.core.paths import Home

_ROOT = Path(__file__).parents[2]
_OPEN_S = 120.0
_CALL_S = 120.0
_CHILDREN_S = 20.0

Said = dict[str, Any]


class AppFailedError(Exception):
    """The app refused to start, said that it has a bug, or does not answer."""


class DrivenApp:
    """One home and the process that has it open, if any."""

    def __init__(self, home: Home, environment: dict[str, str] | None = None) -> None:
        self.home = home
        self.bugs: list[str] = []
        self._environment = environment or {}
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._heard = threading.Condition()
        self._said: list[Said] = []
        self._has_ended = False
        self._number = 0

    @property
    def is_running(self) -> bool:
        """True until it was closed or killed."""
        return self._process is not None

    @property
    def pid(self) -> int:
        """The number of the running process."""
        assert self._process
        return self._process.pid

    def begin(self) -> None:
        """Start the process without waiting; `loaded` is said just before the library is opened."""
        keys = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
        self._said, self._has_ended = [], False
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.driving.app_process", str(self.home.root)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT,
            env=os.environ | keys | self._environment,
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()

    def open(self) -> Said:
        """Start the process and wait until its library is open; AppFailedError when it refuses."""
        self.begin()
        return self.wait_open()

    def wait_open(self) -> Said:
        """Wait for the library of a process that was begun."""
        said = self.wait_for(lambda s: s.get("event") in ("open", "refused"), _OPEN_S)
        if said["event"] == "refused":
            self.kill()
            raise AppFailedError(f"refused to start: {said['title']} {said['hint']}")
        return said

    def send(self, command: str, **fields: object) -> int:
        """Have a command begun; returns its number."""
        self._number += 1
        process = self._process
        if process is None or process.stdin is None:
            raise AppFailedError("the process was ended")
        line = json.dumps({"id": self._number, "do": command, **fields})
        try:
            process.stdin.write(line + "\n")
            process.stdin.flush()
        except (BrokenPipeError, ValueError) as exc:
            raise AppFailedError("the process has ended") from exc
        return self._number

    def result(self, number: int, timeout_s: float = _CALL_S) -> Any:
        """Wait for the result of a command; AppFailedError when it was refused or has a bug."""
        said = self.wait_for(
            lambda s: s.get("id") == number and ("result" in s or "refused" in s or "bug" in s),
            timeout_s,
        )
        if "result" not in said:
            raise AppFailedError(said.get("bug") or f"refused: {said['refused']}")
        return said["result"]

    def call(self, command: str, **fields: object) -> Any:
        """Send a command and wait for its result; what else it said is forgotten."""
        number = self.send(command, **fields)
        try:
            return self.result(number)
        finally:
            self.forget(number)

    def forget(self, number: int) -> None:
        """Keep nothing of what came of a command."""
        with self._heard:
            self._said = [said for said in self._said if said.get("id") != number]

    def said_of(self, number: int) -> list[Said]:
        """All that came of a command up to now."""
        with self._heard:
            return [said for said in self._said if said.get("id") == number]

    def wait_for(self, is_it: Callable[[Said], bool], timeout_s: float = _CALL_S) -> Said:
        """The first line that satisfies the condition, if need be a later one."""

        def found() -> Said | None:
            return next((said for said in self._said if is_it(said)), None)

        with self._heard:
            self._heard.wait_for(lambda: found() is not None or self._has_ended, timeout_s)
            said = found()
        if said is None:
            raise AppFailedError("it ended" if self._has_ended else "it does not answer")
        return said

    def close(self) -> None:
        """Close it as the person does."""
        self.call("close")
        self._reap()

    def kill(self) -> None:
        """End the process as `kill -9` does, and read what it still said. Idempotent.

        A parser process that lives on is a bug.
        """
        if self._process:
            children = psutil.Process(self._process.pid).children(recursive=True)
            self._process.kill()
            self._reap()
            left = psutil.wait_procs(children, _CHILDREN_S)[1]
            self.bugs += [f"{child} outlived the app" for child in left]

    def _reap(self) -> None:
        assert self._process
        assert self._process.stdin
        assert self._reader
        self._process.wait()
        self._reader.join()
        with contextlib.suppress(BrokenPipeError):  # what it never read
            self._process.stdin.close()
        self._process = None

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout
        with process.stdout:
            for line in process.stdout:
                with self._heard:
                    if line.endswith("\n"):  # not one that a kill has cut
                        self._said.append(said := json.loads(line))
                        if said.get("event") == "bug" or "bug" in said:
                            self.bugs.append(said.get("text") or said["bug"])
                    self._heard.notify_all()
        with self._heard:
            self._has_ended = True
            self._heard.notify_all()
