"""The parts of a document that no chunk crosses: between headings, pages, sheets. Pure."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from desktop_rag.core.parsed import ParsedDocument
from desktop_rag.core.places import Places

_UNDERLINE = re.compile(r"[ \t]*(=+|-+)[ \t]*(?:\n|$)")


@dataclass(frozen=True, slots=True)
class Section:
    """The text [start, end) under the headings of `path`."""

    start: int
    end: int
    path: tuple[str, ...] = ()


def sections_by_heading(document: ParsedDocument, places: Places) -> Iterator[Section]:
    """The text between two headings or page borders, without the heading lines themselves."""
    text = document.text
    starts: dict[int, tuple[str, ...]] = {0: ()}
    bodies: dict[int, int] = {}
    for heading in document.headings:
        starts[heading.offset] = places.path(heading.offset)
        bodies[heading.offset] = _end_of_heading(text, heading.offset)
    ordered = sorted(starts)
    for border in places.borders():
        if border not in starts:
            starts[border] = starts[ordered[bisect_right(ordered, border) - 1]]
    for start, end in pairwise([*sorted(starts), len(text)]):
        body = min(bodies.get(start, start), end)
        if _has_text(text, body, end):
            yield Section(body, end, starts[start])
        elif _is_leaf(starts, start, end) and _has_text(text, start, end):
            # A heading with nothing under it would otherwise be found by no one.
            yield Section(start, end, starts[start][:-1])


def sections_by_place(document: ParsedDocument, places: Places) -> Iterator[Section]:
    """The text between two page borders, headings and all."""
    borders = sorted({0, *places.borders()})
    for start, end in pairwise([*borders, len(document.text)]):
        if _has_text(document.text, start, end):
            yield Section(start, end)


def _has_text(text: str, start: int, end: int) -> bool:
    return bool(text[start:end].strip())


def _is_leaf(starts: dict[int, tuple[str, ...]], start: int, end: int) -> bool:
    following = starts.get(end, ())
    return following[: len(starts[start])] != starts[start]


def _end_of_heading(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    if end < 0:
        return len(text)
    underline = _UNDERLINE.match(text, end + 1)
    return underline.end() if underline and underline[0].strip() else end + 1
