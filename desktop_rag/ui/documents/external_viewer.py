"""Opens files in other programs: PDFs at a page, recordings at a second. Never through a shell.

Functions run on worker threads. Other files, and PDFs with an unknown default viewer, are left to
the desktop: `open_in_viewer` returns False, and FileOpener hands the file over on the Qt thread.
"""

import logging
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QProcess, QUrl
from PySide6.QtGui import QDesktopServices

from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.files.own_files import persons_mask
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import Notice
from desktop_rag.core.parsed import Anchor
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import one_line

log = logging.getLogger(__name__)

_ASK_DESKTOP_TIMEOUT_S = 3.0
# The arguments that open a file at a page, per viewer.
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
# The arguments that play a file from a second on, per player.
_PLAYERS: dict[str, Callable[[str, int], list[str]]] = {
    "vlc": lambda file, second: [f"--start-time={second}", file],
    "mpv": lambda file, second: [f"--start={second}", "--force-window", file],
    "celluloid": lambda file, second: [f"--mpv-start={second}", file],
}


def open_in_viewer(path: Path, anchor: Anchor) -> bool:
    """Start a PDF viewer at the anchor's page, or a player at its second.

    False if the desktop has to open the file. Raises AppError when it is missing or can't be read.
    """
    check_readable(path)
    is_pdf = path.suffix.lower() == ".pdf"
    command = pdf_command(path, anchor.page) if anchor.page and is_pdf else None
    if anchor.second is not None:
        command = player_command(path, anchor.second)
    if command is None:
        return False
    # Detached, so that the viewer outlives the app and leaves no zombie process when it exits.
    with persons_mask():
        is_started, _pid = QProcess.startDetached(command[0], command[1:])
    if not is_started:
        log.info("The viewer %s did not start", command[0])
    return is_started


def check_readable(path: Path) -> None:
    """Raise an AppError when the file is missing or can't be accessed."""
    with os_error_as(tr("{name} can't be opened.", name=path.name), path):
        is_there = path.exists()
    if not is_there:
        raise AppError(
            tr("{name} no longer exists.", name=path.name),
            tr("It was moved or deleted, or its drive is disconnected: {path}", path=path),
        )


def pdf_command(path: Path, page: int) -> list[str] | None:
    """The command that shows `page` (from 1) in the default viewer, or else in any known one.

    None if the default viewer can't open at a page.
    """
    default = _default_pdf_viewer()
    if default and default not in _PDF_VIEWERS:
        return None
    for name in (default, *_PDF_VIEWERS):
        program = shutil.which(name) if name else None
        if program:
            return [program, *_PDF_VIEWERS[name](str(path.absolute()), page)]
    return None


def player_command(path: Path, second: int) -> list[str] | None:
    """The command that plays a recording from a second on; None without a known player."""
    for name, arguments in _PLAYERS.items():
        if program := shutil.which(name):
            return [program, *arguments(str(path.absolute()), second)]
    return None


def _default_pdf_viewer() -> str:
    """The desktop's default PDF viewer, such as `okular`; "" if unknown."""
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
        log.info("The default PDF viewer is unknown: %s", exc)
        return ""
    return viewer_of(answer.stdout.strip())


def viewer_of(desktop_file: str) -> str:
    """The viewer's name from a file name such as `org.gnome.Evince.desktop`."""
    name = desktop_file.removesuffix(".desktop").rpartition(".")[2].lower()
    return next((viewer for viewer in _PDF_VIEWERS if name.startswith(viewer)), name)


# Some desktops execute these files when they are opened.
_RUN_BY_OPENING = frozenset(
    {
        *(".appimage", ".bat", ".cmd", ".com", ".command", ".desktop", ".exe", ".hta", ".jar"),
        *(".js", ".jse", ".lnk", ".msi", ".pif", ".ps1", ".py", ".pyw", ".reg", ".scr", ".sh"),
        *(".url", ".vb", ".vbe", ".vbs", ".workflow", ".wsf", ".wsh"),
    }
)
Refused = Callable[[AppError], None]


class FileOpener(QObject):
    """Opens existing files with the desktop's programs. Failures go to `refused` or the window.

    A worker thread checks that the file exists, because its drive may be asleep or disconnected.
    """

    def __init__(self, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge

    def open(self, path: Path, refused: Refused | None = None) -> None:
        """Open a file or folder. An executable file is shown in its folder instead."""
        is_executable = path.suffix.lower() in _RUN_BY_OPENING
        self._open(path.parent if is_executable else path, refused)

    def show_in_folder(self, path: Path, refused: Refused | None = None) -> None:
        """Open the folder that holds the file."""
        self._open(path.parent, refused)

    def _open(self, path: Path, refused: Refused | None) -> None:
        def found(path: Path) -> None:
            # Percent-encoded, because a Qt string would lose bytes of a name that is not UTF-8.
            url = QUrl.fromEncoded(path.absolute().as_uri().encode())
            with persons_mask():
                is_opened = QDesktopServices.openUrl(url)
            if not is_opened:
                self._refuse(path, refused)

        self._bridge.run(self, lambda: _checked(path), found, refused)

    def _refuse(self, path: Path, refused: Refused | None) -> None:
        title = tr("No program on this computer opens {one_line}.", one_line=one_line(path.name))
        error = AppError(title, tr("It is here: {one_line}", one_line=one_line(str(path))))
        if refused is not None:
            refused(error)
        else:
            self._bridge.post(Notice(error.title, error.hint))


def _checked(path: Path) -> Path:
    check_readable(path)
    return path
