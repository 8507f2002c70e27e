"""Opens a file at a place with the programs the computer has. Worker threads; never a shell.

A PDF opens at its page in viewers that take one. Everything else, and every viewer we don't know,
is left to the desktop: then `open_at` says that the file still has to be handed to it, which only
the Qt thread may do.
"""

import logging
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QProcess

from desktop_rag.core.anchors import Anchor
from desktop_rag.core.errors import AppError

log = logging.getLogger(__name__)

_ASK_DESKTOP_TIMEOUT_S = 3.0
# What each viewer calls a page. Where the file's name has to come is part of it.
_PDF_VIEWERS: dict[str, Callable[[str, int], list[str]]] = {
    "evince": lambda file, page: [f"--page-index={page}", file],
    "papers": lambda file, page: [f"--page-index={page}", file],
    "okular": lambda file, page: ["--page", str(page), file],
    "xreader": lambda file, page: [f"--page-index={page}", file],
    "atril": lambda file, page: [f"--page-index={page}", file],
    "qpdfview": lambda file, page: ["--unique", f"{file}#{page}"],
    "zathura": lambda file, page: [f"--page={page}", file],
    "mupdf": lambda file, page: [file, str(page)],
    "xpdf": lambda file, page: [file, str(page)],
    "firefox": lambda file, page: [f"{Path(file).as_uri()}#page={page}"],
    "chromium": lambda file, page: [f"{Path(file).as_uri()}#page={page}"],
    "google-chrome": lambda file, page: [f"{Path(file).as_uri()}#page={page}"],
    "SumatraPDF": lambda file, page: ["-reuse-instance", "-page", str(page), file],
}


def open_at(path: Path, anchor: Anchor) -> bool:
    """Start a viewer at the place. False: nothing was started, let the desktop open the file.

    AppError when the file is not there any more or cannot be read.
    """
    check_readable(path)
    command = pdf_command(path, anchor.page) if anchor.page and _is_pdf(path) else None
    if command is None:
        return False
    # Detached, so that a viewer lives on when the app ends and leaves nothing behind when it ends.
    is_started, _pid = QProcess.startDetached(command[0], command[1:])
    if not is_started:
        log.info("The viewer %s did not start", command[0])
    return is_started


def check_readable(path: Path) -> None:
    """AppError with a way out when the file cannot be opened."""
    try:
        is_there = path.exists()
    except OSError as exc:
        raise AppError(f"{path.name} cannot be opened.", str(exc)) from exc
    if not is_there:
        raise AppError(
            f"{path.name} is not there any more.",
            f"It was moved or deleted, or its drive is not connected: {path}",
        )


def pdf_command(path: Path, page: int) -> list[str] | None:
    """The command that shows `page` (from 1), by the usual viewer if it takes a page, else by
    another one that is installed; None where none is known.
    """
    usual = _usual_pdf_viewer()
    if usual and usual not in _PDF_VIEWERS:
        return None
    for name in (usual, *_PDF_VIEWERS):
        program = shutil.which(name) if name else None
        if program:
            return [program, *_PDF_VIEWERS[name](str(path.absolute()), page)]
    return None


def _is_pdf(path: Path) -> bool:
    return path.suffix.lower() == ".pdf"


def _usual_pdf_viewer() -> str:
    """What the desktop opens a PDF with, as a name like `okular`; empty where it can't be told."""
    if sys.platform in {"win32", "darwin"} or not (ask := shutil.which("xdg-mime")):
        return ""
    try:
        answer = subprocess.run(
            [ask, "query", "default", "application/pdf"],
            capture_output=True,
            text=True,
            timeout=_ASK_DESKTOP_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        log.info("The desktop did not say what opens a PDF: %s", exc)
        return ""
    return viewer_of(answer.stdout.strip())


def viewer_of(desktop_file: str) -> str:
    """The viewer behind a name such as `org.gnome.Evince.desktop` or `firefox-esr.desktop`."""
    name = desktop_file.removesuffix(".desktop").rpartition(".")[2].lower()
    return next((viewer for viewer in _PDF_VIEWERS if name.startswith(viewer)), name)
