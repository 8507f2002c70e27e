"""The settings and the pages beside them, one shown at a time. Qt thread."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from desktop_rag.ui.widgets.controls import TextButton

_SIDE_PX = 22


class SettingsTabs(QWidget):
    """A row of buttons, one per page, above the chosen page."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("kind", "page")
        self._group = QButtonGroup(self)
        self._row = QHBoxLayout()
        self._row.setContentsMargins(_SIDE_PX, 14, _SIDE_PX, 0)
        self._row.setSpacing(6)
        self._row.addStretch(1)
        self._pages = QStackedWidget()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._row)
        column.addWidget(self._pages, 1)
        self._group.idClicked.connect(self.show_page)

    def add_page(self, name: str, page: QWidget) -> None:
        """Add a page as the last one; the first is shown."""
        position = self._pages.addWidget(page)
        button = TextButton(name, self, kind="chip")
        button.setCheckable(True)
        button.setChecked(position == 0)
        self._group.addButton(button, position)
        self._row.insertWidget(position, button)

    @Slot(int)
    def show_page(self, position: int) -> None:
        """Show the page at this position."""
        self._group.button(position).setChecked(True)
        self._pages.setCurrentIndex(position)
