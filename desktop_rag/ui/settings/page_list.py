"""A list of names in groups, and the page of the chosen one beside it. Qt thread."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.widgets.controls import PlainLabel
from desktop_rag.ui.widgets.scrolled_page import put_in_place

_LEAST_PX, _MOST_PX = 184, 260
_MARGIN_PX = 10
_POSITION = Qt.ItemDataRole.UserRole
# A window is narrow below this width, or below so many heights of its text.
_NARROW_PX, _NARROW_LINES = 760, 46


class PageList(QWidget):
    """Pages by name, under group headings; a narrow window has a drop-down list instead.

    `foot` holds what belongs to all pages. `page_shown` follows when another one is shown.
    """

    page_shown = Signal()

    def __init__(self, title: str, groups: Sequence[str], parent: QWidget | None = None) -> None:
        """`groups`: their headings, from the top."""
        super().__init__(parent)
        self._groups = groups
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("kind", "page")
        self._names = QListWidget()
        self._names.setObjectName("pageNames")
        self._names.setAccessibleName(title)
        self._names.setFrameShape(QFrame.Shape.NoFrame)
        self._names.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._choice = QComboBox()
        self._choice.setAccessibleName(title)
        self._pages = QStackedWidget()
        self._unbuilt: dict[int, Callable[[], QWidget]] = {}
        self._foot = QWidget()
        self.foot = QVBoxLayout(self._foot)
        self.foot.setContentsMargins(0, 0, 0, 0)
        self._side, self._bar = QWidget(self), QWidget(self)
        self._lay_out(title)
        self._names.itemSelectionChanged.connect(self._on_selected)
        self._choice.activated.connect(lambda row: self.show_page(self._choice.itemData(row)))

    def _lay_out(self, title: str) -> None:
        self._side.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._side.setProperty("kind", "sidebar")
        self._side.setFixedWidth(_LEAST_PX)
        column = QVBoxLayout(self._side)
        column.setContentsMargins(_MARGIN_PX, 18, _MARGIN_PX, 12)
        column.setSpacing(8)
        heading = PlainLabel(title, scale="heading")
        heading.setIndent(8)
        column.addWidget(heading)
        column.addWidget(self._names, 1)
        column.addWidget(self._foot)
        row = QHBoxLayout(self._bar)
        row.setContentsMargins(22, 14, 22, 0)
        row.addWidget(self._choice)
        row.addStretch(1)
        self._bar.hide()
        self._whole = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._whole.setContentsMargins(0, 0, 0, 0)
        self._whole.setSpacing(0)
        self._whole.addWidget(self._bar)
        self._whole.addWidget(self._side)
        self._whole.addWidget(self._pages, 1)

    def add_page(self, name: str, page: QWidget | Callable[[], QWidget], group: str) -> None:
        """Add a page, or what builds it on first show, to a group. The very first page is shown."""
        if isinstance(page, QWidget):
            position = self._pages.addWidget(page)
        else:
            position = self._pages.addWidget(QWidget())
            self._unbuilt[position] = page
        item = QListWidgetItem(name)
        item.setData(_POSITION, position)
        self._names.insertItem(self._row_after(group), item)
        self._list_choices()
        if self.isVisible():
            self._fit()
        if position == 0:
            self._names.setCurrentItem(item)

    def _row_after(self, group: str) -> int:
        """The row below the last page of a group, whose heading is added if missing."""
        at = self._groups.index(group)
        later = {self._groups[n] for n in range(at + 1, len(self._groups))}
        rows = range(self._names.count())
        headings = {self._names.item(row).text(): row for row in rows if self._is_heading(row)}
        end = min((headings[each] for each in later & headings.keys()), default=len(rows))
        if group not in headings:
            heading = QListWidgetItem(group)
            heading.setFlags(Qt.ItemFlag.NoItemFlags)
            font = heading.font()
            font.setBold(True)
            heading.setFont(font)
            self._names.insertItem(end, heading)
            end += 1
        return end

    def _is_heading(self, row: int) -> bool:
        return self._names.item(row).data(_POSITION) is None

    def _list_choices(self) -> None:
        self._choice.clear()
        for row in range(self._names.count()):
            if not self._is_heading(row):
                item = self._names.item(row)
                self._choice.addItem(item.text(), item.data(_POSITION))
            elif row:
                self._choice.insertSeparator(self._choice.count())
        self._choice.setCurrentIndex(self._choice.findData(self._pages.currentIndex()))

    @property
    def pages(self) -> list[QWidget]:
        """The pages, in the order of their names."""
        for position in range(self._pages.count()):
            self._ensure_built(position)
        pages = [self._pages.widget(n) for n in range(self._pages.count())]
        return [page for page in pages if page]

    def show_page(self, position: int) -> None:
        """Show the page at this position in the order of adding."""
        for row in range(self._names.count()):
            if self._names.item(row).data(_POSITION) == position:
                self._names.setCurrentRow(row)
        self._choice.setCurrentIndex(self._choice.findData(position))
        self._ensure_built(position)
        is_other = position != self._pages.currentIndex()
        self._pages.setCurrentIndex(position)
        if is_other:
            self.page_shown.emit()

    def show_named(self, name: str) -> QWidget | None:
        """Show the page of this name and return it; None when there is none."""
        found = self._names.findItems(name, Qt.MatchFlag.MatchExactly)
        positions = [item.data(_POSITION) for item in found if item.data(_POSITION) is not None]
        if positions:
            self.show_page(positions[0])
        return self._pages.currentWidget() if positions else None

    def _ensure_built(self, position: int) -> None:
        if build := self._unbuilt.pop(position, None):
            put_in_place(self._pages, position, build())

    @Slot()
    def _on_selected(self) -> None:
        # Assistive programs select without making it the current one.
        if selected := self._names.selectedItems():
            self.show_page(selected[0].data(_POSITION))

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
        place = self._bar if is_narrow else self._side
        layout = place.layout()
        assert layout is not None
        layout.addWidget(self._foot)
        directions = QBoxLayout.Direction
        self._whole.setDirection(directions.TopToBottom if is_narrow else directions.LeftToRight)


# The groups of pages in the settings, from the top.
ANSWERING = tr("Answering")
QUESTIONS = tr("Questions, notes")
DOCUMENTS = tr("Documents")
APP = tr("App")
CARE = tr("Data and health")
GROUPS = (ANSWERING, QUESTIONS, DOCUMENTS, APP, CARE)
