"""What a person typed to search: the question, phrases, words to leave out, filters. Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date

from desktop_rag.core.errors import AppError
from desktop_rag.core.terms import terms

# A straight quotation mark after a letter or a digit is an inch or a mistake.
_QUOTED = r'(?:(?<![0-9A-Za-z])"[^"]*"(?![0-9A-Za-z])|“[^“”„]*”|„[^“”„]*[“”]|”[^“”„]*”|«[^«»]*»)'
_OPENING = '"“”„«'
FILTERS = ("file", "type", "folder", "collection", "after", "before")
DATES = ("after", "before")
_KEYS = "|".join(FILTERS)
_PART = re.compile(
    # In a list that was pasted, a minus at the start of a line is a bullet.
    rf"(?:\A|(?<=[ \t\xa0]))-(?:(?P<excluded_phrase>{_QUOTED})"
    rf"|(?!(?i:{_KEYS}):)(?P<excluded>[^\W\d_][^\s\"“”„«»]*))"
    # file:// begins an address, and std::vector has no filter in it.
    rf"|(?:\A|(?<=\s))(?P<key>(?i:{_KEYS})):(?!//)(?P<value>{_QUOTED}|[^\s\"“”„«»:][^\s\"“”„«»]*)"
    rf"|(?P<phrase>{_QUOTED})"
)
# What ends a sentence or a clause is no part of the name before it.
_AFTER_WORDS = ".,;:!?"
_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?")
# What people call formats that have another name or several endings.
_FORMATS = {
    "excel": ("spreadsheet",),
    "powerpoint": ("slides", "ppt", "pps"),
    "word": ("word", "doc"),
    "image": ("picture",),
    "photo": ("picture",),
    "email": ("e-mail", "outlook message"),
    "mail": ("e-mail", "outlook message"),
}
_LEAST_PHRASE = 2
_QUESTION_MARKS = ("?", "？", "؟")
_LONGEST_SEARCH = 20


@dataclass(frozen=True, slots=True)
class Filters:
    """Which documents are asked. Items of one kind are alternatives, different kinds all hold.

    `files`, `folders` and `collections` are as typed: a name or a part of a path, in which a star
    stands for anything. `types` are in small letters without a dot: endings, or what formats are
    called. `after` is the first day that counts, `before` the first one that doesn't.
    """

    files: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    after: date | None = None
    before: date | None = None

    @property
    def is_empty(self) -> bool:
        """Every document is asked."""
        return self == Filters()


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. `text` is what is asked: without filters, excluded words and quotes.

    `phrases`, of two words or more, stay in `text` and must occur as they stand; none of the words
    and phrases `excluded` may occur.
    """

    text: str
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    filters: Filters = field(default_factory=Filters)

    @property
    def has_words(self) -> bool:
        """There is a letter or a digit to search for."""
        return any(character.isalnum() for character in self.text)

    @property
    def is_only_filters(self) -> bool:
        """Something is filtered or excluded, and no word is left to be asked."""
        is_narrowed = bool(self.excluded) or not self.filters.is_empty
        return is_narrowed and not self.has_words


def strip_invalid_characters(text: str) -> str:
    """The text without what neither models nor databases take: NULs, halves of surrogate pairs.

    Such halves stand for bytes in another encoding on the command line.
    """
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole.replace("\0", " ")


def parse_query(text: str) -> Query:
    """Take a query apart.

    Filters are `file:report.pdf`, `type:pdf`, `folder:contracts`, `collection:Work`,
    `after:2024-01-31` and `before:2024-05`, quoted where the value has a space or a comma in
    it: `type:pdf,docx` are two types. A star at either end of a name says nothing. `after:` takes
    in its day, or the first one of its month or year, `before:` does not; of several dates the
    narrowest hold. `-word` and `-"some words"` leave out what holds them. Whatever is none of
    these is text: an unclosed quote, `note: this`, an address, `after:all`, -5 and a dash between
    spaces. In a question that ends as one, or in a long one, quotes are a way of speaking and
    require nothing.

    Raises AppError for what begins as a date and isn't one.
    """
    reading = _Reading()
    left = " ".join("".join(reading.read(strip_invalid_characters(text))).split())
    is_speech = left.endswith(_QUESTION_MARKS) or len(left.split()) > _LONGEST_SEARCH
    return Query(
        left,
        () if is_speech else _different(reading.phrases),
        _different(reading.excluded),
        reading.filters(),
    )


class _Reading:
    """What was found in a query so far."""

    def __init__(self) -> None:
        self.phrases: list[str] = []
        self.excluded: list[str] = []
        self._names: dict[str, list[str]] = {}
        self._after: list[date] = []
        self._before: list[date] = []

    def read(self, text: str) -> Iterator[str]:
        """What is left of the text, piece by piece."""
        done = 0
        for match in _PART.finditer(text):
            yield text[done : match.start()]
            yield self._left_of(match)
            done = match.end()
        yield text[done:]

    def filters(self) -> Filters:
        """All filters together."""
        files, types, folders, collections = (
            _different(self._names.get(key, ())) for key in ("file", "type", "folder", "collection")
        )
        after = max(self._after, default=None)
        before = min(self._before, default=None)
        return Filters(files, types, folders, collections, after, before)

    def _left_of(self, match: re.Match[str]) -> str:
        if quoted := match["phrase"]:
            return self._phrase(quoted)
        if match["key"]:
            is_taken = self._filter(match["key"].casefold(), match["value"])
        else:
            is_taken = self._exclude(match["excluded_phrase"] or match["excluded"])
        return "" if is_taken else match[0]

    def _phrase(self, quoted: str) -> str:
        phrase = _unquoted(quoted)
        if len(terms(phrase)) >= _LEAST_PHRASE:
            self.phrases.append(phrase)
        return phrase

    def _exclude(self, written: str) -> bool:
        value = _unquoted(written)
        if terms(value):
            self.excluded.append(value)
        return bool(terms(value))

    def _filter(self, key: str, written: str) -> bool:
        if key in DATES:
            return self._day(key, _unquoted(written))
        values = _values(written)
        if key == "type":
            plain = [value.casefold().lstrip(".") for value in values]
            values = [name for value in plain for name in _FORMATS.get(value, (value,)) if name]
        # file:https://… is no name of a file.
        if not values or "://" in written:
            return False
        self._names.setdefault(key, []).extend(values)
        return True

    def _day(self, key: str, value: str) -> bool:
        # "What comes after:all that" has no date in it.
        if not value[:1].isdecimal():
            return False
        days = self._after if key == "after" else self._before
        days.append(_first_day(key, value))
        return True


def _values(written: str) -> list[str]:
    """The names in a filter: `a,b` are two, "a,b" in quotes one; *.pdf is .pdf."""
    value = _unquoted(written)
    several = [value] if written[0] in _OPENING else value.split(",")
    return [plain for one in several if (plain := one.strip().strip("*"))]


def _unquoted(written: str) -> str:
    if written[0] in _OPENING:
        return " ".join(written[1:-1].split())
    return written.rstrip(_AFTER_WORDS)


def _first_day(key: str, value: str) -> date:
    match = _DATE.fullmatch(value)
    try:
        if match is None:
            raise ValueError(value)
        return date(*(int(part or 1) for part in match.groups()))
    except ValueError as exc:
        hint = f"Write it as {key}:2024, {key}:2024-05 or {key}:2024-05-31."
        raise AppError(f"“{value}” is not a date.", hint) from exc


def _different(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found))
