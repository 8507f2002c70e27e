"""Data of several forms for the clipboard. Qt thread.

WORKAROUND Qt deletes what is on the clipboard after Python has ended, which crashes for data that
was made in Python. So before the end it is replaced by its plain text, which Qt makes itself.
"""

import atexit

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QClipboard, QGuiApplication
from shiboken6 import isValid

_MODES = (QClipboard.Mode.Clipboard, QClipboard.Mode.Selection)
_made: list[QMimeData] = []


def clipboard_data(text: str, html: str = "") -> QMimeData:
    """Data for the clipboard or for a selection."""
    if not _made:
        atexit.register(_replace)
    data = QMimeData()
    data.setText(text)
    if html:
        data.setHtml(html)
    # Qt deletes what is replaced on the clipboard.
    _made[:] = [*filter(isValid, _made), data]
    return data


def _replace() -> None:
    if QGuiApplication.instance() is None:
        return
    clipboard = QGuiApplication.clipboard()
    for mode in _MODES:
        if clipboard.mimeData(mode) in filter(isValid, _made):
            clipboard.setText(clipboard.text(mode), mode)
