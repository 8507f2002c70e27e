"""Divides a rectangle into areas of given sizes, as square as possible. Pure; any thread.

After Bruls, Huizing and van Wijk, "Squarified Treemaps" (2000).
"""

from collections.abc import Sequence
from typing import NamedTuple


class Area(NamedTuple):
    """A rectangle in pixels."""

    x: float
    y: float
    width: float
    height: float


def squarified(sizes: Sequence[float], room: Area) -> list[Area]:
    """An area for each size, in the same order; sizes are positive, the largest first."""
    total = sum(sizes)
    if not total or room.width <= 0 or room.height <= 0:
        return [Area(room.x, room.y, 0, 0) for _ in sizes]
    scale = room.width * room.height / total
    left = [size * scale for size in sizes]
    areas: list[Area] = []
    while left:
        row = _best_row(left, min(room.width, room.height))
        placed, room = _placed(row, room)
        areas += placed
        left = left[len(row) :]
    return areas


def _best_row(sizes: Sequence[float], side: float) -> Sequence[float]:
    """As many of the first sizes as make the squarest row along a side."""
    count = 1
    while count < len(sizes) and _worst(sizes[: count + 1], side) <= _worst(sizes[:count], side):
        count += 1
    return sizes[:count]


def _worst(row: Sequence[float], side: float) -> float:
    """The largest ratio of the sides of an area in the row; 1 is a square."""
    total = sum(row)
    return max(max(side**2 * size / total**2, total**2 / (side**2 * size)) for size in row)


def _placed(row: Sequence[float], room: Area) -> tuple[list[Area], Area]:
    """The areas of a row along the shorter side, and the room that is left."""
    areas: list[Area] = []
    if room.width >= room.height:
        width, y = sum(row) / room.height, room.y
        for size in row:
            areas.append(Area(room.x, y, width, size / width))
            y += size / width
        return areas, Area(room.x + width, room.y, room.width - width, room.height)
    height, x = sum(row) / room.width, room.x
    for size in row:
        areas.append(Area(x, room.y, size / height, height))
        x += size / height
    return areas, Area(room.x, room.y + height, room.width, room.height - height)
