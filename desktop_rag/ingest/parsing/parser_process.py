"""Reads files in a separate parser process and validates its answers. For one thread at a time."""

import contextlib
import json
import logging
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, TypeVar, get_args

import psutil

import desktop_rag
from desktop_rag.core.crawling import PageLinks
from desktop_rag.core.domain import NEEDS_PASSWORD, WRONG_PASSWORD
from desktop_rag.core.errors import AppError, Cancelled, PassingError
from desktop_rag.core.parsed import ColourSpan, EncodingHints, PageView, PageWish, ParsedDocument
from desktop_rag.core.pictures import PictureText
from desktop_rag.ingest.parsing.frame_assembly import Assembly, clean_text
from desktop_rag.ingest.parsing.protocol import (
    CAN_PASS_FILES,
    LENGTH_BYTES,
    MAX_FRAME_BYTES,
    Limits,
    PictureWish,
    ProtocolError,
    Request,
    RequestSender,
)
from desktop_rag.ingest.read.foundation.format_table import PDF
from desktop_rag.ingest.read.foundation.ocr import is_ocr_installed
from desktop_rag.ingest.read.foundation.source_file import MAX_VIEW_PX, Reason, open_descriptor

log = logging.getLogger(__name__)

_LANGUAGE = ("LANG", "LANGUAGE", "TZ")
_LANGUAGE_PREFIX = "LC_"
_FOLDERS = ("TMPDIR", "TEMP", "TMP")
_LIBRARIES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH")
# Without HOME Python would ask the system's user database, by a socket, for the user's packages.
_PYTHON = (
    "HOME", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE",
    "PYTHONUTF8", "PYTHONTZPATH",
)  # fmt: skip
# Windows finds its own libraries by these.
_WINDOWS = (
    "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "PATH", "USERPROFILE", "APPDATA", "NUMBER_OF_PROCESSORS",
)  # fmt: skip


def child_environment() -> dict[str, str]:
    """What Python, the system's libraries and the readers need, and no keys, tokens or addresses.

    This package is importable, modules in the working directory are not.
    """
    root = str(Path(desktop_rag.__file__ or "").resolve().parent.parent)
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    kept = {name: value for name, value in os.environ.items() if _is_needed(name)}
    return kept | {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONSAFEPATH": "1",
        # Every library thread would reserve address space, which is limited.
        "MALLOC_ARENA_MAX": "2",
        "OPENBLAS_NUM_THREADS": "1",
    }


def _is_needed(name: str) -> bool:
    names = (*_LANGUAGE, *_FOLDERS, *_LIBRARIES, *_PYTHON)
    if sys.platform == "win32":
        return name.upper() in (*names, *_WINDOWS)
    return name in names or name.startswith(_LANGUAGE_PREFIX)


_POLL_S = 0.2
_END_S = 10.0
# When this many frames are pending, the child blocks.
_WAITING_FRAMES = 32


class ChildLostError(Exception):
    """The process ended or was ended; `started` is the format it was reading."""

    def __init__(self, reason: Reason, title: str, hint: str = "") -> None:
        super().__init__(f"{title} {hint}")
        self.reason: Reason = reason
        self.title = title
        self.hint = hint
        self.started = ""


class ChildLink:
    """The parent's end of a running parser process, for the thread that asks.

    A second thread, which ends with the process, receives the frames: a thread and a queue work
    the same on every system, unlike waiting on several pipes.
    """

    def __init__(self, command: Sequence[str], memory_bytes: int) -> None:
        """Start the process. Raises OSError on failure."""
        self._max_memory_bytes = memory_bytes
        self._frames: queue.Queue[bytes | None] = queue.Queue(_WAITING_FRAMES)
        self._requests = RequestSender()
        try:
            self._process = subprocess.Popen(
                command,
                bufsize=0,
                stdin=self._requests.stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=child_environment(),
                # A separate process group, so that ending it also ends its children.
                start_new_session=sys.platform != "win32",
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except BaseException:
            self._requests.close()
            raise
        self._requests.attach(self._process)
        self._has_ended = False
        self._reader = threading.Thread(target=self._take_in, name="parser-frames", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """True until the process has ended."""
        return self._process.poll() is None

    def send(self, line: bytes, descriptor: int | None = None) -> None:
        """Send one request, with the file to read. Raises ChildLostError when the process ended.

        The caller closes its own copy of the descriptor.
        """
        try:
            self._requests.send(line, descriptor)
        except OSError as exc:
            raise self._crashed() from exc

    def receive(self, deadline: float, cancel: threading.Event | None) -> bytes:
        """The next frame. Raises ChildLostError or Cancelled, after ending the process.

        `deadline` is in the time of `time.monotonic`.
        """
        while True:
            if cancel is not None and cancel.is_set():
                self.end()
                raise Cancelled
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                self.end()
                raise ChildLostError("timeout", "Reading the file takes too long")
            try:
                frame = self._frames.get(timeout=min(_POLL_S, left_s))
            except queue.Empty:
                self._check_memory()
                continue
            if frame is None:
                raise self._crashed()
            return frame

    def end(self) -> None:
        """End the process and its children at once. Does nothing if it has already ended."""
        if self._has_ended:
            return
        self._has_ended = True
        _end_tree(self._process.pid)
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            # It is blocked in a system call, on a dead network drive for example.
            log.warning("the parser process %s can't be ended", self._process.pid)
            return
        deadline = time.monotonic() + _END_S
        while self._reader.is_alive() and time.monotonic() < deadline:
            # The reader thread may be blocked on a full queue.
            with contextlib.suppress(queue.Empty):
                self._frames.get_nowait()
            self._reader.join(_POLL_S / 10)
        self._requests.close()
        if not self._reader.is_alive():
            _pipe(self._process.stdout).close()

    def _take_in(self) -> None:
        """Queue the frames, and None at the end. Runs on the reader thread."""
        pipe = _pipe(self._process.stdout)
        while length_bytes := _exactly(pipe, LENGTH_BYTES):
            length = int.from_bytes(length_bytes, "big")
            if not 0 < length <= MAX_FRAME_BYTES:
                # Not a frame; the decoder reports it.
                self._frames.put(b"")
                return
            body = _exactly(pipe, length)
            if not body:
                break
            self._frames.put(body)
        self._frames.put(None)

    def memory_bytes(self) -> int:
        """The resident memory of the process; 0 when it is ending, which the pipe shows."""
        try:
            return psutil.Process(self._process.pid).memory_info().rss
        except psutil.Error:
            return 0

    def _check_memory(self) -> None:
        if self.memory_bytes() > self._max_memory_bytes:
            self.end()
            raise ChildLostError("too large", "Reading the file takes too much memory")

    def _crashed(self) -> ChildLostError:
        # If it is about to exit by itself, its own exit code is more informative.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_POLL_S)
        self.end()
        code = self._process.returncode
        with contextlib.suppress(ValueError):
            code = signal.Signals(-code).name if code < 0 else code
        hint = f"It may be damaged, or hold more than fits the memory ({code})."
        return ChildLostError("crashed", "The file crashes its reader", hint)


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    """Exactly this many bytes, or none if the pipe ends earlier."""
    pieces: list[bytes] = []
    left = size
    while left and (piece := pipe.read(left)):
        pieces.append(piece)
        left -= len(piece)
    return b"" if left else b"".join(pieces)


def _end_tree(pid: int) -> None:
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        return
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        for member in [*process.children(recursive=True), process]:
            with contextlib.suppress(psutil.Error):
                member.kill()


# Libraries leak memory: every FILES_PER_PROCESS files a process that has grown is replaced, and any
# after MOST_FILES_PER_PROCESS. Starting one takes as long as reading hundreds of small files.
FILES_PER_PROCESS = 200
MOST_FILES_PER_PROCESS = 4000
GROWN_BYTES = 400_000_000
CRASHES_BEFORE_PROBE = 3
# Before each further attempt to start one.
_START_PAUSES_S = (0.1, 0.5, 2.0)
_MAX_SHOWN_CHARS = 300

T = TypeVar("T")
# Finishes an assembled answer, given its last frame.
Finish = Callable[[Assembly, Mapping[str, Any]], T]


class ParseFailed(AppError):  # noqa: N818  the file's failure, not the program's
    """A file yields no text. `reason` is for decisions, title and hint are for people."""

    def __init__(
        self, reason: Reason, title: str, hint: str = "", *, pictures_left: int = 0
    ) -> None:
        """`pictures_left` pictures in it were left for later, and may hold text."""
        super().__init__(title, hint)
        self.reason: Reason = reason
        self.pictures_left = pictures_left


def worker_command() -> list[str]:
    """The command line of the parser process."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--worker"]
    return [sys.executable, "-m", "desktop_rag.ingest.parsing.parser_child"]


class ParserUnavailable(PassingError):  # noqa: N818  it says how the parser is
    """The parser doesn't start, or crashes even on a known good file. Nothing can be read."""


class ParserProcess:
    """Parses files one at a time in a process that may hang, crash or send garbage.

    The process starts with the first file and is replaced when it has grown and after each
    failure. When CRASHES_BEFORE_PROBE files in a row crash it, a health probe decides if the files
    or the parser are at fault: bad files often sit side by side.
    """

    def __init__(
        self,
        command: Sequence[str] | None = None,
        limits: Limits | None = None,
        *,
        uses_ocr: bool = True,
        passwords_for: Callable[[Path], Sequence[str]] = lambda _path: (),
    ) -> None:
        """With `uses_ocr` text in images is read, if the optional dependency is installed.

        `passwords_for` is asked when a file turns out to be encrypted.
        """
        self.uses_ocr = uses_ocr
        self._passwords_for = passwords_for
        self._command = list(command or worker_command())
        self._limits = limits or Limits()
        self._child: ChildLink | None = None
        self._files = 0
        # Those since the last answer.
        self._crashing_files: set[Path] = set()
        self._guards = frozenset[str]()

    @property
    def reads_pictures(self) -> bool:
        """True when text in images is read."""
        return self.uses_ocr and is_ocr_installed()

    def parse(
        self,
        path: Path,
        *,
        is_web_page: bool = False,
        pictures: PictureWish | None = None,
        hints: EncodingHints | None = None,
        cancel: threading.Event | None = None,
    ) -> ParsedDocument:
        """The text of a file with its locations. `is_web_page` marks a page fetched by the app.

        Pictures are read as `pictures` says, else at once; `hints` tell the encoding. Raises
        ParseFailed when the file yields no text, Cancelled soon after `cancel` is set,
        ParserUnavailable when the parser itself is at fault or cannot be started.
        """
        request = Request(
            path, self._limits, web_page=is_web_page, ocr=self.uses_ocr,
            pictures=pictures or PictureWish(), hints=hints or EncodingHints(),
        )  # fmt: skip
        try:
            document = self._parse_with_passwords(request, cancel)
        except ParseFailed:
            self._crashing_files.clear()
            raise
        except ChildLostError as exc:
            self._crashing_files.add(path)
            self._check_health(cancel)
            raise ParseFailed(exc.reason, exc.title, exc.hint) from exc
        self._crashing_files.clear()
        return document

    def certain_encoding(self, path: Path, *, cancel: threading.Event | None = None) -> str:
        """The encoding from before Unicode that a text certainly has; "" for any other file.

        Raises as `parse` does.
        """
        request = Request(path, self._limits, only_encoding=True)
        return self._looked_at(request, cancel, lambda _, fields: str(fields.get("encoding", "")))

    def view_page(
        self, path: Path, wish: PageWish, *, cancel: threading.Event | None = None
    ) -> PageView:
        """An image of a PDF page, at most MAX_VIEW_PX wide, with the position of the words.

        Raises as `parse` does. Use a second ParserProcess for views, so that they do not wait for a
        document that is being parsed.
        """
        wish = replace(wish, width_px=max(1, min(wish.width_px, MAX_VIEW_PX)))
        request = Request(path, self._limits, view=wish)
        return self._looked_at(request, cancel, Assembly.view)

    def colours(
        self, path: Path, *, cancel: threading.Event | None = None
    ) -> tuple[str, tuple[ColourSpan, ...]]:
        """The colours of source code by its language: the digest of its text, and the spans.

        Raises as `parse` does. See `view_page`.
        """
        request = Request(path, self._limits, colours=True)
        return self._looked_at(request, cancel, Assembly.colours)

    def page_links(self, path: Path, *, cancel: threading.Event | None = None) -> PageLinks:
        """The links of a stored HTML page, and its metadata.

        Raises as `parse` does. See `view_page`.
        """
        request = Request(path, self._limits, links=True)
        return self._looked_at(request, cancel, Assembly.page_links)

    def _looked_at(self, request: Request, cancel: threading.Event | None, finish: Finish[T]) -> T:
        try:
            return self._with_passwords(request, lambda tried: self._attempt(tried, cancel, finish))
        except ChildLostError as exc:
            raise ParseFailed(exc.reason, exc.title, exc.hint) from exc

    def check_password(self, path: Path, password: str) -> None:
        """Open an encrypted file without reading it.

        Raises as `parse` does, ParseFailed with the reason "encrypted" for a wrong password. That
        of a file inside it is not checked.
        """
        request = Request(path, self._limits, passwords=(password,), only_opens=True)
        try:
            self._attempt(request, None, lambda _assembly, _fields: None)
        except ParseFailed as failed:
            raise _judged(failed) from failed
        except ChildLostError as exc:
            raise ParseFailed(exc.reason, exc.title, exc.hint) from exc

    def guards(self) -> frozenset[str]:
        """The guards that the process says confine it; it is started if need be.

        Raises ParserUnavailable when it cannot be started.
        """
        if self._child is None:
            self._child = self._start(None)
        return self._guards

    def close(self) -> None:
        """End the process. The next `parse` starts a new one."""
        if self._child is not None:
            self._child.end()
            self._child = None

    def _parse_with_passwords(
        self, request: Request, cancel: threading.Event | None
    ) -> ParsedDocument:
        document = self._with_passwords(request, lambda tried: self._parse(tried, cancel))
        if any(part.refusal.startswith(NEEDS_PASSWORD) for part in document.parts):
            passwords = self._known_passwords(request)
            if passwords:
                document = self._parse(replace(request, passwords=passwords), cancel)
        return document

    def _with_passwords(self, request: Request, attempt: Callable[[Request], T]) -> T:
        """Try without a password first: most files need none, and a keyring takes its time."""
        try:
            return attempt(request)
        except ParseFailed as failed:
            if failed.reason != "encrypted" or not (passwords := self._known_passwords(request)):
                raise
        try:
            return attempt(replace(request, passwords=passwords))
        except ParseFailed as failed:
            raise _judged(failed) from failed

    def _known_passwords(self, request: Request) -> tuple[str, ...]:
        return () if request.path is None else tuple(self._passwords_for(request.path))

    def _parse(self, request: Request, cancel: threading.Event | None) -> ParsedDocument:
        try:
            return self._attempt(request, cancel, Assembly.document)
        except ChildLostError as exc:
            if exc.reason != "crashed" or exc.started != PDF:
                raise
            log.info("the PDF reader crashed, asking for the slower one: %s", exc.hint)
        return self._attempt(replace(request, is_safe=True), cancel, Assembly.document)

    def _check_health(self, cancel: threading.Event | None) -> None:
        """Raise ParserUnavailable if the process fails on the built-in probe too."""
        if len(self._crashing_files) < CRASHES_BEFORE_PROBE:
            return
        self._crashing_files.clear()
        try:
            self._attempt(Request(None, self._limits), cancel, Assembly.document)
        except (ChildLostError, ParseFailed) as exc:
            hint = f"{exc.title}. {exc.hint}".strip()
            raise ParserUnavailable("Reading files keeps failing.", hint) from exc

    def _attempt(self, request: Request, cancel: threading.Event | None, finish: Finish[T]) -> T:
        child = self._ready_child(cancel)
        seconds = self._limits.seconds_for(_size(request.path))
        try:
            with _opened(request.path) as descriptor:
                child.send(request.to_line(), descriptor)
            learned = request.pictures.learned
            return self._receive(child, time.monotonic() + seconds, cancel, finish, learned)
        except ParseFailed:
            raise
        except BaseException:
            # Leftover frames must not be taken for the next answer.
            self.close()
            raise

    def _receive(
        self,
        child: ChildLink,
        deadline: float,
        cancel: threading.Event | None,
        finish: Finish[T],
        learned: Callable[[str, PictureText], None],
    ) -> T:
        assembly = Assembly(self._limits)
        started, pages_read = "", 0
        try:
            while True:
                message = assembly.add(child.receive(deadline, cancel))
                started = message.get("started", started)
                if "page_read" in message and pages_read < self._limits.ocr_pages:
                    pages_read += 1
                    deadline = max(deadline, time.monotonic() + self._limits.ocr_page_s)
                    learned(*_picture_of(message["page_read"]))
                if "error" in message:
                    raise self._failure(message)
                if "done" in message:
                    return finish(assembly, message["done"])
        except ProtocolError as exc:
            lost = ChildLostError("crashed", "The file crashes its reader", f"It says: {exc}")
            lost.started = started
            raise lost from exc
        except ChildLostError as exc:
            exc.started = started
            raise

    def _failure(self, message: dict[str, Any]) -> ParseFailed:
        try:
            reason, title, hint = (
                message["kind"], str(message["error"]["title"]), str(message["error"]["hint"])
            )  # fmt: skip
        except (TypeError, KeyError) as exc:
            raise ProtocolError("an error makes no sense") from exc
        left = message.get("pictures_left", 0)
        if reason not in get_args(Reason) or not isinstance(left, int):
            raise ProtocolError("an error has no reason")
        if message.get("is_last"):
            self.close()
        return ParseFailed(
            reason, clean_text(title[:_MAX_SHOWN_CHARS]), clean_text(hint[:_MAX_SHOWN_CHARS]),
            pictures_left=max(0, left),
        )  # fmt: skip

    def _ready_child(self, cancel: threading.Event | None) -> ChildLink:
        child = self._child
        if child is None or self._is_worn(child) or not child.is_running:
            self.close()
            child = self._child = self._start(cancel)
            self._files = 0
        self._files += 1
        return child

    def _is_worn(self, child: ChildLink) -> bool:
        if self._files >= MOST_FILES_PER_PROCESS:
            return True
        is_due = self._files and self._files % FILES_PER_PROCESS == 0
        return bool(is_due) and child.memory_bytes() > GROWN_BYTES

    def _start(self, cancel: threading.Event | None) -> ChildLink:
        """A new process; one that is killed while it starts, say for memory, is tried again."""
        for pause_s in _START_PAUSES_S:
            try:
                return self._started(cancel)
            except ParserUnavailable as error:
                log.info("%s", error)
            if (cancel or threading.Event()).wait(pause_s):
                raise Cancelled
        return self._started(cancel)

    def _started(self, cancel: threading.Event | None) -> ChildLink:
        title = "The part of the app that reads files does not start."
        try:
            child = ChildLink(self._command, self._limits.memory_bytes)
            frame = child.receive(time.monotonic() + self._limits.start_s, cancel)
        except OSError as exc:
            raise ParserUnavailable(title, f"{exc}.") from exc
        except ChildLostError as exc:
            hint = "Close other programs if the memory is short, or install the app again."
            raise ParserUnavailable(title, hint) from exc
        if (guards := _guards_of(frame)) is None:
            child.end()
            raise ParserUnavailable(title, "It says something else than expected.")
        self._guards = guards
        return child


def _judged(failed: ParseFailed) -> ParseFailed:
    """The failure of an attempt with passwords."""
    is_wrong = failed.title == NEEDS_PASSWORD
    return ParseFailed(failed.reason, WRONG_PASSWORD, failed.hint) if is_wrong else failed


def _picture_of(message: object) -> tuple[str, PictureText]:
    """The place of a picture and its text. Raises ProtocolError for anything else."""
    match message:
        case [str(place), [str(text), str(failure)]]:
            return clean_text(place), PictureText(clean_text(text), clean_text(failure))
        case _:
            raise ProtocolError("the text of a picture makes no sense")


def _guards_of(frame: bytes) -> frozenset[str] | None:
    """The guards in the first frame of a process; None when it is another frame."""
    try:
        message = json.loads(frame)
        if message["ready"] is True:
            return frozenset(map(str, message.get("sandbox", ())))
    except (ValueError, TypeError, KeyError):
        pass
    return None


@contextlib.contextmanager
def _opened(path: Path | None) -> Generator[int | None]:
    """The file to pass along; None where none passes, or when the child is to say why not."""
    descriptor: int | None = None
    if CAN_PASS_FILES and path is not None:
        with contextlib.suppress(OSError):
            descriptor = open_descriptor(path)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _size(path: Path | None) -> int:
    try:
        return path.stat().st_size if path else 0
    except OSError:
        return 0  # The child reports the problem.
