"""The parser process: reads one file after another and sends back its contents.

It runs untrusted bytes through native code, so it first drops the privileges it does not need: the
network, other programs, other files, more memory. The system enforces that where it can (see
`sandbox`), hooks in Python everywhere. The main thread reads files; a second one waits for requests
and ends the process when the parent is gone.
"""

import hashlib
import logging
import os
import queue
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from desktop_rag.core.parsed import ParsedDocument, ParsedPart
from desktop_rag.core.pictures import PictureText
from desktop_rag.ingest.parsing.protocol import (
    MAX_ITEMS,
    Limits,
    Request,
    RequestReceiver,
    encode_colours,
    encode_document,
    encode_frame,
    encode_links,
    encode_picture,
    encode_view,
)
from desktop_rag.ingest.parsing.sandbox.confinement import confine
from desktop_rag.ingest.read.formats import detect, read_as
from desktop_rag.ingest.read.foundation.document_draft import one_line
from desktop_rag.ingest.read.foundation.encoding import certain_encoding
from desktop_rag.ingest.read.foundation.encryption import decrypted
from desktop_rag.ingest.read.foundation.format_table import PDF
from desktop_rag.ingest.read.foundation.ocr import Ocr
from desktop_rag.ingest.read.foundation.source_file import (
    MAX_COLOURED_CHARS,
    SourceFile,
    Unreadable,
    open_source,
    read_opened,
)
from desktop_rag.ingest.read.markup.code_colouring import colour_spans
from desktop_rag.ingest.read.markup.web_page import read_page_links
from desktop_rag.ingest.read.pdf.pdf_page_image import view_page
from desktop_rag.ingest.read.pdf.pdf_pages import open_pdf

if sys.platform == "win32":
    import msvcrt
else:
    import resource

log = logging.getLogger(__name__)

_FORBIDDEN_EVENTS = (
    "socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork",
    "os.startfile", "webbrowser.", "urllib.Request", "ftplib.", "smtplib.", "winreg.",
)  # fmt: skip
# Enough for the language model, which is unpacked into a temporary file.
_MAX_WRITTEN_BYTES = 128 * 1024 * 1024
# The content of the health probe.
_PROBE = SourceFile(Path("probe.txt"), b"The reader is well.")
_OFFSET = attrgetter("offset")
_START = attrgetter("start")


def main() -> int:
    """Serve requests until the parent closes standard input."""
    answers = _claim_stdout()
    receiver = RequestReceiver()
    # Before other threads start, which would not be confined.
    guards = confine()
    _forbid()
    requests = _start_listening(receiver)
    _send(answers, encode_frame({"ready": True, "sandbox": guards}))
    ocr: Ocr | None = None
    while True:
        line, descriptor = requests.get()
        request = Request.from_line(line)
        _limit(request.limits)
        if request.ocr and ocr is None:
            ocr = Ocr(request.limits.ocr_threads)
        if ocr is not None:
            ocr.start_file(
                request.limits.ocr_pages, partial(_tell_picture, answers, request.limits),
                request.pictures.known, only_known=request.pictures.only_known,
            )  # fmt: skip
        try:
            for frame in _answer(request, descriptor, ocr if request.ocr else None):
                _send(answers, frame)
        except MemoryError:
            # The remaining memory may be fragmented; the next file gets a new process.
            needs_more = Unreadable("too large", "Reading the file takes too much memory")
            _send(answers, _error_frame(needs_more, is_last=True))
            return 0


def _claim_stdout() -> BinaryIO:
    """Reserve the pipe to the parent: anything libraries print goes to standard error."""
    kept = os.dup(1)
    os.dup2(2, 1)
    if sys.platform == "win32":
        msvcrt.setmode(kept, os.O_BINARY)
    return os.fdopen(kept, "wb")


def _send(answers: BinaryIO, frame: bytes) -> None:
    answers.write(frame)
    answers.flush()


def _forbid() -> None:
    """Block the network and other programs for the rest of the process."""

    def refuse(event: str, _arguments: tuple[Any, ...]) -> None:
        if event.startswith(_FORBIDDEN_EVENTS):
            raise PermissionError(f"{event} is not for the parser process")

    sys.addaudithook(refuse)


def _start_listening(receiver: RequestReceiver) -> queue.SimpleQueue[tuple[bytes, int | None]]:
    """The incoming requests, each with the opened file if one came along.

    The end of the requests means that the parent is gone.
    """
    requests: queue.SimpleQueue[tuple[bytes, int | None]] = queue.SimpleQueue()

    def listen() -> NoReturn:
        pending, descriptors = b"", list[int]()
        while True:
            received, passed = receiver.receive()
            if not received:
                os._exit(0)
            descriptors += passed
            *lines, pending = (pending + received).split(b"\n")
            for line in lines:
                requests.put((line, descriptors.pop(0) if descriptors else None))

    threading.Thread(target=listen, name="requests", daemon=True).start()
    return requests


def _limit(limits: Limits) -> None:
    """Set operating system limits, which hold even if the parent stops monitoring."""
    if sys.platform == "win32":
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_WRITTEN_BYTES, _MAX_WRITTEN_BYTES))
    if sys.platform == "linux":
        space = limits.address_space_bytes
        resource.setrlimit(resource.RLIMIT_AS, (space, space))
    _allow_seconds(limits.seconds_for(limits.file_bytes))


def _allow_seconds(seconds: float) -> None:
    if sys.platform == "win32":
        return
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _, hard_s = resource.getrlimit(resource.RLIMIT_CPU)
    limit_s = int(usage.ru_utime + usage.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit_s, hard_s))


def _tell_picture(answers: BinaryIO, limits: Limits, place: str, text: PictureText) -> None:
    """Send the text of a picture, and extend both time limits for the next one."""
    _send(answers, encode_picture(place, text))
    _allow_seconds(limits.seconds_for(limits.file_bytes) + limits.ocr_page_s * limits.ocr_threads)


def _answer(request: Request, descriptor: int | None, ocr: Ocr | None) -> Iterator[bytes]:
    limits = request.limits
    try:
        source = _source(request.path, descriptor, limits.file_bytes)
        if request.only_encoding:
            yield encode_frame({"done": {"encoding": certain_encoding(source.data)}})
            return
        source = decrypted(replace(source, passwords=request.passwords, hints=request.hints))
        format_name = detect(source)
        yield encode_frame({"started": format_name})
        if request.only_opens:
            _open(format_name, source)
            yield encode_frame({"done": {}})
        elif request.colours:
            document = read_as(format_name, source, MAX_COLOURED_CHARS)
            digest = hashlib.sha256(document.text.encode("utf-8", "replace")).hexdigest()
            yield from encode_colours(digest, colour_spans(source.path.name, document.text))
        elif request.links:
            yield from encode_links(read_page_links(source, limits.text_chars))
        elif request.view is None:
            document = read_as(
                format_name, source, limits.text_chars, is_safe=request.is_safe,
                is_web_page=request.web_page, ocr=ocr,
            )  # fmt: skip
            document = replace(document, pictures_left=ocr.left if ocr else 0)
            yield from encode_document(_within_limits(document, limits.text_chars))
        elif format_name == PDF:
            yield from encode_view(view_page(source, request.view))
        else:
            raise Unreadable("unsupported", "Only PDF files can be shown by the page")
    except Unreadable as exc:
        yield _error_frame(exc, pictures_left=ocr.left if ocr else 0)
    except (MemoryError, GeneratorExit):
        raise
    except BaseException:
        # Libraries raise arbitrary exceptions for damaged files, and Rust extensions raise some
        # outside Exception.
        log.exception("reading failed")
        hint = "It may be damaged. Open it in its own program and save it again."
        yield _error_frame(Unreadable("damaged", "The file can't be read", hint))


def _open(format_name: str, source: SourceFile) -> None:
    """Open what may be encrypted. Raises Unreadable when no password fits."""
    if format_name == PDF:
        open_pdf(source)[0].close()


def _source(path: Path | None, descriptor: int | None, max_bytes: int) -> SourceFile:
    if path is None:
        return _PROBE
    if descriptor is None:
        # The system passes none, or the parent could not open it: this says why.
        return open_source(path, max_bytes)
    return read_opened(descriptor, path, max_bytes)


def _within_limits(document: ParsedDocument, max_chars: int) -> ParsedDocument:
    """The document with valid, sorted locations, and as many parts as fit the answer."""
    room_chars = max_chars - len(document.text)
    room_items = MAX_ITEMS - _items(document)
    parts: list[ParsedPart] = []
    for part in document.parts:
        if (inner := part.document) is None:
            parts.append(part)
            continue
        if len(inner.text) > room_chars or _items(inner) > room_items:
            parts.append(ParsedPart(part.name, refusal="The file holds more text than is read."))
            continue
        room_chars -= len(inner.text)
        room_items -= _items(inner)
        parts.append(ParsedPart(part.name, _in_order(inner)))
    return replace(_in_order(document), parts=tuple(parts))


def _items(document: ParsedDocument) -> int:
    return len(document.marks) + len(document.headings) + len(document.table_headers)


def _in_order(document: ParsedDocument) -> ParsedDocument:
    """Drop locations beyond a truncated text, and sort the rest; the parent refuses any other."""
    end = len(document.text)
    return replace(
        document,
        marks=tuple(sorted((m for m in document.marks if m.offset <= end), key=_OFFSET)),
        headings=tuple(sorted((h for h in document.headings if h.offset <= end), key=_OFFSET)),
        table_headers=tuple(
            sorted((t for t in document.table_headers if t.start <= t.end <= end), key=_START)
        ),
    )


def _error_frame(error: Unreadable, *, is_last: bool = False, pictures_left: int = 0) -> bytes:
    shown = {"title": one_line(error.title), "hint": one_line(error.hint)}
    fields = {"error": shown, "kind": error.reason, "is_last": is_last}
    return encode_frame({**fields, "pictures_left": pictures_left})


if __name__ == "__main__":
    sys.exit(main())
