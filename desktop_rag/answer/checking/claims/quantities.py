"""Figures in claims and sources: their values, units and dates, in any language. Pure.

A figure may be written with either decimal mark, with a word for thousands or millions, and more
roughly than its source has it. Where the mark leaves two readings, each counts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

import regex

from desktop_rag.answer.checking.claims.words import (
    first_of,
    is_month,
    month_names,
    numerals,
    scales,
    sizes,
    unit_named,
    without_notes,
)
from desktop_rag.core.language.languages import language_of
from desktop_rag.core.text import words

_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]"
_GROUP = r"[.,'’ \u00a0\u202f]"
_FIGURE = regex.compile(
    rf"(?V1)(?<![[\p{{L}}\p{{Nd}}_]--{_UNSPACED}]|\p{{Nd}}[.,/:]|[12]\p{{Nd}}{{3}}[-–])(?P<sign>(?<![^\s(])[-−])?"
    rf"(?:[$€£¥]\s?)?(?P<number>\p{{Nd}}{{1,3}}(?:{_GROUP}\p{{Nd}}{{3}})+(?:[.,]\p{{Nd}}+)?(?![\p{{Nd}}])"
    r"|\p{Nd}+(?:[.,]\p{Nd}+)?)(?![\p{Nd}]|[:/]\p{Nd}|\.\p{Nd}|(?:st|nd|rd|th|s)\b)"
)
# In some languages percent is two words.
_WORD = regex.compile(
    r"[\s\u00a0-]{0,2}((?:per|pour|por)\sci?ento?\b|\p{L}+\.?|[%‰°€$£¥]\p{L}?)", regex.IGNORECASE
)
_DAY = regex.compile(
    r"(?<!\p{Nd})(?:(?P<d>\p{Nd}{1,2})\.(?P<m>\p{Nd}{1,2})\.(?P<y>\p{Nd}{4})?|"
    r"(?P<y>\p{Nd}{4})-(?P<m>\p{Nd}\p{Nd})-(?P<d>\p{Nd}\p{Nd}))(?![\p{Nd}])"
)
_NAMED_DAY = regex.compile(
    r"(?<!\p{Nd})(?:(?P<d>\p{Nd}{1,2})(?:st|nd|rd|th|\.|er|º|ª)?\s+(?:of\s+|de\s+)?(?P<month>\p{L}+)\.?"
    r"|(?P<month>\p{L}+)\.?\s+(?P<d>\p{Nd}{1,2})(?:st|nd|rd|th)?(?![\p{L}\p{Nd}.%]))"
    r"(?:,?\s+(?:de\s+)?(?P<y>\p{Nd}{4}))?(?!\p{Nd})"
)
_NUMERAL = regex.compile(r"(?<![\p{L}\p{Nd}-])\p{L}{2,12}(?![\p{L}\p{Nd}-])")
# These are other words in other languages: "due in May", "once", "sei es".
_NUMERALS_OF = {"due": "it", "sei": "it", "once": "es"}
_MARKS = regex.compile(_GROUP)
_TIME = regex.compile(r"(?<!\p{Nd})\p{Nd}{1,2}:\p{Nd}\p{Nd}(?!\p{Nd})")
_YEAR = regex.compile(r"1[5-9]\d\d|20\d\d")
_SIGNS = "$€£¥"
_PERCENT = "%"
_MONTHS, _DAYS = 12, 31
_HUNDRED = Decimal(100)
_FACTORS = tuple(Decimal(10) ** power for power in (3, 6, 9))
# Small numbers are everywhere, so that their units count: two weeks are not two months.
_LARGEST_COUNT = 12
# A rough figure has at least so many figures that count, or stands in a larger unit.
_LEAST_FIGURES = 2

Date = tuple[int, str, int]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A figure at [start, end): its possible values, the places of their last digits, its unit.

    `plain` are the values without the word for thousands or millions. A `date` is day, month and
    year, 0 and "" where they are not said.
    """

    start: int
    end: int
    values: tuple[Decimal, ...]
    plain: tuple[Decimal, ...]
    steps: tuple[Decimal, ...]
    unit: str = ""
    date: Date | None = None

    @property
    def is_percent(self) -> bool:
        """True for a share of a hundred."""
        return self.unit == _PERCENT

    @property
    def factor(self) -> Decimal:
        """What its word for thousands or millions stands for, 1 without one."""
        return self.values[0] / self.plain[0] if self.plain[0] else Decimal(1)

    @property
    def is_year(self) -> bool:
        """True for a number that may be a year, without a unit."""
        is_bare = not self.unit and self.steps == (1,)
        return is_bare and bool(_YEAR.fullmatch(str(self.values[0])))

    def is_like(self, other: "Quantity") -> bool:
        """True when both are of one kind: dates, years, or figures with the same unit."""
        is_alike = self.unit == other.unit and self.is_year == other.is_year
        return is_alike and (self.date is None) == (other.date is None)

    def equals(self, other: "Quantity") -> bool:
        """True when both may have the same value or day."""
        if self.date or other.date:
            return bool(self.date and other.date and _is_same_day(self.date, other.date))
        return bool({*self.values, *self.plain} & {*other.values, *other.plain})

    def is_share(self, other: "Quantity") -> bool:
        """True when one is a part of one, such as 0.35, and the other the same part in percent."""
        part, share = (other, self) if self.is_percent else (self, other)
        is_part = share.is_percent and not part.unit and abs(share.values[0]) < _HUNDRED
        return is_part and share.values[0] / _HUNDRED in part.values

    def is_converted(self, other: "Quantity") -> bool:
        """True when the other is the same in another unit of measure, such as 1.5 t of 1,500 kg."""
        own, its = sizes().get(self.unit), sizes().get(other.unit)
        if not own or not its or own[0] != its[0] or self.unit == other.unit:
            return False
        return self.values[0] * own[1] == other.values[0] * its[1] != 0

    def is_written_for(self, exact: Decimal) -> bool:
        """True when this is how a value is written with so many digits."""
        pairs = zip(self.values, self.steps, strict=True)
        return any(abs(exact - value) * 2 <= step for value, step in pairs)


def quantities(text: str) -> list[Quantity]:
    """The figures and dates of a text in order; no clock times, and no numbers inside words."""
    text = without_notes(text)
    found = list(_dates(text))
    taken = [(one.start, one.end) for one in found]
    taken += [match.span() for match in _TIME.finditer(text)]
    for match in _FIGURE.finditer(text):
        start, end = match.span()
        if not any(start < last and first < end for first, last in taken):
            found.append(_quantity(text, match))
    found += _in_words(text)
    return sorted(found, key=lambda one: one.start)


def _in_words(text: str) -> Iterator[Quantity]:
    """The numbers that are written as words: two months, zwei Monate."""
    known = numerals()
    for match in _NUMERAL.finditer(text):
        said = match[0].casefold()
        if said in _NUMERALS_OF and language_of(words(text)) != _NUMERALS_OF[said]:
            continue
        value = known.get(said)
        # A word before a scale, such as two million, is a figure of its own kind.
        word = _WORD.match(text, match.end())
        name = _named(word[1]) if word else ""
        if value and name not in scales():
            yield Quantity(*match.span(), (value,), (value,), (Decimal(1),), unit_named(name))


def _quantity(text: str, match: regex.Match[str]) -> Quantity:
    written = match["number"]
    sign = -1 if match["sign"] else 1
    readings = [(sign * value, step) for value, step in _readings(written)]
    end, factor = match.end(), Decimal(1)
    word = _WORD.match(text, end)
    if word and (scale := scales().get(_named(word[1]))):
        factor, end = scale, word.end(1)
        word = _WORD.match(text, end)
    before = text[match.start() : match.start("number")].strip(" -−\u00a0")
    unit = unit_named(before)
    if not unit and word:
        name = _named(word[1])
        unit = unit_named(name)
        end = word.end(1) if unit and name[0] in "%‰°€$£¥" else end
    values = tuple(value * factor for value, _ in readings)
    steps = tuple(step * factor for _, step in readings)
    return Quantity(match.start(), end, values, tuple(v for v, _ in readings), steps, unit)


def _named(word: str) -> str:
    return "".join(word.rstrip(".").casefold().split())


def _readings(written: str) -> Iterator[tuple[Decimal, Decimal]]:
    """The values of a figure with the place of the last digit, the likeliest first."""
    marks = _MARKS.findall(written)
    digits = _MARKS.sub("", written)
    if not marks:
        yield Decimal(digits), Decimal(1)
        return
    decimals = len(written) - max(map(written.rfind, marks)) - 1
    is_grouped = len(set(marks)) == 1 and decimals == len("000")
    if is_grouped:
        yield Decimal(digits), Decimal(1)
    is_decimal = marks[-1] in ".," and marks.count(marks[-1]) == 1
    if is_decimal and not (is_grouped and len(marks) > 1):
        yield Decimal(digits).scaleb(-decimals), Decimal(1).scaleb(-decimals)
    elif not is_grouped:
        yield Decimal(digits), Decimal(1)


def _dates(text: str) -> Iterator[Quantity]:
    taken: list[tuple[int, int]] = []
    for match in _DAY.finditer(text):
        day, month = int(match["d"]), int(match["m"])
        if 1 <= month <= _MONTHS and 1 <= day <= _DAYS and (match["y"] or match[0].endswith(".")):
            taken.append(match.span())
            yield _date(match, day, str(month), match["y"])
    for match in _NAMED_DAY.finditer(text, overlapped=True):
        month = match["month"]
        is_free = not any(a < match.end() and match.start() < b for a, b in taken)
        is_named = is_month(month) or (match["y"] and month.casefold() in first_of("months"))
        if is_free and is_named and 1 <= int(match["d"]) <= _DAYS:
            taken.append(match.span())
            number = month_names().index(first_of("months")[month.casefold()]) + 1
            yield _date(match, int(match["d"]), str(number), match["y"])


def _date(match: regex.Match[str], day: int, month: str, year: str | None) -> Quantity:
    value = Decimal(day)
    date = day, month, int(year or 0)
    return Quantity(*match.span(), (value,), (value,), (Decimal(1),), date=date)


_SCALE = regex.compile(
    r"\bin\s+(?:[€$£]\s?)?(?:(thousand|million|billion)s"
    r"(?=\s*(?:[),;:|\n]|$|except|of\s+(?:U\.?\s?S\.?\s+)?(?:euro|dollar|pound|yen|crown|franc|EUR|USD)"
    r"|EUR|USD|GBP|[€$£]))|(Tausend|Tsd|Millionen|Mio|Milliarden|Mrd)\b)",
    regex.IGNORECASE,
)


def scale_of(text: str) -> Decimal | None:
    """What the figures of a text stand for, such as 1,000,000; None when it doesn't say."""
    found = _SCALE.search(text)
    return scales()[(found[1] or found[2]).casefold()] if found else None


class KnownQuantities:
    """The figures of a source, to look up those of a claim."""

    def __init__(self, text: str, stems: frozenset[str]) -> None:
        """`stems` are those of all words of the source, with the digits of number words."""
        self._text, self._stems = text, stems

    @cached_property
    def all(self) -> Sequence[Quantity]:
        """The figures in order."""
        return quantities(self._text)

    @cached_property
    def _values(self) -> frozenset[Decimal]:
        own = {
            abs(value) for one in self.all if not one.date for value in (*one.values, *one.plain)
        }
        scale = scale_of(self._text)
        return frozenset(own | {value * scale for value in own} if scale else own)

    @cached_property
    def _dates(self) -> list[Date]:
        return [one.date for one in self.all if one.date]

    def has(self, said: Quantity) -> bool:
        """True when the source has this figure or date, as precisely or more so."""
        if said.date:
            return any(_is_same_day(said.date, date) for date in self._dates)
        values = {abs(value) for value in (*said.values, *said.plain)}
        if said.unit and max(values) <= _LARGEST_COUNT:
            return any(
                said.is_converted(one) or (one.equals(said) and one.unit in ("", said.unit))
                for one in self.all
            )
        if any(said.is_share(one) or said.is_converted(one) for one in self.all):
            return True
        if values & self._values or any(f"{value:f}" in self._stems for value in said.plain):
            return True
        if said.is_year:
            return any(value == date[2] for date in self._dates for value in said.values)
        figures = (said.values[0] / said.steps[0]).normalize().as_tuple().digits
        return len(figures) >= _LEAST_FIGURES and any(map(said.is_written_for, self.exact(said)))

    def exact(self, said: Quantity) -> Iterator[Decimal]:
        """The values of the source that a rougher figure may stand for, in its sign."""
        sign = -1 if said.values[0] < 0 else 1
        for value in self._values:
            yield sign * value
            yield from (sign * value * factor for factor in _FACTORS if value >= 1)


def _is_same_day(said: Date, known: Date) -> bool:
    return said[:2] == known[:2] and (not said[2] or not known[2] or said[2] == known[2])
