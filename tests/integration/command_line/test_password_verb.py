"""`desktop-rag password`: opens an encrypted file, and forgets its password."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.paths import Home
from tests.command_line import answering, document_of, run, run_json, settled
from tests.locked_files import PASSWORD, locked_pdf

pytestmark = pytest.mark.slow


@pytest.fixture
def lease(home: Home, tmp_path: Path) -> Path:
    """An encrypted file in the library."""
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "lease.pdf").write_bytes(locked_pdf("The tenant pays in June."))
    (folder / "deed.pdf").write_bytes(locked_pdf("The notary sealed it."))
    run_json("index", str(settled(folder)))
    assert home.root.exists()
    return folder / "lease.pdf"


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Standard input that is no terminal."""
    typed = io.StringIO()
    monkeypatch.setattr(sys, "stdin", typed)
    return typed


def test_a_file_is_opened_and_closed_again(lease: Path, typed: io.StringIO) -> None:
    typed.write(f"{PASSWORD}\n")
    typed.seek(0)
    opened = document_of(run("password", str(lease), "--folder", "--json"))
    assert (opened["state"], opened["files"], opened["is_kept"]) == ("searchable", 2, False)
    found = run_json("search", "notary", "--mode", "lexical")
    assert [row["path"] for row in found] == [str(lease.parent / "deed.pdf")]
    closed = document_of(run("password", str(lease), "--forget", "--json"))
    assert closed["state"] == "skipped"
    assert closed["reason"] == "Encrypted: a password is needed."
    assert run_json("search", "tenant", "--mode", "lexical") == []


def test_a_keyring_that_is_missing_is_told(lease: Path, typed: io.StringIO) -> None:
    typed.write(PASSWORD)
    typed.seek(0)
    done = run("password", str(lease), "--keep")
    assert "not kept, because no keyring is available" in done.stderr
    assert "searchable. Opened with a password." in done.stdout


@pytest.mark.parametrize(
    ("name", "password", "message"),
    [
        ("lease.pdf", "wrong", "This password does not open the file."),
        ("lease.pdf", "", "No password was entered."),
        ("other.pdf", PASSWORD, "is not in the library."),
    ],
)
def test_what_goes_wrong_is_said(
    lease: Path, typed: io.StringIO, name: str, password: str, message: str
) -> None:
    typed.write(password)
    typed.seek(0)
    done = run("password", str(lease.parent / name))
    assert done.returncode == 1
    assert message in done.stderr


def test_an_open_window_takes_it_from_the_terminal(
    lease: Path, typed: io.StringIO, build_services: Callable[[], Services]
) -> None:
    services = build_services()
    services.library.start()
    typed.write(f"{PASSWORD}\n")
    typed.seek(0)
    with answering(services):
        opened = document_of(run("password", str(lease), "--json"))
    assert (opened["state"], opened["files"]) == ("searchable", 1)
