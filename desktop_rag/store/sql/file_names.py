"""Normalises file names for comparison, where SQL can't. Pure."""

import re
import unicodedata
from pathlib import PurePath

_ENDING = re.compile(r"\.[^.]{1,8}$")


def plain(text: str) -> str:
    """The text in lower case and NFC, with ß as ss and a final sigma as any other one."""
    lower = unicodedata.normalize("NFC", "".join(c.lower() for c in text))
    return lower.replace("ß", "ss").replace("\u03c2", "\u03c3")


def plain_name(path: str) -> str:
    """The normalised name of a file."""
    return plain(PurePath(path).name)


def squeezed(text: str) -> str:
    """The letters and digits of a text."""
    return "".join(c for c in text if unicodedata.category(c)[0] in "LN")


def stem(name: str) -> str:
    """The letters and digits of a name without its ending."""
    return squeezed(_ENDING.sub("", name))
