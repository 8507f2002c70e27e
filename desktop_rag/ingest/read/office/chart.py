"""The text of a chart in an Office document: its titles, and the values it shows as rows.

Runs in the parser process.
"""

from itertools import islice

from desktop_rag.ingest.read.foundation.ooxml import (
    Element,
    attribute,
    child,
    children,
    descendants,
)

_BORDER = " | "
_MAX_SERIES = 100
_MAX_POINTS = 1000
_DIGITS = 6


def chart_lines(root: Element) -> list[str]:
    """The lines of a chart part: titles, then a row of series names, then a row a category."""
    lines = [_joined(title) for title in descendants(root, "title")]
    series = list(islice(descendants(root, "ser"), _MAX_SERIES))
    names = [" ".join(_points(child(item, "tx")).values()) for item in series]
    values = [_points(child(item, "val")) or _points(child(item, "yVal")) for item in series]
    categories: dict[int, str] = {}
    for item in series:
        categories |= _points(child(item, "cat")) or _points(child(item, "xVal"))
    if any(names):
        lines.append(_BORDER.join(["", *names]).strip())
    for index in sorted({*categories, *(index for column in values for index in column)}):
        cells = [categories.get(index, ""), *(column.get(index, "") for column in values)]
        lines.append(_BORDER.join(cells).strip())
    return [line for line in lines if line]


def _joined(element: Element) -> str:
    return "".join(part.text or "" for part in descendants(element, "t")).strip()


def _points(element: Element | None) -> dict[int, str]:
    """The cached points of a series or a category axis by their index; one text is point 0."""
    points: dict[int, str] = {}
    for point in islice(descendants(element, "pt"), _MAX_POINTS):
        index = attribute(point, "idx")
        if index.isdecimal():
            text = " ".join((part.text or "").strip() for part in children(point))
            points.setdefault(int(index), _shown(text))
    return points


def _shown(text: str) -> str:
    """A number without the digits of floating-point noise."""
    try:
        return f"{float(text):.{_DIGITS}g}" if "." in text else text
    except ValueError:
        return text
