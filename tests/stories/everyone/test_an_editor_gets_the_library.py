"""A person gives the library to an editor with one button."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.stories.conftest import Person


def test_an_editor_gets_the_library(
    open_window: Callable[[], Person], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder := tmp_path / "person" / ".cursor").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "person"))
    person = open_window()
    person.opens_settings("Other programs")
    person.sees("Not found on this computer")
    person.clicks("Set up Cursor")
    person.sees("Cursor reaches the library: 5 tools answered.")
    assert "desktop-rag" in json.loads((folder / "mcp.json").read_text())["mcpServers"]

    (folder / "mcp.json").write_text("{")
    person.clicks("Check Cursor")
    person.sees("Line 1 is not valid JSON.")
    person.sees("Its settings can't be read")
