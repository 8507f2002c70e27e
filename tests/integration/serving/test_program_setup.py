"""The library is entered in the settings of programs, and its command is started as by them."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.features.server.mcp_programs.program_setup import (
    FileState,
    MCPProgram,
    ProgramFiles,
    Surroundings,
    program_named,
    tools_of,
)
from tests.command_line import run

COMMAND = ["/opt/desktop-rag", "mcp"]


def program(name: str) -> MCPProgram:
    found = program_named(name)
    assert found
    return found


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProgramFiles:
    monkeypatch.delenv("DESKTOP_RAG_HOME", raising=False)
    return ProgramFiles(Surroundings("linux", tmp_path), COMMAND)


@pytest.fixture
def zed(tmp_path: Path) -> Path:
    """Its settings, as a person wrote them."""
    (folder := tmp_path / ".config" / "zed").mkdir(parents=True)
    (path := folder / "settings.json").write_text('{\n  // dark\n  "theme": "One",\n}\n')
    return path


def test_the_file_is_changed_in_one_place_beside_a_copy(files: ProgramFiles, zed: Path) -> None:
    before = zed.read_text()
    zed.chmod(0o600)
    assert files.look(program("zed")).state is FileState.NOT_SET
    written = files.write(program("zed"))
    assert written.backup
    assert written.backup.parent == zed.parent
    assert written.backup.read_text() == before
    assert zed.read_text().startswith('{\n  // dark\n  "theme": "One",\n  "context_servers"')
    assert zed.stat().st_mode & 0o777 == 0o600
    assert files.entry(program("zed")) == {
        "command": "/opt/desktop-rag", "args": ["mcp"], "source": "custom", "enabled": True,
    }  # fmt: skip
    assert files.look(program("zed")).state is FileState.SET
    again = files.write(program("zed"))
    assert not again.is_changed
    assert again.backup is None


def test_a_link_to_the_file_stays_a_link(files: ProgramFiles, zed: Path, tmp_path: Path) -> None:
    kept = zed.rename(tmp_path / "kept.json")
    zed.symlink_to(kept)
    files.write(program("zed"))
    assert zed.is_symlink()
    assert "desktop-rag" in kept.read_text()


@pytest.mark.parametrize(
    "content",
    [b'{"mcpServers": {', b'{"a": "\xff"}', b"// not for Claude\n{}", b'{"mcpServers": []}'],
)
def test_a_file_that_cannot_be_read_is_left_alone(
    files: ProgramFiles, tmp_path: Path, content: bytes
) -> None:
    (folder := tmp_path / ".config" / "Claude").mkdir(parents=True)
    (path := folder / "claude_desktop_config.json").write_bytes(content)
    with pytest.raises(AppError, match="claude_desktop_config"):
        files.write(program("claude"))
    assert path.read_bytes() == content
    assert list(folder.iterdir()) == [path]


def test_a_program_that_is_not_there_gets_no_folder(files: ProgramFiles, tmp_path: Path) -> None:
    with pytest.raises(AppError, match="not found"):
        files.write(program("lmstudio"))
    assert list(tmp_path.iterdir()) == []


def test_a_remote_entry_of_the_name_is_replaced(files: ProgramFiles, tmp_path: Path) -> None:
    (folder := tmp_path / ".cursor").mkdir()
    old: dict[str, Any] = {"url": "http://127.0.0.1:8642/mcp", "headers": {"a": "b"}}
    servers = {"desktop-rag": old, "other": old}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    assert files.look(program("cursor")).state is FileState.OTHER
    files.write(program("cursor"))
    new = json.loads((folder / "mcp.json").read_text())["mcpServers"]
    assert new == {"desktop-rag": {"command": COMMAND[0], "args": ["mcp"]}, "other": old}


@pytest.mark.slow
def test_the_command_line_sets_a_program_up_and_checks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "person" / ".cursor").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "person"))
    monkeypatch.setenv("DESKTOP_RAG_HOME", str(tmp_path / "library"))
    done = run("mcp", "--configure", "Cursor", "--json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert {"search", "fetch", "ask"} <= set(shown["tools"])
    entry = json.loads(Path(shown["file"]).read_text())["mcpServers"]["desktop-rag"]
    assert Path(entry["command"]).is_absolute()
    assert entry["env"] == {"DESKTOP_RAG_HOME": str(tmp_path / "library")}
    listed = {
        row["name"]: row["state"] for row in json.loads(run("mcp", "--list", "--json").stdout)
    }
    assert listed["cursor"] == "set"
    assert run("mcp", "--configure", "notepad").returncode == 1


def test_a_command_that_is_no_server_is_told() -> None:
    with pytest.raises(AppError, match="not found"):
        tools_of({"command": str(Path("no") / "such" / "program")})
    with pytest.raises(AppError, match="doesn't answer"):
        tools_of({"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]})
