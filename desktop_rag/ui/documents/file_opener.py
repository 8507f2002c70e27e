"""Opens files and folders with the desktop's default programs. Qt thread.

A worker thread checks that the file exists, because its drive may be asleep or disconnected.
"""

from pathlib import Path

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices

from desktop_rag.core.errors import AppError
from desktop_rag.core.private_files import persons_mask
from desktop_rag.ui.documents.external_viewer import check_readable
from desktop_rag.ui.foundation.bridge import Bridge

# Some desktops execute these files when they are opened.
_RUN_BY_OPENING = frozenset(
    {
        *(".appimage", ".bat", ".cmd", ".com", ".command", ".desktop", ".exe", ".hta", ".jar"),
        *(".js", ".jse", ".lnk", ".msi", ".pif", ".ps1", ".py", ".pyw", ".reg", ".scr", ".sh"),
        *(".url", ".vb", ".vbe", ".vbs", ".workflow", ".wsf", ".wsh"),
    }
)


class FileOpener(QObject):
    """Opens existing files; failures are posted to the bridge as AppErrors."""

    def __init__(self, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge

    def open(self, path: Path) -> None:
        """Open a file or folder. An executable file is shown in its folder instead."""
        is_executable = path.suffix.lower() in _RUN_BY_OPENING
        self._bridge.run(
            self, lambda: _checked(path.parent if is_executable else path), self._on_found
        )

    def show_in_folder(self, path: Path) -> None:
        """Open the folder that holds the file."""
        self._bridge.run(self, lambda: _checked(path.parent), self._on_found)

    @Slot(object)
    def _on_found(self, path: Path) -> None:
        # Percent-encoded, because a Qt string would lose bytes of a name that is not valid UTF-8.
        url = QUrl.fromEncoded(path.absolute().as_uri().encode())
        with persons_mask():
            is_opened = QDesktopServices.openUrl(url)
        if not is_opened:
            self._bridge.post(
                AppError(
                    f"{path.name} could not be opened.",
                    "No app for this type of file was found. Install one, then try again.",
                )
            )


def _checked(path: Path) -> Path:
    check_readable(path)
    return path
