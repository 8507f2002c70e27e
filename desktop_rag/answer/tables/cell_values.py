"""Infers the type of a column and converts its cells to SQL values. Pure.

A column has a type only when nearly all of its cells have it, in one notation. Other cells of the
table decide whether 1,234 is more than a thousand and 03/04 is in March; when none does, the cells
stay text. Cells of another type count as empty, and the result mentions them.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import cache
from itertools import islice, product
from typing import Any

from desktop_rag.core.language.languages import language_of
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.text import words
from desktop_rag.store.contract.engine import ColumnKind


@dataclass(frozen=True, slots=True)
class TableWords:
    """The lists of `resources/tables/words.toml`, which explains them, of all languages.

    `asks` are all words of questions for a query, `kinds` those of each list.
    """

    missing: frozenset[str]
    totals: frozenset[str]
    asks: frozenset[str]
    compares: frozenset[str]
    kinds: Mapping[str, frozenset[str]]
    numerals: Mapping[str, int]

    @property
    def superlatives(self) -> frozenset[str]:
        """Words that call a number the extreme."""
        return frozenset[str]().union(*(self.kinds[k] for k in (*_RANKS, *_TIMES)))


_TIMES = ("late", "early")
_RANKS = ("many", "high", "low")
_MAKES = (*_TIMES, *_RANKS, "sums", "much", "means", "per", "sorts", "months", "years")


@cache
def table_words() -> TableWords:
    """The words, read once."""
    read = _toml("tables")
    missing = frozenset(read.pop("missing").split())

    def all_of(kind: str) -> frozenset[str]:
        said = (word for table in read.values() for word in table.get(kind, "").split())
        return frozenset(word.replace("_", " ") for word in said)

    kinds = {kind: all_of(kind) for kind in (*_MAKES, "from", "who", "when", "idle")}
    numerals = (line.split() for line in _toml("claims")["numerals"].strip().splitlines())
    return TableWords(
        missing,
        frozenset(total for table in read.values() for total in table["totals"]),
        all_of("asks").union(*(kinds[kind] for kind in _MAKES)),
        all_of("compares"),
        kinds,
        {word: int(line[0]) for line in numerals for word in line[1:]},
    )


def _toml(room: str) -> dict[str, Any]:
    return tomllib.loads((resources_dir() / room / "words.toml").read_text(encoding="utf-8"))


def asks_how_much(question: str) -> bool:
    """True for a question for an amount."""
    return _has_any(table_words().kinds["much"], words(question))


def asks_when(question: str) -> bool:
    """True for a question for a time."""
    return _has_any(table_words().kinds["when"], words(question))


def may_want_a_query(question: str) -> bool:
    """True when a query may answer better than passages, or the language is unknown."""
    written = words(question)
    return _has_any(table_words().asks, written) or not language_of(written)


def _has_any(phrases: Iterable[str], written: Sequence[str]) -> bool:
    plain = f" {' '.join(word.casefold() for word in written)} "
    return any(f" {phrase} " in plain for phrase in phrases)


# The share of cells that may be of another type: a remark, a mark for an unknown value.
_MOST_ODD_SHARE = 0.05
_FEW_CELLS = 20
_SHOWN_ODD = 3
# The number of distinct cells that decide the notation of a column.
_SAMPLE = 500
_MONTHS = 12
_CODES = (
    "USD|EUR|GBP|CHF|JPY|CNY|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|BGN|RUB|UAH|TRY|INR|BRL|MXN|ZAR"
    "|SGD|HKD|KRW|ILS|AED|SAR|THB|IDR|MYR|PHP|VND|ARS|CLP|COP|EGP|NGN|KES"
)
_CURRENCY = rf"[$€£¥₹₽₩₪₺₴]|(?:US|A|AU|C|CA|NZ|HK|S|R)\$|{_CODES}|kr\.?|zł|Kč|Ft|Fr\."
_NUMBER = re.compile(
    r"(?P<open>\()?(?P<sign>[-+−])?\s?(?P<before>" + _CURRENCY + r")?\s?(?P<sign_after>[-+−])?"
    r"(?P<digits>(?:\d[\d.,'’\u00a0\u202f ]*)?\d|[.,]\d+)\s?(?P<exponent>[eE][-+]?\d{1,3})?"
    r"(?P<after>%|" + _CURRENCY + r"|[^\W\d_]{1,5}[²³]?)?(?P<close>\))?"
)
_PADDED = re.compile(r"0\d")
_GROUPED = re.compile(r"\d{1,3}(?P<mark>[.,'’\u00a0\u202f ])\d{3}(?:(?P=mark)\d{3})*")
# How the result of a query begins, in a source: all of its rows are there.
RESULT = "Result of a query"
_TRUE = frozenset({"true", "yes", "ja", "oui", "sí", "si", "sì", "sim", "tak", "да"})
_FALSE = frozenset({"false", "no", "nein", "non", "nee", "não", "nie", "нет"})
_WHOLE = re.compile(r"[-+−]?\d{1,18}")
_PLAIN = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?")
_ISO_DATE = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})")
_DATE = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})")
_TIME = re.compile(r"([01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?", re.ASCII)

_WITH_EXACT = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d)?|\d\d:\d\d:\d\d) \([^()]+\)"
    r"|(?P<shown>.+) \((?P<exact>-?\d+(?:\.\d+)?(?:e[+-]\d+)?)%?\)"
)
# A format may leave out thousands, up to trillions.
_SCALES = tuple(1000**power for power in range(5))

Convert = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Notation:
    """The notation of numbers and dates in a table: the decimal mark, "" when unknown, and the
    order of day and month, None when unknown.
    """

    decimal_mark: str = ""
    is_day_first: bool | None = None


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """Cells as values of one type; `odd` ones, of another type, count as empty.

    `form` writes a number with the unit as the cells have it: "{} kg", "${}".
    """

    kind: ColumnKind
    values: tuple[str | None, ...]
    unit: str = ""
    odd: tuple[str, ...] = ()
    odd_count: int = 0
    form: str = "{}"


def is_currency(unit: str) -> bool:
    """True for the sign or code of a currency."""
    return re.fullmatch(_CURRENCY, unit) is not None


def currency_in(name: str) -> str:
    """The sign or code of a currency that a column is named with; "" without one."""
    found = re.search(rf"[$€£¥₹₽₩₪₺₴]|\b(?:{_CODES})\b", name)
    return found[0] if found else ""


def notation_of(columns: Iterable[Sequence[str]]) -> Notation:
    """The notation that the columns of a table agree on."""
    marks: set[str] = set()
    orders: set[bool] = set()
    for cells in columns:
        distinct = set(islice(filter(None, cells), _SAMPLE))
        marks |= {mark for cell in distinct if (mark := _certain_mark(cell))}
        is_day_first = _is_day_first(distinct)
        orders |= set() if is_day_first is None else {is_day_first}
    return Notation(
        marks.pop() if len(marks) == 1 else "", orders.pop() if len(orders) == 1 else None
    )


def column_values(cells: Sequence[str], notation: Notation) -> ColumnValues:
    """The cells of a column, converted to the most specific type that fits."""
    cells = [exact_cell(cell, notation.decimal_mark or ".") for cell in cells]
    missing = table_words().missing
    counted = Counter(cell for cell in cells if cell and cell.casefold() not in missing)
    total = counted.total()
    most_odd = _MOST_ODD_SHARE * total if total >= _FEW_CELLS else 0
    sample = tuple(islice(counted, _SAMPLE))
    found: ColumnValues | None = None
    for kind, convert, unit in _conversions(sample, notation) if counted else ():
        if sum(convert(cell) is None for cell in sample) * 2 > len(sample):
            continue
        values = {cell: convert(cell) for cell in counted}
        odd = [cell for cell, value in values.items() if value is None]
        count = sum(counted[cell] for cell in odd)
        if count <= most_odd and (found is None or count < found.odd_count):
            made = tuple(values.get(cell) for cell in cells)
            form = _form_of(counted, unit)
            found = ColumnValues(kind, made, unit, tuple(odd[:_SHOWN_ODD]), count, form)
            if not odd:
                break
    if found:
        return found
    return ColumnValues("VARCHAR", tuple(cell or None for cell in cells))


def exact_cell(cell: str, mark: str = ".") -> str:
    """The value of a cell that is written with what its sheet shows: 12% (12.345%), 10 € (10.4)."""
    written = _WITH_EXACT.fullmatch(cell)
    if not written or written["day"]:
        return written["day"] if written else cell
    number, exact = _NUMBER.fullmatch(written["shown"]), written["exact"]
    # Only what rounds to the number beside it is the exact one.
    for scale, decimal in product(_SCALES if number else (), ".,"):
        assert number
        read = _as_number(number.string, decimal)
        places = len(number["digits"].partition(decimal)[2])
        if read and abs(float(exact) / scale - float(read)) <= 0.5001 * 10.0**-places:
            start, end = number.span("digits")
            shown = f"{number.string[:start]}{exact.lstrip('-')}{number.string[end:]}"
            return (shown if scale == 1 else exact).replace(".", mark)
    return cell


def _conversions(
    distinct: Sequence[str], notation: Notation
) -> Iterator[tuple[ColumnKind, Convert, str]]:
    """The possible types of a column, the most specific first."""
    yield "BOOLEAN", _as_truth, ""
    if not any(_is_code(cell) for cell in distinct):
        yield "BIGINT", _as_whole, ""
        yield from _number_conversions(distinct, notation)
    told = _is_day_first(distinct)
    day_first = notation.is_day_first if told is None else told
    yield "DATE", lambda cell: _as_date(cell, day_first), ""
    yield "TIMESTAMP", lambda cell: _as_moment(cell, day_first), ""
    yield "TIME", _as_time, ""


def truth_of(cell: str) -> bool | None:
    """What a cell of yes or no says, in several languages; None for any other."""
    plain = cell.casefold()
    return plain in _TRUE if plain in _TRUE | _FALSE else None


def _as_truth(cell: str) -> str | None:
    truth = truth_of(cell)
    return None if truth is None else str(truth).lower()


# --- numbers --------------------------------------------------------------------------------------


def _is_code(cell: str) -> bool:
    """True for digits that are no number: 00123, +49 30 1234."""
    return _PADDED.match(cell) is not None or (cell[0] == "+" and " " in cell)


def _as_whole(cell: str) -> str | None:
    is_whole = _WHOLE.fullmatch(cell) is not None and not _PADDED.match(cell)
    return str(int(cell.replace("−", "-"))) if is_whole else None


def _number_conversions(
    distinct: Sequence[str], notation: Notation
) -> Iterator[tuple[ColumnKind, Convert, str]]:
    found = [match for match in map(_NUMBER.fullmatch, distinct) if match]
    units = {match["before"] or match["after"] or "" for match in found}
    # Amounts in several currencies cannot be added; some may lack a currency.
    is_money = all(map(is_currency, units - {""}))
    if not found or len(units - {""}) > 1 or (len(units) > 1 and not is_money):
        return
    told = {mark for cell in distinct if (mark := _certain_mark(cell))}
    marks = told or {notation.decimal_mark} - {""}
    if not marks and not any("," in match["digits"] for match in found):
        marks = {"."}
    if len(marks) == 1:
        [mark] = marks
        yield "DOUBLE", lambda cell: _as_number(cell, mark), max(units)


def _form_of(cells: Iterable[str], unit: str) -> str:
    """How the first cell with the unit is written, without its number."""
    for match in filter(None, map(_NUMBER.fullmatch, cells)) if unit else ():
        if unit in (match["before"], match["after"]):
            before = match.string[: match.start("digits")].strip("(+-−")
            after = match.string[match.end("digits") :].removeprefix(match["exponent"] or "")
            return f"{before}{{}}{after.rstrip(')')}"
    return "{}"


def _certain_mark(cell: str) -> str:
    """The decimal mark, when a number can be read in one way only; else ""."""
    found = _NUMBER.fullmatch(cell)
    if not found or not any(mark in found["digits"] for mark in ".,"):
        return ""
    fitting = [mark for mark in ".," if _fits(found["digits"], mark)]
    return fitting[0] if len(fitting) == 1 else ""


def _fits(digits: str, mark: str) -> bool:
    """True when the digits form a number with this decimal mark."""
    whole, _, decimals = digits.partition(mark)
    is_whole = whole.isdecimal() or not whole or _GROUPED.fullmatch(whole) is not None
    return is_whole and (not decimals or decimals.isdecimal())


def _as_number(cell: str, mark: str) -> str | None:
    if not cell.isascii():
        # SQL reads ASCII digits only.
        cell = re.sub(r"\d", lambda digit: str(int(digit[0])), cell)
    if mark == "." and _PLAIN.fullmatch(cell):
        return cell
    found = _NUMBER.fullmatch(cell)
    if not found or bool(found["open"]) != bool(found["close"]) or not _fits(found["digits"], mark):
        return None
    if (found["before"] and found["after"]) or _PADDED.match(found["digits"]):
        return None
    whole, _, decimals = found["digits"].partition(mark)
    digits = re.sub(r"\D", "", whole) or "0"
    is_negative = bool(found["open"]) or (found["sign"] or found["sign_after"] or "+") in "-−"
    written = f"{'-' if is_negative else ''}{digits}.{decimals or '0'}{found['exponent'] or ''}"
    return written if _PLAIN.fullmatch(written) else None


# --- dates and times ------------------------------------------------------------------------------


def _is_day_first(distinct: Iterable[str]) -> bool | None:
    """True when 03/04/2026 is in April; None when no cell decides, or cells disagree."""
    found = [match for cell in distinct if (match := _DATE.match(cell))]
    if any(match[2] == "." for match in found):
        return True
    first = any(int(match[1]) > _MONTHS for match in found)
    second = any(int(match[3]) > _MONTHS for match in found)
    return None if first == second else first


def _as_date(cell: str, day_first: bool | None) -> str | None:
    if found := _ISO_DATE.fullmatch(cell):
        year, month, day = found[1], found[3], found[4]
    elif (found := _DATE.fullmatch(cell)) and day_first is not None:
        year = found[4]
        day, month = (found[1], found[3]) if day_first else (found[3], found[1])
    else:
        return None
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None


def _as_moment(cell: str, day_first: bool | None) -> str | None:
    day, _, hour = cell.replace("T", " ").removesuffix("Z").partition(" ")
    made = _as_date(day, day_first)
    clock = _as_time(hour) if hour else "00:00:00"
    if made is None or clock is None:
        return None
    return datetime.fromisoformat(f"{made} {clock}").isoformat(" ")


def _as_time(cell: str) -> str | None:
    if not _TIME.fullmatch(cell):
        return None
    hours, rest = cell.split(":", 1)
    whole, _, part = rest.partition(".")
    seconds = whole if ":" in whole else f"{whole}:00"
    micros = int(part.ljust(6, "0")) if part else 0
    minute, second = map(int, seconds.split(":"))
    return time(int(hours), minute, second, micros).isoformat()
