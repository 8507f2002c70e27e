"""Layouts declared by what stands in them, in order. Qt thread."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget

L = TypeVar("L", bound=QBoxLayout)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Room that grows with the window, in proportion to its factor."""

    factor: int = 1


@dataclass(frozen=True, slots=True)
class Gap:
    """Room of a fixed size."""

    px: int


# A widget or layout, alone or with its factor of stretch, and for a widget its alignment.
Part = (
    QWidget
    | QLayout
    | Stretch
    | Gap
    | tuple[QWidget | QLayout, int]
    | tuple[QWidget, int, Qt.AlignmentFlag]
)
# Of all sides, or of the left, top, right and bottom.
Margins = int | tuple[int, int, int, int]


def vertical(
    *parts: Part, on: QWidget | None = None, margins: Margins | None = None, spacing: int = -1
) -> QVBoxLayout:
    """The parts one below the other, as the layout of a widget if `on` names one.

    `margins` and `spacing` are in pixels; without them, those of the style stay.
    """
    return _arranged(QVBoxLayout(), parts, on, margins, spacing)


def horizontal(
    *parts: Part, on: QWidget | None = None, margins: Margins | None = None, spacing: int = -1
) -> QHBoxLayout:
    """The parts side by side, otherwise as `vertical`."""
    return _arranged(QHBoxLayout(), parts, on, margins, spacing)


def fill(layout: QBoxLayout, *parts: Part) -> None:
    """Add these parts at the end of a layout."""
    for part in parts:
        match part:
            case Stretch(factor):
                layout.addStretch(factor)
            case Gap(px):
                layout.addSpacing(px)
            case (widget, factor, side):
                layout.addWidget(widget, factor, side)
            case (QLayout() as inner, factor):
                layout.addLayout(inner, factor)
            case (QWidget() as widget, factor):
                layout.addWidget(widget, factor)
            case QLayout():
                layout.addLayout(part)
            case QWidget():
                layout.addWidget(part)


def clear(layout: QLayout) -> None:
    """Take all widgets out of a layout, and delete them."""
    while item := layout.takeAt(0):
        if widget := item.widget():
            drop([widget])


def drop(widgets: Iterable[QWidget], *, of: QLayout | None = None) -> None:
    """Hide widgets at once, and delete them; they leave the layout `of` at once."""
    for widget in widgets:
        if of is not None:
            of.removeWidget(widget)
        widget.hide()
        widget.deleteLater()


def _arranged(
    layout: L, parts: Sequence[Part], on: QWidget | None, margins: Margins | None, spacing: int
) -> L:
    if on is not None:
        on.setLayout(layout)
    if isinstance(margins, int):
        layout.setContentsMargins(margins, margins, margins, margins)
    elif margins is not None:
        layout.setContentsMargins(*margins)
    if spacing >= 0:
        layout.setSpacing(spacing)
    fill(layout, *parts)
    return layout
