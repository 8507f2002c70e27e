"""Parses numbers written in words, wholly or in part: five thousand, 2.5 million. Pure."""

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from desktop_rag.core.language.number_words import SMALL, TENS

_SCALES = {
    "hundred": Decimal(100),
    "thousand": Decimal(10**3),
    "million": Decimal(10**6),
    "billion": Decimal(10**9),
    "trillion": Decimal(10**12),
}
_VALUES = {
    **{word: Decimal(value) for value, word in enumerate(SMALL.split())},
    **{word: Decimal(10 * tens) for tens, word in enumerate(TENS.split(), 2)},
}
_HUNDRED = _SCALES["hundred"]
_TEN, _TWENTY = Decimal(10), Decimal(20)


def whole_number(words: Sequence[str]) -> tuple[int, str]:
    """The number of leading words that form one number, and its digits; (0, "") for none.

    `words` are in lower case, or digits without thousands separators. An "and" joins parts of a
    number from a hundred on.
    """
    total, current = Decimal(0), Decimal(0)
    used, value = 0, ""
    for place, word in enumerate(words):
        if word == "and" and place and words[place - 1] in _SCALES:
            continue
        scale, part = _SCALES.get(word), _part(word)
        if scale is not None and place:
            if scale == _HUNDRED:
                current *= scale
            else:
                total, current = total + current * scale, Decimal(0)
        elif part is not None and _goes_on(current, part, is_first=not place):
            current += part
        else:
            break
        used, value = place + 1, f"{(total + current).normalize():f}"
    return used, value


def is_rounded(number: str, other: str) -> bool:
    """True when a number is another one rounded: 5000 for 4860, 47 for 46.5."""
    try:
        rough, exact = Decimal(number), Decimal(other)
    except InvalidOperation:
        return False
    if rough == exact or not rough:
        return False
    step = Decimal((0, (1,), int(rough.normalize().as_tuple().exponent)))
    return abs(rough - exact) * 2 <= step


def _part(word: str) -> Decimal | None:
    if word in _VALUES:
        return _VALUES[word]
    return Decimal(word) if word.replace(".", "", 1).isdecimal() and word.isascii() else None


def _goes_on(current: Decimal, part: Decimal, *, is_first: bool) -> bool:
    """True when a part continues a number: five after twenty, sixty after eight hundred."""
    if is_first:
        return True
    if part >= _HUNDRED or part != part.to_integral_value():
        return False
    below = current % _HUNDRED
    return below == 0 or (below >= _TWENTY and below % _TEN == 0 and part < _TEN)
