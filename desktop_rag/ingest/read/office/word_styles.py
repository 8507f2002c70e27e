"""The paragraph styles and numbering of Word: heading, list item, number.

Runs in the parser process.
"""

import re
from collections import defaultdict
from collections.abc import Iterator

from desktop_rag.ingest.read.foundation.ooxml import Element, attribute, child, children, local_name

_HEADING_NAME = re.compile(r"heading (\d)", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"%(\d)")
_MAX_OUTLINE_LEVEL = 9
_MAX_STYLE_DEPTH = 10
_MAX_LIST_LEVEL = 8
_BULLET = "-"
_LETTERS = 26
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MAX_ROMAN = 4000


class Styles:
    """The paragraph styles of a document."""

    def __init__(self, styles: Element | None) -> None:
        elements = [] if styles is None else children(styles)
        self._styles = {
            attribute(style, "styleId"): style for style in elements if local_name(style) == "style"
        }
        self._levels: dict[str, int | None] = {}

    def heading_level(self, properties: Element | None) -> int | None:
        """0 for the document's title, 1-9 for headings, None for text."""
        own = _outline_level(properties)
        if own is not None:
            return own if own <= _MAX_OUTLINE_LEVEL else None
        style_id = attribute(child(properties, "pStyle"))
        if style_id not in self._levels:
            self._levels[style_id] = self._level_of_style(style_id)
        return self._levels[style_id]

    def numbering(self, properties: Element | None) -> tuple[str, int] | None:
        """(numbering id, level from 0) of a list item or a numbered heading, else None."""
        style_id = attribute(child(properties, "pStyle"))
        own = [] if properties is None else [properties]
        number, level = "", ""
        for source in (*own, *(child(style, "pPr") for style in self._chain(style_id))):
            numbering = child(source, "numPr")
            number = number or attribute(child(numbering, "numId"))
            level = level or attribute(child(numbering, "ilvl"))
        if not number or number == "0":
            return None
        return number, min(int(level), _MAX_LIST_LEVEL) if level.isdecimal() else 0

    def _level_of_style(self, style_id: str) -> int | None:
        for style in self._chain(style_id):
            name = attribute(child(style, "name"))
            heading = _HEADING_NAME.fullmatch(name)
            if heading or name.lower() == "title":
                return int(heading[1]) if heading else 0
            level = _outline_level(child(style, "pPr"))
            if level is not None:
                return level if level <= _MAX_OUTLINE_LEVEL else None
        return None

    def _chain(self, style_id: str) -> Iterator[Element]:
        """The style, what it is based on, and so on."""
        for _ in range(_MAX_STYLE_DEPTH):
            style = self._styles.get(style_id)
            if style is None:
                return
            yield style
            style_id = attribute(child(style, "basedOn"))


def _outline_level(properties: Element | None) -> int | None:
    value = attribute(child(properties, "outlineLvl"))
    return int(value) + 1 if value.isdecimal() else None


class Numbering:
    """Counts list items and numbered headings the way Word does."""

    def __init__(self, numbering: Element | None) -> None:
        self._levels: dict[tuple[str, int], tuple[str, str, int]] = {}
        self._counted_as: dict[str, str] = {}
        self._counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
        elements = [] if numbering is None else list(children(numbering))
        abstract = {
            attribute(item, "abstractNumId"): item
            for item in elements
            if local_name(item) == "abstractNum"
        }
        for item in elements:
            if local_name(item) == "num":
                shared = attribute(child(item, "abstractNumId"))
                self._add(attribute(item, "numId"), item, shared, abstract.get(shared))

    def next_label(self, number: str, level: int) -> str:
        """The label of the next paragraph of this numbering: `2.1.`, `b)` or `-`."""
        style, text, start = self._levels.get((number, level), ("bullet", "", 1))
        counts = self._counts[self._counted_as.get(number, number)]
        counts[level] = counts.get(level, start - 1) + 1
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]
        if style in {"bullet", "none"} or not text:
            return _BULLET if style == "bullet" else ""

        def shown(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            other_style, _, other_start = self._levels.get((number, place), ("decimal", "", 1))
            return _formatted(counts.get(place, other_start), other_style)

        return _PLACEHOLDER.sub(shown, text).strip()

    def _add(self, number: str, item: Element, shared: str, abstract: Element | None) -> None:
        restarts = False
        overrides = [part for part in children(item) if local_name(part) == "lvlOverride"]
        for level in [] if abstract is None else children(abstract):
            if local_name(level) == "lvl":
                self._add_level(number, level)
        for override in overrides:
            level = child(override, "lvl")
            if level is not None:
                self._add_level(number, level)
            start = attribute(child(override, "startOverride"))
            key = (number, _number(attribute(override, "ilvl"), 0))
            if start and key in self._levels:
                restarts = True
                self._levels[key] = (*self._levels[key][:2], _number(start, 1))
        # Numberings of one kind go on counting where the other left off, unless told to restart.
        self._counted_as[number] = number if restarts else f"shared {shared}"

    def _add_level(self, number: str, level: Element) -> None:
        self._levels[number, _number(attribute(level, "ilvl"), 0)] = (
            attribute(child(level, "numFmt")) or "decimal",
            attribute(child(level, "lvlText")),
            _number(attribute(child(level, "start")), 1),
        )


def _number(text: str, default: int) -> int:
    return int(text) if text.isdecimal() else default


def _formatted(count: int, style: str) -> str:
    match style:
        case "lowerLetter" | "upperLetter" if count > 0:
            letter = chr(ord("a") + (count - 1) % _LETTERS) * ((count - 1) // _LETTERS + 1)
            return letter if style == "lowerLetter" else letter.upper()
        case "lowerRoman" | "upperRoman" if 0 < count < _MAX_ROMAN:
            roman = ""
            for value, sign in _ROMAN:
                times, count = divmod(count, value)
                roman += sign * times
            return roman if style == "lowerRoman" else roman.upper()
        case "decimalZero":
            return f"{count:02}"
        case _:
            return str(count)
