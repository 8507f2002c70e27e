"""Opening a PDF at a page: the viewer, its arguments, and errors for missing files."""

import os
import sys
from pathlib import Path

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import Anchor
from desktop_rag.ui.documents.external_viewer import (
    check_readable,
    open_in_viewer,
    pdf_command,
    player_command,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the viewers are shell scripts")
PAGE = Anchor(page=14)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the only entry of PATH."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    file = tmp_path / "a b'; rm -rf $HOME; '.pdf"
    file.write_bytes(b"%PDF-1.4")
    return file


def install(programs: Path, name: str, script: str = "") -> Path:
    """Create a program that runs `script`."""
    program = programs / name
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def make_usual(programs: Path, desktop_file: str) -> None:
    install(programs, "xdg-mime", f"echo {desktop_file}")


@pytest.mark.parametrize(
    ("viewer", "before", "after"),
    [
        ("evince", ["--page-index=14"], []),
        ("okular", ["--page", "14"], []),
        ("zathura", ["--page=14"], []),
        ("mupdf", [], ["14"]),
    ],
)
def test_known_viewers_get_the_page(
    programs: Path, pdf: Path, viewer: str, before: list[str], after: list[str]
) -> None:
    program = install(programs, viewer)
    assert pdf_command(pdf, 14) == [str(program), *before, str(pdf), *after]


def test_a_browser_gets_an_address_with_the_page(programs: Path, pdf: Path) -> None:
    program = install(programs, "firefox")
    command = pdf_command(pdf, 3)
    assert command == [str(program), f"{pdf.as_uri()}#page=3"]
    assert " " not in pdf.as_uri()


@pytest.mark.parametrize(
    ("desktop_file", "viewer"),
    [
        ("org.kde.okular.desktop", "okular"),
        ("org.gnome.Evince.desktop", "evince"),
        ("org.pwmt.zathura.desktop", "zathura"),
        ("firefox-esr.desktop", "firefox"),
    ],
)
def test_the_default_viewer_is_preferred(
    programs: Path, pdf: Path, desktop_file: str, viewer: str
) -> None:
    for name in ("evince", "okular", "zathura", "firefox"):
        install(programs, name)
    make_usual(programs, desktop_file)
    command = pdf_command(pdf, 2)
    assert command is not None
    assert Path(command[0]).name == viewer


def test_an_unknown_default_viewer_is_left_to_the_desktop(programs: Path, pdf: Path) -> None:
    install(programs, "okular")
    make_usual(programs, "com.example.reader.desktop")
    assert pdf_command(pdf, 2) is None


def test_without_any_viewer_it_is_left_to_the_desktop(programs: Path, pdf: Path) -> None:
    assert list(programs.iterdir()) == []
    assert open_in_viewer(pdf, PAGE) is False


def test_it_starts_the_viewer_without_a_shell(programs: Path, pdf: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    install(programs, "okular", f"printf '%s\\n' \"$@\" > '{pipe}'")
    assert open_in_viewer(pdf, PAGE) is True
    assert pipe.read_text("utf-8").splitlines() == ["--page", "14", str(pdf)]


@pytest.mark.parametrize("anchor", [Anchor(), Anchor(line=3), Anchor(heading="A")])
def test_without_a_page_it_is_left_to_the_desktop(
    programs: Path, pdf: Path, anchor: Anchor
) -> None:
    install(programs, "okular", "exit 3")
    assert open_in_viewer(pdf, anchor) is False


def test_other_formats_are_left_to_the_desktop(programs: Path, tmp_path: Path) -> None:
    install(programs, "okular", "exit 3")
    text = tmp_path / "a.md"
    text.write_text("x", encoding="utf-8")
    assert open_in_viewer(text, PAGE) is False


def test_a_viewer_that_does_not_start_is_left_to_the_desktop(programs: Path, pdf: Path) -> None:
    broken = programs / "okular"
    broken.write_bytes(b"\x7fELF no program")
    broken.chmod(0o755)
    assert open_in_viewer(pdf, PAGE) is False


def test_a_missing_file_is_an_error_with_a_hint(tmp_path: Path) -> None:
    gone = tmp_path / "gone.pdf"
    with pytest.raises(AppError) as caught:
        open_in_viewer(gone, PAGE)
    assert caught.value.title == "gone.pdf no longer exists."
    assert str(gone) in caught.value.hint


def test_an_inaccessible_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AppError, match="can't be opened"):
        check_readable(tmp_path / ("x" * 300))


@pytest.mark.parametrize(("name", "option"), [("vlc", "--start-time=754"), ("mpv", "--start=754")])
def test_a_player_starts_at_the_second(
    programs: Path, tmp_path: Path, name: str, option: str
) -> None:
    program, talk = install(programs, name), tmp_path / "talk.mp3"
    command = player_command(talk, 754)
    assert command is not None
    assert (command[0], command[1], command[-1]) == (str(program), option, str(talk))


def test_without_a_player_that_can_be_told_the_desktop_opens_a_recording(
    programs: Path, tmp_path: Path
) -> None:
    assert player_command(tmp_path / "talk.mp3", 754) is None
