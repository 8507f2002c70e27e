"""Tells a citation from an array element, an interval, an exponent and a quoted footnote. Pure."""

import re
import unicodedata
from bisect import bisect_right

_LONGEST_LOOK_BACK = 60
# A [1] after one of these is an array element, not a citation.
_ARRAYS = (
    r"arr|args|argv|idx|vec|arrays?|values?|vals|matrix|matrices|list|tuple|dict|vector|tensor|buffer"
    r"|queue|stack|items|elements|elems|nums|strings|params|tokens|rows|cols|columns"
)
_IDENTIFIER = re.compile(rf"(?:^|\W)(?:[a-z]|\w*_\w*|\w*[a-z][A-Z]\w*|{_ARRAYS})$")
# matrix[0], table[i]["name"]: what stands before a further index.
_INDEX = (
    r"""\[(?:0|-\d+|[a-z]\w{0,30}|[^\[\]\n`]{0,20}:[^\[\]\n`]{0,20}"""
    r"""|"[^"\n]{0,30}"|'[^'\n]{0,30}')\]"""
)
_INDEXED = re.compile(rf"\w(?:\[\d{{1,3}}\]){{0,3}}{_INDEX}(?:\[\d{{1,3}}\]){{0,3}}$")
_INDEX_NEXT = re.compile(rf"(?:\[\d{{1,3}}\]){{0,3}}{_INDEX}")
_ASSIGNED = re.compile(r"[ \t]*(?:[-+*/%]?=|[<>]|[+*/%][ \t]*\w)")
_INTERVAL = re.compile(
    r"(?i)(?:\b(?:intervals?|ranges?|interval[loe]?s?|intervalos?|intervalli|bereich|Интервал\w*"
    r"|отрез\w+)[ \t]+(?:(?:of|from|von|de|is|=)[ \t]+)?|区间|區間|範囲|[∈⊂=][ \t]*"
    r"|\b[a-z] in[ \t]+)$"
)
_TWO = re.compile(r"\s*\d+\s*[,;–-]\s*\d+\s*")
_CLOSERS = "*_\"'”’»)"
_CLOSED = re.compile(r"[.,;:!?…。，、！？：；)\]）”’»\"'*_؟،۔।%][ \t]?$")
# A number is raised after these, and so an exponent: units, functions.
_UNITS = frozenset(
    (
        *("sin", "cos", "tan", "cot", "sec", "csc", "log", "exp", "chi", "sigma", "min", "max"),
        *("mol", "var", "bar", "lux", "rad", "mil", "feet", "foot", "inch", "yard", "mile"),
        *("miles", "metre", "metres", "meter", "meters", "acre", "second", "seconds", "kilometre"),
        *("kilometer", "centimetre", "centimeter", "метр", "метра", "length", "width", "height"),
        "radius",
    )
)
_LONGEST_UNIT = 2
_OPERATOR_NEXT = re.compile(r"[ \t]*[=+×·/^*−÷<>≤≥≈]")
_OPERATOR_BEFORE = re.compile(r"[=+×·/^−÷√][ \t]*\w{1,30}$")
_QUOTED = re.compile(
    r'(?m)^[ \t]*>[^\n]*$|"[^"\n]{1,400}"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»'
)
# The first letter of the scripts in which no unit is written by one or two letters.
_LATER_SCRIPTS = "\u0530"


def is_element(text: str, start: int, end: int) -> bool:
    """True when the bracket at [start, end) is the index of an array: values[2], matrix[0][1]."""
    if start == 0 or not (text[start - 1].isalnum() or text[start - 1] in "_]"):
        return False
    before = text[max(0, start - _LONGEST_LOOK_BACK) : start]
    if text[start - 1] == "]":
        return bool(_INDEXED.search(before))
    return bool(
        _IDENTIFIER.search(before) or _INDEX_NEXT.match(text, end) or _ASSIGNED.match(text, end)
    )


def is_interval(text: str, start: int, written: str) -> bool:
    """True for two numbers after a word or sign for an interval, or a list that is assigned."""
    before = text[max(0, start - _LONGEST_LOOK_BACK) : start]
    return bool(_TWO.fullmatch(written) and _INTERVAL.search(before)) or before.rstrip().endswith(
        "="
    )


def is_exponent(text: str, start: int, end: int) -> bool:
    """True when a raised number is no note: m², 10^6, x^2, ²³⁵U."""
    before = text[max(0, start - _LONGEST_LOOK_BACK) : start]
    if _OPERATOR_NEXT.match(text, end) or _OPERATOR_BEFORE.search(before):
        return True
    word = _last_word(before)
    if not word:
        return not _CLOSED.search(before)
    if word[-1] >= _LATER_SCRIPTS:
        return word[-1] in "米里"
    return len(word) <= _LONGEST_UNIT or word.casefold() in _UNITS


def _last_word(text: str) -> str:
    """The word at the end, its combining vowels included; "" when there is none."""
    end = len(text.rstrip(" \t").rstrip(_CLOSERS))
    start = end
    while start and unicodedata.category(text[start - 1])[0] in "LM":
        start -= 1
    return text[start:end]


class QuotedParts:
    """The quotations of a text, whose footnotes are those of the document."""

    def __init__(self, text: str) -> None:
        self._spans = [match.span() for match in _QUOTED.finditer(text)]
        self._starts = [start for start, _ in self._spans]

    def has(self, place: int) -> bool:
        """True when the place is inside a quotation."""
        index = bisect_right(self._starts, place) - 1
        return index >= 0 and place < self._spans[index][1]
