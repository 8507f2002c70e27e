"""The programs that start MCP servers, where each keeps its list of them, and in which form. Pure
but for looking which folders there are.

The places are those that the programs documented, or that their source used, in November 2026.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

_STORE_PACKAGES = "Claude_*/LocalCache/Roaming/Claude"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The system and the folders of the person: `linux`, `darwin` or `win32`, as `sys.platform`."""

    system: str
    home: Path
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def current(cls) -> "Surroundings":
        """Those of this process."""
        return cls(sys.platform, Path.home(), os.environ)

    @property
    def settings(self) -> Path:
        """The folder of programs' settings."""
        match self.system:
            case "win32":
                return self._named("APPDATA", self.home / "AppData" / "Roaming")
            case "darwin":
                return self.home / "Library" / "Application Support"
            case _:
                return self._named("XDG_CONFIG_HOME", self.home / ".config")

    @property
    def data(self) -> Path:
        """The folder of programs' data: apart from the settings on Linux only."""
        if self.system in ("win32", "darwin"):
            return self.settings
        return self._named("XDG_DATA_HOME", self.home / ".local" / "share")

    @property
    def packages(self) -> Path:
        """On Windows the folder of packages from the store, which see files of their own."""
        local = self._named("LOCALAPPDATA", self.home / "AppData" / "Local")
        return local / "Packages"

    def _named(self, variable: str, usual: Path) -> Path:
        given = Path(self.environment.get(variable, ""))
        return given if given.is_absolute() else usual


Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MCPProgram:
    """A program, the name of the list of servers in its file, and what else an entry has.

    A file with comments is refused where the program itself would not read it. `restart` says how
    the program takes notice.
    """

    name: str
    title: str
    place: Callable[[Surroundings], Path]
    servers: str = "mcpServers"
    entry: Entry = field(default_factory=dict[str, Any])
    has_comments: bool = False
    restart: str = ""

    def entry_for(self, command: list[str], environment: Mapping[str, str]) -> dict[str, Any]:
        """The entry that starts this command."""
        started: dict[str, Any] = {"command": command[0], "args": command[1:]}
        return {**started, **self.entry} | ({"env": dict(environment)} if environment else {})


def _claude(around: Surroundings) -> Path:
    file = "claude_desktop_config.json"
    if around.system == "win32":
        # From the store it reads a copy of this folder in its package.
        packaged = sorted(around.packages.glob(_STORE_PACKAGES))
        packaged.sort(key=lambda folder: not (folder / file).exists())
        if packaged:
            return packaged[0] / file
    return around.settings / "Claude" / file


def _cursor(around: Surroundings) -> Path:
    return around.home / ".cursor" / "mcp.json"


def _vs_code(around: Surroundings) -> Path:
    return around.settings / "Code" / "User" / "mcp.json"


def _zed(around: Surroundings) -> Path:
    if around.system == "darwin":
        return around.home / ".config" / "zed" / "settings.json"
    name = "Zed" if around.system == "win32" else "zed"
    return around.settings / name / "settings.json"


def _lm_studio(around: Surroundings) -> Path:
    pointer = around.home / ".lmstudio-home-pointer"
    try:
        chosen = Path(pointer.read_text("utf-8").strip())
    except (OSError, ValueError):
        chosen = Path()
    return (chosen if chosen.is_absolute() else around.home / ".lmstudio") / "mcp.json"


def _jan(around: Surroundings) -> Path:
    try:
        read: object = json.loads((around.data / "Jan" / "settings.json").read_text("utf-8"))
        chosen = cast("dict[str, Any]", read).get("data_folder") if isinstance(read, dict) else ""
        folder = Path(str(chosen or ""))
    except (OSError, ValueError, RecursionError):
        folder = Path()
    usual = around.data / "Jan" / "data"
    return (folder if folder.is_absolute() else usual) / "mcp_config.json"


PROGRAMS = (
    MCPProgram("claude", "Claude Desktop", _claude, restart="Quit Claude Desktop and start it."),
    MCPProgram("cursor", "Cursor", _cursor, has_comments=True, restart="Restart Cursor."),
    MCPProgram(
        "vscode", "VS Code", _vs_code, "servers", {"type": "stdio"}, has_comments=True,
        restart="VS Code asks whether you trust the server when it is first started.",
    ),
    MCPProgram(
        "zed", "Zed", _zed, "context_servers", {"source": "custom", "enabled": True},
        has_comments=True, restart="Zed takes notice at once.",
    ),
    MCPProgram("lmstudio", "LM Studio", _lm_studio, restart="Restart LM Studio."),
    MCPProgram(
        "jan", "Jan", _jan, entry={"type": "stdio", "active": True}, restart="Restart Jan."
    ),
)  # fmt: skip


def program_named(name: str) -> MCPProgram | None:
    """The program of this name or title, ignoring case; None for an unknown one."""
    for program in PROGRAMS:
        if name.casefold() in (program.name, program.title.casefold()):
            return program
    return None
