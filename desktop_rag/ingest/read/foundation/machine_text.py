"""Bytes that are written as letters, such as a picture in base64: no text to search or to quote.

They are told by their shape, and by how often the kinds of their letters change, which in words and
names is seldom. Runs in the parser process.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator

_LETTER = "[A-Za-z0-9_+/=-]"
# Looked for only where they begin: from each letter of many runs that are a little shorter it would
# take minutes.
_SHAPES = re.compile(
    # Letters and digits without a space, or several lines of them with a shorter one at the end.
    rf"(?<!{_LETTER})(?P<letters>{_LETTER}{{40,}}+(?:\s++{_LETTER}{{40,}}+){{3,}}+|{_LETTER}{{200,}}+)"
    rf"(?:\s{{1,20}}(?P<last>{_LETTER}{{1,39}})(?!\S))?"
    # A dump: places in the file, each before its bytes as pairs of digits.
    r"|(?m:(?P<dump>(?:^[ \t]*[0-9A-Fa-f]{4,16}:?[ \t]+"
    r"(?:(?:[0-9A-Fa-f]{2}){1,4}[ \t-]{1,3}){4,}+[^\n]*+\n){3,}+))"
    # uuencode, ascii85, and bytes as addresses have them.
    r"|(?m:^begin [0-7]{3,4} [^\n]+\n(?:[ -`]{1,62}\n)+?end$)"
    r"|<~[!-uz\s]{100,}+~>"
    r"|(?:%[0-9A-Fa-f]{2}[\w.~+-]{0,8}+){60,}+"
)
_CHANGES = re.compile(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")
_LEAST_CHANGES, _LEAST_DIGITS = 0.3, 0.04
_KINDS = re.compile(r"(?=.*\d)(?=.*[a-z])(?=.*[A-Z])")
_STEPS = {8, 16, 32}
_INSTEAD = "[data]"


def without_data(text: str) -> str:
    """The text with `[data]` for each run of bytes, its lines as many as before."""
    return moving_data_out(text)[0]


def moving_data_out(text: str) -> tuple[str, Callable[[int], int]]:
    """The text without runs of bytes, and a function from its old offsets to the new ones."""
    runs = list(_runs(text))
    pieces, starts, shifts = [""], [start for start, _ in runs], [0]
    done = 0
    for start, end in runs:
        instead = _INSTEAD + "\n" * text.count("\n", start, end)
        pieces += text[done:start], instead
        shifts.append(shifts[-1] + end - start - len(instead))
        done = end

    def moved(offset: int) -> int:
        before = bisect_left(starts, offset)
        if before and offset < runs[before - 1][1]:
            return starts[before - 1] - shifts[before - 1]
        return offset - shifts[before]

    return "".join([*pieces, text[done:]]), moved


def _runs(text: str) -> Iterator[tuple[int, int]]:
    for found in _SHAPES.finditer(text):
        letters, last, dump = found["letters"], found["last"], found["dump"]
        if letters and not _is_mixed(letters):
            continue
        if dump and not _is_counting(dump):
            continue
        is_cut_short = last and not (last.endswith("=") or _KINDS.match(last))
        yield found.start(), found.end("letters" if is_cut_short else 0)


def _is_mixed(letters: str) -> bool:
    digits = sum(map(str.isdecimal, letters))
    changes = sum(1 for _ in _CHANGES.finditer(letters))
    return digits >= _LEAST_DIGITS * len(letters) and changes >= _LEAST_CHANGES * len(letters)


def _is_counting(dump: str) -> bool:
    """True when the first column counts bytes, and is not one of years or numbers of rows."""
    places = [re.split(r"[:\s]", line.strip())[0] for line in dump.split("\n")[:2]]
    first, second = (int(place, 16) for place in places)
    return second - first in _STEPS
