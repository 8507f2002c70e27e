"""Reads a question about a table into a query by rule, without a model. Pure; any thread.

Words of a question are values of cells, names of columns, numbers, times, and what is to be made of
the rows. What they leave unread decides whether there is a query, and is told.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise, takewhile

from desktop_rag.answer.counting.conditions import NUMBER, number_in
from desktop_rag.answer.counting.counting_question import counting_question, counting_words
from desktop_rag.answer.counting.record_structures import is_alike, is_form
from desktop_rag.answer.tables.cell_values import is_currency, table_words
from desktop_rag.answer.tables.sheet_table import AGGREGATED, SheetColumn, SheetTable
from desktop_rag.core.language.languages import function_words, likely_language, month_numbers

_TOKEN = re.compile(r"[^\W_]+(?:[.,:'’-][^\W_]+)*")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_BETWEEN = re.compile(
    r"(?i)(?<!\w)(?:between|zwischen|entre|tra|fra|tussen|między)\s+([\d.,']+)\W+(?:\w+\W+)??"
    r"(?:and|und|et|y|e|en|i)\s+([\d.,']*\d)"
)
_NUMBER = re.compile(r"\s*(?:[a-z]{3}\s)?" + NUMBER.pattern.replace("(?<![\\w.,])", ""))
_OPERATORS = {"more": ">", "since": ">", "least": ">=", "less": "<", "until": "<", "most": "<="}
_CURRENCY = re.compile(
    r"(?i)[$€£¥]|\b(?:eur|euros?|usd|dollars?|gbp|pounds?|chf|francs?|franken)\b"
)
_AMOUNT = re.compile(
    r"(?i)amount|betrag|total|sum|price|preis|cost|kosten|value|wert|umsatz|revenue|sales|montant"
    r"|\bnet(?:to)?\b|\bgross\b|brutto"
)
_PRICE = re.compile(r"(?i)price|preis|prix|precio|prezzo|preço|prijs")
_LENGTH = re.compile(r"(?i)long|short|läng|kürz|lang|kort")
_OPPOSITES = ("un", "non", "nicht", "in")
_LONGEST_VALUE, _MOST_VALUES = 8, 5_000
_LEAST_LETTERS, _LONG = 3, 6
_LONGEST_QUESTION = 300
_FEW, _MOST_ROWS = 8, 100
_PEOPLE_SHARE = 0.8
_UNREAD_COST = 1.5
# What rows are grouped by without the name of a column.
_GROUPS = frozenset({"months", "years", "who"})


@dataclass(frozen=True, slots=True)
class RuleQuery:
    """A query with how it was read.

    `made` names what was made of the rows, and `column` of which column; `conditions` are those of
    the rows, `unread` the words that it leaves out. `score` compares readings of several tables;
    `leads` are the columns whose cells answer, of a single row.
    """

    sql: str
    made: str
    column: str
    conditions: tuple[str, ...]
    unread: tuple[str, ...]
    score: float
    leads: tuple[str, ...] = ()


@dataclass(slots=True)
class _Token:
    text: str
    plain: str
    start: int
    is_read: bool = False


def read_by_rule(question: str, table: SheetTable, title: str) -> RuleQuery | None:
    """The query that a question asks of a table; None where too much of it means something else."""
    return _Reading(question, table, title).query() if len(question) <= _LONGEST_QUESTION else None


def unread_words(question: str, table: SheetTable, title: str) -> list[str]:
    """The words that name nothing of the table, as those of another language."""
    unread = _Reading(question, table, title).unread
    return [token.text for token in unread if len(token.text) >= _LEAST_LETTERS]


@dataclass
class _Reading:
    """A question as far as it is read.

    `conditions` are names of columns, with SQL and as shown; `limiting` the places of the tokens
    that say them, and so name no column.
    """

    question: str
    table: SheetTable
    title: str
    conditions: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    named: list[tuple[SheetColumn, int]] = field(default_factory=list[tuple[SheetColumn, int]])
    limiting: set[int] = field(default_factory=set[int])
    score: float = 0.0
    places: dict[str, frozenset[int]] = field(default_factory=dict[str, frozenset[int]])
    used: set[str] = field(default_factory=set[str])
    leads: tuple[str, ...] = ()
    names_rows: bool = False
    is_partly: bool = False

    def __post_init__(self) -> None:
        self.tokens = [
            _Token(m[0], _plain(m[0]), m.start()) for m in _TOKEN.finditer(self.question)
        ]
        self.counts = counting_question(self.question)
        self.is_number = bool(self.counts and not self.counts.is_list)
        kinds = table_words().kinds
        # “Wie” is “who” in Dutch, “how” in German.
        is_how = likely_language(self.question) == "de"
        self.kinds = {**kinds, "who": kinds["who"] - ({"wie"} if is_how else set())}
        said = [token.text for token in self.tokens]
        known = {word.casefold() for word in function_words(said)} | self.kinds["idle"]
        if self.counts:
            known |= set(_words_of(self.question.removesuffix(self.counts.rest))) - set(
                _words_of(self.counts.rest)
            )
        for language in (self.counts.language,) if self.counts else counting_words()[:2]:
            sets = language.sets
            known |= sets["idle"] | sets["before"] | sets["rows"] | sets["entries"]
        self.idle = known - _all_of("negations")
        self._read_values()
        self._read_columns()
        self._read_numbers()
        self._read_times()
        self._read_flags()
        self._read_title()

    def _says(self, *kinds: str) -> bool:
        return any(self._places_of(kind) for kind in kinds)

    def _uses(self, *kinds: str) -> bool:
        """The same; what the question says is read then."""
        said = {kind for kind in kinds if self._says(kind)}
        self.used |= said
        return bool(said)

    def _places_of(self, kind: str) -> frozenset[int]:
        """The places of the words of a list."""
        if kind not in self.places:
            self.places[kind] = frozenset(self._found(kind))
        return self.places[kind]

    def _found(self, kind: str) -> Iterator[int]:
        for phrase in (phrase.split() for phrase in self.kinds[kind]):
            for at in range(len(self.tokens) - len(phrase) + 1):
                said = self.tokens[at : at + len(phrase)]
                is_free = self.limiting.isdisjoint(range(at, at + len(phrase)))
                if is_free and all(map(_is_inflected, (t.plain for t in said), phrase)):
                    yield from range(at, at + len(phrase))

    def _columns(self, *kinds: str) -> list[SheetColumn]:
        return [c for c in self.table.columns if c.values.kind in kinds]

    def _limit(self, column: SheetColumn, sql: str, shown: str, *places: int) -> None:
        """Add a condition, `{}` in which is the column, that the tokens at these places say."""
        shown = shown if shown[0] in "=<>≠" else f"= {shown}"
        self.conditions.append((column.name, sql.format(_quoted(column.name)), shown))
        for place in places:
            self.tokens[place].is_read = True
            self.limiting.add(place)
        self.score += 2.0

    def _is_negated(self, at: int) -> bool:
        """True behind "not" or "without", which is read with that."""
        before = [t for t in self.tokens[max(0, at - 2) : at] if t.plain in _all_of("negations")]
        for token in before:
            token.is_read = True
        return bool(before)

    # --- what the question says -----------------------------------------------------------------

    def _read_values(self) -> None:
        """Values of cells, whole ones first, then the longest; of a column any of them may hold."""
        found = [
            (whole, length, at, column, value)
            for column in self._columns("VARCHAR")
            for value in _distinct(column)
            for whole, length, at in self._said(value)
        ]
        found.sort(key=lambda f: (-f[0], -f[1], -self._is_name_of(f[3]), len(_distinct(f[3]))))
        owners: dict[int, tuple[str, bool, int]] = {}
        values: dict[str, list[str]] = {}
        for whole, length, at, column, value in found:
            span, mine = range(at, at + length), (column.name, whole, length)
            if {owners.setdefault(place, mine) for place in span} == {mine}:
                values.setdefault(column.name, []).append(value)
        for column in self._columns("VARCHAR"):
            if held := values.get(column.name):
                places = [place for place, mine in owners.items() if mine[0] == column.name]
                is_not = self._is_negated(min(places))
                self.is_partly = self.is_partly or any(not owners[place][1] for place in places)
                sql = f"{{}} {'NOT IN' if is_not else 'IN'} ({', '.join(map(_literal, held))})"
                more = f" … ({len(held)})" if len(held) > _LEAST_LETTERS else ""
                shown = f"{'≠' if is_not else '='} {', '.join(held[:_LEAST_LETTERS])}{more}"
                self._limit(column, sql, shown, *places)

    def _said(self, value: str) -> Iterator[tuple[bool, int, int]]:
        """Where the question has a value: whether whole, how many words, from which token on."""
        said = _words_of(value)
        if not 0 < len(said) <= _LONGEST_VALUE:
            return
        for at, token in enumerate(self.tokens):
            here = [t.plain for t in self.tokens[at : at + len(said)]]
            is_idle = token.plain in self.idle and not (token.text == value and value.isupper())
            if len(here) == len(said) and all(map(_is_same, here, said)):
                if not (len(said) == 1 and is_idle):
                    yield True, len(said), at
            elif token.plain in said:
                rest = said[said.index(token.plain) :]
                pairs = zip(here, rest, strict=False)
                length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
                if 2 * length >= len(said) and self._is_part(at, length):
                    yield False, length, at

    def _is_part(self, at: int, length: int) -> bool:
        said = [token.plain for token in self.tokens[at : at + length]]
        names = {word for column in self.table.columns for word in _words_of(column.name)}
        return not any(
            w in self.idle or len(w) < _LEAST_LETTERS or any(is_alike(w, n) for n in names)
            for w in said
        )

    def _is_name_of(self, column: SheetColumn) -> bool:
        return any(is_alike(t.plain, w) for t in self.tokens for w in _words_of(column.name))

    def _read_columns(self) -> None:
        """The columns that the question names, those of which it says most first."""
        found: list[tuple[float, int, SheetColumn, list[int]]] = []
        for column in self.table.columns:
            words = _words_of(column.name)
            said = [w for w in words if not _CURRENCY.fullmatch(w)] or words
            places = [n for word in said if (n := self._place_of(word)) is not None]
            if places and 2 * len(places) >= len(said):
                found.append((len(places) / len(said), len(places), column, places))
        for share, _, column, places in sorted(found, key=lambda f: (-f[0], -f[1])):
            if not all(self.tokens[place].is_read for place in places):
                self.named.append((column, min(places)))
                self.score += 2.0 * share * len(places)
                for place in places:
                    self.tokens[place].is_read = True
        self.named.sort(key=lambda named: named[1])

    def _place_of(self, word: str) -> int | None:
        free = [(n, t.plain) for n, t in enumerate(self.tokens) if n not in self.limiting]
        for is_it in (is_form, is_alike):
            if (at := next((n for n, plain in free if is_it(plain, word)), None)) is not None:
                return at
        return None

    def _read_numbers(self) -> None:
        """A comparison with a number: "> 700", "between 10 and 20", "mehr als 5"."""
        plain = self.question.casefold()
        if both := _BETWEEN.search(plain):
            self._compare(">=", both[1], both.start(), both.end())
            self._compare("<=", both[2], both.start(), both.end())
            return
        for operator, phrase in _phrases():
            for begin in re.finditer(phrase, plain):
                if amount := _NUMBER.match(plain, begin.end()):
                    self._compare(operator, amount[1], begin.start(), amount.end())
                    return

    def _compare(self, operator: str, number: str, start: int, end: int) -> None:
        times = self._times()
        numbers = [(c, n) for c, n in self.named if c.values.kind in _NUMBERS and c not in times]
        near = min(
            numbers, key=lambda named: abs(self.tokens[named[1]].start - start), default=None
        )
        column = near[0] if near else self._amount()
        places = [n for n, t in enumerate(self.tokens) if start <= t.start < end]
        if _YEAR.fullmatch(number) and times and not near:
            if _BETWEEN.match(self.question, start):  # one year alone is read with the times
                self._limit_time(times[0], operator, (int(number), None, None), places)
            return
        if column:
            value = f"{number_in(number):f}".rstrip("0").rstrip(".")
            self._limit(column, f"{{}} {operator} {value}", f"{operator} {value}", *places)
            for token in self.tokens[max(places, default=0) + 1 :][:1]:
                token.is_read |= bool(_CURRENCY.fullmatch(token.text))

    def _times(self) -> list[SheetColumn]:
        """The columns of days, or else of years: those that are named, or all."""
        held = self._columns("DATE", "TIMESTAMP") or [
            c for c in self._columns("BIGINT") if _are_years(c)
        ]
        return [c for c, _ in self.named if c in held] or held

    def _read_times(self) -> None:
        """Years, months and days: "in 2025", "after March 2024", "on 2025-03-14"."""
        times = self._times()
        if not times:
            return
        months, are_days = month_numbers(), times[0].values.kind != "BIGINT"
        month = year = day = None
        places: list[int] = []
        for place, token in enumerate(self.tokens):
            if token.is_read or (places and place > places[-1] + 1):
                continue
            if _YEAR.fullmatch(token.text):
                year = int(token.text)
            elif are_days and _DAY.fullmatch(token.text):
                day = token.text
            elif are_days and token.plain in months and token.text[0].isupper():
                month = months[token.plain]
            else:
                continue
            places.append(place)
        if places:
            self._limit_time(times[0], self._side(places[0]), (year, month, day), places)

    def _side(self, at: int) -> str:
        """How the words before a time compare with it: "<" for before, ">=" for since."""
        before = f" {' '.join(token.plain for token in self.tokens[max(0, at - 3) : at])} "
        if any(before.endswith(f" {word} ") for word in self.kinds["from"]):
            return ">="
        return next((sign for sign, p in _phrases() if re.search(rf"{p} $", before)), "=")

    def _limit_time(
        self,
        column: SheetColumn,
        side: str,
        time: tuple[int | None, int | None, str | None],
        places: Sequence[int],
    ) -> None:
        year, month, day = time
        said = " ".join(self.tokens[place].text for place in places)
        shown = str(year) if side != "=" and not month and year else said
        if day:
            sql = f"{{}} {side} DATE '{day}'"
        elif column.values.kind == "BIGINT":
            sql = f"{{}} {side} {year}"
        elif side == "=" or not (year and month):
            parts = [f"year({{}}) {side} {year}"] if year else []
            sql = " AND ".join([*parts, *([f"month({{}}) {side} {month}"] if month else [])])
        else:
            sql = f"strftime({{}}, '%Y-%m') {side} '{year}-{month:02}'"
        self._limit(column, sql.replace("{}", "{0}"), f"{side} {shown}", *places)

    def _read_flags(self) -> None:
        """Columns of yes and no, "unpaid" for "Paid", and "without" before a column."""
        for column in self._columns("BOOLEAN"):
            at = next((n for c, n in self.named if c is column), None)
            turned = next(
                (n for n, t in enumerate(self.tokens) if _is_opposite(t.plain, column)), None
            )
            is_not = turned is not None or (at is not None and self._is_negated(at))
            place = turned if at is None else at
            # Of one row, or of whom a value names, the cell itself is asked for.
            is_limit = self.counts or not self.conditions or self._says("much", "sums")
            if place is not None and (is_limit or (is_not and not self._names_a_row())):
                sql = "({0} = false OR {0} IS NULL)" if is_not else "{} = true"
                self._limit(column, sql, "no" if is_not else "yes", place)
                self.named = [(c, n) for c, n in self.named if c is not column]
        for column, place in list(self.named):
            if None in column.values.values and self._is_negated(place):
                self._limit(column, "{} IS NULL", "–", place)
                self.named.remove((column, place))

    def _read_title(self) -> None:
        """The words of the file and the sheet name the rows, or say where they are."""
        sheets = [sheet for sheet in self.table.sheets if sheet]
        said = _words_of(" ".join([self.title, self.table.name, *sheets]))
        for token in self.tokens:
            is_word = len(token.plain) > _LEAST_LETTERS and token.plain not in self.idle
            if not token.is_read and any(
                token.plain == word or (is_word and is_alike(token.plain, word)) for word in said
            ):
                token.is_read = self.names_rows = True
                self.score += 1.0

    @cached_property
    def unread(self) -> list[_Token]:
        """The words that were not read, and don't say what was made of the rows."""
        makes = set[int]().union(*map(self._places_of, self.used))
        left = [t for n, t in enumerate(self.tokens) if not t.is_read and n not in makes]
        return [t for t in left if t.plain not in self.idle]

    def _is_about_table(self) -> bool:
        """True when more is read than not, and no name or number is left unread."""
        grouped = set[int]().union(*map(self._places_of, self.used & _GROUPS))
        read = [t for n, t in enumerate(self.tokens) if t.is_read or n in grouped]
        if not read or any(map(str.isdigit, "".join(token.text for token in self.unread))):
            return False
        if likely_language(self.question) != "de" and any(
            token.text[0].isupper() for token in self.unread if token.start
        ):
            return False
        if self.is_number and self._is_of_one_row():
            return False
        times = {column.name for column in self._times()}
        is_told = (
            self.named or self.names_rows or not times.issuperset(n for n, *_ in self.conditions)
        )
        is_every = bool(self.counts) and not (self.is_number or self.conditions or self.used)
        if self.unread and (is_every or not is_told):
            return False  # any table may have rows of a year, and "all overdue ones" are not all
        if self.is_number or self.used - {"who", "when"}:
            # One more may be what the rows are called.
            return len(self.unread) <= len(read) + (self.is_number and bool(self.conditions))
        limited = {name for name, *_ in self.conditions}
        is_asked = any(c.name not in limited for c, _ in self.named) or bool(self.used)
        return len(self.unread) <= ((is_asked or self.names_rows) and not self.is_partly)

    def _is_of_one_row(self) -> bool:
        """True for "How many stars has the Linde?" where no column has stars."""
        head = next((t for t in self.tokens if t.plain not in self.idle), None)
        return head in self.unread and (self._names_a_row() or bool(self.named))

    def _names_a_row(self) -> bool:
        limited = {name for name, *_ in self.conditions}
        return any(column.name in limited and _is_unique(column) for column in self.table.columns)

    # --- the query ------------------------------------------------------------------------------

    def _amount(self) -> SheetColumn | None:
        """The column that is added or ordered by; None where it is unclear."""
        numbers = [c for c in self._columns(*_NUMBERS) if not _are_years(c)]
        if named := [c for c, _ in self.named if c in numbers]:
            return named[0]
        amounts = self._amounts()
        money = [column for column in amounts if _is_money(column)]
        for few in (amounts, money, [c for c in money or amounts if _AMOUNT.search(c.name)]):
            if len(few) == 1:
                return few[0]
        return None

    def _amounts(self) -> list[SheetColumn]:
        numbers = self._columns(*_NUMBERS)
        return [c for c in numbers if not (_are_years(c) or _is_numbering(c))]

    def query(self) -> RuleQuery | None:
        """The query, by what the words say is to be made of the rows."""
        made = self._grouped() or self._ordered() or self._number() or self._rows()
        if made is None or not self._is_about_table():
            return None
        (sql, what, column), unread = made, tuple(token.text for token in self.unread)
        shown = tuple(dict.fromkeys(f"{name} {shown}" for name, _, shown in self.conditions))
        score = self.score - _UNREAD_COST * len(unread)
        return RuleQuery(sql, what, column, shown, unread, score, self.leads)

    def _select(self, what: str, *more: str) -> str:
        said = [*dict.fromkeys(sql for _, sql, _ in self.conditions), *more]
        where = f" WHERE {' AND '.join(said)}" if said else ""
        return f"SELECT {what} FROM {_quoted(self.table.name)}{where}"

    def _grouped(self) -> tuple[str, str, str] | None:
        """A number for each value of a column, or the value with the greatest one."""
        is_best = self._says("many", "high", "low")
        is_made = self._says("sums", "many", "means") or self.is_number or self._is_best_group()
        group = self._group(is_best=is_best)
        if group is None or self._says("sorts") or (is_best and not is_made):
            return None
        (expression, name), amount = group, self._amount()
        things = [c for c, _ in self.named if c.values.kind == "VARCHAR" and c.name != name]
        # "Most expensive" compares amounts.
        is_many = bool(self._places_of("many") - self._places_of("high")) and not self._says("sums")
        is_plain = not (is_best or self._says("sums", "means", "much") or _is_money(amount))
        is_of_rows = self.is_number or (is_many and (self.names_rows or bool(things)))
        is_of_rows = is_of_rows or (is_plain and self.names_rows)
        self._uses("per", "many", "high", "low", "sums", "means", "much")
        if amount is None or (is_of_rows and amount not in [c for c, _ in self.named]):
            value, made, column = 'count(*) AS "Rows"', "count", ""
        else:
            made, column = "mean" if self._says("means") else "sum", amount.name
            value = _aggregate(made, amount)
        order = (
            f"2 {'ASC' if self._says('low') else 'DESC'} LIMIT {self._most()}" if is_best else "1"
        )
        sql = f"{self._select(f'{expression} AS {_quoted(name)}, {value}')} GROUP BY {expression}"
        return f"{sql} ORDER BY {order}", made, column

    def _is_best_group(self) -> bool:
        """True for "the biggest customer" with several rows, and "which month was the best"."""
        best = self._places_of("high") | self._places_of("low")
        periods = self._places_of("months") | self._places_of("years")
        # "The highest cost this month" is of one row.
        is_period = any(place < min(best, default=0) or place - 1 in best for place in periods)
        return is_period or any(
            c.values.kind == "VARCHAR" and not _is_unique(c) and place - 1 in best
            for c, place in self.named
        )

    def _group(self, *, is_best: bool) -> tuple[str, str] | None:
        """What rows are grouped by: named behind "per", or asked for as the best."""
        limited = {name for name, *_ in self.conditions}
        for column, place in self.named:
            before = {t.plain for t in self.tokens[max(0, place - 2) : place]}
            is_asked = is_best and column.name not in limited and not _is_unique(column)
            if column not in self._columns(*_NUMBERS) and (before & self.kinds["per"] or is_asked):
                return _quoted(column.name), column.name
        times = [c for c in self._times() if c.values.kind != "BIGINT"]
        for kind, form in (("months", "%Y-%m"), ("years", "%Y")):
            if times and self._says(kind) and (is_best or self._says("per")):
                self._uses(kind)
                # A date has a month, as a column of months does.
                self.score += 1.0
                return f"strftime({_quoted(times[0].name)}, '{form}')", times[0].name
        people = self._people()
        if people and is_best and self._says("who") and not _is_unique(people):
            self._uses("who")
            return _quoted(people.name), people.name
        return None

    def _ordered(self) -> tuple[str, str, str] | None:
        """The rows at an end of an order, the largest or the latest, or all in order."""
        times, limit = self._times(), f" LIMIT {self._most()}"
        column = self._amount() if self._says("many", "high", "low") else None
        is_low = self._says("low")
        if column and len(self._amounts()) > 1 and _LENGTH.search(self.question):
            column = column if column in [c for c, _ in self.named] else None
        if times and self._uses("late", "early"):
            column, is_low = times[0], self._says("early")
        if sorting := self._places_of("sorts"):
            after = [c for c, place in self.named if place > min(sorting)]
            by = after[:1] or [c for c, _ in self.named[-1:]]
            column, limit, is_low = by[0] if by else column, "", not self._says("high")
        if column is None or self._says("means"):
            return None
        limited = {name for name, *_ in self.conditions}
        people = [self._people()] if self._uses("who") else []
        texts = [c for c, _ in self.named if c.values.kind == "VARCHAR"]
        asked = [c.name for c in (*people, *texts) if c and c.name not in limited]
        self.leads = (*asked[:1], column.name)
        self._uses("many", "high", "low", "sorts")
        order = f"{_quoted(column.name)} {'ASC' if is_low else 'DESC'}"
        sql = self._select(self._shown(column), f"{_quoted(column.name)} IS NOT NULL")
        made = "sorted" if not limit else "lowest" if is_low else "highest"
        return f"{sql} ORDER BY {order}{limit}", made, column.name

    def _number(self) -> tuple[str, str, str] | None:
        """One number: of rows, of different values, a sum, a mean."""
        amount = self._amount()
        if self._uses("means"):
            return (
                (self._select(_aggregate("mean", amount)), "mean", amount.name) if amount else None
            )
        if self.counts and self.is_number:
            begin = self.question.find(self.counts.rest.split()[0])
            near = [c for c, n in self.named if self.tokens[n].start >= begin]
            if amount and near and near[0] is amount:
                return self._select(_aggregate("sum", amount)), "sum", amount.name
            if near and near[0].values.kind == "VARCHAR" and near[0] is self.named[0][0]:
                name = _quoted(near[0].name)
                return self._select(f"count(DISTINCT {name}) AS {name}"), "distinct", near[0].name
            return self._select('count(*) AS "Rows"'), "count", ""
        # Prices of one piece make no sum beside a number of pieces.
        is_priced = amount and _PRICE.search(amount.name) and len(self._amounts()) > 1
        if amount and not is_priced and self._uses("sums", "much"):
            return self._select(_aggregate("sum", amount)), "sum", amount.name
        return None

    def _rows(self) -> tuple[str, str, str] | None:
        """The cells that are asked for, the different values of a column, or the rows."""
        if self._says("sums", "means", "high", "low"):
            return None  # of no column, or of several
        limited = {name for name, *_ in self.conditions}
        asked = [c for c, _ in self.named if c.name not in limited]
        for kind, column in (("who", self._people()), ("when", next(iter(self._times()), None))):
            if not asked and column and self._uses(kind):
                asked = [column]
        if asked and not self.conditions:
            name = _quoted(asked[0].name)
            is_list = self.counts and asked[0].values.kind == "VARCHAR"
            sql = self._select(f"DISTINCT {name}", f"{name} IS NOT NULL")
            return (f"{sql} ORDER BY 1", "values", asked[0].name) if is_list else None
        if asked:
            is_one = any(c.name in limited and _is_unique(c) for c in self.table.columns)
            first = self.table.columns[0]
            keys = [] if is_one or first in asked or first.name in limited else [first]
            cells = ", ".join(_quoted(c.name) for c in (*asked, *keys))
            return self._select(cells), "cells", asked[0].name
        return (self._select(self._shown()), "rows", "") if self.conditions else None

    def _shown(self, *wanted: SheetColumn) -> str:
        """The first columns, with those that are wanted."""
        first = [c for c in self.table.columns[:_FEW] if c not in wanted]
        return ", ".join(_quoted(column.name) for column in (*first, *wanted))

    def _people(self) -> SheetColumn | None:
        """The first column of names of two words or three."""
        return next((c for c in self._columns("VARCHAR") if _are_names(_distinct(c))), None)

    def _most(self) -> int:
        """How many are asked for: "top 5", "the three largest"; else one."""
        known = table_words().numerals
        for place, token in enumerate(self.tokens):
            number = known.get(token.plain, int(token.text) if token.text.isdecimal() else 0)
            if place not in self.limiting and 0 < number <= _MOST_ROWS:
                token.is_read = True
                return number
        return 1


_NUMBERS = ("BIGINT", "DOUBLE")


def _are_years(column: SheetColumn) -> bool:
    held = list(filter(None, column.values.values))
    return bool(held) and all(map(_YEAR.fullmatch, held))


def _is_money(column: SheetColumn | None) -> bool:
    return bool(column and (is_currency(column.values.unit) or _CURRENCY.search(column.name)))


def _is_numbering(column: SheetColumn) -> bool:
    """True for 1, 2, 3 …, and for whole numbers of one length that tell rows apart: 4411, 4420."""
    held = list(filter(None, column.values.values))
    if column.values.kind != "BIGINT" or column.values.unit or _AMOUNT.search(column.name):
        return False
    is_run = all(int(b) - int(a) == 1 for a, b in pairwise(held))
    is_code = len(held) == len(set(held)) and {len(n) for n in held} in ({4}, {5}, {6}, {7}, {8})
    return is_run or (is_code and not all(number.endswith("0") for number in held))


def _is_unique(column: SheetColumn) -> bool:
    held = list(filter(None, column.values.values))
    return len(set(held)) == len(held)


def _is_opposite(plain: str, column: SheetColumn) -> bool:
    """True for "unpaid", and "open", beside a column "Paid"."""
    if plain in _all_of("open"):
        return not _all_of("done").isdisjoint(_words_of(column.name))
    cut = next((plain.removeprefix(p) for p in _OPPOSITES if plain.startswith(p)), "")
    said = _words_of(column.name)
    is_cut = len(cut) >= _LEAST_LETTERS and any(is_alike(cut, word) for word in said)
    return is_cut and not any(is_form(plain, word) for word in said)


def _is_same(said: str, word: str) -> bool:
    return said == word or (word.isalpha() and said.isalpha() and is_form(said, word))


def _is_inflected(said: str, word: str) -> bool:
    return said == word or (min(len(said), len(word)) >= _LONG and is_form(said, word))


def _are_names(values: Sequence[str]) -> bool:
    parts = [value.split() for value in values]
    names = [
        p for p in parts if len(p) in (2, 3) and all(w.istitle() and w[1:].isalpha() for w in p)
    ]
    return bool(values) and len(names) >= _PEOPLE_SHARE * len(values)


def _distinct(column: SheetColumn) -> Sequence[str]:
    return tuple(dict.fromkeys(filter(None, column.values.values)))[:_MOST_VALUES]


@cache
def _phrases() -> tuple[tuple[str, str], ...]:
    """The operators of what compares with a number behind it, in all languages, longest first."""
    said = {
        p: k
        for words in counting_words()
        for k, all_of in words.comparisons.items()
        for p in all_of
    }
    longest = sorted(said, key=len, reverse=True)
    signs = [(sign, rf"{sign}(?=\s*[\d€$£])") for sign in (">=", "<=", ">", "<")]
    return (*signs, *((_OPERATORS[said[p]], rf"(?<!\w){p}(?!\w)") for p in longest))


@cache
def _all_of(kind: str) -> frozenset[str]:
    """The words of a kind, such as negations, in all languages."""
    return frozenset(word for language in counting_words() for word in language.sets[kind])


def _plain(word: str) -> str:
    return word.casefold().replace("’", "'")


@cache
def _words_of(text: str) -> tuple[str, ...]:
    return tuple(_plain(m[0]) for m in _TOKEN.finditer(text.replace("_", " ")))


def _aggregate(made: str, column: SheetColumn) -> str:
    """The call, rounded as far as the cells are written; a mean has two places at least."""
    places = max((len(value.partition(".")[2]) for value in _distinct(column)), default=0)
    places = min(places, 6) if made == "sum" else max(2, min(places, 6))
    call = "sum" if made == "sum" else "avg"
    name = _quoted(AGGREGATED[call].format(column.name))
    return f"round({call}({_quoted(column.name)}), {places}) AS {name}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(value: str) -> str:
    return "'" + value.replace("'", "''").replace("{", "{{").replace("}", "}}") + "'"
