"""Limits on the result of a reader, reasons for having none, and the request for a page view.

Plain values: the parser process keeps them, its parent checks them again.
"""

from dataclasses import dataclass
from typing import Literal

MAX_MARKS = 500_000
MAX_HEADINGS = 200_000
MAX_BOXES = 2000
MAX_TAGS = 50
MAX_TAG_CHARS = 100
MAX_VIEW_PX = 2000
MAX_VIEW_HEIGHT_PX = 4000

Reason = Literal[
    "unsupported",
    "encrypted",
    "empty",
    "damaged",
    "too large",
    "no text",
    "not a file",
    "no access",
    "missing",
    "crashed",
    "timeout",
]
"""Why a file has no text. The first six stay true until the file changes."""


@dataclass(frozen=True, slots=True)
class PageViewRequest:
    """A picture of one page (from 1), with the places of a quote on it."""

    page: int
    quote: str
    width_px: int
