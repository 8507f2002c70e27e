"""Runs a model in a process of its own, from its first request until it was unused for a while.

Any thread. A thread `model-server` lives as long as each process: on Linux a process ends with the
thread that started it.
"""

import json
import logging
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Lock, Timer
from typing import Any

import desktop_rag
from desktop_rag.core.changes import Changes
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.extras import way_to_install
from desktop_rag.core.files.own_files import object_in
from desktop_rag.core.records import LONGEST_LABEL
from desktop_rag.features.local_model.gguf_header import read_header
from desktop_rag.features.local_model.model_child import MARK
from desktop_rag.features.local_model.model_list import (
    ChosenModel,
    ModelList,
    ModelState,
    ModelStateChanged,
)
from desktop_rag.features.local_model.model_room import ModelRoom, check_room, this_computer
from desktop_rag.models.endpoint_address import OWN_ADDRESS
from desktop_rag.models.endpoints.client.allowances import ProfileBook
from desktop_rag.models.ports import Delta, ServedAt

log = logging.getLogger(__name__)

IDLE_S = 300.0
_POLL_S = 0.1
_END_S = 10.0
# Between the end of a connection and that of the process.
_FAULT_S = 2.0
_LONGEST_LINE_BYTES = 8192
_SECRET = re.compile(r"(?i)key|token|secret|password")
_MEMORY = re.compile(r"(?i)out of memory|failed to allocate|bad_alloc|unable to allocate")


def child_command() -> list[str]:
    """The command line of the process."""
    start = [] if getattr(sys, "frozen", False) else ["-m", "desktop_rag"]
    return [sys.executable, *start, "model", "serve"]


def is_installed() -> bool:
    """True when models can be run."""
    return find_spec("xllamacpp") is not None


class ModelServer:
    """An `OwnServer`. One model at a time; another one waits until no request is under way."""

    def __init__(
        self,
        models: ModelList,
        changes: Changes,
        profiles: ProfileBook,
        *,
        idle_s: float = IDLE_S,
        command: Sequence[str] | None = None,
    ) -> None:
        """A ModelStateChanged is published for each change; `profiles` learn a model's speed."""
        self.models = models
        self._changes = changes
        self._profiles = profiles
        self._idle_s = idle_s
        self._command = list(command or child_command())
        self._lock = Lock()
        self._child: _Child | None = None
        self._uses = 0
        self._timer: Timer | None = None
        self._is_closed = False

    @property
    def loaded(self) -> str:
        """The name of the model that is in memory; "" for none."""
        child = self._child
        return child.name if child and not child.ended.is_set() else ""

    @property
    def process_id(self) -> int:
        """The id of the process; 0 without one."""
        child = self._child
        return child.process_id if child and not child.ended.is_set() else 0

    def begin(self, model: str, cancel: Event) -> Generator[Delta, None, ServedAt]:
        """As `OwnServer.begin`."""
        began, told_s = time.monotonic(), 0
        while not (child := self._taken(model)):
            yield Delta("", status="Another model is still answering.")
            _wait(Event(), cancel)
        try:
            while not child.settled.is_set():
                if (waited_s := int(time.monotonic() - began)) > told_s:
                    told_s = waited_s
                    yield Delta("", status=f"Loading “{model}”: {waited_s} s.")
                _wait(child.settled, cancel)
            return child.address()
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """As `OwnServer.end`; the model is let go if no other request comes for a while."""
        with self._lock:
            self._uses -= 1
            if not self._uses and not self._is_closed:
                self._stop_timer()
                self._timer = Timer(self._idle_s, self.release)
                self._timer.daemon = True
                self._timer.start()

    def fault(self) -> AppError | None:
        """As `OwnServer.fault`."""
        child = self._child
        return child.fault if child and child.ended.wait(_FAULT_S) else None

    def release(self) -> None:
        """Let the model go, unless a request is under way."""
        with self._lock:
            if not self._uses and self._child:
                self._child.stop()

    def let_go(self) -> None:
        """Let the model go at once; an answer under way ends with an error."""
        with self._lock:
            if self._child:
                self._child.stop()

    def close(self) -> None:
        """As `OwnServer.close`; nothing is loaded afterwards."""
        with self._lock:
            self._is_closed = True
            self._stop_timer()
            if self._child:
                self._child.stop()

    def _taken(self, model: str) -> "_Child | None":
        """The process with this model, started if need be; None while another one is used."""
        with self._lock:
            child = self._child
            if child and child.ended.is_set():
                child = None
            if child and child.name != model:
                if self._uses:
                    return None
                child.stop()
                child = None
            child = child or self._started(self.models.find(model))
            self._stop_timer()
            self._uses += 1
            return child

    def _started(self, chosen: ChosenModel) -> "_Child":
        if self._is_closed:
            raise Cancelled
        if not is_installed():
            raise AppError(
                "The part of the app that runs models is not installed.",
                way_to_install("local-model"),
            )
        computer = this_computer()
        room = check_room(chosen.name, read_header(chosen.path), computer.free_bytes)
        self._child = _Child(self._command, chosen, room, computer.threads, self._hear)
        return self._child

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _hear(self, child: "_Child", state: ModelState) -> None:
        """On the thread of the process."""
        if state is ModelState.READY:
            self._learn(child)
        title, hint = (child.fault.title, child.fault.hint) if child.fault else ("", "")
        log.info("the model is %s %s", state.value, title)
        self._changes.publish(ModelStateChanged(child.name, state, title, hint))

    def _learn(self, child: "_Child") -> None:
        facts: dict[str, Any] = {"context_tokens": child.room.context_tokens}
        if child.read_per_s:
            speeds = child.read_per_s, child.written_per_s
            self.models.measured(child.name, *speeds, child.device)
            facts["read_tokens_per_s"] = child.read_per_s
        self._profiles.learn(OWN_ADDRESS, child.name, **facts)


def _wait(event: Event, cancel: Event) -> None:
    if not event.wait(_POLL_S) and cancel.is_set():
        raise Cancelled


class _Child:
    """A process with a model, from its start to its end."""

    def __init__(
        self,
        command: Sequence[str],
        chosen: ChosenModel,
        room: ModelRoom,
        threads: int,
        hear: "Callable[[_Child, ModelState], None]",
    ) -> None:
        """`hear` is called on the thread of the process."""
        self.name = chosen.name
        self.room = room
        self.read_per_s = self.written_per_s = 0.0
        self.device = ""
        self.fault: AppError | None = None
        # Once it is loaded or has ended; once it has ended.
        self.settled, self.ended = Event(), Event()
        self._command = command
        self._key = secrets.token_urlsafe(32)
        self._order = {
            "path": str(chosen.path), "name": chosen.name, "key": self._key, "threads": threads,
            "all_tokens": room.all_tokens, "context_tokens": room.context_tokens,
            "slots": room.slots, "is_quantised": room.is_quantised,
            "measures": not chosen.read_per_s,
        }  # fmt: skip
        self._hear = hear
        self._base_url = ""
        self._refused = ""
        self._lacked_memory = False
        self._lock = Lock()
        self._is_let_go = False
        self._process: subprocess.Popen[bytes] | None = None
        threading.Thread(target=self._live, name="model-server", daemon=True).start()

    @property
    def process_id(self) -> int:
        """The id of the process; 0 before it has started."""
        return self._process.pid if self._process else 0

    def address(self) -> ServedAt:
        """Where it listens, once it is settled. AppError when it has ended."""
        if self.ended.is_set():
            raise self.fault or Cancelled
        return ServedAt(f"{self._base_url}/v1", self._key)

    def stop(self) -> None:
        """End the process, and wait for that."""
        with self._lock:
            self._is_let_go = True
            if self._process:
                self._process.kill()
        self.ended.wait(_END_S)

    def _live(self) -> None:
        self._hear(self, ModelState.LOADING)
        try:
            with self._lock:
                process = self._process = None if self._is_let_go else self._opened()
            code = self._served(process) if process else 0
            self.fault = None if self._is_let_go else self._why(code)
        except OSError as exc:
            hint = f"{exc.strerror or exc}."
            self.fault = AppError("The program that runs models can't be started.", hint)
        self.ended.set()
        self.settled.set()
        self._hear(self, ModelState.FAILED if self.fault else ModelState.AT_REST)

    def _opened(self) -> "subprocess.Popen[bytes]":
        root = str(Path(desktop_rag.__file__ or "").resolve().parent.parent)
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        kept = {name: value for name, value in os.environ.items() if not _SECRET.search(name)}
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**kept, "PYTHONPATH": os.pathsep.join(paths), "PYTHONSAFEPATH": "1"},
            start_new_session=sys.platform != "win32",
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )

    def _served(self, process: "subprocess.Popen[bytes]") -> int:
        """The exit code, once the process has ended."""
        with process:
            assert process.stdin
            assert process.stdout
            with suppress(OSError):  # it has ended already
                process.stdin.write(json.dumps(self._order).encode() + b"\n")
                process.stdin.flush()
            while line := process.stdout.readline(_LONGEST_LINE_BYTES):
                self._take_in(line.decode("utf-8", "replace"))
            with suppress(OSError):
                process.stdin.close()
        return process.returncode

    def _take_in(self, line: str) -> None:
        _, mark, told = line.partition(MARK)
        if not mark:  # what the library says; not kept, as it may repeat what it was sent
            self._lacked_memory = self._lacked_memory or bool(_MEMORY.search(line))
            return
        message = object_in(told.encode())
        self._refused = str(message.get("refused", ""))
        if address := message.get("address"):
            self._base_url = str(address)
            self.read_per_s = float(message.get("read_per_s", 0.0))
            self.written_per_s = float(message.get("written_per_s", 0.0))
            self.device = str(message.get("device", ""))[:LONGEST_LABEL]
            self._hear(self, ModelState.READY)
            self.settled.set()

    def _why(self, code: int) -> AppError:
        """Why the process ended although nobody ended it."""
        if self._lacked_memory or code == -signal.SIGKILL:
            return AppError(
                f"The computer has ended “{self.name}”, most likely for lack of memory.",
                "Close other programs and ask again, or choose a smaller model.",
            )
        if self._base_url:
            return AppError(
                f"“{self.name}” has crashed.",
                "Ask again: it is loaded anew. If that doesn't help, choose another model.",
            )
        if self._refused:
            return AppError(
                f"“{self.name}” can't be loaded.",
                "Its file is damaged, or of a kind that this version can't run: choose another.",
            )
        return AppError(
            f"“{self.name}” crashes while it is loaded.",
            "Its file may be damaged: choose another model, or fetch it again.",
        )
