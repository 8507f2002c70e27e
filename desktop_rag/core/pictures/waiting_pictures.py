"""Pictures and scanned pages that wait to be read: how a row says so, and what holds them. Pure.

The number stands in the reason of the row, where a person reads it too.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

# How the way out begins where pictures are not read.
TO_HAVE_THEM_READ = "To have them read, "
PICTURES_WAIT = "Pictures and scanned pages that wait to be read: "
_NUMBER = re.compile(re.escape(PICTURES_WAIT) + r"(\d+)")


def waiting_words(count: int) -> str:
    """What the row of a file says while so many of its pictures wait."""
    return f"{PICTURES_WAIT}{count}."


def waiting_in(reason: str) -> int:
    """The number of pictures that wait, by the reason of a row."""
    found = _NUMBER.search(reason)
    return int(found[1]) if found else 0


class PictureHold(StrEnum):
    """What holds the reading of pictures up."""

    NONE = "none"
    PAUSED = "paused"
    # It would take long, and the person has not answered yet, or does not want it now.
    ASKED = "asked"
    LATER = "later"


@dataclass(frozen=True, slots=True)
class WaitingPictures:
    """The number of pictures that wait, an estimate of the time they take, and what holds them."""

    count: int = 0
    seconds: float = 0.0
    hold: PictureHold = PictureHold.NONE
