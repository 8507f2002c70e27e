"""The labels, buttons and lists of a window whose text has no room."""

from collections.abc import Iterator

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QComboBox,
    QLabel,
    QToolButton,
    QWidget,
)

# Widgets of these kinds shorten their text themselves.
_ELIDING = {"ElidedLabel", "ElidedButton"}
_SLACK_PX = 1


def cut_off(root: QWidget) -> Iterator[str]:
    """Each visible label, button and list below `root` whose text is wider or higher than it."""
    for widget in root.findChildren(QWidget):
        if widget.isVisibleTo(root) and widget.visibleRegion() and (why := _why(widget, root)):
            yield f"{_said(widget)!r}: {why}"


def _said(widget: QWidget) -> str:
    return widget.currentText() if isinstance(widget, QComboBox) else getattr(widget, "text", str)()


def _why(widget: QWidget, root: QWidget) -> str:
    kinds = {kind.__name__ for kind in type(widget).__mro__}
    if not isinstance(widget, QLabel | QAbstractButton | QComboBox) or not _said(widget):
        return ""
    if isinstance(widget, QToolButton) and (
        widget.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonIconOnly and widget.icon()
    ):
        return ""
    if kinds & _ELIDING:
        return ""
    wanted, given = _wanted(widget), widget.size()
    if wanted.width() > given.width() + _SLACK_PX:
        return f"{given.width()} px wide instead of {wanted.width()}"
    if wanted.height() > given.height() + _SLACK_PX:
        return f"{given.height()} px high instead of {wanted.height()}"
    return _sticks_out(widget, root)


def _wanted(widget: QWidget) -> QSize:
    if isinstance(widget, QComboBox):
        metrics = widget.fontMetrics()
        arrow = widget.sizeHint().width() - max(
            metrics.horizontalAdvance(widget.itemText(n)) for n in range(widget.count())
        )
        return QSize(metrics.horizontalAdvance(widget.currentText()) + min(arrow, 30), 0)
    if isinstance(widget, QLabel) and widget.wordWrap():
        words = widget.text().split()
        longest = max((widget.fontMetrics().horizontalAdvance(w) for w in words), default=0)
        return QSize(longest, widget.heightForWidth(widget.width()))
    return widget.sizeHint()


def _sticks_out(widget: QWidget, root: QWidget) -> str:
    """Where a part of it lies beyond one that it can't be scrolled in."""
    inner = widget
    while inner is not root and (outer := inner.parentWidget()):
        area = outer.parentWidget()
        is_viewport = isinstance(area, QAbstractScrollArea) and area.viewport() is outer
        place = QRect(widget.mapTo(outer, widget.rect().topLeft()), widget.size())
        room = outer.rect().adjusted(-_SLACK_PX, -_SLACK_PX, _SLACK_PX, _SLACK_PX)
        if is_viewport:
            assert isinstance(area, QAbstractScrollArea)
            if area.horizontalScrollBar().maximum() == 0 and not _is_within(place, room):
                return f"sticks out of {type(area).__name__}"
            return ""
        if not _is_within(place, room) or place.bottom() > room.bottom():
            return f"sticks out of {type(outer).__name__}"
        inner = outer
    return ""


def _is_within(place: QRect, room: QRect) -> bool:
    return place.left() >= room.left() and place.right() <= room.right()
