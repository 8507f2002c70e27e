"""S-15: native code in the parser process reaches no network, program, or file of its own choice.

The acts are called through libc by ctypes, as native code would, past Python's own hooks.
"""

import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess, worker_command
from desktop_rag.ingest.parsing.sandbox import confinement
from tests.unit.ingest.read.pdf_samples import rendered
from tests.unit.ingest.read.samples import make_docx, make_pdf, make_xlsx, paragraph

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the acts are those of Linux")
needs_landlock = pytest.mark.skipif(
    sys.platform != "linux" or not confinement.version(), reason="this kernel has no Landlock"
)

REFUSED, DENIED = "-1 Operation not permitted", "-1 Permission denied"
MISSING = "-1 Function not implemented"
# The real process, but that it calls libc when it looks at a file named `odd`.
WRAPPED = """
import ctypes, os, struct, sys, threading
from pathlib import Path
from desktop_rag.ingest.parsing import parser_child
from desktop_rag.ingest.parsing.sandbox import confinement
from desktop_rag.ingest.read.foundation.source_file import Unreadable
{before}
libc = ctypes.CDLL(None, use_errno=True)
really_detect = parser_child.detect
folder = Path({folder!r})

def act():
    result = {act}
    return str(result) + " " + os.strerror(ctypes.get_errno())

def detect(source):
    if source.path.stem == "odd":
        raise Unreadable("damaged", "Done", act())
    return really_detect(source)

parser_child.detect = detect
sys.exit(parser_child.main())
"""
NO_LANDLOCK = "confinement.limit_files = lambda *paths: False"

Act = Callable[..., str]


@pytest.fixture
def outcome(tmp_path: Path) -> Iterator[Act]:
    """The result of an expression in the process, with the error of the last call."""
    built: list[ParserProcess] = []

    def attempt(act: str, before: str = "") -> str:
        script, odd = tmp_path / "child.py", tmp_path / "odd.txt"
        script.write_text(WRAPPED.format(act=act, before=before, folder=str(tmp_path)))
        odd.write_text("odd words")
        (tmp_path / "good.txt").write_text("good words")
        process = ParserProcess([sys.executable, str(script)])
        built.append(process)
        with pytest.raises(ParseFailed) as caught:
            process.parse(odd)
        assert process.parse(tmp_path / "good.txt").text == "good words"
        return caught.value.hint

    yield attempt
    for process in built:
        process.close()


@pytest.mark.parametrize(
    "act",
    [
        "libc.socket(2, 1, 0)",
        "libc.socketpair(1, 1, 0, ctypes.create_string_buffer(8))",
        "libc.connect(0, ctypes.create_string_buffer(16), 16)",
        "libc.sendto(0, b'x', 1, 0, None, 0)",
        "libc.fork() or os._exit(0)",
        "libc.execve(b'/bin/true', None, None)",
        "-1 if libc.system(f'touch {folder}/new'.encode()) else 0",
        "libc.kill(os.getppid(), 0)",
        "libc.prlimit(os.getppid(), 7, None, ctypes.create_string_buffer(16))",
        "libc.ptrace(1, os.getppid(), None, None)",
        "libc.syscall(425, 1, ctypes.create_string_buffer(120))",
        "libc.open(str(folder / 'new').encode(), os.O_WRONLY | os.O_CREAT, 0o600)",
        "libc.open(str(folder / 'good.txt').encode(), os.O_RDWR)",
        "libc.unlink(str(folder / 'good.txt').encode())",
        "libc.rename(str(folder / 'good.txt').encode(), str(folder / 'bad.txt').encode())",
        "libc.chmod(str(folder / 'good.txt').encode(), 0o777)",
        "libc.mkdir(str(folder / 'new').encode(), 0o700)",
    ],
)
def test_s15_the_system_refuses(outcome: Act, tmp_path: Path, act: str) -> None:
    assert outcome(act).endswith(REFUSED)
    assert not (tmp_path / "new").exists()
    assert (tmp_path / "good.txt").stat().st_mode & 0o077 != 0o077


def test_s15_a_listening_port_is_not_reached(outcome: Act) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        address = f"struct.pack('=HHIQ', 2, {socket.htons(port)}, 0x0100007F, 0)"
        assert outcome(f"libc.connect(libc.socket(2, 1, 0), {address}, 16)") == REFUSED
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_s15_calls_of_other_tables_and_of_later_kernels_do_not_exist(outcome: Act) -> None:
    assert outcome("libc.syscall(ctypes.c_long(0x40000000 + 41), 2, 1, 0)") == MISSING
    assert outcome("libc.syscall(ctypes.c_long(500))") == MISSING


@needs_landlock
@pytest.mark.parametrize(
    "act",
    [
        "libc.open(b'/etc/shadow', 0)",
        "libc.open(b'/etc/passwd', 0)",
        "libc.open(str(folder / 'good.txt').encode(), 0)",
        "libc.open(str(Path.home()).encode(), os.O_DIRECTORY)",
        "libc.open(f'/proc/{os.getppid()}/environ'.encode(), 0)",
        "libc.open(f'/proc/self/root{folder}/good.txt'.encode(), 0)",
    ],
)
def test_s15_no_other_file_is_opened(outcome: Act, act: str) -> None:
    assert outcome(act) == DENIED


@needs_landlock
def test_s15_every_thread_is_confined(outcome: Act) -> None:
    for act in ("libc.open(b'/etc/shadow', 0)", "libc.socket(2, 1, 0)"):
        seen = f"[(t := threading.Thread(target=lambda: s.append({act}))).start(), t.join()]"
        assert outcome(f"(s := [], {seen}) and s[0]").startswith("-1 ")


def test_s15_without_landlock_the_rest_holds_and_is_said(outcome: Act, tmp_path: Path) -> None:
    assert outcome("libc.socket(2, 1, 0)", NO_LANDLOCK) == REFUSED
    writes = "libc.open(str(folder / 'new').encode(), os.O_WRONLY | os.O_CREAT, 0o600)"
    assert outcome(writes, NO_LANDLOCK) == REFUSED
    process = ParserProcess([sys.executable, str(tmp_path / "child.py")])
    assert process.guards() == {"seccomp"}
    process.close()


@needs_landlock
def test_s15_the_real_process_names_its_guards() -> None:
    process = ParserProcess()
    assert process.guards() == {"seccomp", "landlock"}
    process.close()


def test_s15_no_key_is_in_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("DESKTOP_RAG_API_KEY", "AWS_SECRET_ACCESS_KEY", "http_proxy"):
        monkeypatch.setenv(name, "canary")
    monkeypatch.setenv("LC_TIME", "C.UTF-8")
    (tmp_path / "note.txt").write_text("words")
    before = set(psutil.Process().children())
    # Unlike the command of other tests, so that the process is a new one.
    process = ParserProcess([*worker_command(), "alone"])
    assert process.parse(tmp_path / "note.txt").text == "words"
    [child] = set(psutil.Process().children()) - before
    environment = Path(f"/proc/{child.pid}/environ").read_bytes().split(b"\0")
    process.close()
    assert not any(b"canary" in entry for entry in environment)
    assert b"LC_TIME=C.UTF-8" in environment


def test_s15_no_descriptor_but_the_pipes_is_inherited(outcome: Act) -> None:
    with Path(os.devnull).open() as held:
        os.set_inheritable(held.fileno(), True)
        opened = outcome("sorted(int(n) for n in os.listdir('/proc/self/fd'))").rpartition("]")[0]
    # Its standard streams, its answers, the listing itself; the receiver keeps no file.
    assert len(opened.split(",")) <= 6


ENGLISH = "The treasurer keeps the keys of the shed behind the hall, and the books of the club."


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", ENGLISH.encode()),
        ("a.md", f"---\ntitle: x\n---\n# Keys\n\n{ENGLISH}".encode()),
        ("a.html", f"<html><body><main><p>{ENGLISH}</p></main></body></html>".encode()),
        ("a.pdf", make_pdf([ENGLISH])),
        ("a.docx", make_docx(paragraph(ENGLISH))),
        ("a.eml", f"From: a@b.example\nSubject: Keys\n\n{ENGLISH}".encode()),
    ],
)
def test_s15_files_are_still_read_and_their_language_told(
    tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    process = ParserProcess()
    document = process.parse(tmp_path / name, is_web_page=name.endswith("html"))
    assert "treasurer keeps the keys" in document.text
    assert document.language == "en"
    process.close()


def test_s15_sheets_are_still_read(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(make_xlsx({"Fees": '<row r="1"><c r="A1"><v>4711</v></c></row>'}))
    process = ParserProcess()
    assert "4711" in process.parse(path).text
    process.close()


def test_s15_pictures_are_still_read(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="the extra `ocr` is not installed")
    width, height, rgb = rendered("The treasurer keeps the keys")
    path = tmp_path / "sign.png"
    image.frombytes("RGB", (width, height), rgb).crop((0, 0, width, 400)).save(path)
    process = ParserProcess()
    assert "treasurer" in process.parse(path).text
    process.close()
