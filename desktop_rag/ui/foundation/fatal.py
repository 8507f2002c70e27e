"""Shows start-up errors to people who start the app from a menu. Qt thread."""

import sys

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from desktop_rag.core.errors import AppError
from desktop_rag.ui.foundation.error_words import hint_of, title_of


def show_fatal(error: AppError) -> None:
    """Show the title and hint in a dialog, and print them to stderr."""
    sys.stderr.write(f"{error.title}\n{error.hint}\n")
    box = QMessageBox()
    box.setWindowTitle("desktop-rag")
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(f"{title_of(error)}\n\n{hint_of(error)}")
    box.exec()
