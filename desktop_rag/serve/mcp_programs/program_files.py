"""Enters the library's command in the file where a program lists its MCP servers. Worker threads.

A file is changed in one place and kept otherwise, with a copy beside it; one that can't be read is
left alone.
"""

import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from desktop_rag.core.errors import AppError
from desktop_rag.serve.mcp_programs.commented_json import NotJSONError, merged, parse, with_value
from desktop_rag.serve.mcp_programs.known_programs import MCPProgram, Surroundings

SERVER_NAME = "desktop-rag"
_LARGEST_BYTES = 8 << 20


class FileState(StrEnum):
    """What a program knows of the library."""

    NOT_FOUND = "not found"
    NOT_SET = "not set"
    OTHER = "other command"
    SET = "set"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """A program, its file, and the state of our entry; `fault` says why it can't be read."""

    program: MCPProgram
    path: Path
    state: FileState
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """The file that was written, and its copy from before, None where there was nothing to keep."""

    path: Path
    backup: Path | None
    is_changed: bool


class ProgramFiles:
    """Reads and changes the files of the programs on this computer."""

    def __init__(
        self, command: list[str], environment: Mapping[str, str], around: Surroundings
    ) -> None:
        """Programs are to start `command`, with these variables added to their environment."""
        self._command = command
        self._environment = environment
        self._around = around

    def look(self, program: MCPProgram) -> ProgramFile:
        """The state of a program."""
        path = program.place(self._around)
        if not path.parent.is_dir():
            return ProgramFile(program, path, FileState.NOT_FOUND)
        try:
            entry = self.entry(program)
        except AppError as error:
            return ProgramFile(program, path, FileState.UNREADABLE, f"{error.title} {error.hint}")
        if entry is None:
            return ProgramFile(program, path, FileState.NOT_SET)
        wanted = program.entry_for(self._command, self._environment)
        is_ours = all(entry.get(name) == value for name, value in wanted.items())
        return ProgramFile(program, path, FileState.SET if is_ours else FileState.OTHER)

    def entry(self, program: MCPProgram) -> dict[str, Any] | None:
        """Our entry in the program's file, None without one. AppError when it can't be read."""
        path = program.place(self._around)
        text = _read(path)
        try:
            root = parse(text, comments=program.has_comments)
        except NotJSONError as exc:
            raise _unreadable(path, exc) from exc
        if root is None:
            return None
        servers = root.members.get(program.servers)
        entry = servers.members.get(SERVER_NAME) if servers else None
        return cast("dict[str, Any]", entry.value) if entry and entry.members else None

    def write(self, program: MCPProgram) -> Written:
        """Enter the command. AppError when the program is not there, or its file can't be read."""
        path = program.place(self._around)
        if not path.parent.is_dir():
            raise AppError(
                f"{program.title} was not found on this computer.",
                f"Start it once; it makes {path.parent}.",
            )
        # Settings are often links to files kept elsewhere.
        path = path.resolve()
        before = _read(path)
        after = self._entered(program, path, before)
        if after == before:
            return Written(path, None, is_changed=False)
        try:
            backup = _copy(path) if path.exists() else None
            if _read(path) != before:
                raise AppError(f"{program.title} has just written its file.", "Try again.")
            _replace(path, after)
        except OSError as exc:
            raise AppError(f"{path} can't be written.", f"{exc.strerror}.") from exc
        return Written(path, backup, is_changed=True)

    def _entered(self, program: MCPProgram, path: Path, text: str) -> str:
        wanted = program.entry_for(self._command, self._environment)
        place = [program.servers, SERVER_NAME]
        # One that is reached at an address has nothing in common with one that is started.
        is_remote = "url" in (self.entry(program) or {})
        put = with_value if is_remote else merged
        try:
            return put(text, place, wanted, comments=program.has_comments)
        except NotJSONError as exc:
            raise _unreadable(path, exc) from exc
        except ValueError as exc:
            hint = f"“{exc}” is not a list of settings. Correct the file first."
            raise AppError(f"{path} has another form than expected.", hint) from exc


def _read(path: Path) -> str:
    """The text of a file, "" where there is none; its line ends and its mark of order stay."""
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise AppError(f"{path} can't be read.", "It is very large.")
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as exc:
        said = exc.strerror if isinstance(exc, OSError) else "It is not UTF-8"
        raise AppError(f"{path} can't be read.", f"{said}. It was left as it is.") from exc


def _copy(path: Path) -> Path:
    """A copy beside the file, with its rights."""
    backup = path.with_name(f"{path.name}.{time.strftime('%Y%m%d-%H%M%S')}.bak")
    shutil.copy2(path, backup)
    return backup


def _replace(path: Path, text: str) -> None:
    """Write the file whole or not at all, with the rights that it had."""
    new = path.with_name(path.name + ".new")
    with new.open("wb") as file:
        if path.exists():
            shutil.copymode(path, new)
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def _unreadable(path: Path, error: NotJSONError) -> AppError:
    hint = f"Line {error.line} is not valid JSON. It was left as it is; correct it first."
    return AppError(f"{path} can't be read.", hint)
