"""The command that starts this installation of the app. Any thread."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

_WITHOUT_CONSOLE = "desktop-rag-window.exe"


def app_command(*arguments: str) -> list[str]:
    """The command line that starts the app, with absolute paths, whatever the folder and PATH."""
    if getattr(sys, "frozen", False):
        return [str(_frozen_program()), *arguments]
    script = Path(sys.executable).parent / ("desktop-rag.exe" if _is_windows() else "desktop-rag")
    if script.exists():
        return [str(script), *arguments]
    return [sys.executable, "-m", "desktop_rag", *arguments]


def terminal_command(*arguments: str) -> list[str]:
    """As `app_command`, for a program that talks to it over standard input and output."""
    program, *rest = app_command(*arguments)
    console = Path(program).with_name("desktop-rag.exe")
    has_none = Path(program).name == _WITHOUT_CONSOLE and console.exists()
    return [str(console) if has_none else program, *rest]


def quoted(command: Sequence[str]) -> str:
    """A command for the Exec line of a desktop file, quoted as its specification asks."""
    return " ".join(_quoted_argument(part) for part in command)


def _quoted_argument(part: str) -> str:
    escaped = "".join(f"\\{c}" if c in '"`$\\' else c for c in part).replace("%", "%%")
    # The value of a key is unescaped before the quotes are read.
    return '"' + escaped.replace("\\", "\\\\") + '"'


def _frozen_program() -> Path:
    # An AppImage is unpacked to another place each time.
    program = Path(os.environ.get("APPIMAGE") or sys.executable)
    # Beside the program of the command line there is one that opens no console.
    without_console = program.with_name(_WITHOUT_CONSOLE)
    return without_console if without_console.exists() else program


def _is_windows() -> bool:
    return sys.platform == "win32"
