"""Asks before an address from an answer is opened, and shows where it really leads. Qt thread."""

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QWidget

from desktop_rag.ui.messages.markdown_html import safe_address

_LONGEST_SHOWN = 300


def real_place(address: str) -> str:
    """The host as the network sees it (`xn--…` for look-alike letters), or the mail address."""
    url = QUrl(address, QUrl.ParsingMode.StrictMode)
    if url.scheme().lower() == "mailto":
        return url.path()
    return url.host(QUrl.ComponentFormattingOption.FullyEncoded)


def ask_to_open(address: str, parent: QWidget) -> QMessageBox | None:
    """Show the question; the address opens on Yes. None for an address that is never opened."""
    place = real_place(address)
    if safe_address(address) is None or not place:
        return None
    shown = address if len(address) <= _LONGEST_SHOWN else f"{address[:_LONGEST_SHOWN]}…"
    box = QMessageBox(parent)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setWindowTitle("Open address")
    # Everything in the one text: the informative text below it would be guessed to be HTML.
    box.setText(f"Open {place}?\n\nThe answer links to:\n{shown}")
    box.setStandardButtons(QMessageBox.StandardButton.Open | QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(QMessageBox.StandardButton.Cancel)
    url = QUrl(address, QUrl.ParsingMode.StrictMode)
    box.accepted.connect(lambda: QDesktopServices.openUrl(url))
    box.open()
    return box
