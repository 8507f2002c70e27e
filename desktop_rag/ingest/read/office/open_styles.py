"""The styles of an OpenDocument text: the title paragraph, and the lists with numbers.

Runs in the parser process.
"""

from desktop_rag.ingest.read.foundation.ooxml import (
    OfficePackage,
    attribute,
    children,
    descendants,
    local_name,
)

_TITLE = "Title"
_MAX_DEPTH = 10


class OpenStyles:
    """The paragraph and list styles, those of the document and those made while writing."""

    def __init__(self, package: OfficePackage) -> None:
        self._parents: dict[str, str] = {}
        # (name of the list style, level from 0) of levels that count.
        self._numbered: set[tuple[str, int]] = set()
        for part in ("styles.xml", "content.xml"):
            for style in descendants(package.root(part), "style", "list-style"):
                name = attribute(style, "name")
                if local_name(style) == "style":
                    self._parents[name] = attribute(style, "parent-style-name")
                    continue
                for level in children(style):
                    number = attribute(level, "level")
                    is_counted = local_name(level) == "list-level-style-number"
                    if is_counted and number.isdecimal() and attribute(level, "num-format"):
                        self._numbered.add((name, int(number) - 1))

    def is_title(self, style: str) -> bool:
        """True when paragraphs of this style are the title of the document."""
        for _ in range(_MAX_DEPTH):
            if style == _TITLE:
                return True
            style = self._parents.get(style, "")
        return False

    def is_numbered(self, list_style: str, level: int) -> bool:
        """True when the items of a list on this level (from 0) have numbers."""
        return (list_style, level) in self._numbered
