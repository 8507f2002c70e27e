"""The parser process: reads one file after another and answers with what is in them.

It runs foreign bytes through native code, so it first gives up what it doesn't need: the network,
other programs, more memory. Its main thread reads files; a second one waits for requests and ends
the process when the parent is gone.
"""

import json
import logging
import os
import queue
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from desktop_rag.ingest.read.draft import one_line
from desktop_rag.ingest.read.formats import detect, read_as
from desktop_rag.ingest.read.source import Unreadable, open_source
from desktop_rag.ingest.worker_protocol import Limits, encode_document, encode_frame

if sys.platform == "win32":
    import msvcrt
else:
    import resource

log = logging.getLogger(__name__)

_FORBIDDEN_EVENTS = (
    "socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork",
    "os.startfile", "webbrowser.", "urllib.Request", "ftplib.", "smtplib.", "winreg.",
)  # fmt: skip
# Enough for Python to cache its own byte code.
_MAX_WRITTEN_BYTES = 1024 * 1024
_READ_BYTES = 64 * 1024


def main() -> int:
    """Serve until the parent closes our standard input."""
    answers = _claim_stdout()
    _forbid()
    requests = _start_listening()
    _send(answers, encode_frame({"ready": True}))
    while True:
        request = json.loads(requests.get())
        limits = Limits.from_json(request["limits"])
        _limit(limits)
        try:
            for frame in _answer(Path(request["path"]), limits, is_safe=request["is_safe"]):
                _send(answers, frame)
        except MemoryError:
            # What is left of the memory may be in pieces; the next file gets a new process.
            needs_more = Unreadable("too large", "Reading the file takes too much memory")
            _send(answers, _error_frame(needs_more, is_last=True))
            return 0


def _claim_stdout() -> BinaryIO:
    """Keep the way to the parent to ourselves: what libraries print goes to standard error."""
    kept = os.dup(1)
    os.dup2(2, 1)
    if sys.platform == "win32":
        msvcrt.setmode(kept, os.O_BINARY)
    return os.fdopen(kept, "wb")


def _send(answers: BinaryIO, frame: bytes) -> None:
    answers.write(frame)
    answers.flush()


def _forbid() -> None:
    """Refuse the network and other programs, for good."""

    def refuse(event: str, _arguments: tuple[Any, ...]) -> None:
        if event.startswith(_FORBIDDEN_EVENTS):
            raise PermissionError(f"{event} is not for the parser process")

    sys.addaudithook(refuse)


def _start_listening() -> queue.SimpleQueue[bytes]:
    """The requests as they come in. The end of standard input means that the parent is gone."""
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> NoReturn:
        pending = b""
        # Not through sys.stdin, whose lock would be held while the process ends.
        while received := os.read(0, _READ_BYTES):
            *lines, pending = (pending + received).split(b"\n")
            for line in lines:
                requests.put(line)
        os._exit(0)

    threading.Thread(target=listen, name="requests", daemon=True).start()
    return requests


def _limit(limits: Limits) -> None:
    """Let the system end or refuse what goes too far, even when the parent no longer watches."""
    if sys.platform == "win32":
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_WRITTEN_BYTES, _MAX_WRITTEN_BYTES))
    if sys.platform == "linux":
        space = limits.address_space_bytes
        resource.setrlimit(resource.RLIMIT_AS, (space, space))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    seconds = usage.ru_utime + usage.ru_stime + limits.seconds_for(limits.file_bytes)
    _, hard_s = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, hard_s))


def _answer(path: Path, limits: Limits, *, is_safe: bool) -> Iterator[bytes]:
    try:
        source = open_source(path, limits.file_bytes)
        format_name = detect(source)
        yield encode_frame({"started": format_name})
        yield from encode_document(read_as(format_name, source, limits.text_chars, is_safe=is_safe))
    except Unreadable as exc:
        yield _error_frame(exc)
    except (MemoryError, GeneratorExit):
        raise
    except BaseException as exc:
        # A library may raise anything about a damaged file, and those written in Rust raise what
        # is no Exception. The person sees what it said.
        log.exception("reading failed")
        hint = f"{type(exc).__name__}: {exc}"
        yield _error_frame(Unreadable("damaged", "The file can't be read", hint))


def _error_frame(error: Unreadable, *, is_last: bool = False) -> bytes:
    shown = {"title": one_line(error.title), "hint": one_line(error.hint)}
    return encode_frame({"error": shown, "kind": error.reason, "is_last": is_last})


if __name__ == "__main__":
    sys.exit(main())
