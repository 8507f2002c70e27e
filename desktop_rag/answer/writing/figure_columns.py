"""Names for the columns of figures, from the lines above them in the text of a PDF. Pure.

The text has the head of such a table on one line or a few: what the figures are in, periods, and
what is compared, as in "(in millions) Fiscal 2023 Fiscal 2022 % Change". Periods are found by their
years; the words that repeat before each year belong to its name, any others name a column without
a period. Nothing here depends on the language, except for the words of scales.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from desktop_rag.core.text import ends_sentence

# What the figures of a table are in, in the words of reports of many languages.
_SCALE_WORD = (
    r"(?:thousands?|millions?|billions?|tausend|tsd|mio|mrd|millionen|milliarden|teur|t€|milliers"
    r"|milliards|miles|millones|migliaia|milioni|miliardi|duizend(?:en)?|miljoen(?:en)?|miljard"
    r"|tys|mln|mld|milhares|milhões)(?!\w)"
)
_SCALE = re.compile(
    rf"(?i)(?:^[(\[]|(?<!\w)(?:in|en|im|w|em|di)\s)\s*(?:(?:US)?[$€£]\s*)?{_SCALE_WORD}"
    rf"|^{_SCALE_WORD}\.?\s*(?:[$€£]|[A-Z]{{3}})?$"
)
_LEADING_SCALE = re.compile(rf"(?i)(?:(?:US)?[$€£]\s*)?{_SCALE_WORD}\s*")
_LONGEST_SCALE = 60
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
# A year, a half or a quarter of it; "2022-2021" is a comparison.
_PERIOD = re.compile(
    r"(?<![\w\-–/.,])(?:(?:Q[1-4]|[1-4]Q|H[12]|FY)\s?)*"
    r"(?:(?:19|20)\d\d(?:/\d{2,4})?|(?<=FY)\d\d)(?![\w\-–/]|[.,]\d)(?:\s*\(\w\))?"
)
_AMOUNT = re.compile(r"\d[.,]\d|[$€£]\s?\d")
_DAY = re.compile(r"\d{1,2}[.,]?")
_BRACKETED = re.compile(r"[(\[][^()\[\]]*[)\]]?\s*")
_FEWEST_PERIODS = 2
_MOST_WORDS = 30
_MOST_WORDS_BETWEEN = 5
_SENTENCE_WORDS = 8
_TITLE_LINES = 2
_FEWEST_TITLE_WORDS = 2
_LONGEST_TITLE = 90
_LONGEST_CAPTION = 200
_LINES_KEPT = 6
# On every page of some reports.
LINKS_BACK = ("table of contents", "inhaltsverzeichnis", "table des matières", "índice")


@dataclass(frozen=True, slots=True)
class Column:
    """The name of a column, which is of a period, or compares periods."""

    name: str
    is_period: bool = True


@dataclass(frozen=True, slots=True)
class TableHead:
    """What the lines so far say about the rows that follow.

    `scale` is what figures are in; `recent` are the lines since the last row or sentence.
    """

    caption: str = ""
    columns: tuple[Column, ...] = ()
    scale: str = ""
    recent: tuple[str, ...] = ()

    def below(self, line: str) -> "TableHead":
        """The head after one more line that is no row."""
        said = line.strip()
        if not said:
            return self
        scale = scale_of(said) or self.scale
        if columns := columns_of(said):
            caption = _caption(self.recent) or self.caption
            periods = [column.name for column in columns if column.is_period]
            if len(set(periods)) < len(periods):
                # The line above says what the same periods are repeated for.
                caption = ": ".join(filter(None, [caption, *self.recent[-1:]])).rstrip(",:")
            return TableHead(caption, columns, scale, (said,))
        if self.columns and not self.recent[1:] and _is_comparison(said):
            compared = Column(" ".join(said.split()), is_period=False)
            return replace(self, columns=(*self.columns, compared), scale=scale)
        if ends_sentence(said) and len(said.split()) >= _SENTENCE_WORDS:
            return TableHead(scale=scale_of(said))
        return replace(self, scale=scale, recent=(*self.recent, said)[-_LINES_KEPT:])

    def at_row(self) -> "TableHead":
        """The head for a row that follows, and for those below it."""
        caption = self.caption if self.columns else _caption(self.recent) or self.caption
        return replace(self, caption=caption, recent=())

    def names_of(self, cells: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of the columns and the cells below them; () for both when they are unknown.

        A row that leaves out comparisons, as percentages do, has blank cells there.
        """
        names = tuple(column.name for column in self.columns)
        if not names:
            return (), ()
        if len(cells) == len(names):
            return names, tuple(cells)
        if len(cells) == sum(column.is_period for column in self.columns):
            left = iter(cells)
            return names, tuple(next(left) if c.is_period else "" for c in self.columns)
        return (), ()


def head_of(text: str) -> TableHead:
    """The head at the end of a text."""
    head = TableHead()
    for line in text.splitlines():
        head = head.below(line)
    return head


def columns_of(line: str) -> tuple[Column, ...]:
    """The columns that a line names; () for a line with fewer than two periods, or with figures."""
    said = line.strip()
    said = said[found.end() :] if (found := _BRACKETED.match(said)) else said
    periods = list(_PERIOD.finditer(said))
    is_long = len(said.split()) > _MOST_WORDS or ends_sentence(said)
    if len(periods) < _FEWEST_PERIODS or is_long:
        return ()
    before = said[: periods[0].start()].split()
    between = [said[a.end() : b.start()].split() for a, b in pairwise(periods)]
    after = said[periods[-1].end() :].split()
    shared = [_shared_end(before, words) for words in between]
    others = [words[: len(words) - n] for words, n in zip(between, shared, strict=True)]
    *others, after = (_without_scale(words) for words in (*others, after))
    if any(len(words) > _MOST_WORDS_BETWEEN or _has_figure(words) for words in (*others, after)):
        return ()
    first = max(shared)
    prefixes = [before[len(before) - first :]]
    prefixes += [words[len(words) - n :] for words, n in zip(between, shared, strict=True)]
    columns: list[Column] = []
    for prefix, period, extra in zip(prefixes, periods, [*others, after], strict=True):
        columns.append(Column(" ".join([*prefix, *period[0].split()])))
        columns += [Column(name, is_period=False) for name in _split(extra)]
    return tuple(columns)


def scale_of(line: str) -> str:
    """What figures are in, as "in millions", in brackets or on a line with periods at most."""
    for bracketed in _BRACKETED.findall(line):
        if said := _scale(bracketed):
            return said
    return _scale(line)


def _scale(words: str) -> str:
    said = " ".join(_YEAR.sub("", words).split())
    is_sentence = re.search(r"\w{4}[.!?]$", words.rstrip())
    if is_sentence or len(said) > _LONGEST_SCALE or re.search(r"\d", said):
        return ""
    return said.strip("()[] ") if _SCALE.search(said) else ""


def _shared_end(before: Sequence[str], words: Sequence[str]) -> int:
    """How many words at the end of both are of one kind: the same ones, or a month and a day."""
    count = 0
    for one, other in zip(reversed(before), reversed(words), strict=False):
        is_same = one.casefold() == other.casefold()
        is_day = bool(_DAY.fullmatch(one) and _DAY.fullmatch(other))
        is_month = count > 0 and bool(_DAY.fullmatch(words[-count])) and one[:1].isalpha()
        if not (is_same or is_day or is_month):
            break
        count += 1
    return count


def _without_scale(words: list[str]) -> list[str]:
    """The words behind what the figures of a period are in: "2025 $ million 2024 $ million"."""
    said = " ".join(words)
    return said[found.end() :].split() if (found := _LEADING_SCALE.match(said)) else words


def _has_figure(words: Sequence[str]) -> bool:
    return any(re.search(r"\d", _YEAR.sub("", word)) for word in words)


def _split(words: Sequence[str]) -> list[str]:
    """Names of neighbouring columns: "$ Change % Change" is two."""
    return [name for name in re.split(r"\s+(?=[$€£%]\s*\w)", " ".join(words)) if name]


def _is_comparison(line: str) -> bool:
    return "%" in line and len(line.split()) <= _MOST_WORDS_BETWEEN and not _has_figure([line])


def _caption(lines: Sequence[str]) -> str:
    """The title above a table: the words up to a colon, or the last lines that read as titles."""
    ends = [place for place, line in enumerate(lines) if line.endswith(":")]
    if ends:
        before = lines[: ends[-1]]
        first = max((n + 1 for n, line in enumerate(before) if _is_apart(line)), default=0)
        said = " ".join(" ".join(lines[first : ends[-1] + 1]).split())
        if len(said.split()) > _FEWEST_TITLE_WORDS:
            said = said.removesuffix(":").rstrip(",")
            return said if len(said) <= _LONGEST_CAPTION else f"… {_end_of(said)}"
    titles = [line.rstrip(",") for line in lines if _is_title(line)][-_TITLE_LINES:]
    return ", ".join(" ".join(title.split()) for title in titles)


def _is_apart(line: str) -> bool:
    """True for a line that no sentence goes on from: a title, or the number of a page."""
    is_link = line.casefold() in LINKS_BACK
    return is_link or _is_title(line) or not any(map(str.isalpha, line))


def _end_of(text: str) -> str:
    return text[-_LONGEST_CAPTION:].partition(" ")[2]


def _is_title(line: str) -> bool:
    """True for a short line of words, mostly capitalised, without a stop."""
    said = [word for word in line.split() if word[:1].isalpha()]
    if len(said) < _FEWEST_TITLE_WORDS or len(line) > _LONGEST_TITLE or ends_sentence(line):
        return False
    if line.casefold() in LINKS_BACK or _AMOUNT.search(line):
        return False
    return sum(word[0].isupper() for word in said) >= len(said) / 2
