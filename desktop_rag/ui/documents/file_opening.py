"""Opens files and their folders with the programs the desktop has for them. Qt thread.

Whether a file is still there is looked up on a worker thread: a drive may be asleep or gone.
"""

from pathlib import Path

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices

from desktop_rag.core.errors import AppError
from desktop_rag.ui.documents.open_place import check_readable
from desktop_rag.ui.foundation.bridge import Bridge

# Some desktops run these when they are opened. A source is to be read, never run.
_RUN_BY_OPENING = frozenset(
    {
        *(".appimage", ".bat", ".cmd", ".com", ".command", ".desktop", ".exe", ".hta", ".jar"),
        *(".js", ".jse", ".lnk", ".msi", ".pif", ".ps1", ".py", ".pyw", ".reg", ".scr", ".sh"),
        *(".url", ".vb", ".vbe", ".vbs", ".workflow", ".wsf", ".wsh"),
    }
)


class FileOpener(QObject):
    """Opens what exists; what does not, or what no program takes, is posted as an AppError."""

    def __init__(self, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge

    def open(self, path: Path) -> None:
        """Open a file or a folder. What a double click would run is shown in its folder instead."""
        is_run = path.suffix.lower() in _RUN_BY_OPENING
        self._bridge.run(self, lambda: _checked(path.parent if is_run else path), self._on_found)

    def show_in_folder(self, path: Path) -> None:
        """Open the folder that holds the file."""
        self._bridge.run(self, lambda: _checked(path.parent), self._on_found)

    @Slot(object)
    def _on_found(self, path: Path) -> None:
        # Not through a str of Qt's: it would lose the bytes of a name that is no UTF-8.
        url = QUrl.fromEncoded(path.absolute().as_uri().encode())
        if not QDesktopServices.openUrl(url):
            self._bridge.post(
                AppError(
                    f"{path.name} could not be opened.",
                    "No program on this computer opens files of its kind.",
                )
            )


def _checked(path: Path) -> Path:
    check_readable(path)
    return path
