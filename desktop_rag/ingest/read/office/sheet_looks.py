"""What a sheet shows beside its values: number formats, hidden rows and columns, empty formulas.

The reader of cells gives values only: .125 where the sheet shows 12.5%, 7 where it shows ORD-0007,
and dates in ISO form. Works on the bytes of XLSX sheets, with no tree of them in memory, and on the
XML of ODS workbooks. Runs in the parser process.
"""

import datetime
import locale
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal, localcontext
from functools import cache, partial

from desktop_rag.core.places import column_letters, column_number
from desktop_rag.ingest.read.foundation.looks import PLAIN, Look, in_looks
from desktop_rag.ingest.read.foundation.ooxml import (
    Element,
    OfficePackage,
    attribute,
    child,
    children,
    descendants,
    look_of_run,
    open_document_looks,
    whole_number,
)

# Formats that are known by their number. Those with a currency depend on the system.
BUILT_IN_FORMATS = {
    "9": "0%", "10": "0.00%", "15": "d-mmm-yy", "16": "d-mmm", "17": "mmm-yy",
    "18": "h:mm AM/PM", "19": "h:mm:ss AM/PM",
}  # fmt: skip
_MAX_LINKS = 10_000
_MAX_TEXTS_BYTES = 30_000_000
_LOOKS = re.compile(rb"<(?:\w+:)?(?:strike|vertAlign)\b")
_MAX_COLUMNS = 16_384
_MAX_ROWS = 1_048_576
_TAG = re.compile(rb"<(?:\w+:)?(row|c)\b([^>]{0,2000})>")
_CELL = re.compile(rb'\br="([A-Z]{1,3})\d*"')
_ROW = re.compile(rb'\br="(\d{1,7})"')
_STYLE = re.compile(rb'\bs="(\d{1,5})"')
_HIDDEN = re.compile(rb'\bhidden="(?:1|true)"')
_OUTLINE = re.compile(rb'\boutlineLevel="[1-9]')
_COLUMN = re.compile(rb"<(?:\w+:)?col\b([^>]{0,2000})>")
_SPAN = re.compile(rb'\b(min|max)="(\d{1,5})"')
_FILTERED = re.compile(rb"<(?:\w+:)?filterColumn\b")
_UNSTORED = re.compile(rb"(?:<f\b[^>]{0,2000}/>|</f>)(?:<v\s*/>|<v></v>)?</c>")

Value = float | datetime.date | datetime.time
Show = Callable[[Value], str]


@dataclass(frozen=True, slots=True)
class RowLooks:
    """A row from 0, by column from 0 how it shows a number or a date, "" where there is nothing to
    it, and the columns whose cells are crossed out.
    """

    row: int
    is_hidden: bool = False
    shows: Mapping[int, Show] = field(default_factory=dict[int, Show])
    crossed_out: Set[int] = frozenset()


@dataclass(slots=True)
class SheetLooks:
    """The looks of one sheet; `rows` from top to bottom, those with something to say only.

    `addresses` are what cells link to, by the name of the cell; `texts` are those with letters of
    another look, as they are shown.
    """

    rows: Iterator[RowLooks] = field(default_factory=lambda: iter(()))
    hidden_columns: frozenset[int] = frozenset()
    unstored: int = 0
    addresses: Mapping[str, str] = field(default_factory=dict[str, str])
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    _next: RowLooks | None = None

    def of_row(self, row: int) -> RowLooks:
        """The looks of a row; rows are asked for from top to bottom."""
        while self._next is None or self._next.row < row:
            self._next = next(self.rows, RowLooks(_MAX_ROWS))
        return self._next if self._next.row == row else RowLooks(row)


@dataclass(frozen=True, slots=True)
class WorkbookLooks:
    """What the sheets of a workbook share: by the number of a cell's style the number formats that
    show more than digits, the styles whose letters are crossed out, and texts as in `SheetLooks`.
    """

    formats: Mapping[int, str]
    crossed_out: Set[int]
    texts: Mapping[str, str]


def workbook_looks(package: OfficePackage, main: str) -> WorkbookLooks:
    """The looks of an XLSX workbook."""
    styles = package.root(next(package.related(main, "/styles"), ""))
    codes = dict(BUILT_IN_FORMATS)
    for item in children(child(styles, "numFmts")):
        codes[attribute(item, "numFmtId")] = attribute(item, "formatCode")
    used = list(children(child(styles, "cellXfs")))
    fonts = map(look_of_run, children(child(styles, "fonts")))
    crossed_out = {str(n) for n, look in enumerate(fonts) if look.is_crossed_out}
    return WorkbookLooks(
        telling_formats(codes.get(attribute(xf, "numFmtId"), "") for xf in used),
        {n for n, xf in enumerate(used) if attribute(xf, "fontId") in crossed_out},
        _texts_in_looks(package, next(package.related(main, "/sharedStrings"), "")),
    )


def _texts_in_looks(package: OfficePackage, part: str) -> dict[str, str]:
    content = package.content(part) or b""
    if len(content) > _MAX_TEXTS_BYTES or not _LOOKS.search(content):
        return {}
    found: dict[str, str] = {}
    for item in descendants(package.root(part), "si"):
        runs = [
            (getattr(child(run, "t"), "text", None) or "", look_of_run(child(run, "rPr")))
            for run in children(item, "r")
        ]
        if any(look != PLAIN for _, look in runs):
            found["".join(text for text, _ in runs)] = in_looks(runs)
    return found


def telling_formats(codes: Iterable[str]) -> dict[int, str]:
    """Those of the formats that show more than digits, by their place."""
    return {n: code for n, code in enumerate(codes) if _sections(code) or _date_parts(code)[1]}


def show_of(code: str) -> Show:
    """How a format shows a number or a date."""
    return partial(_shown, code=code)


def xlsx_looks(content: bytes, workbook: WorkbookLooks) -> SheetLooks:
    """The looks of a sheet. Rows that a filter or a closed group hides are shown by a press."""
    columns = frozenset(
        column
        for found in _COLUMN.finditer(content)
        if _HIDDEN.search(found[1]) and not _OUTLINE.search(found[1])
        for column in _span(found[1])
    )
    heeds_hidden = not _FILTERED.search(content)
    is_needed = workbook.formats or workbook.crossed_out or (heeds_hidden and b"hidden=" in content)
    rows = _rows(content, workbook, heeds_hidden) if is_needed else iter(())
    unstored = sum(1 for _ in _UNSTORED.finditer(content))
    return SheetLooks(rows, columns, unstored, texts=workbook.texts)


def _span(attributes: bytes) -> range:
    ends = {found[1]: int(found[2]) for found in _SPAN.finditer(attributes)}
    first, last = ends.get(b"min", 0), min(ends.get(b"max", 0), _MAX_COLUMNS)
    # To the right end of the sheet: the empty part is hidden.
    return range(first - 1, last) if 0 < first <= last < _MAX_COLUMNS else range(0)


def _rows(content: bytes, workbook: WorkbookLooks, heeds_hidden: bool) -> Iterator[RowLooks]:
    row, column, is_hidden = -1, -1, False
    shows: dict[int, Show] = {}
    crossed_out: set[int] = set()
    for tag in _TAG.finditer(content):
        if tag[1] == b"c":
            place = _CELL.search(tag[2])
            column = column_number(place[1].decode()) if place else column + 1
            style = _STYLE.search(tag[2])
            if style and (code := workbook.formats.get(int(style[1]))):
                shows[column] = show_of(code)
            if style and int(style[1]) in workbook.crossed_out:
                crossed_out.add(column)
            continue
        if shows or is_hidden or crossed_out:
            yield RowLooks(row, is_hidden, shows, crossed_out)
        found = _ROW.search(tag[2])
        row, column, shows = int(found[1]) - 1 if found else row + 1, -1, {}
        crossed_out = set()
        is_closed = _OUTLINE.search(tag[2]) is not None
        is_hidden = heeds_hidden and not is_closed and _HIDDEN.search(tag[2]) is not None
    if shows or is_hidden or crossed_out:
        yield RowLooks(row, is_hidden, shows, crossed_out)


# --- number formats -------------------------------------------------------------------------------

_PART = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|[_*].|\[(?P<bracket>[^\]]*)\]|(?P<general>General)'
    r"|(?P<digits>[0#?][0#?.,]*|\.[0#?]+)|(?P<sign>%)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
# Letters of dates, exponents and fractions, and the place of a text: their values are shown raw.
_NOT_PLAIN = frozenset("ymdhseEYMDHSbB/@")
_LIMIT = re.compile(r"(<=|>=|<>|[<>=])(-?\d+(?:\.\d+)?)")
_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq,
    "<>": operator.ne,
}  # fmt: skip
_SIGNS = "()-–−+ "
_DIGITS = 15


@dataclass(frozen=True, slots=True)
class _Section:
    """Literals, and runs of digit places as (True, places), for numbers of which (sign of a
    comparison, limit) is true, if it has one.
    """

    parts: tuple[tuple[bool, str], ...]
    limit: tuple[str, float] | None

    @property
    def runs(self) -> list[str]:
        """The runs of digit places."""
        return [text for is_digits, text in self.parts if is_digits]

    @property
    def is_percent(self) -> bool:
        """True when a hundred times the number is shown."""
        return any(text == "%" for _, text in self.parts)


@cache
def _sections(code: str) -> tuple[_Section, ...]:
    """The parts for positive numbers, negative ones and zero, or those that meet a condition; none
    of a format with nothing but digits.
    """
    found: list[_Section] = []
    for section in re.findall(r'(?:"[^"]*"|\\.|[^;])+', code)[:3]:
        made = _section(section)
        if made is None:
            break
        found.append(made)
    return tuple(found) if any(map(_says_more, found)) else ()


def _section(code: str) -> _Section | None:
    parts: list[tuple[bool, str]] = []
    limit = None
    for part in _PART.finditer(code):
        kind, text = part.lastgroup, part[part.lastgroup] if part.lastgroup else ""
        if kind == "other" and text in _NOT_PLAIN:
            return None
        if kind == "bracket":
            if compared := _LIMIT.fullmatch(text):
                limit = compared[1], float(compared[2])
            elif not text.startswith("$") and (
                not text.isalnum() or not text.casefold().strip("hms")
            ):
                return None  # a duration
            text = text[1:].partition("-")[0] if text.startswith("$") else ""
        parts.append((kind in ("digits", "general"), text))
    return _Section(tuple(parts), limit)


def _says_more(section: _Section) -> bool:
    literal = "".join(text for is_digits, text in section.parts if not is_digits)
    is_padded = any(run.partition(".")[0].count("0") > 1 for run in section.runs)
    is_more = is_padded or bool(literal.strip(_SIGNS)) or len(section.runs) > 1
    return is_more or any(run.endswith(",") for run in section.runs)


def _section_for(value: float, sections: tuple[_Section, ...]) -> _Section:
    first, *others = sections
    if any(section.limit for section in sections):
        met = (s for s in sections if not s.limit or _COMPARED[s.limit[0]](value, s.limit[1]))
        return next(met, sections[-1])
    if value < 0 and others:
        return others[0]
    # A dash for zero says less than zero.
    is_word = len(others) > 1 and not others[1].runs and _says_more(others[1])
    return others[1] if value == 0 and is_word else first


def number_shown(value: float, code: str) -> str:
    """A number as its format shows it, with the exact one if that is another: 12% (12.345%).

    "" for formats that show nothing but digits, which are better told exactly, and for dates,
    fractions and powers.
    """
    sections = _sections(code)
    section = _section_for(value, sections) if sections else None
    if not section or not _says_more(section):
        return ""
    runs, is_negative = section.runs, value < 0
    size = abs(value) * (100 if section.is_percent else 1)
    written = _in_runs(size, runs)
    exact = f"{size:.{_DIGITS}g}"
    is_exact = bool(runs) and float("".join(written).replace(",", "")) == float(exact)
    digits = iter(written)
    marks = "()-" if is_negative else ""
    shown = "".join(
        next(digits) if is_digits else text.strip(marks) for is_digits, text in section.parts
    )
    sign = "-" if is_negative else ""
    shown = f"{sign if runs else ''}{' '.join(shown.split())}"
    return shown if is_exact else f"{shown} ({sign}{exact}{'%' * section.is_percent})"


def _in_runs(size: float, runs: list[str]) -> list[str]:
    """The digits for each run of places: as one number, or those of a code from the right."""
    if not runs[1:]:
        return [_written(size, run, ",") for run in runs]
    digits = _rounded(size, 0).zfill(sum(run.count("0") for run in runs))
    found: list[str] = []
    for run in reversed(runs[1:]):
        places = min(len(run), len(digits))
        found.insert(0, digits[len(digits) - places :])
        digits = digits[: len(digits) - places]
    return [digits, *found]


def _written(size: float, run: str, mark: str) -> str:
    """A number in one run of places, its thousands parted by the mark where the run says so."""
    if run.casefold() == "general":
        return f"{size:.{_DIGITS}g}"
    whole, _, decimals = run.rstrip(",").partition(".")
    size /= 1000 ** (len(run) - len(run.rstrip(",")))
    text = _rounded(size, len(decimals), mark if "," in whole else "")
    digits, point, rest = text.partition(".")
    fewest = len(decimals.rstrip("#?"))
    rest = rest[:fewest] + rest[fewest:].rstrip("0")
    padded = digits.zfill(whole.count("0")) if "," not in whole else digits
    return padded + (point + rest if rest else "")


def _rounded(size: float, places: int, mark: str = "") -> str:
    """Rounds halves up, as spreadsheets do, from the digits that they keep."""
    kept = Decimal(f"{size:.{_DIGITS}g}")
    with localcontext(prec=400):
        return f"{kept.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):{mark}f}"


# --- dates ----------------------------------------------------------------------------------------

_DATE_PART = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|[_*].|\[\$-(?P<language>[0-9A-Fa-f]+)\]'
    r"|(?P<place>y+|m+|d+|h+|s+|AM/PM|A/P)|(?P<sign>[ ,./:;@-])|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
# Names of months and days are in the language of the format, by its Windows code.
_ENGLISH = "en"
_ANY_LANGUAGE = {"f800", "f400"}
_SHORT, _HALF = 3, 12


@cache
def _date_parts(code: str) -> tuple[str, tuple[tuple[bool, str], ...]]:
    """The language; literals, and places as (True, letters), none of any other format."""
    parts: list[tuple[bool, str]] = []
    language = _ENGLISH
    for part in _DATE_PART.finditer(code.partition(";")[0]):
        kind, text = part.lastgroup, part[part.lastgroup] if part.lastgroup else ""
        if kind == "other":
            return "", ()
        if kind == "language":
            language = _language(text)
        elif text != "@":
            parts.append((kind == "place", text.lower() if kind == "place" else text))
    places = {text for is_place, text in parts if is_place}
    has_day = any(text[0] in "yd" or "/p" in text for text in places)
    return language, tuple(_with_minutes(parts)) if has_day and language else ()


def _language(code: str) -> str:
    """The language of a code such as 407, as `de`; "" for an unknown one."""
    if code.lower() in _ANY_LANGUAGE:
        return _ENGLISH
    # Above its last four digits are the kinds of calendar and of digits.
    language = locale.windows_locale.get(int(code, 16) & 0xFFFF, "").partition("_")[0]
    # Loading babel takes as long as reading a small sheet.
    from babel.localedata import exists

    return language if exists(language) else ""


def _date_shown(value: datetime.date | datetime.time, code: str) -> str:
    """A date or time as its format shows it; "" for formats of anything else."""
    language, parts = _date_parts(code)
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(datetime.date.min, value)
    is_half = (True, "am/pm") in parts
    shown = (
        _place(value, text, language, is_half=is_half) if is_place else text
        for is_place, text in parts
    )
    return " ".join("".join(shown).split())


def _with_minutes(parts: list[tuple[bool, str]]) -> Iterator[tuple[bool, str]]:
    """The parts with the letter i for minutes, which are an m behind hours or before seconds."""
    places = [text for is_place, text in parts if is_place]
    around = iter(zip(["", *places], [*places[1:], ""], strict=False))
    for is_place, text in parts:
        if is_place:
            before, after = next(around)
            is_minute = text in ("m", "mm") and (before[:1] == "h" or after[:1] == "s")
            yield True, "i" * len(text) if is_minute else text
        else:
            yield False, text


def _place(value: datetime.date, letters: str, language: str, *, is_half: bool) -> str:
    moment = datetime.datetime.combine(value, getattr(value, "time", datetime.time)())
    size = len(letters)
    if letters in ("am/pm", "a/p"):
        return ("AM", "PM")[moment.hour // _HALF]
    if letters[0] == "y":
        return str(moment.year) if size >= _SHORT else f"{moment.year % 100:02}"
    if letters[0] in "md" and size >= _SHORT:
        return _name_of(moment, letters[0], language, "abbreviated" if size == _SHORT else "wide")
    hour = (moment.hour - 1) % _HALF + 1 if is_half else moment.hour
    count = {
        "m": moment.month, "d": moment.day, "h": hour, "i": moment.minute, "s": moment.second,
    }[letters[0]]  # fmt: skip
    return f"{count:02}" if size > 1 else str(count)


def _name_of(moment: datetime.datetime, letter: str, language: str, width: str) -> str:
    """The name of the month or of the day of the week; a short one as it stands alone."""
    from babel import Locale

    known = Locale.parse(language)
    names, number = (
        (known.months, moment.month) if letter == "m" else (known.days, moment.weekday())
    )
    return names["format" if width == "wide" else "stand-alone"][width][number].strip(".")


def _shown(value: Value, code: str) -> str:
    return number_shown(value, code) if isinstance(value, int | float) else _date_shown(value, code)


# --- OpenDocument ---------------------------------------------------------------------------------

_SHOWN_KINDS = {"percentage", "currency", "float", "date"}


def ods_looks(content: Element | None) -> dict[str, SheetLooks]:
    """The looks of each sheet of a workbook, which holds what is shown beside each value."""
    named = open_document_looks(content)
    return {attribute(t, "name"): _ods_sheet(t, named) for t in descendants(content, "table")}


def _ods_sheet(table: Element, named: Mapping[str, Look]) -> SheetLooks:
    columns: set[int] = set()
    column = 0
    for item in descendants(table, "table-column"):
        count = min(_repeated(item, "columns"), _MAX_COLUMNS)
        if attribute(item, "visibility") == "collapse":
            columns.update(range(column, column + count) if count < _MAX_COLUMNS // 2 else ())
        column += count
    addresses: dict[str, str] = {}
    rows = list(_ods_rows(table, named, addresses))
    formulas = (cell for cell in descendants(table, "table-cell") if attribute(cell, "formula"))
    unstored = sum(not attribute(cell, "value-type") for cell in formulas)
    spans = (span for span in descendants(table, "span") if _look_in(span, named) != PLAIN)
    lines = dict.fromkeys(span.getparent() for span in spans)
    texts = {"".join(line.itertext()): in_looks(_ods_runs(line, named)) for line in lines}
    return SheetLooks(iter(rows), frozenset(columns), unstored, addresses, texts)


def _look_in(element: Element, named: Mapping[str, Look]) -> Look:
    return named.get(attribute(element, "style-name"), PLAIN)


def _ods_runs(line: Element, named: Mapping[str, Look]) -> Iterator[tuple[str, Look]]:
    yield line.text or "", PLAIN
    for part in children(line):
        yield "".join(part.itertext()), _look_in(part, named)
        yield part.tail or "", PLAIN


def _ods_rows(
    table: Element, named: Mapping[str, Look], addresses: dict[str, str]
) -> Iterator[RowLooks]:
    """The rows; `addresses` gets what the words of cells link to."""
    row = 0
    for item in descendants(table, "table-row"):
        count = min(_repeated(item, "rows"), _MAX_ROWS)
        is_hidden = attribute(item, "visibility") == "collapse"
        shows, crossed_out, column = dict[int, Show](), set[int](), 0
        for cell in children(item):
            places = min(_repeated(cell, "columns"), _MAX_COLUMNS)
            if attribute(cell, "value-type") in _SHOWN_KINDS and (text := _says_text(cell)):
                shows |= {n: partial(_as_is, text) for n in range(column, column + places)}
            link = next(descendants(cell, "a"), None)
            if link is not None and len(addresses) < _MAX_LINKS:
                addresses[f"{column_letters(column)}{row + 1}"] = attribute(link, "href")
            if _look_in(cell, named).is_crossed_out:
                crossed_out.update(range(column, column + places))
            column += places
        if (shows or is_hidden or crossed_out) and count < _MAX_ROWS // 2:
            yield from (RowLooks(row + n, is_hidden, shows, crossed_out) for n in range(count))
        row += count


def _as_is(text: str, value: Value) -> str:
    """What a cell shows, with the exact number where that has other digits or 1.250 is unclear."""
    if not isinstance(value, int | float):
        return text
    percent = "%" if "%" in text else ""
    exact = f"{value * (100 if percent else 1):.{_DIGITS}g}"
    digits, own = (re.sub(r"\D", "", number).strip("0") for number in (text, exact))
    is_clear = digits == own and ("," in text or not re.search(r"\d\.\d{3}(?!\d)", text))
    return text if is_clear else f"{text} ({exact}{percent})"


def _says_text(cell: Element) -> str:
    """What a cell shows, if that is more than digits."""
    text = " ".join("".join(p.itertext()) for p in children(cell, "p")).strip()
    if attribute(cell, "value-type") == "date":
        return text
    digits = re.sub(r"[\s\d.,'’()+−-]", "", text)
    return text if digits or re.match(r"0\d", text) else ""


def _repeated(item: Element, what: str) -> int:
    return max(1, whole_number(item, f"number-{what}-repeated", 1))
