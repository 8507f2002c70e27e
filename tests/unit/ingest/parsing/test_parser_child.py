import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess, worker_command
from desktop_rag.ingest.parsing.protocol import Limits, Request

# The real child, but for what happens when it looks at a file.
WRAPPED = """
import os, socket, subprocess, sys, threading
from desktop_rag.ingest.parsing import parser_child
really_detect = parser_child.detect

def detect(source):
{acts}
    return really_detect(source)

parser_child.detect = detect
sys.exit(parser_child.main())
"""

Build = Callable[..., ParserProcess]


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    """Builds a parser process that does something more with files named `odd`."""
    built: list[ParserProcess] = []

    def make(acts: str, **limits: float) -> ParserProcess:
        script = tmp_path / "child.py"
        lines = ["if source.path.stem == 'odd':", *(f"    {line}" for line in acts.split("\n"))]
        script.write_text(WRAPPED.format(acts="\n".join(f"    {line}" for line in lines)))
        built.append(ParserProcess([sys.executable, str(script)], Limits(**limits)))  # type: ignore[arg-type]
        return built[-1]

    yield make
    for process in built:
        process.close()


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    path = tmp_path / "odd.txt"
    path.write_text("odd words")
    (tmp_path / "good.txt").write_text("good words")
    return path


def test_what_libraries_print_does_not_disturb(build: Build, odd: Path) -> None:
    process = build("print('noise', flush=True)\nos.write(1, b'noise')\nos.system")
    assert process.parse(odd).text == "odd words"
    assert process.parse(odd.with_name("good.txt")).text == "good words"


TELLING = """
from desktop_rag.ingest.read.foundation.source_file import Unreadable
try:
    {act}
except Exception as exc:
    raise Unreadable("damaged", "Refused", str(exc)) from exc
"""


@pytest.mark.parametrize(
    "act",
    [
        "socket.create_connection(('127.0.0.1', {port}), 5)",
        "socket.socket()",
        "socket.getaddrinfo('localhost', 80)",
        "subprocess.run([sys.executable, '-c', ''])",
        "os.system('echo')",
    ],
)
def test_the_network_and_other_programs_are_out_of_reach(build: Build, odd: Path, act: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        process = build(TELLING.format(act=act.format(port=server.getsockname()[1])))
        with pytest.raises(ParseFailed) as caught:
            process.parse(odd)
        assert "not for the parser process" in caught.value.hint
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_bug_or_a_strange_error_fails_the_file_only(build: Build, odd: Path) -> None:
    process = build("class Panic(BaseException): pass\nraise Panic('no entry\\nfor key')")
    with pytest.raises(ParseFailed) as caught:
        process.parse(odd)
    assert caught.value.reason == "damaged"
    assert "Panic" not in caught.value.hint
    assert process.parse(odd.with_name("good.txt")).text == "good words"


MADE = """
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.parsed import Mark, ParsedDocument, ParsedPart
parser_child.read_as = lambda *a, **k: ParsedDocument('text', str(k['is_web_page']), 'abc', {})"""


def test_places_are_put_in_order_and_those_behind_the_text_left_out(
    build: Build, odd: Path
) -> None:
    marks = "(Mark(4, Anchor(line=4)), Mark(2, Anchor(line=2)), Mark(0, Anchor(line=1)))"
    document = build(MADE.format(marks).strip()).parse(odd)
    assert [(mark.offset, mark.anchor.line) for mark in document.marks] == [(0, 1), (2, 2)]


def test_parts_that_do_not_fit_are_refused_and_the_others_come(build: Build, odd: Path) -> None:
    parts = "parts=tuple(ParsedPart(f'{n}', ParsedDocument('', '', n * 'x')) for n in (4, 9, 5))"
    document = build(MADE.format(parts).strip(), text_chars=12).parse(odd, is_web_page=True)
    assert document.title == "True"
    assert [part.document and len(part.document.text) for part in document.parts] == [4, None, 5]
    assert document.parts[1].refusal == "The file holds more text than is read."


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the parent watches memory")
def test_memory_is_refused_by_the_system(build: Build, odd: Path) -> None:
    process = build("kept = bytearray(900_000_000)", address_space_bytes=600_000_000)
    with pytest.raises(ParseFailed) as caught:
        process.parse(odd)
    assert caught.value.reason == "too large"
    assert process.parse(odd.with_name("good.txt")).text == "good words"


@pytest.mark.parametrize(
    "acts", ["pass", "print('busy', file=sys.stderr); threading.Event().wait()"]
)
def test_the_child_ends_with_its_parent_even_when_busy(build: Build, odd: Path, acts: str) -> None:
    build(acts)
    child = subprocess.Popen(
        [sys.executable, str(odd.with_name("child.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with child:
        assert child.stdin
        assert child.stdout
        assert child.stderr
        length = int.from_bytes(child.stdout.read(4), "big")
        assert child.stdout.read(length).startswith(b'{"ready":true')
        child.stdin.write(Request(odd, Limits()).to_line() + b"\n")
        child.stdin.flush()
        if "busy" in acts:
            assert child.stderr.read(4) == b"busy"
        child.stdin.close()
        assert child.wait(20) == 0


def test_a_module_in_the_working_folder_is_not_taken_for_ours(
    tmp_path: Path, odd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('taken')")
    monkeypatch.chdir(tmp_path)
    process = ParserProcess()
    assert process.parse(odd).text == "odd words"
    process.close()


def test_the_command_is_this_program(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worker_command() == [sys.executable, "-m", "desktop_rag.ingest.parsing.parser_child"]
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert worker_command() == [sys.executable, "--worker"]
