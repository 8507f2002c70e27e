"""What `desktop-entries` writes for a person, read back as the desktops read it."""

import configparser
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.desktop.entries import desktop_entries
from desktop_rag.desktop.entries.desktop_entries import (
    DESKTOP_FILE,
    ICON_SIZES_PX,
    NAUTILUS_SCRIPT,
    entry_files,
    nautilus_script,
    registry_keys,
)
from desktop_rag.desktop.launching import APP_ID, ASK_ABOUT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the entries of Linux desktops")

ICONS: dict[int, bytes] = dict.fromkeys(ICON_SIZES_PX, b"png")
COMMAND = ["/opt/a b/desktop-rag"]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path / "system"))
    return tmp_path / "data"


def files_below(folder: Path) -> set[str]:
    return {str(path) for path in folder.rglob("*") if path.name != "mimeinfo.cache"}


def test_install_writes_and_remove_takes_it_all_away(data: Path) -> None:
    written = desktop_entries.install(b"<svg/>", ICONS)
    assert all(Path(path).is_file() for path in written)
    assert len(written) == len(ICON_SIZES_PX) + 5
    assert os.access(data / NAUTILUS_SCRIPT, os.X_OK)
    desktop_entries.install(b"<svg/>", ICONS)
    assert sorted(desktop_entries.remove(b"<svg/>", ICONS)) == sorted(written)
    assert not any(Path(path).exists() for path in written)
    assert desktop_entries.remove(b"<svg/>", ICONS) == []


def test_beside_a_package_only_the_persons_own_entries_are_written(
    data: Path, tmp_path: Path
) -> None:
    for_all = tmp_path / "system" / DESKTOP_FILE
    for_all.parent.mkdir(parents=True)
    for_all.write_text("")
    assert desktop_entries.install(b"<svg/>", ICONS) == [str(data / NAUTILUS_SCRIPT)]


def test_a_folder_that_cannot_be_written_is_told(data: Path) -> None:
    data.write_text("a file in its place")
    with pytest.raises(AppError, match="could not be changed"):
        desktop_entries.install(b"<svg/>", ICONS)


def test_the_desktop_file_is_valid_and_opens_links(tmp_path: Path) -> None:
    content = next(f.content for f in entry_files(COMMAND, b"", ICONS) if f.path == DESKTOP_FILE)
    read = configparser.RawConfigParser(strict=True)
    read.read_string(content.decode())
    entry = read["Desktop Entry"]
    assert shlex.split(entry["Exec"]) == [*COMMAND, "open-url", "%u"]
    assert entry["MimeType"] == "x-scheme-handler/desktop-rag;"
    assert entry["Icon"] == APP_ID
    validator = shutil.which("desktop-file-validate")
    if validator:
        path = tmp_path / DESKTOP_FILE.name
        path.write_bytes(content)
        told = subprocess.run([validator, path], capture_output=True, text=True, check=False)
        assert (told.returncode, told.stdout) == (0, "")


def test_nautilus_passes_the_files_or_the_folder_shown(tmp_path: Path) -> None:
    """Names may begin with a dash, hold spaces, quotes and what a shell would run."""
    program = tmp_path / "a program"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    script = tmp_path / "script"
    script.write_bytes(nautilus_script([str(program)]).content)
    names = ["-x.txt", "a $(touch ran) b", 'quote"d', "/abs/path"]

    def passed(*given: str) -> list[str]:
        command = ["/bin/sh", str(script), *given]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return ran.stdout.splitlines()

    there = str(tmp_path)
    wanted = [f"{there}/{name}" for name in names[:-1]] + ["/abs/path"]
    assert passed(*names) == ["quick-ask", "--about", *wanted]
    assert passed() == ["quick-ask", "--about", there]
    assert not (tmp_path / "ran").exists()


def test_thunar_keeps_the_actions_of_person_and_system(data: Path, tmp_path: Path) -> None:
    system = tmp_path / "uca.xml"
    system.write_text("<actions><action><unique-id>1</unique-id></action></actions>")

    def ids() -> list[str | None]:
        return [
            a.findtext("unique-id") for a in Xml.parse(desktop_entries.actions_path()).getroot()
        ]

    assert not desktop_entries.add_action(COMMAND, tmp_path / "none")
    assert desktop_entries.add_action(COMMAND, system)
    assert desktop_entries.add_action(COMMAND, system)
    assert ids() == ["1", APP_ID]
    assert desktop_entries.remove_action()
    assert not desktop_entries.remove_action()
    assert ids() == ["1"]
    desktop_entries.actions_path().write_text("<actions")
    assert not desktop_entries.add_action(COMMAND, system)
    assert desktop_entries.actions_path().read_text() == "<actions"


def test_an_appimage_is_started_by_its_own_file(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its program lies below a folder that is there only while it runs."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setenv("APPIMAGE", str(tmp_path / "desktop-rag.AppImage"))
    desktop_entries.install(b"<svg/>", ICONS)
    assert f'"{tmp_path}/desktop-rag.AppImage" "open-url"' in (data / DESKTOP_FILE).read_text()


def test_the_keys_of_windows_quote_every_path() -> None:
    keys = registry_keys([r"C:\Program Files\desktop-rag\desktop-rag.exe"])
    program = r'"C:\Program Files\desktop-rag\desktop-rag.exe"'
    classes = r"Software\Classes"
    link = rf"{classes}\desktop-rag\shell\open\command"
    assert keys[link] == {"": f'{program} "open-url" "%1"'}
    assert keys[rf"{classes}\desktop-rag"]["URL Protocol"] == ""
    for kind in ("*", "Directory"):
        menu = rf"{classes}\{kind}\shell\desktop-rag"
        assert keys[menu][""] == ASK_ABOUT
        assert keys[rf"{menu}\command"] == {"": f'{program} "quick-ask" "--about" "%1"'}
