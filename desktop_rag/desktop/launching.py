"""The command that starts this installation of the app. Any thread."""

import sys
from pathlib import Path


def app_command(*arguments: str) -> list[str]:
    """The command line that starts the app, with absolute paths, whatever the folder and PATH."""
    if getattr(sys, "frozen", False):
        return [sys.executable, *arguments]
    script = Path(sys.executable).parent / ("desktop-rag.exe" if _is_windows() else "desktop-rag")
    if script.exists():
        return [str(script), *arguments]
    return [sys.executable, "-m", "desktop_rag", *arguments]


def _is_windows() -> bool:
    return sys.platform == "win32"
