"""Asks before opening a link from an answer, showing its actual host. Qt thread."""

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QWidget

from desktop_rag.core.files.private_files import persons_mask
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.markdown.markdown_html import safe_address

_MAX_SHOWN = 300


def actual_host(address: str) -> str:
    """The host in ASCII form (`xn--…` for look-alike letters), or the email address."""
    url = QUrl(address, QUrl.ParsingMode.StrictMode)
    if url.scheme().lower() == "mailto":
        return url.path()
    return url.host(QUrl.ComponentFormattingOption.FullyEncoded)


def confirm_and_open(address: str, parent: QWidget) -> QMessageBox | None:
    """Ask whether to open a link, and open it on confirmation. None for a disallowed address."""
    host = actual_host(address)
    if safe_address(address) is None or not host:
        return None
    shown = address if len(address) <= _MAX_SHOWN else f"{address[:_MAX_SHOWN]}…"
    box = QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setWindowTitle(tr("Open link"))
    # All in the main text: Qt would guess whether an informative text is HTML.
    box.setText(tr("Open {host}?\n\nThe full address is:\n{shown}", host=host, shown=shown))
    box.setStandardButtons(QMessageBox.StandardButton.Open | QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(QMessageBox.StandardButton.Cancel)
    url = QUrl(address, QUrl.ParsingMode.StrictMode)
    box.accepted.connect(lambda: _open(url))
    box.open()
    return box


def _open(url: QUrl) -> None:
    with persons_mask():
        QDesktopServices.openUrl(url)
