"""Puts back the headings that a main text lost, where the text below them still stands. Pure.

Runs in the parser process.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from desktop_rag.core.parsed import Heading, ParsedDocument

_WORD = re.compile(r"\w+")
_KEY_WORDS = 8
_MIN_KEY_WORDS = 2
_KEY_CHARS = 400
# A heading so few lines above is still there, with something else below it.
_NEAR_LINES = 8
_HEADING_LINE = re.compile(r"#{1,6} ")


@dataclass(slots=True)
class _Section:
    """Headings that follow one another, and the first words of the text below the last."""

    headings: list[Heading] = field(default_factory=list[Heading])
    begin: str = ""


def with_headings(text: str, page: ParsedDocument) -> str:
    """The Markdown `text`, taken from the page, with the headings of the page that belong to it."""
    lines = text.split("\n")
    keys = [_key(line) for line in lines]
    counts = Counter(keys)
    places = {key: index for index, key in enumerate(keys) if counts[key] == 1}
    added: dict[int, list[Heading]] = {}
    replaced: set[int] = set()
    for section in _sections(page):
        place = places.get(section.begin)
        if place is None or section.begin.count(" ") + 1 < _MIN_KEY_WORDS:
            continue
        titles = [_key(heading.title) for heading in section.headings]
        near = range(max(place - _NEAR_LINES, 0), place)
        if any(keys[index] in titles and _HEADING_LINE.match(lines[index]) for index in near):
            continue
        replaced.update(_lines_above(keys, place, titles))
        added[place] = section.headings
    return "\n".join(
        piece
        for index, line in enumerate(lines)
        if index not in replaced
        for piece in (*map(_markdown, added.get(index, ())), line)
    )


def _sections(page: ParsedDocument) -> list[_Section]:
    sections = [_Section()]
    ends = (*(heading.offset for heading in page.headings), len(page.text))
    for heading, end in zip(page.headings, ends[1:], strict=True):
        sections[-1].headings.append(heading)
        # The heading's own line is the first.
        body = page.text[heading.offset : end].partition("\n")[2]
        sections[-1].begin = next(filter(None, map(_key, body.split("\n"))), "")
        if sections[-1].begin:
            sections.append(_Section())
    return [section for section in sections if section.begin]


def _lines_above(keys: list[str], place: int, titles: list[str]) -> list[int]:
    """The lines right above a place that have one of these titles."""
    found: list[int] = []
    while place > 0 and (not keys[place - 1] or keys[place - 1] in titles):
        place -= 1
        if keys[place]:
            found.append(place)
    return found


def _key(line: str) -> str:
    """The first words of a line, whatever its markup."""
    return " ".join(_WORD.findall(line[:_KEY_CHARS].casefold())[:_KEY_WORDS])


def _markdown(heading: Heading) -> str:
    return f"\n{'#' * heading.level} {heading.title}\n"
