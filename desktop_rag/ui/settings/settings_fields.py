"""The frame of the settings page: sections of labelled fields. Qt thread."""

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QRadioButton,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.ui.widgets.controls import Card, PlainLabel

_LABEL_WIDTH_PX = 150
_TEXT_MARGIN_PX = 7
# A note stands closer to the field it explains than to the next row.
_NOTE_GAP_PX = 5
_ROW_GAP_PX = 7
# Fields that don't say by themselves what they are for.
_NAMELESS = (QLineEdit, QComboBox, QSpinBox, QSlider)


def note(text: str = "") -> PlainLabel:
    """A small muted sentence under a field."""
    return PlainLabel(text, tone="muted", scale="small", wrap=True)


def whole_number(least: int, most: int, step: int, unit: str) -> QSpinBox:
    """A number field that tells of a change once it is complete, not of every digit."""
    field = QSpinBox()
    field.setRange(least, most)
    field.setSingleStep(step)
    field.setSuffix(unit)
    field.setGroupSeparatorShown(True)
    field.setKeyboardTracking(False)
    # A style sheet's padding does not reach the text inside.
    field.lineEdit().setTextMargins(_TEXT_MARGIN_PX, 0, 0, 0)
    return field


def amount(prefix: str, most: float) -> QDoubleSpinBox:
    """A field for an amount of money that tells of a change once it is complete."""
    field = QDoubleSpinBox()
    field.setRange(0.0, most)
    field.setDecimals(2)
    field.setPrefix(prefix)
    field.setGroupSeparatorShown(True)
    field.setKeyboardTracking(False)
    field.lineEdit().setTextMargins(_TEXT_MARGIN_PX, 0, 0, 0)
    return field


def show_number(field: QSpinBox | QDoubleSpinBox, value: float) -> None:
    """Set a number without telling that it changed."""
    field.blockSignals(True)
    if isinstance(field, QSpinBox):
        field.setValue(int(value))
    else:
        field.setValue(value)
    field.blockSignals(False)


def choice(parent: QWidget, name: str, words: Mapping[str, str]) -> dict[str, QRadioButton]:
    """One of several: value → button."""
    group = QButtonGroup(parent)
    buttons: dict[str, QRadioButton] = {}
    for value, word in words.items():
        buttons[value] = QRadioButton(word)
        buttons[value].setAccessibleName(f"{name}: {word}")
        group.addButton(buttons[value])
    return buttons


def chosen(buttons: Mapping[str, QRadioButton]) -> str:
    """The value whose button is checked."""
    return next(value for value, button in buttons.items() if button.isChecked())


def show_checked(field: QCheckBox, is_checked: bool) -> None:
    """Set a check box without telling that it changed."""
    field.blockSignals(True)
    field.setChecked(is_checked)
    field.blockSignals(False)


class WheelGuard(QObject):
    """Lets the wheel turn a field only while it has the focus.

    Else scrolling the page with the pointer over a field would change a setting, at once and
    unseen.
    """

    def guard(self, field: QWidget) -> None:
        """Watch over this field too."""
        field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        field.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_stray = (
            event.type() == QEvent.Type.Wheel
            and isinstance(watched, QWidget)
            and not watched.hasFocus()
        )
        if is_stray:
            # Ignored, so that it goes on to the page and scrolls it.
            event.ignore()
        return is_stray


class SettingsSection(Card):
    """A heading, a sentence or two, and rows of label and field."""

    def __init__(self, title: str, intro: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(18, 16, 18, 18)
        self._column.setSpacing(10)
        self._column.addWidget(PlainLabel(title, scale="heading"))
        if intro:
            self._column.addWidget(PlainLabel(intro, tone="muted", wrap=True))
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(_NOTE_GAP_PX)
        self._grid.setColumnMinimumWidth(0, _LABEL_WIDTH_PX)
        self._grid.setColumnStretch(1, 1)
        self._column.addLayout(self._grid)

    def add_row(
        self, label: str, *fields: QWidget, is_wide: bool = False, spacing_px: int = 8
    ) -> PlainLabel:
        """A row. Its label names the first field, which grows with the page if `is_wide`."""
        name = PlainLabel(label)
        name.setBuddy(fields[0])
        if isinstance(fields[0], _NAMELESS) and not fields[0].accessibleName():
            fields[0].setAccessibleName(label)
        row = QHBoxLayout()
        row.setSpacing(spacing_px)
        for position, field in enumerate(fields):
            row.addWidget(field, 1 if is_wide and position == 0 else 0)
        if not is_wide:
            row.addStretch(1)
        place = self._grid.rowCount() + 1
        self._grid.setRowMinimumHeight(place - 1, _ROW_GAP_PX)
        self._grid.addWidget(name, place, 0, Qt.AlignmentFlag.AlignVCenter)
        self._grid.addLayout(row, place, 1)
        return name

    def add_note(self, below: QWidget) -> None:
        """Something that belongs to the row above, under its fields."""
        self._grid.addWidget(below, self._grid.rowCount(), 1)
