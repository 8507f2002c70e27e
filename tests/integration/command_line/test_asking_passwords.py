"""`index --ask-password`: passwords typed on a terminal, without echo and told to nobody else."""

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.paths import Home
from tests.command_line import answering, document_of, run, run_process, settled
from tests.locked_files import PASSWORD, locked_docx, locked_pdf

if sys.platform == "win32":
    pytest.skip("pseudo terminals are those of POSIX", allow_module_level=True)

import pty

_ENOUGH_S = 50.0


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "a lease.pdf").write_bytes(locked_pdf("The tenant pays in June."))
    (folder / "b deed.docx").write_bytes(locked_docx("The notary sealed the deed."))
    (folder / "c other.pdf").write_bytes(locked_pdf("Something else.", "another"))
    return settled(folder)


def typing(
    lines: Sequence[tuple[str, str]], *arguments: str
) -> tuple[subprocess.CompletedProcess[str], str]:
    """The result of a process on a terminal, and what the terminal showed.

    Each line is typed at the prompt with the words before it, in their order: what is typed before
    a prompt is thrown away.
    """
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "desktop_rag", *arguments]
    with subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        shown, seen = "", 0
        for words, line in lines:
            while f"{words} (Enter to leave it out): " not in shown[seen:]:
                shown += os.read(ours, 4096).decode()
            seen = len(shown)
            os.write(ours, f"{line}\n".encode())
        # Meanwhile the terminal is read: a program waits when it is full.
        with ThreadPoolExecutor(1) as reading:
            rest = reading.submit(_rest, ours)
            out, _ = process.communicate(timeout=_ENOUGH_S)
            shown += rest.result()
    return subprocess.CompletedProcess(command, process.returncode, out.decode(), shown), shown


def _rest(terminal: int) -> str:
    """What is left to read of a terminal whose programs have ended; Linux says so with an error."""
    parts: list[bytes] = []
    try:
        while part := os.read(terminal, 4096):
            parts.append(part)
    except OSError:
        pass
    os.close(terminal)
    return b"".join(parts).decode()


def counts(done: subprocess.CompletedProcess[str]) -> tuple[int, int]:
    """How many files can be searched, and how many are locked."""
    report = document_of(done)
    return report["searchable"], len(report["skipped"])


def test_it_asks_without_echo_and_tries_what_was_typed_on_the_others(
    home: Home, papers: Path
) -> None:
    lines = [("a lease.pdf", "wrong"), ("a lease.pdf", PASSWORD), ("c other.pdf", "")]
    done, shown = typing(lines, "index", str(papers), "--ask-password", "--json")
    assert counts(done) == (2, 1)
    assert "This password does not open the file." in shown
    assert "b deed.docx (Enter" not in shown
    assert PASSWORD not in shown
    found = document_of(run_process("search", "notary", "--json"))
    assert "b deed.docx" in str(found)
    kept = [path for path in home.root.rglob("*") if path.is_file()]
    assert not [path for path in kept if PASSWORD.encode() in path.read_bytes()]


def test_without_a_terminal_it_says_so_and_adds_nothing(home: Home, papers: Path) -> None:
    done = run_process("index", str(papers), "--ask-password", "--json")
    assert (done.returncode, done.stdout) == (1, "")
    assert "on a terminal only" in done.stderr
    assert not home.root.exists()


def test_beside_an_open_window_they_are_asked_for_here(services: Services, papers: Path) -> None:
    services.library.start()
    lines = [("a lease.pdf", PASSWORD), ("c other.pdf", "another")]
    with answering(services):
        done, shown = typing(lines, "index", str(papers), "--ask-password", "--json")
    assert counts(done) == (3, 0), shown
    assert PASSWORD not in shown


def test_it_does_not_ask_when_it_was_not_told_to(home: Home, papers: Path) -> None:
    assert counts(run("index", str(papers), "--json")) == (0, 3)
