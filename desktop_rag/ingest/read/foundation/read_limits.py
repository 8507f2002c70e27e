"""Limits on the result of a reader, and the reasons for having none.

Plain values: the parser process keeps them, its parent checks them again.
"""

from typing import Literal

MAX_MARKS = 500_000
MAX_HEADINGS = 200_000
MAX_BOXES = 2000
MAX_PAGE_WORDS = 6000
MAX_WORD_CHARS = 200
MAX_PAGE_SIZES = 10_000
MAX_PAGE_POINTS = 20_000.0
MAX_COLOURED_CHARS = 2_000_000
MAX_COLOUR_SPANS = 300_000
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
