"""The demo names a command that can be typed."""

import sys
from pathlib import Path

import pytest

from desktop_rag.cli.demo import next_commands, own_command


def test_the_command_is_named_by_its_place_where_its_name_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = tmp_path / ".venv" / "bin"
    scripts.mkdir(parents=True)
    monkeypatch.setattr(sys, "executable", str(scripts / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert own_command() == f"{scripts / 'python'} -m desktop_rag"
    command = scripts / "desktop-rag"
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    assert own_command() == str(Path(".venv/bin/desktop-rag"))
    monkeypatch.setenv("PATH", str(scripts))
    assert own_command() == "desktop-rag"


def test_the_windows_of_the_demo_and_of_the_own_library_are_named_apart() -> None:
    own, demo = (line.split(": ") for line in next_commands()[1:])
    assert own == ["The window with your own library", own_command()]
    assert demo == ["The window with the demo, where there is a display", f"{own_command()} demo"]
