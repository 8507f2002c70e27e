"""The size and place of the window, kept between starts and fitted to the screen. Qt thread."""

from collections.abc import Mapping

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMainWindow

MINIMUM_SIZE = QSize(560, 330)
_INITIAL_SIZE = QSize(1200, 800)
# What desktops add around a window: its title bar, mostly.
_FRAME = QSize(8, 44)


def fitted(wanted: QRect, screen: QRect) -> QRect:
    """The rectangle moved, and made smaller if needed, so that it is within the screen."""
    size = wanted.size().boundedTo(screen.size() - _FRAME).expandedTo(MINIMUM_SIZE)
    right = screen.right() - size.width() - _FRAME.width()
    bottom = screen.bottom() - size.height() - _FRAME.height()
    left = max(screen.left(), min(wanted.left(), right))
    top = max(screen.top(), min(wanted.top(), bottom))
    return QRect(QPoint(left, top), size)


def place_window(window: QMainWindow, kept: Mapping[str, object]) -> None:
    """Give the window the place in `kept`, or else its initial size, on a screen that exists."""
    window.setMinimumSize(MINIMUM_SIZE)
    numbers = [kept.get(name) for name in ("left", "top", "width", "height")]
    whole = [number for number in numbers if isinstance(number, int)]
    if len(whole) < len(numbers):
        screen = window.screen().availableGeometry()
        window.resize(fitted(QRect(screen.topLeft(), _INITIAL_SIZE), screen).size())
        return
    wanted = QRect(*whole)
    there = QGuiApplication.screenAt(wanted.center()) or window.screen()
    place = fitted(wanted, there.availableGeometry())
    window.resize(place.size())
    # Of the frame: `setGeometry` would put the title bar above the screen.
    window.move(place.topLeft())
    if kept.get("is_maximized") is True:
        window.setWindowState(window.windowState() | Qt.WindowState.WindowMaximized)


def place_of(window: QMainWindow) -> dict[str, int | bool]:
    """What `place_window` takes: the place the window has when it is not maximised."""
    place = window.normalGeometry() if window.isMaximized() else window.geometry()
    corner = place.topLeft() if window.isMaximized() else window.pos()
    return {
        "left": corner.x(),
        "top": corner.y(),
        "width": place.width(),
        "height": place.height(),
        "is_maximized": window.isMaximized(),
    }
