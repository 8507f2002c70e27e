"""Splits a document into sections that no chunk crosses: by headings, pages, sheets. Pure."""

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
    """The text between two headings or page boundaries, without the heading lines."""
    text = document.text
    starts: dict[int, tuple[str, ...]] = {0: ()}
    bodies: dict[int, int] = {}
    for heading in document.headings:
        starts[heading.offset] = places.path(heading.offset)
        bodies[heading.offset] = _end_of_heading(text, heading.offset)
    ordered = sorted(starts)
    for boundary in places.boundaries():
        if boundary not in starts:
            starts[boundary] = starts[ordered[bisect_right(ordered, boundary) - 1]]
    for start, end in pairwise([*sorted(starts), len(text)]):
        body = min(bodies.get(start, start), end)
        if _has_text(text, body, end):
            yield Section(body, end, starts[start])
        elif _is_leaf(starts, start, end) and _has_text(text, start, end):
            # A heading without text below it would otherwise not be searchable.
            yield Section(start, end, starts[start][:-1])


def sections_by_place(document: ParsedDocument, places: Places) -> Iterator[Section]:
    """The text between two page boundaries, headings included."""
    boundaries = sorted({0, *places.boundaries()})
    for start, end in pairwise([*boundaries, len(document.text)]):
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
