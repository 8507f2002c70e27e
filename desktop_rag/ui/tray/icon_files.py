"""The app's icon as the content of picture files, for what the desktop reads itself. Any thread."""

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer


def drawing_path(resources: Path) -> Path:
    """The one drawing of the icon, SVG."""
    return resources / "app_icon.svg"


def icon_pngs(drawing: Path, sizes_px: Iterable[int]) -> dict[int, bytes]:
    """The drawing as PNG by its width and height; needs no screen."""
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
