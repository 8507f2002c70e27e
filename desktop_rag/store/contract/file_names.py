"""Compares file names and words where SQL cannot. Pure."""

import re
import unicodedata
from pathlib import PurePath

_ENDING = re.compile(r"\.[^.]{1,8}$")


def plain(text: str) -> str:
    """The text in lower case and NFC, with ß as ss and a final sigma as any other one."""
    # One letter for one, as in SQL: İ becomes i.
    lower = unicodedata.normalize("NFC", "".join(c.lower()[0] for c in text))
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


def edits(first: str, second: str, most: int) -> int:
    """The number of edits between two words; `most` + 1 when there are more."""
    if abs(len(first) - len(second)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        now = [i]
        for j, b in enumerate(second, 1):
            cost = min(row[j] + 1, now[j - 1] + 1, row[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            now.append(cost)
        if min(now) > most and min(row) > most:
            return most + 1
        before, row = row, now
    return min(row[-1], most + 1)
