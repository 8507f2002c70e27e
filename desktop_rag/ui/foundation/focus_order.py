"""Moves the focus with Tab in reading order. Qt thread.

Qt would use the order of creation, so that whatever is made later comes last: an older message, a
chip, a page that is built when it is first shown.
"""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLayout, QMainWindow, QScrollArea, QSplitter, QStackedWidget, QWidget

_AROUND_BARS = ("qt_scrollarea_vcontainer", "qt_scrollarea_hcontainer")


def stops_of(window: QWidget) -> list[QWidget]:
    """The widgets that Tab reaches now, in reading order."""
    return [widget for widget in _in_order(window) if _is_stop(widget)]


def step(window: QWidget, *, is_forward: bool) -> bool:
    """Move the focus to the next or previous stop; False when there is none.

    Qt also calls it when the focused widget is hidden or disabled: then the nearest stop gets the
    focus.
    """
    stops = stops_of(window)
    if not stops:
        return False
    left = focused = window.focusWidget()
    while focused is not None and focused not in stops:
        # The part of a control that has the focus, such as the field of an editable list.
        focused = focused.parentWidget()
    if focused is None and left is not None and (beside := _beside(left, stops)):
        beside.setFocus(Qt.FocusReason.OtherFocusReason)
        return True
    here = stops.index(focused) if focused is not None else (-1 if is_forward else 0)
    reason = Qt.FocusReason.TabFocusReason if is_forward else Qt.FocusReason.BacktabFocusReason
    stops[(here + (1 if is_forward else -1)) % len(stops)].setFocus(reason)
    return True


def _beside(left: QWidget, stops: Sequence[QWidget]) -> QWidget | None:
    """The stop after a widget that is not one, in the smallest visible part around it."""
    inner, place = left, left.parentWidget()
    while place is not None and not place.isWindow():
        inside = [stop for stop in stops if place.isAncestorOf(stop)]
        if inside and place.isVisible():
            # Not by Qt's chain of focus: asking for what is being taken down ends the process.
            parts = list(_children(place))
            later = parts[parts.index(inner) + 1 :] if inner in parts else []
            behind = (s for p in later for s in inside if s is p or p.isAncestorOf(s))
            return next(behind, inside[0])
        inner, place = place, place.parentWidget()
    return None


def _is_stop(widget: QWidget) -> bool:
    takes_tab = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
    # A widget that hands the focus on is reached in its place.
    return takes_tab and widget.isEnabled() and widget.focusProxy() is None


def _in_order(widget: QWidget) -> Iterator[QWidget]:
    """The visible widgets below one, each before those inside it."""
    for child in _children(widget):
        if child.isVisible() and not child.isWindow():
            yield child
            yield from _in_order(child)


def _children(widget: QWidget) -> list[QWidget]:
    """The direct children in the order of the layout, then those outside it as they were made."""
    match widget:
        case QMainWindow():
            placed = [widget.menuWidget(), widget.centralWidget()]
        case QSplitter():
            placed = [widget.widget(n) for n in range(widget.count())]
        case QStackedWidget():
            placed = [widget.currentWidget()]
        case QScrollArea():
            placed = [widget.widget()]
        case _:
            layout = widget.layout()
            placed = list(laid_out(layout)) if layout else []
    found = [child for child in placed if child is not None]
    known = set(found)
    others = (c for c in widget.children() if isinstance(c, QWidget) and not _holds_bar(c))
    return [*found, *(child for child in others if child not in known and not _holds(child, known))]


def _holds_bar(widget: QWidget) -> bool:
    """True for Qt's container of an area's scroll bar, which has no Tab stop.

    Looking into it crashes the process later: Shiboken takes the scroll bar for its child and
    deletes it with the container, although others still hold the bar.
    """
    return widget.objectName() in _AROUND_BARS


def _holds(widget: QWidget, found: set[QWidget]) -> bool:
    """True for a frame around a widget that is in order already, such as a viewport."""
    return any(widget.isAncestorOf(other) for other in found)


def laid_out(layout: QLayout) -> Iterator[QWidget]:
    """The widgets of a layout and of those inside it, in their order.

    Without `itemAt`: Shiboken keeps each item it gave out, also when Qt has deleted it, and takes
    whatever is made at its address later for that item.
    """
    parent = layout.parentWidget()
    inside = [*(parent.children() if parent else ()), *layout.children()]
    placed: list[tuple[int, QWidget | QLayout]] = [
        (layout.indexOf(part), part) for part in inside if isinstance(part, QWidget | QLayout)
    ]
    for position, part in sorted(placed, key=lambda each: each[0]):
        if position >= 0:
            yield from laid_out(part) if isinstance(part, QLayout) else (part,)
