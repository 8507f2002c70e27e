"""A page of the settings, with its parts below their tabs. Qt thread."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QStackedWidget, QTabBar, QWidget

from desktop_rag.ui.settings.settings_parts import Part
from desktop_rag.ui.widgets.controls import PlainLabel
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage, put_in_place

_SIDE_PX = 18
_HEAD_PX = 34


class PartedPage(QWidget):
    """The title, the actions of the part that is shown, and tabs where there are several parts.

    `part_shown` follows when another part is shown.
    """

    part_shown = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.parts: list[Part] = []
        self._unbuilt: list[Part] = []
        self._actions: dict[QWidget, QWidget] = {}
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("kind", "page")
        self._tabs = QTabBar(expanding=False, drawBase=False)
        self._tabs.setAccessibleName(name)
        self._tabs.hide()
        self._widgets = QStackedWidget()
        self._head = horizontal(
            PlainLabel(name, scale="title"), Stretch(), margins=(_SIDE_PX, 0, _SIDE_PX, 0)
        )
        # As high as with actions, so that the title stays where it is.
        self._head.addStrut(_HEAD_PX)
        beside = horizontal()
        # The words of the first tab stand below the title.
        beside.setContentsMargins(_SIDE_PX - 12, 0, _SIDE_PX, 0)
        beside.addWidget(self._tabs)
        beside.addStretch(1)
        vertical(self._head, beside, (self._widgets, 1), on=self, margins=(0, 14, 0, 0), spacing=12)
        self._tabs.currentChanged.connect(self._on_tab_changed)

    def add_part(self, part: Part) -> None:
        """Add a part; its tab is shown once there are two."""
        at = len(self.parts)
        if not part.is_last:
            at = next((n for n, known in enumerate(self.parts) if known.is_last), at)
        self.parts.insert(at, part)
        if isinstance(part.widget, QWidget):
            self._widgets.insertWidget(at, part.widget)
            self._take_header(part.widget)
        else:
            self._widgets.insertWidget(at, QWidget())
            self._unbuilt.append(part)
        self._tabs.insertTab(at, part.name)
        self._tabs.setVisible(self._tabs.count() > 1)
        if not self.isVisible():
            # A page opens with its first part, whichever was added first.
            self._tabs.setCurrentIndex(0)
        self._on_tab_changed(self._tabs.currentIndex())

    def show_part(self, part: Part) -> QWidget:
        """Show a part of this page, built if need be; returns its widget."""
        self._tabs.setCurrentIndex(self.parts.index(part))
        self.build()
        shown = self._widgets.currentWidget()
        assert shown is not None, "it has a part"
        return shown

    def places_of(self, widget: QWidget) -> tuple[QWidget, ...]:
        """The widget of a part that is built, and that of its actions beside the title."""
        actions = self._actions.get(widget)
        return (widget, actions) if actions else (widget,)

    def build(self) -> None:
        """Build the part that is shown, unless it is."""
        at = self._tabs.currentIndex()
        part = self.parts[at]
        if part in self._unbuilt and not isinstance(part.widget, QWidget):
            self._unbuilt.remove(part)
            widget = part.widget()
            put_in_place(self._widgets, at, widget)
            self._take_header(widget)
            self._show_actions()

    def _take_header(self, widget: QWidget) -> None:
        for page in (widget, *widget.findChildren(ScrolledPage)):
            if isinstance(page, ScrolledPage):
                actions = page.hand_over_header()
                self._head.addWidget(actions)
                self._actions[widget] = actions

    def _show_actions(self) -> None:
        for widget, actions in self._actions.items():
            actions.setVisible(widget is self._widgets.currentWidget())

    @Slot(int)
    def _on_tab_changed(self, at: int) -> None:
        is_other = at != self._widgets.currentIndex()
        self._widgets.setCurrentIndex(at)
        if self.isVisible():
            self.build()
        self._show_actions()
        if is_other:
            self.part_shown.emit()
