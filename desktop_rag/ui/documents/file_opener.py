"""Opens files and folders with the desktop's default programs. Qt thread.

A worker thread checks that the file exists, because its drive may be asleep or disconnected.
"""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.private_files import persons_mask
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import Notice
from desktop_rag.ui.documents.external_viewer import check_readable
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import one_line

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
    """Opens existing files. A failure goes to `refused`, else to the window as a notice."""

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
