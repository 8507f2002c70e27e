"""The facets beside the table, and the chosen values above it. Qt thread."""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QScrollArea, QSizePolicy, QWidget

from desktop_rag.core.language.translation import number_in_words, tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import literal, value_in_words
from desktop_rag.ui.library.facets.facet_groups import FacetGroup, FacetValue
from desktop_rag.ui.library.facets.facet_values import Facet
from desktop_rag.ui.widgets.controls import (
    ElidedButton,
    PlainLabel,
    TextButton,
    set_property,
    set_tip,
)
from desktop_rag.ui.widgets.layouts import Stretch, drop, fill, horizontal, vertical

# A longer list is shown on request.
_MOST_VALUES = 9
_INDENT_PX = 18
_INDICATOR_PX = 28
_GAP_PX = 8
_WIDTH_CHARACTERS = 31


class FacetBox(QCheckBox):
    """One value with the number of files that choosing it would show."""

    def __init__(self, value: FacetValue, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._number = PlainLabel("", self, tone="muted", scale="small")
        self._number.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._label = ""
        self.show_value(value)

    def show_value(self, value: FacetValue) -> None:
        """Show the count, and whether it is chosen."""
        self._label = value.label
        number = number_in_words(value.count)
        self._number.setText(number)
        self._number.adjustSize()
        self.setChecked(value.is_chosen)
        set_property(self, "tone", "" if value.count or value.is_chosen else "muted")
        self.setAccessibleName(f"{value.label} {number}")
        self._arrange()

    def hitButton(self, place: QPoint) -> bool:
        # The number and the gap before it, too.
        return self.rect().contains(place)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._number.adjustSize()
            self._arrange()

    def _arrange(self) -> None:
        number = self._number
        is_mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        left = 0 if is_mirrored else self.width() - number.width()
        number.move(left, (self.height() - number.height()) // 2)
        room = max(0, self.width() - number.width() - _INDICATOR_PX - _GAP_PX)
        elide = Qt.TextElideMode.ElideMiddle
        shown = self.fontMetrics().elidedText(self._label, elide, room)
        self.setText(literal(shown))
        set_tip(self, self._label if shown != self._label else "")


class FacetSection(QWidget):
    """One facet. `toggled` carries a value whose choice changed.

    `rebuilt` follows when the boxes were replaced; new ones are last in the Tab order.
    """

    toggled = Signal(str)
    rebuilt = Signal()

    def __init__(self, facet: Facet, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values: Sequence[FacetValue] = ()
        self._boxes: dict[str, FacetBox] = {}
        self._is_whole = False
        self._column = vertical(on=self, margins=0, spacing=5)
        title = PlainLabel(value_in_words(facet, begins=True), tone="muted", scale="small")
        title.setObjectName("facetTitle")
        self.setAccessibleName(value_in_words(facet, begins=True))
        self._rows = vertical(spacing=5)
        self._more = TextButton(tr("Show all"), kind="more", then=self._on_more)
        fill(self._column, title, self._rows, (self._more, 0, Qt.AlignmentFlag.AlignLeft))

    @property
    def stops(self) -> Sequence[QWidget]:
        """The boxes, then the button below them, in Tab order."""
        return (*self._boxes.values(), self._more)

    def show_values(self, values: Sequence[FacetValue]) -> None:
        """Show these values; boxes of values that stay are kept."""
        is_same = [(v.value, v.depth) for v in values] == [(v.value, v.depth) for v in self._values]
        self._values = values
        if not is_same:
            self._rebuild()
        for value in values:
            if box := self._boxes.get(value.value):
                box.show_value(value)

    def _rebuild(self) -> None:
        hidden = 0 if self._is_whole else max(0, len(self._values) - _MOST_VALUES)
        # One more line costs no more than the button.
        hidden = hidden if hidden > 1 else 0
        cut = self._values[: len(self._values) - hidden]
        shown = [*cut, *(v for v in self._values[len(cut) :] if v.is_chosen)]
        focused = next((key for key, box in self._boxes.items() if box.hasFocus()), "")
        while item := self._rows.takeAt(0):
            if layout := item.layout():
                layout.deleteLater()
        former, self._boxes = self._boxes, {}
        for value in shown:
            box = former.pop(value.value, None) or self._make(value)
            self._boxes[value.value] = box
            row = horizontal(box, margins=(_INDENT_PX * value.depth, 0, 0, 0))
            self._rows.addLayout(row)
        drop(former.values())
        if focused in self._boxes:
            self._boxes[focused].setFocus()
        is_long = len(self._values) > _MOST_VALUES + 1
        self._more.setVisible(is_long)
        self._more.setText(
            tr("Show fewer")
            if self._is_whole
            else tr("Show all {count:,}", count=len(self._values))
        )
        self.rebuilt.emit()

    def _make(self, value: FacetValue) -> FacetBox:
        box = FacetBox(value, self)
        key = value.value
        box.clicked.connect(lambda: self.toggled.emit(key))
        return box

    @Slot()
    def _on_more(self) -> None:
        self._is_whole = not self._is_whole
        self._rebuild()


class FacetList(QScrollArea):
    """All facets, one below the other. `toggled` carries a facet and a value."""

    toggled = Signal(object, str)

    def __init__(self, stop_before: QWidget, parent: QWidget | None = None) -> None:
        """`stop_before` precedes the first facet in the Tab order."""
        super().__init__(parent)
        self._stop_before = stop_before
        self.setObjectName("facets")
        self.setAccessibleName(tr("Filters"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body = QWidget(self)
        body.setProperty("kind", "page")
        self._column = vertical(on=body, margins=(0, 0, 10, 0), spacing=16)
        self._sections: dict[Facet, FacetSection] = {}
        for facet in Facet:
            section = FacetSection(facet, body)
            section.toggled.connect(lambda value, facet=facet: self.toggled.emit(facet, value))
            section.rebuilt.connect(self._order_stops)
            self._sections[facet] = section
            self._column.addWidget(section)
        self._column.addStretch(1)
        self.setWidget(body)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self._fit()

    def show_groups(self, groups: Sequence[FacetGroup]) -> None:
        """Show these facets and hide the others."""
        by_facet = {group.facet: group for group in groups}
        for facet, section in self._sections.items():
            group = by_facet.get(facet)
            section.setVisible(group is not None)
            if group is not None:
                section.show_values(group.values)

    @Slot()
    def _order_stops(self) -> None:
        before = self._stop_before
        for stop in [stop for section in self._sections.values() for stop in section.stops]:
            self.setTabOrder(before, stop)
            before = stop

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        self.setFixedWidth(_WIDTH_CHARACTERS * self.fontMetrics().averageCharWidth())


_MOST_CHIPS = 5
_ICON_PX = 16


class ActiveFilter(NamedTuple):
    """A chosen value of a facet with its words."""

    facet: Facet
    value: str
    label: str


class FilterChip(ElidedButton):
    """A chosen value; a press removes it."""

    _PADDING_PX = 48

    def __init__(self, theme: Theme, shown: ActiveFilter, parent: QWidget) -> None:
        super().__init__(
            f"{value_in_words(shown.facet, begins=True)}: {shown.label}", "chip", parent
        )
        self.setProperty("part", "filter")
        # Puts the cross after the text.
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.setIconSize(QSize(_ICON_PX, _ICON_PX))
        theme.set_icon(self, "close:accent_soft_text")
        self.setAccessibleName(tr("Remove the filter {full_text}", full_text=self.full_text))
        set_tip(self, self.accessibleName())


class ActiveFilters(QWidget):
    """One chip for each chosen value; hidden while there is none.

    `removed` carries the facet and the value, `cleared` follows a press on “Clear filters”.
    """

    removed = Signal(object, str)
    cleared = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: tuple[ActiveFilter, ...] = ()
        self._chips: list[FilterChip] = []
        self._others = PlainLabel("", tone="muted", scale="small")
        self._clear = TextButton(tr("Clear filters"), kind="quiet", then=self.cleared)
        self._row = horizontal(self._others, self._clear, Stretch(), on=self, margins=0, spacing=6)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.hide()

    def show_filters(self, filters: Sequence[ActiveFilter], *, has_words: bool) -> None:
        """Show these; with `has_words` the typed words can be cleared with them."""
        if tuple(filters) != self._shown:
            self._shown = tuple(filters)
            self._rebuild()
        self.setVisible(bool(filters) or has_words)

    def _rebuild(self) -> None:
        had_focus = any(chip.hasFocus() for chip in self._chips)
        drop(self._chips)
        self._chips = []
        before: QWidget | None = None
        for position, shown in enumerate(self._shown[:_MOST_CHIPS]):
            chip = FilterChip(self._theme, shown, self)
            chip.clicked.connect(lambda _=False, one=shown: self.removed.emit(one.facet, one.value))
            self._row.insertWidget(position, chip)
            chip.show()
            self._chips.append(chip)
            if before is not None:
                self.setTabOrder(before, chip)
            before = chip
        if before is not None:
            self.setTabOrder(before, self._clear)
        more = len(self._shown) - _MOST_CHIPS
        self._others.setText(tr("and {more:,} more", more=more) if more > 0 else "")
        self._others.setVisible(more > 0)
        if had_focus:
            (self._chips[0] if self._chips else self._clear).setFocus()
