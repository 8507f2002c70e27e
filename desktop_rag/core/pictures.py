"""Pictures and scanned pages: the texts read from them, and how a row says that some wait. Pure.

The number waiting is part of the row's reason, which people read too.
"""

import importlib.util
import re
from dataclasses import dataclass
from enum import StrEnum

# Begins the hint where pictures are not read.
TO_HAVE_THEM_READ = "To have them read, "
PICTURES_WAIT = "Pictures and scanned pages that wait to be read: "
_NUMBER = re.compile(re.escape(PICTURES_WAIT) + r"(\d+)")


def is_ocr_installed() -> bool:
    """True when the extra that reads pictures is installed, whether it is switched on or not."""
    return importlib.util.find_spec("rapidocr") is not None


def waiting_words(count: int) -> str:
    """The reason of a row while so many of its pictures wait."""
    return f"{PICTURES_WAIT}{count}."


def waiting_in(reason: str) -> int:
    """The number of waiting pictures in the reason of a row."""
    found = _NUMBER.search(reason)
    return int(found[1]) if found else 0


class PictureHold(StrEnum):
    """What keeps pictures from being read."""

    NONE = "none"
    PAUSED = "paused"
    # It would take long, and the person has not answered yet, or does not want it now.
    ASKED = "asked"
    LATER = "later"


@dataclass(frozen=True, slots=True)
class WaitingPictures:
    """The number of waiting pictures, an estimate of their time, and what holds them."""

    count: int = 0
    seconds: float = 0.0
    hold: PictureHold = PictureHold.NONE


@dataclass(frozen=True, slots=True)
class PictureText:
    """The text of a picture, "" for none; `failure` says why reading it failed."""

    text: str
    failure: str = ""

    def to_json(self) -> list[str]:
        """The values as JSON."""
        return [self.text, self.failure]

    @classmethod
    def from_json(cls, values: object) -> "PictureText":
        """The inverse of `to_json`; TypeError for anything else."""
        match values:
            case [str(text), str(failure)]:
                return cls(text, failure)
            case _:
                raise TypeError("not the text of a picture")
