"""The files of programs on each system."""

from pathlib import Path

import pytest

from desktop_rag.features.server.mcp_programs.program_setup import (
    PROGRAMS,
    Surroundings,
    program_named,
)

EXPECTED = {
    "linux": {
        "claude": ".config/Claude/claude_desktop_config.json",
        "cursor": ".cursor/mcp.json",
        "vscode": ".config/Code/User/mcp.json",
        "zed": ".config/zed/settings.json",
        "lmstudio": ".lmstudio/mcp.json",
        "jan": ".local/share/Jan/data/mcp_config.json",
    },
    "darwin": {
        "claude": "Library/Application Support/Claude/claude_desktop_config.json",
        "cursor": ".cursor/mcp.json",
        "vscode": "Library/Application Support/Code/User/mcp.json",
        "zed": ".config/zed/settings.json",
        "lmstudio": ".lmstudio/mcp.json",
        "jan": "Library/Application Support/Jan/data/mcp_config.json",
    },
    "win32": {
        "claude": "AppData/Roaming/Claude/claude_desktop_config.json",
        "cursor": ".cursor/mcp.json",
        "vscode": "AppData/Roaming/Code/User/mcp.json",
        "zed": "AppData/Roaming/Zed/settings.json",
        "lmstudio": ".lmstudio/mcp.json",
        "jan": "AppData/Roaming/Jan/data/mcp_config.json",
    },
}


def places(around: Surroundings) -> dict[str, str]:
    return {p.name: p.place(around).relative_to(around.home).as_posix() for p in PROGRAMS}


@pytest.mark.parametrize("system", EXPECTED)
def test_each_program_has_its_place_on_each_system(system: str, tmp_path: Path) -> None:
    assert places(Surroundings(system, tmp_path)) == EXPECTED[system]


def test_folders_that_were_moved_are_followed(tmp_path: Path) -> None:
    given = {"XDG_CONFIG_HOME": str(tmp_path / "c"), "XDG_DATA_HOME": "relative/ignored"}
    (tmp_path / ".lmstudio-home-pointer").write_text(f"{tmp_path / 'models'}\n")
    (jan := tmp_path / ".local/share/Jan").mkdir(parents=True)
    (jan / "settings.json").write_text('{"data_folder": "%s"}' % (tmp_path / "moved"))
    found = places(Surroundings("linux", tmp_path, given))
    assert found["vscode"] == "c/Code/User/mcp.json"
    assert found["lmstudio"] == "models/mcp.json"
    assert found["jan"] == "moved/mcp_config.json"


def test_claude_from_the_windows_store_has_its_file_in_its_package(tmp_path: Path) -> None:
    around = Surroundings("win32", tmp_path)
    inside = "LocalCache/Roaming/Claude"
    for package in ("Claude_a", "Claude_b"):
        (around.packages / package / inside).mkdir(parents=True)
    (around.packages / "Claude_b" / inside / "claude_desktop_config.json").write_text("{}")
    expected = f"AppData/Local/Packages/Claude_b/{inside}/claude_desktop_config.json"
    assert places(around)["claude"] == expected


def test_programs_are_found_by_name_and_title() -> None:
    assert program_named("VS Code") is program_named("vscode") is not None
    assert program_named("notepad") is None
