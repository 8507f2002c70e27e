"""The labels, buttons, lists and fields of a window whose text has no room."""

from collections.abc import Iterator

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QListView,
    QStyle,
    QStyleOptionComboBox,
    QToolButton,
    QWidget,
)

# Widgets of these kinds shorten their text themselves.
_ELIDING = {"ElidedLabel", "ElidedButton"}
_SLACK_PX = 1
_HEADER_PADDING_PX = 8
# At both sides together.
_FIELD_PADDING_PX = 20


def cut_off(root: QWidget) -> Iterator[str]:
    """Each visible part of the window `root` whose text is wider or higher than it, and why."""
    for widget in root.findChildren(QWidget):
        if widget.isVisibleTo(root) and not widget.visibleRegion().isEmpty():
            for said, why in _cut_in(widget, root):
                yield f"{said!r}: {why}"


def _cut_in(widget: QWidget, root: QWidget) -> Iterator[tuple[str, str]]:
    match widget:
        case QHeaderView():
            yield from _cut_titles(widget)
        case QListView() if widget.objectName() == "pageNames":
            yield from _cut_rows(widget)
        case QComboBox() if not widget.isEditable():
            said = widget.currentText() or widget.placeholderText()
            yield from _too_wide(said, widget.fontMetrics().horizontalAdvance(said), _room(widget))
        case QLineEdit() if not widget.text():
            said = widget.placeholderText()
            room = widget.width() - _FIELD_PADDING_PX
            yield from _too_wide(said, widget.fontMetrics().horizontalAdvance(said), room)
        case QLabel() | QAbstractButton() if why := _why(widget, root):
            yield widget.text(), why
        case _:
            pass


def _too_wide(said: str, wanted: int, given: int) -> Iterator[tuple[str, str]]:
    if said and wanted > given + _SLACK_PX:
        yield said, f"{given} px wide instead of {wanted}"


def _room(box: QComboBox) -> int:
    """The width that a list without a field has for its text."""
    option = QStyleOptionComboBox()
    box.initStyleOption(option)
    part = QStyle.SubControl.SC_ComboBoxEditField
    kind = QStyle.ComplexControl.CC_ComboBox
    return box.style().subControlRect(kind, option, part, box).width()


def _cut_titles(header: QHeaderView) -> Iterator[tuple[str, str]]:
    for section in range(header.count()):
        said = str(header.model().headerData(section, header.orientation()) or "")
        if (
            not header.isSectionHidden(section)
            and header.orientation() is Qt.Orientation.Horizontal
        ):
            wanted = header.fontMetrics().horizontalAdvance(said) + _HEADER_PADDING_PX
            yield from _too_wide(said, wanted, header.sectionSize(section))


def _cut_rows(view: QListView) -> Iterator[tuple[str, str]]:
    for row in range(view.model().rowCount()):
        index = view.model().index(row, 0)
        wanted = view.sizeHintForIndex(index).width()
        yield from _too_wide(str(index.data()), wanted, view.viewport().width())


def _why(widget: QLabel | QAbstractButton, root: QWidget) -> str:
    kinds = {kind.__name__ for kind in type(widget).__mro__}
    is_icon = isinstance(widget, QToolButton) and (
        widget.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonIconOnly
    )
    if not widget.text() or is_icon or kinds & _ELIDING:
        return ""
    wanted, given = _wanted(widget), widget.size()
    if wanted.width() > given.width() + _SLACK_PX:
        return f"{given.width()} px wide instead of {wanted.width()}"
    if wanted.height() > given.height() + _SLACK_PX:
        return f"{given.height()} px high instead of {wanted.height()}"
    return _sticks_out(widget, root)


def _wanted(widget: QLabel | QAbstractButton) -> QSize:
    if isinstance(widget, QLabel) and widget.wordWrap():
        # Lines break at a space, be it without a width.
        said = widget.text().replace("\u200b", " ").split()
        longest = max(map(widget.fontMetrics().horizontalAdvance, said), default=0)
        return QSize(longest, widget.heightForWidth(widget.width()))
    return widget.sizeHint()


def _sticks_out(widget: QWidget, root: QWidget) -> str:
    """Where a part of it lies beyond one around it that can't be scrolled."""
    inner = widget
    while inner is not root and (outer := inner.parentWidget()):
        area = outer.parentWidget()
        room = outer.rect().adjusted(-_SLACK_PX, -_SLACK_PX, _SLACK_PX, _SLACK_PX)
        place = QRect(widget.mapTo(outer, widget.rect().topLeft()), widget.size())
        is_within = place.left() >= room.left() and place.right() <= room.right()
        if isinstance(area, QAbstractScrollArea) and area.viewport() is outer:
            can_scroll = area.horizontalScrollBar().maximum() > 0
            return "" if is_within or can_scroll else f"sticks out of {type(area).__name__}"
        if not is_within or place.bottom() > room.bottom():
            return f"sticks out of {type(outer).__name__}"
        inner = outer
    return ""
