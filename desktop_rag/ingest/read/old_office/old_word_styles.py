"""The properties of a Word 97-2003 paragraph: its heading level, and if it is in a table.

Runs in the parser process.
"""

import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

# Codes of single properties.
_IN_TABLE, _ROW_END = 0x2416, 0x2417
_OUTLINE_LEVEL = 0x2640
_LIST_LEVEL, _LIST = 0x260A, 0x460B
_NO_LIST = {0, 0xF801}
# The two whose length takes two bytes, or is said in their value.
_TABLE_DEFINITION, _CHANGE_TABS = 0xD608, 0xC615
_OPERAND_BYTES = {0: 1, 1: 1, 2: 2, 3: 4, 4: 2, 5: 2, 7: 3}
_VARIABLE = 6
_MAX_SIZE = 255
# Numbers of built-in styles.
_HEADINGS, _TITLE = range(1, 10), 62
_NO_STYLE = 0xFFF
_MAX_STYLES = 5000
_MAX_DEPTH = 10
_BODY_LEVEL = 9


@dataclass(frozen=True, slots=True)
class Paragraph:
    """`level` is 0 for the title of the document, 1-9 for a heading, None for text."""

    level: int | None = None
    list_level: int | None = None
    is_in_table: bool = False
    is_row_end: bool = False


class OldStyles:
    """The style sheet of a document."""

    def __init__(self, sheet: bytes) -> None:
        # Number of a style → (number of the built-in style it is, style it is based on).
        self._styles: list[tuple[int, int]] = []
        self._known: dict[bytes, Paragraph] = {}
        # The readable part of a damaged one is enough.
        with suppress(struct.error):
            self._read(sheet)

    def _read(self, sheet: bytes) -> None:
        (header_bytes, count) = struct.unpack_from("<HH", sheet)
        position = 2 + header_bytes
        for _ in range(min(count, _MAX_STYLES)):
            (size,) = struct.unpack_from("<H", sheet, position)
            position += 2
            built_in, based_on = _NO_STYLE, _NO_STYLE
            if size:
                built_in, base = struct.unpack_from("<HH", sheet, position)
                built_in, based_on = built_in & 0xFFF, base >> 4
            self._styles.append((built_in, based_on))
            # Each begins at an even place.
            position += size + size % 2

    def paragraph(self, properties: bytes) -> Paragraph:
        """Read the properties of a paragraph, the number of its style first."""
        if properties not in self._known:
            self._known[properties] = self._described(properties)
        return self._known[properties]

    def _described(self, properties: bytes) -> Paragraph:
        said = dict(sprms(properties[2:]))
        level = self._level(int.from_bytes(properties[:2], "little"))
        outline = said.get(_OUTLINE_LEVEL)
        if outline is not None:
            level = outline + 1 if outline < _BODY_LEVEL else None
        is_list = said.get(_LIST, 0) not in _NO_LIST
        return Paragraph(
            level=level,
            list_level=said.get(_LIST_LEVEL, 0) if is_list else None,
            is_in_table=bool(said.get(_IN_TABLE)),
            is_row_end=bool(said.get(_ROW_END)),
        )

    def _level(self, style: int) -> int | None:
        for _ in range(_MAX_DEPTH):
            if style >= len(self._styles):
                return style if not self._styles and style in _HEADINGS else None
            built_in, based_on = self._styles[style]
            if built_in in _HEADINGS:
                return built_in
            if built_in == _TITLE:
                return 0
            style = based_on
        return None


def sprms(grpprl: bytes) -> Iterator[tuple[int, int]]:
    """The single properties in a list of them: (code, value of its first bytes)."""
    position = 0
    while position + 3 <= len(grpprl):
        code = grpprl[position] | grpprl[position + 1] << 8
        position += 2
        kind = code >> 13
        if kind != _VARIABLE:
            size = _OPERAND_BYTES[kind]
        elif code == _TABLE_DEFINITION:
            size = int.from_bytes(grpprl[position : position + 2], "little") + 1
        else:
            size = grpprl[position] + 1
            if code == _CHANGE_TABS and size > _MAX_SIZE:
                return
        yield code, int.from_bytes(grpprl[position : position + min(size, 4)], "little")
        position += size
