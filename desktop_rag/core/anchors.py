"""Places in files that a person can go to. Frozen values and pure functions."""

from dataclasses import dataclass
from typing import Any

HEADING_SEPARATOR = " › "


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place in a file that a person can go to. Pages, slides and lines count from 1.

    `page_label` is what is printed on the page where that is not its number (`iv`, `A-3`).
    `heading` is the path of headings joined by HEADING_SEPARATOR; `cells` is a range such as
    `A5:D9` on `sheet` (a CSV file has cells and no sheet).
    """

    page: int | None = None
    page_label: str | None = None
    slide: int | None = None
    sheet: str | None = None
    cells: str | None = None
    heading: str | None = None
    line: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The set fields only, as the command line and the store write them."""
        pairs = ((name, getattr(self, name)) for name in self.__slots__)
        return {name: value for name, value in pairs if value is not None}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> "Anchor":
        """The inverse of `to_json`. Unknown fields raise TypeError: they are a bug of ours."""
        return cls(**fields)

    def label(self) -> str:
        """The place in words: `page 4`, `Budget!A5:D9`, `Fees › Members`, `line 12`."""
        if self.page is not None:
            return (
                f"page {self.page_label} ({self.page})" if self.page_label else f"page {self.page}"
            )
        if self.slide is not None:
            return f"slide {self.slide}"
        if self.sheet is not None:
            return f"{self.sheet}!{self.cells}" if self.cells else self.sheet
        if self.cells is not None:
            return f"cells {self.cells}"
        if self.heading:
            return self.heading
        return f"line {self.line}" if self.line is not None else ""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, in fractions (0..1) of its width and height from the top left."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class PageView:
    """A picture of one page with the places of a quote on it. `png` is `width_px` wide."""

    page: int
    page_count: int
    png: bytes
    width_px: int
    height_px: int
    boxes: tuple[Box, ...] = ()
