"""A list of pages with a search above it, the chosen page with its parts, and what the search
found. Qt thread.
"""

from collections.abc import Sequence

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QKeyEvent, QPainter, QPalette, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QFrame,
    QLineEdit,
    QListView,
    QListWidget,
    QListWidgetItem,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTabBar,
    QWidget,
)

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.shortcuts import INSIDE, bind
from desktop_rag.ui.settings.settings_parts import Found, Part, everything_in, fields_of, search
from desktop_rag.ui.widgets.controls import PlainLabel, add_clear_button
from desktop_rag.ui.widgets.form_fields import DropDown, draw_line
from desktop_rag.ui.widgets.layouts import Stretch, fill, horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage, put_in_place

_FOUND = Qt.ItemDataRole.UserRole
_WIDTH_PX = 780
_SIDE_PX = 18
_PADDING_PX = 9
_NONE = tr("No setting has these words. Try others.")


class FoundList(QWidget):
    """Settings and where they are; `chosen` carries the Found that is opened."""

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("kind", "page")
        self._list = QListWidget()
        self._list.setObjectName("pageNames")
        self._list.setAccessibleName(tr("Settings found"))
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setItemDelegate(_FoundPainter(self._list))
        self._list.setMaximumWidth(_WIDTH_PX)
        self._none = PlainLabel(_NONE, tone="muted", wrap=True)
        vertical(
            PlainLabel(tr("Found"), scale="title"),
            self._none,
            (self._list, 1),
            Stretch(0),
            on=self,
            margins=(_SIDE_PX, 18, _SIDE_PX, 0),
            spacing=12,
        )
        self._list.itemClicked.connect(self.open_current)
        self._list.itemActivated.connect(self.open_current)

    def show_found(self, every: Sequence[Found]) -> None:
        """Show these, the first of them chosen."""
        self._list.clear()
        for found in every:
            item = QListWidgetItem(found.name)
            item.setData(_FOUND, found)
            said = f"{found.name}, {found.place}"
            item.setData(Qt.ItemDataRole.AccessibleTextRole, said)
            self._list.addItem(item)
        self._list.setCurrentRow(0)
        self._list.setVisible(bool(every))
        self._none.setVisible(not every)

    def press(self, event: QKeyEvent) -> None:
        """Choose another one by a key."""
        QApplication.sendEvent(self._list, event)

    @Slot()
    def open_current(self) -> None:
        """Open the chosen one."""
        if item := self._list.currentItem():
            self.chosen.emit(item.data(_FOUND))


_Index = QModelIndex | QPersistentModelIndex


class _FoundPainter(QStyledItemDelegate):
    """Draws the name, and below it the place in a muted colour."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        row = QStyleOptionViewItem(option)
        self.initStyleOption(row, index)
        row.text = ""
        style = row.widget.style() if row.widget else QApplication.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, row, painter, row.widget)
        found: Found = index.data(_FOUND)
        area = QRect(row.rect).adjusted(_PADDING_PX, _PADDING_PX, -_PADDING_PX, -_PADDING_PX)
        painter.save()
        painter.setFont(row.font)
        for text, role, at in (
            (found.name, QPalette.ColorRole.Text, 0),
            (found.place, QPalette.ColorRole.PlaceholderText, 1),
        ):
            height = area.height() // 2
            line = QRect(area.left(), area.top() + at * height, area.width(), height)
            painter.setPen(row.palette.color(role))
            short = row.fontMetrics.elidedText(text, Qt.TextElideMode.ElideRight, line.width())
            draw_line(painter, line, short)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        line = option.fontMetrics.height()
        return QSize(super().sizeHint(option, index).width(), 2 * line + 2 * _PADDING_PX)


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


_LEAST_PX, _MOST_PX = 184, 260
_MARGIN_PX = 10
# A window is narrow below this width, or below so many heights of its text.
_NARROW_PX, _NARROW_LINES = 760, 46
_MOVING = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class PageList(QWidget):
    """Pages by name, each of one part or several; a narrow window has a drop-down list instead.

    While the search has words, what it finds stands in place of the page. `foot` holds what
    belongs to all pages. `page_shown` follows when another page or part is shown.
    """

    page_shown = Signal()

    def __init__(self, title: str, order: Sequence[str]) -> None:
        """`order`: the names of the pages, from the top."""
        super().__init__()
        self._order = order
        self.every: list[Found] = []
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("kind", "page")
        self._names = QListWidget()
        self._names.setObjectName("pageNames")
        self._names.setAccessibleName(title)
        self._names.setFrameShape(QFrame.Shape.NoFrame)
        self._names.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._choice = DropDown()
        self._choice.setAccessibleName(title)
        self._search = QLineEdit(placeholderText=tr("Search"))
        self._search.setAccessibleName(tr("Search the settings"))
        add_clear_button(self._search)
        self._found = FoundList()
        self._pages = QStackedWidget()
        self._shown = QStackedWidget()
        self._foot = QWidget()
        self.foot = vertical(on=self._foot, margins=0)
        self._side, self._bar = QWidget(self), QWidget(self)
        self._lay_out(title)
        self._connect_list()

    def _lay_out(self, title: str) -> None:
        self._side.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._side.setProperty("kind", "sidebar")
        self._side.setFixedWidth(_LEAST_PX)
        self._column = vertical(on=self._side, margins=(_MARGIN_PX, 18, _MARGIN_PX, 12), spacing=8)
        heading = PlainLabel(title, scale="heading")
        heading.setIndent(8)
        fill(self._column, heading, self._search, (self._names, 1), self._foot)
        self._row = horizontal(self._choice, Stretch(), on=self._bar, margins=(18, 14, 18, 0))
        self._bar.hide()
        self._shown.addWidget(self._pages)
        self._shown.addWidget(self._found)
        self._whole = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._whole.setContentsMargins(0, 0, 0, 0)
        self._whole.setSpacing(0)
        self._whole.addWidget(self._bar)
        self._whole.addWidget(self._side)
        self._whole.addWidget(self._shown, 1)

    def _connect_list(self) -> None:
        self._names.itemSelectionChanged.connect(self._on_selected)
        self._names.itemClicked.connect(self._search.clear)
        self._choice.activated.connect(self.show_page)
        self._search.textChanged.connect(self._on_searched)
        self._search.returnPressed.connect(self._found.open_current)
        self._search.installEventFilter(self)
        self._found.chosen.connect(self.show_found)
        bind(self, "Ctrl+F", tr("Search the settings"), self.focus_search, INSIDE)
        bind(self._search, "Esc", "", self._search.clear, INSIDE)

    # --- pages and their parts -------------------------------------------------------------------

    def add_part(self, part: Part) -> None:
        """Add a part to its page, which is listed from its first part on."""
        self.every += everything_in(part)
        page = self._page_named(part.page) or self._add_page(part.page)
        page.add_part(part)
        if self._names.currentRow() < 0:
            self._names.setCurrentRow(0)

    def _add_page(self, name: str) -> PartedPage:
        page = PartedPage(name)
        page.part_shown.connect(self.page_shown)
        before = set(self._order[: self._order.index(name)])
        row = sum(each.name in before for each in self.pages)
        self._pages.insertWidget(row, page)
        self._names.insertItem(row, QListWidgetItem(name))
        self._choice.insertItem(row, name)
        if self.isVisible():
            self._fit()
        return page

    def list_page(self, name: str, *, is_listed: bool) -> None:
        """List a page, or leave it to the search."""
        row = next(n for n, page in enumerate(self.pages) if page.name == name)
        self._names.setRowHidden(row, not is_listed)
        choices = self._choice.view()
        if isinstance(choices, QListView):
            choices.setRowHidden(row, not is_listed)

    @property
    def pages(self) -> list[PartedPage]:
        """The pages, in the order of their names."""
        pages = [self._pages.widget(row) for row in range(self._pages.count())]
        return [page for page in pages if isinstance(page, PartedPage)]

    @property
    def parts(self) -> list[Part]:
        """The parts of all pages."""
        return [part for page in self.pages for part in page.parts]

    def _page_named(self, name: str) -> PartedPage | None:
        return next((page for page in self.pages if page.name == name), None)

    def show_page(self, position: int) -> None:
        """Show the page at this position in the list."""
        self._search.clear()
        self._names.setCurrentRow(position)
        self._choice.setCurrentIndex(position)
        is_other = position != self._pages.currentIndex()
        self._pages.setCurrentIndex(position)
        self.pages[position].build()
        if is_other:
            self.page_shown.emit()

    def show_part(self, part: Part) -> QWidget:
        """Show this part, built if need be; returns its widget."""
        position = next(n for n, page in enumerate(self.pages) if page.name == part.page)
        self.show_page(position)
        return self.pages[position].show_part(part)

    def show_named(self, name: str) -> QWidget | None:
        """Show the part or the page of this name and return its widget; None without one."""
        parts = [part for part in self.parts if name in {part.name, part.page}]
        parts.sort(key=lambda part: part.name != name)
        return self.show_part(parts[0]) if parts else None

    # --- the search ------------------------------------------------------------------------------

    @Slot()
    def focus_search(self) -> None:
        """Let the person write what to look for."""
        self._search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._search.selectAll()

    @Slot(object)
    def show_found(self, found: Found) -> None:
        """Show the part of what was found, scrolled to its field, which gets the focus."""
        widget = self.show_part(found.part)
        places = self.pages[self._pages.currentIndex()].places_of(widget)
        fields = fields_of(found.setting, places) if found.setting else ()
        for page in (widget, *widget.findChildren(ScrolledPage)):
            if fields and isinstance(page, ScrolledPage):
                page.reveal(fields[0])
        # A setting that only says where it is set leaves the focus in the search.
        around = fields or places
        for control in (part for each in around for part in (each, *each.findChildren(QWidget))):
            if _takes_focus(control):
                control.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return

    @Slot(str)
    def _on_searched(self, text: str) -> None:
        self._found.show_found(search(self.every, text))
        self._shown.setCurrentWidget(self._found if text.strip() else self._pages)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Up and down walk through what was found.
        is_press = event.type() == QEvent.Type.KeyPress and bool(self._search.text())
        if is_press and isinstance(event, QKeyEvent) and event.key() in _MOVING:
            self._found.press(event)
            return True
        return super().eventFilter(watched, event)

    # --- the list --------------------------------------------------------------------------------

    @Slot()
    def _on_selected(self) -> None:
        # Assistive programs select without making it the current one.
        if selected := self._names.selectedItems():
            self.show_page(self._names.row(selected[0]))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Rows that were laid out before there was a style are too low for it.
        self._names.doItemsLayout()
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
        self._names.scrollToItem(self._names.currentItem())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        is_narrow = self.width() < max(_NARROW_PX, _NARROW_LINES * self.fontMetrics().height())
        if is_narrow == self._bar.isHidden():
            self._show_narrow(is_narrow)
        bar_px = self._names.verticalScrollBar().sizeHint().width()
        names_px = self._names.sizeHintForColumn(0) + bar_px + 2 * _MARGIN_PX
        self._side.setFixedWidth(max(_LEAST_PX, min(names_px, _MOST_PX)))

    def _show_narrow(self, is_narrow: bool) -> None:
        self._side.setVisible(not is_narrow)
        self._bar.setVisible(is_narrow)
        if is_narrow:
            self._row.insertWidget(1, self._search)
            self._row.addWidget(self._foot)
        else:
            self._column.insertWidget(1, self._search)
            self._column.addWidget(self._foot)
        directions = QBoxLayout.Direction
        self._whole.setDirection(directions.TopToBottom if is_narrow else directions.LeftToRight)


def _takes_focus(widget: QWidget) -> bool:
    policy = widget.focusPolicy()
    return bool(policy & Qt.FocusPolicy.TabFocus) and widget.isVisible() and widget.isEnabled()
