"""The navigation rail on the left edge of the window. Qt thread."""

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QSizePolicy, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import ToolButton, set_property, set_tip

_LEAST_PX = 62
_ICON = QSize(22, 22)
# Name and icon of each page, in the order of the shortcuts Ctrl+1, Ctrl+2, …
PAGES = (
    (tr("Chat"), "chat"),
    (tr("Library"), "library"),
    (tr("Search"), "search"),
    (tr("Settings"), "settings"),
)


class NavigationRail(QWidget):
    """One button per page; `page_chosen` carries its position. It is as wide as its longest name.

    `shortcuts_requested` comes from a button of its own.
    """

    page_chosen = Signal(int)
    shortcuts_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("rail")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self._group = QButtonGroup(self)
        self._current = 0
        column = QVBoxLayout(self)
        column.setContentsMargins(7, 10, 7, 10)
        column.setSpacing(4)
        for position, (name, icon) in enumerate(PAGES):
            button = self._button(name, icon)
            set_tip(button, tr("{name} (Ctrl+{value})", name=name, value=position + 1))
            self._group.addButton(button, position)
            column.addWidget(button)
        self._keys = self._button(tr("Keys"), "keyboard")
        set_tip(self._keys, tr("Keyboard shortcuts (F1)"))
        self._keys.setAccessibleName(tr("Keyboard shortcuts"))
        self._keys.clicked.connect(self.shortcuts_requested)
        # Settings are set apart at the bottom, with the keys above them.
        column.insertStretch(len(PAGES) - 1, 1)
        column.insertWidget(len(PAGES), self._keys)
        self._group.idClicked.connect(self._on_clicked)
        theme.changed.connect(self._tint)
        self.choose(0)

    def _button(self, name: str, icon: str) -> ToolButton:
        button = ToolButton()
        button.setText(name)
        button.setAccessibleName(name)
        button.setProperty("icon_name", icon)
        button.setIconSize(_ICON)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.setMinimumWidth(_LEAST_PX)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        return button

    def choose(self, position: int) -> None:
        """Mark the current page."""
        self._current = position
        for button in self._group.buttons():
            is_current = self._group.id(button) == position
            # Not checked: a screen reader would call a page a check box.
            set_property(button, "current", is_current)
            place = tr("The current page, ") if is_current else ""
            button.setAccessibleDescription(
                tr("{place}Ctrl+{value}", place=place, value=self._group.id(button) + 1)
            )
        self._tint()

    @Slot()
    def _tint(self) -> None:
        self._theme.set_icon(self._keys, f"{self._keys.property('icon_name')}:muted")
        for button in self._group.buttons():
            role = "accent_soft_text" if self._group.id(button) == self._current else "muted"
            self._theme.set_icon(button, f"{button.property('icon_name')}:{role}")

    @Slot(int)
    def _on_clicked(self, position: int) -> None:
        self.page_chosen.emit(position)
