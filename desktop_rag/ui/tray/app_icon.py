"""The app's icon in windows, tray and files, and the application object that carries it.

Qt thread, but `icon_pngs` runs on any. The badge in the tray differs by shape as well as by colour.
"""

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import (
    QBuffer,
    QByteArray,
    QEvent,
    QIODevice,
    QObject,
    QRectF,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QFileOpenEvent, QIcon, QImage, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QMenu, QSystemTrayIcon

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.desktop.launching import APP_ID, APP_NAME
from desktop_rag.desktop.requests import DesktopRequest, QuickAskRequested, request_of_url
from desktop_rag.ui.foundation.library_state import LibraryState

SIZES_PX = (16, 20, 22, 24, 32, 40, 44, 48, 64, 96, 128, 256, 512)
_TRAY_SIZES_PX = SIZES_PX[:9]
_STEPS = 16
_FULL_CIRCLE = 360 * 16
_TOP = 90 * 16
# The badge covers this part of the icon's side, and a ring around it is cut out.
_BADGE = 0.56
_RING = 0.06
_WITHOUT_FOLDER = 0.45
_COLOURS = {
    LibraryState.NO_FOLDER: "#5b6472",
    LibraryState.INDEXING: "#1d8f5a",
    LibraryState.PAUSED: "#5b6472",
    LibraryState.FAILED: "#d0342c",
}


class AppIcon:
    """Renders the app's one drawing; a missing file is an error at start."""

    def __init__(self, resources: Path) -> None:
        drawing = drawing_path(resources)
        self._renderer = QSvgRenderer(str(drawing))
        if not self._renderer.isValid():
            raise FileNotFoundError(drawing)
        self._tray: dict[tuple[LibraryState, int], QIcon] = {}

    def icon(self) -> QIcon:
        """The icon of the app and its windows."""
        icon = QIcon()
        for size_px in SIZES_PX:
            icon.addPixmap(self.pixmap(size_px))
        return icon

    def pixmap(self, size_px: int, opacity: float = 1.0) -> QPixmap:
        """The drawing, `size_px` wide and high."""
        pixmap = QPixmap(QSize(size_px, size_px))
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setOpacity(opacity)
        self._renderer.render(painter, QRectF(0, 0, size_px, size_px))
        painter.end()
        return pixmap

    def tray_icon(self, state: LibraryState, fraction: float = 0.0) -> QIcon:
        """The icon for a state; `fraction` (0..1) fills the disc while indexing."""
        step = round(min(max(fraction, 0.0), 1.0) * _STEPS) if state is LibraryState.INDEXING else 0
        if (state, step) not in self._tray:
            icon = QIcon()
            for size_px in _TRAY_SIZES_PX:
                icon.addPixmap(self._with_badge(size_px, state, step / _STEPS))
            self._tray[state, step] = icon
        return self._tray[state, step]

    def _with_badge(self, size_px: int, state: LibraryState, fraction: float) -> QPixmap:
        if state is LibraryState.UP_TO_DATE:
            return self.pixmap(size_px)
        pixmap = self.pixmap(size_px, _WITHOUT_FOLDER if state is LibraryState.NO_FOLDER else 1.0)
        side = round(size_px * _BADGE)
        ring = max(1, round(size_px * _RING))
        disc = QRectF(size_px - side, size_px - side, side, side)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Clear)
        painter.setBrush(Qt.GlobalColor.black)
        painter.drawEllipse(disc.adjusted(-ring, -ring, ring, ring))
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        painter.setBrush(QColor(_COLOURS[state]))
        painter.drawEllipse(disc)
        painter.setBrush(Qt.GlobalColor.white)
        _draw_sign(painter, disc, state, fraction)
        painter.end()
        return pixmap


def _draw_sign(painter: QPainter, disc: QRectF, state: LibraryState, fraction: float) -> None:
    """Draw the white sign on the badge, its edges on whole pixels."""
    left, top, side = round(disc.x()), round(disc.y()), round(disc.width())
    unit, margin = max(1, round(side / 6)), side // 4
    height = side - 2 * margin
    middle, centre = left + (side - unit) // 2, top + (side - unit) // 2
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, state is LibraryState.INDEXING)
    match state:
        case LibraryState.INDEXING:
            inner = disc.adjusted(unit, unit, -unit, -unit)
            painter.drawPie(inner, _TOP, -round(fraction * _FULL_CIRCLE))
        case LibraryState.PAUSED:
            start = left + (side - 3 * unit) // 2
            painter.drawRect(start, top + margin, unit, height)
            painter.drawRect(start + 2 * unit, top + margin, unit, height)
        case LibraryState.FAILED:
            edge = max(1, side // 6)
            painter.drawRect(middle, top + edge, unit, side - 2 * edge - unit - max(1, unit // 2))
            painter.drawRect(middle, top + side - edge - unit, unit, unit)
        case _:
            painter.drawRect(middle, top + margin, unit, height)
            painter.drawRect(left + margin, centre, height, unit)


def name_app(icon: AppIcon) -> None:
    """Set the app's icon and name, which ties its windows to its desktop file."""
    app = QApplication.instance()
    assert isinstance(app, QApplication), "the application is made first"
    app.setApplicationName(APP_NAME)
    app.setApplicationDisplayName(APP_NAME)
    app.setDesktopFileName(APP_ID)
    app.setWindowIcon(icon.icon())
    app.setQuitOnLastWindowClosed(False)


class DesktopApplication(QApplication):
    """Takes requests from the desktop while it runs, as macOS hands them over.

    `requested` carries the request in a link, a quick ask about a file, or an AppError. Other
    systems start the program again, with the link or the path.
    """

    requested = Signal(object)

    def event(self, event: QEvent) -> bool:
        if not isinstance(event, QFileOpenEvent):
            return super().event(event)
        self.requested.emit(request_of(event))
        return True


def request_of(event: QFileOpenEvent) -> DesktopRequest | AppError:
    """The request in an event of the desktop."""
    if event.file():
        return QuickAskRequested(about=(Path(event.file()),))
    try:
        return request_of_url(event.url().toString())
    except AppError as error:
        return error


def drawing_path(resources: Path) -> Path:
    """The one drawing of the icon, SVG."""
    return resources / "app_icon.svg"


def icon_pngs(drawing: Path, sizes_px: Iterable[int]) -> dict[int, bytes]:
    """The drawing as PNG files by width, for the desktop; needs no screen."""
    renderer = QSvgRenderer(str(drawing))
    return {size_px: _png(renderer, size_px) for size_px in sizes_px}


def _png(renderer: QSvgRenderer, size_px: int) -> bytes:
    image = QImage(size_px, size_px, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    renderer.render(painter, QRectF(0, 0, size_px, size_px))
    painter.end()
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    # The stub of PySide6 6.11 wants bytes here, the call itself a text.
    image.save(buffer, "PNG")  # pyright: ignore[reportCallIssue, reportArgumentType]
    return bytes(content.data())


_OPENING = tr("Opening the library…")


class OpeningIcon(QObject):
    """The tray icon while the library is being opened, with the two requests possible by then."""

    quick_ask_requested = Signal()
    quit_requested = Signal()

    def __init__(self, app_icon: AppIcon, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.menu = QMenu()
        self.menu.addAction(_OPENING).setEnabled(False)
        self.menu.addSeparator()
        self.menu.addAction(tr("Quick ask"), self.quick_ask_requested.emit)
        self.menu.addAction(tr("Quit"), self.quit_requested.emit)
        self._icon = QSystemTrayIcon(app_icon.tray_icon(LibraryState.UP_TO_DATE))
        self._icon.setToolTip(f"{APP_NAME}\n{_OPENING}")
        self._icon.setContextMenu(self.menu)
        self._icon.activated.connect(self._on_activated)

    def show(self) -> None:
        """Show the icon where this desktop has a tray."""
        if QSystemTrayIcon.isSystemTrayAvailable():
            self._icon.show()

    def hand_over(self) -> QSystemTrayIcon | None:
        """Give the shown icon to the open app's tray, where it keeps its place; None if hidden."""
        self._icon.activated.disconnect(self._on_activated)
        return self._icon if self._icon.isVisible() else None

    @Slot(QSystemTrayIcon.ActivationReason)
    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason is QSystemTrayIcon.ActivationReason.Trigger:
            self.quick_ask_requested.emit()
