"""Pages of a stack that are built when they are first shown. Qt thread."""

from PySide6.QtWidgets import QStackedWidget, QWidget


def put_in_place(stack: QStackedWidget, position: int, page: QWidget) -> None:
    """Put a page where an empty one stood; the current position stays."""
    current, empty = stack.currentIndex(), stack.widget(position)
    stack.insertWidget(position, page)
    if empty:
        stack.removeWidget(empty)
        empty.deleteLater()
    stack.setCurrentIndex(current)
