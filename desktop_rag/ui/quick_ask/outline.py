"""The outline of the quick ask and its size on a screen. Qt thread."""

import math

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QCursor, QGuiApplication, QRegion

_MARGIN_PX = 16
# Of the height of the screen; the rest stays above and below.
_HIGHEST_PART = 0.75


def rounded_region(size: QSize, radius_px: int) -> QRegion:
    """Everything but the corners; a pixel that the curve crosses belongs to the region.

    A desktop without a compositor draws black what is transparent, unless it is cut off.
    """
    region = QRegion(0, radius_px, size.width(), size.height() - 2 * radius_px)
    for row in range(radius_px):
        height = radius_px - row - 1
        inset = radius_px - math.ceil(math.sqrt(radius_px**2 - height**2))
        width = size.width() - 2 * inset
        region += QRegion(inset, row, width, 1)
        region += QRegion(inset, size.height() - row - 1, width, 1)
    return region


def fitting(size: QSize, area: QRect) -> QSize:
    """The size, made as small as a screen with this area needs."""
    most = QSize(area.width() - 2 * _MARGIN_PX, int(area.height() * _HIGHEST_PART))
    return size.boundedTo(most)


def area_with_pointer() -> QRect:
    """What windows can use of the screen with the pointer."""
    screen = QGuiApplication.screenAt(QCursor.pos()) or QGuiApplication.primaryScreen()
    return screen.availableGeometry()
