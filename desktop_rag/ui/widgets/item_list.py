"""A list of lines that says in words when it is empty. Qt thread."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QShowEvent
from PySide6.QtWidgets import QListWidget, QWidget

_MARGIN_PX = 16


class ItemList(QListWidget):
    """A framed list; `empty_text` tells how to get a first item."""

    def __init__(self, name: str, empty_text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._empty_text = empty_text
        self.setObjectName("itemList")
        self.setAccessibleName(name)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for changed in (self.model().rowsInserted, self.model().rowsRemoved):
            changed.connect(self._tell)
        self.model().modelReset.connect(self._tell)
        self._tell()

    @Slot()
    def _tell(self) -> None:
        """A screen reader reads no painted words."""
        self.setAccessibleDescription("" if self.count() else self._empty_text)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Rows that were laid out before there was a style are too low for it.
        self.doItemsLayout()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.count():
            return
        painter = QPainter(self.viewport())
        painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
        margin = _MARGIN_PX
        area = self.viewport().rect().adjusted(margin, margin, -margin, -margin)
        how = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(area, int(how), self._empty_text)
