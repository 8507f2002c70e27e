"""Building blocks of settings forms: sections, rows and fields; a line of a list. Qt thread."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from PySide6.QtCore import QEvent, QPoint, QRect, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QGridLayout,
    QLineEdit,
    QPlainTextEdit,
    QRadioButton,
    QSlider,
    QSpinBox,
    QWidget,
    QWidgetItem,
)

from desktop_rag.ui.foundation.wording import isolated
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton
from desktop_rag.ui.widgets.flow_row import FlowRow
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical

_LABEL_WIDTH_PX = 150
_TEXT_MARGIN_PX = 7
# A note is closer to the field it explains than to the next row.
_NOTE_GAP_PX = 5
_ROW_GAP_PX = 7
_LINE_PX = 32
_AREA_MARGIN_PX = 16
# More than any scroll bar is wide.
_SCROLL_BAR_PX = 40
# Fields narrower than this stand below their label.
_LEAST_FIELD_LETTERS = 26
# A price per million tokens may be as small as this.
_MOST_DIGITS = 6
# Fields without a text of their own, which need an accessible name.
_UNNAMED = (QLineEdit, QComboBox, QSpinBox, QSlider)
K = TypeVar("K")


def note(text: str = "") -> PlainLabel:
    """A small muted note under a field."""
    return PlainLabel(text, tone="muted", scale="small", wrap=True)


class DropDown(QComboBox):
    """A list to choose from; while it is closed the mouse wheel scrolls the page around it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class _NumberField(QSpinBox):
    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        turn_if_focused(self, event, super().wheelEvent)


def turn_if_focused(
    field: QWidget, event: QWheelEvent, turn: Callable[[QWheelEvent], None]
) -> None:
    """Let the wheel change a focused field, and scroll the page over any other."""
    if field.hasFocus():
        turn(event)
    else:
        event.ignore()


def number_field(minimum: int, maximum: int, step: int, unit: str) -> QSpinBox:
    """A number field that emits a change when editing is finished, not per digit."""
    field = _NumberField()
    field.setRange(minimum, maximum)
    field.setSingleStep(step)
    field.setSuffix(unit)
    field.setGroupSeparatorShown(True)
    field.setKeyboardTracking(False)
    # The style sheet's padding does not apply to the text.
    field.lineEdit().setTextMargins(_TEXT_MARGIN_PX, 0, 0, 0)
    return field


class _MoneyField(QDoubleSpinBox):
    """Shows two decimals, and more only where needed: `0.0375`."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        turn_if_focused(self, event, super().wheelEvent)

    def textFromValue(self, value: float) -> str:
        digits = len(f"{value:.{_MOST_DIGITS}f}".rstrip("0").partition(".")[2])
        return self.locale().toString(value, "f", max(2, digits))


def money_field(maximum: float, unit: str = "") -> QDoubleSpinBox:
    """A field for an amount of money that emits a change when editing is finished."""
    field = _MoneyField()
    field.setRange(0.0, maximum)
    field.setDecimals(_MOST_DIGITS)
    field.setSuffix(unit)
    field.setGroupSeparatorShown(True)
    field.setKeyboardTracking(False)
    field.lineEdit().setTextMargins(_TEXT_MARGIN_PX, 0, 0, 0)
    return field


def show_number(field: QSpinBox | QDoubleSpinBox, value: float) -> None:
    """Set a number without emitting a change."""
    with QSignalBlocker(field):
        if isinstance(field, QSpinBox):
            field.setValue(int(value))
        else:
            field.setValue(value)


def radio_group(parent: QWidget, name: str, words: Mapping[K, str]) -> dict[K, QRadioButton]:
    """A group of radio buttons, by value."""
    group = QButtonGroup(parent)
    buttons: dict[K, QRadioButton] = {}
    for value, word in words.items():
        buttons[value] = QRadioButton(word)
        buttons[value].setAccessibleName(f"{name}: {word}")
        group.addButton(buttons[value])
    return buttons


def chips(parent: QWidget, words: Mapping[K, str]) -> dict[K, TextButton]:
    """Buttons of which one is pressed, by value; the first one is at first."""
    group = QButtonGroup(parent)
    buttons: dict[K, TextButton] = {}
    for value, word in words.items():
        buttons[value] = button = TextButton(word, parent, kind="chip")
        button.setCheckable(True)
        button.setChecked(not group.buttons())
        group.addButton(button)
    return buttons


def selected_value(buttons: Mapping[K, QAbstractButton]) -> K:
    """The value of the checked button."""
    return next(value for value, button in buttons.items() if button.isChecked())


def text_area(name: str, text: str = "", *, lines: int = 0, example: str = "") -> QPlainTextEdit:
    """A field for several lines, as high as `lines` if any; Tab leaves it."""
    area = QPlainTextEdit(text, tabChangesFocus=True, placeholderText=example)
    area.setAccessibleName(name)
    if lines:
        area.setFixedHeight(area.fontMetrics().lineSpacing() * lines + _AREA_MARGIN_PX)
    return area


def show_checked(field: QCheckBox, is_checked: bool) -> None:
    """Set a checkbox without emitting a change."""
    with QSignalBlocker(field):
        field.setChecked(is_checked)


@dataclass(frozen=True, slots=True)
class FormRow:
    """A row of a section: its name, what else people may call it, and its fields."""

    name: str
    words: str
    fields: Sequence[QWidget]


class SettingsSection(Card):
    """A card with a heading and rows of labels and fields; labels go above if room is short.

    `wanted` carries a field that someone looks for and that may be hidden.
    """

    wanted = Signal(object)

    def __init__(self, title: str, intro: str = "") -> None:
        super().__init__()
        self.setAccessibleName(title)
        self._column = vertical(
            PlainLabel(title, scale="heading"), on=self, margins=(18, 16, 18, 18), spacing=10
        )
        if intro:
            self._column.addWidget(PlainLabel(intro, tone="muted", wrap=True))
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(_NOTE_GAP_PX)
        self._grid.setColumnMinimumWidth(0, _LABEL_WIDTH_PX)
        self._grid.setColumnStretch(1, 1)
        self._column.addLayout(self._grid)
        self.is_stacked = False
        self.rows: list[FormRow] = []
        self._form_rows: list[tuple[PlainLabel, QWidget, int, Qt.AlignmentFlag]] = []
        self._form_notes: list[tuple[QWidget, int]] = []

    def minimumSizeHint(self) -> QSize:
        """The hint of stacked rows; a larger one would keep the card from getting that narrow."""
        hint = super().minimumSizeHint()
        if self.is_stacked or not self._form_rows:
            return hint
        return QSize(min(hint.width(), self._fields_px() + self._margins_px()), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            # A field was shown or hidden, or its text has changed.
            self._arrange()
        return super().event(event)

    def add_row(
        self,
        label: str,
        *fields: QWidget,
        is_wide: bool = False,
        is_tall: bool = False,
        spacing_px: int = 8,
        words: str = "",
    ) -> PlainLabel:
        """Add a row. Its label names the first field, which fills the row if `is_wide`.

        The label stands beside the first line of a field that `is_tall`. `words` are what a person
        who looks for the setting may call it.
        """
        name = PlainLabel(label)
        if is_tall:
            name.setFixedHeight(_LINE_PX)
        name.setBuddy(fields[0])
        if isinstance(fields[0], _UNNAMED) and not fields[0].accessibleName():
            fields[0].setAccessibleName(label)
        self.rows.append(_named_row(label, fields, words))
        # A gap, and a line for the label where it stands above.
        place = self._grid.rowCount() + 2
        self._grid.setRowMinimumHeight(place - 2, _ROW_GAP_PX)
        side = Qt.AlignmentFlag.AlignTop if is_tall else Qt.AlignmentFlag.AlignVCenter
        row = _row_of(fields, spacing_px, is_wide=is_wide)
        self._form_rows.append((name, row, place, side))
        self._grid.addWidget(name, place, 0, side)
        self._grid.addWidget(row, place, 1)
        return name

    def add_note(self, below: QWidget) -> None:
        """Add a widget under the fields of the row above."""
        place = self._grid.rowCount()
        self._form_notes.append((below, place))
        self._grid.addWidget(below, place, 1)

    def _arrange(self) -> None:
        labels = [name for name, *_ in self._form_rows if not name.isHidden()]
        widths = [name.sizeHint().width() for name in labels]
        label_px = max([_LABEL_WIDTH_PX, *widths]) + self._grid.horizontalSpacing()
        least_px = max(
            self._fields_px(), _LEAST_FIELD_LETTERS * self.fontMetrics().averageCharWidth()
        )
        needed_px = label_px + least_px + self._margins_px()
        # A scroll bar comes and goes with the height, which must not turn the rows to and fro.
        if self.is_stacked:
            needed_px += _SCROLL_BAR_PX
        is_stacked = bool(widths) and self.width() < needed_px
        if is_stacked == self.is_stacked:
            return
        self.is_stacked = is_stacked
        first, columns = (0, 2) if is_stacked else (1, 1)
        self._grid.setColumnMinimumWidth(0, 0 if is_stacked else _LABEL_WIDTH_PX)
        for name, row, place, side in self._form_rows:
            self._grid.addWidget(name, place - int(is_stacked), 0, 1, columns, side)
            self._grid.addWidget(row, place, first, 1, columns)
        for below, place in self._form_notes:
            self._grid.addWidget(below, place, first, 1, columns)
        self.updateGeometry()

    def _fields_px(self) -> int:
        parts = [row for _, row, *_ in self._form_rows] + [note for note, _ in self._form_notes]
        shown = (QWidgetItem(part) for part in parts if not part.isHidden())
        return max((item.minimumSize().width() for item in shown), default=0)

    def _margins_px(self) -> int:
        margins = self._column.contentsMargins()
        return margins.left() + margins.right()


def _named_row(label: str, fields: Sequence[QWidget], words: str) -> FormRow:
    """A row, called as its box to tick or else its label; other names on it are among its words."""
    inside = [part for field in fields for part in (field, *field.findChildren(QWidget))]
    texts = [part.text() for part in inside if isinstance(part, QAbstractButton)]
    named = [part.accessibleName() for part in inside]
    name = texts[0] if isinstance(fields[0], QCheckBox) else label
    others = [label, words, *texts, *named]
    name = name or next(filter(None, [*texts, *named]), "")
    return FormRow(name, " ".join(dict.fromkeys(filter(None, others))), fields)


def _row_of(fields: Sequence[QWidget], spacing_px: int, *, is_wide: bool) -> QWidget:
    """Fields side by side; they wrap unless one fills the row."""
    holder = QWidget()
    if not is_wide and not any(field.hasHeightForWidth() for field in fields):
        flow = FlowRow(holder, spacing=spacing_px)
        for field in fields:
            flow.addWidget(field)
        return holder
    first, *others = fields
    end = () if is_wide else (Stretch(),)
    horizontal((first, int(is_wide)), *others, *end, on=holder, margins=0, spacing=spacing_px)
    return holder


def draw_line(painter: QPainter, area: QRect, text: str, *, at_end: bool = False) -> None:
    """Draw the text in the middle of the area with the font, colour and direction of the painter.

    The text keeps its own direction. It stands at the beginning of the line, or at its end.
    """
    # QPainter.drawText with an area places and clips a line by its tallest font. Characters that
    # another font draws, even unseen ones, would push the others down and cut their descenders.
    metrics = painter.fontMetrics()
    line = isolated(text)
    is_mirrored = painter.layoutDirection() == Qt.LayoutDirection.RightToLeft
    is_right = is_mirrored != at_end
    left = area.right() + 1 - metrics.horizontalAdvance(line) if is_right else area.left()
    top = area.top() + (area.height() - metrics.height()) // 2
    painter.drawText(QPoint(left, top + metrics.ascent()), line)
