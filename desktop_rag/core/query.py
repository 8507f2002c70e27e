"""The query syntax: question text, phrases, excluded words and filters. Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date

from desktop_rag.core.errors import AppError
from desktop_rag.core.terms import terms

# A straight quotation mark after a letter or digit is an inch sign or a typo.
_QUOTED = r'(?:(?<![0-9A-Za-z])"[^"]*"(?![0-9A-Za-z])|“[^“”„]*”|„[^“”„]*[“”]|”[^“”„]*”|«[^«»]*»)'
_OPENING = '"“”„«'
FILTERS = ("file", "type", "folder", "collection", "tag", "after", "before")
DATES = ("after", "before")
_KEYS = "|".join(FILTERS)
_PART = re.compile(
    # In a pasted list a minus at the start of a line is a bullet.
    rf"(?:\A|(?<=[ \t\xa0]))-(?:(?P<excluded_phrase>{_QUOTED})"
    rf"|(?!(?i:{_KEYS}):)(?P<excluded>[^\W\d_][^\s\"“”„«»]*))"
    # file:// starts an address, and std::vector contains no filter.
    rf"|(?:\A|(?<=\s))(?P<key>(?i:{_KEYS})):(?!//)(?P<value>{_QUOTED}|[^\s\"“”„«»:][^\s\"“”„«»]*)"
    rf"|(?P<phrase>{_QUOTED})"
)
# Punctuation at the end of a sentence or clause is not part of the name before it.
_TRAILING_PUNCTUATION = ".,;:!?"
_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?")
# Common names of formats that have another name here, or several file endings.
_FORMATS = {
    "excel": ("spreadsheet",),
    "powerpoint": ("slides", "ppt", "pps"),
    "word": ("word", "doc"),
    "image": ("picture",),
    "photo": ("picture",),
    "email": ("e-mail", "outlook message"),
    "mail": ("e-mail", "outlook message"),
}
_MIN_PHRASE_WORDS = 2
_QUESTION_MARKS = ("?", "？", "؟")
_MAX_SEARCH_WORDS = 20
# Of a longer text, such as a pasted file, the beginning and the end are searched.
_MOST_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Filters:
    """Document filters. Items of one kind are alternatives; different kinds must all hold.

    `files`, `folders` and `collections` are as typed: a name or part of a path, with * as a
    wildcard; a file with a slash is part of a whole path. `types` are lower-case file endings
    without a dot, names of formats, or both as `text/py`; `other_types`, in this last form, are
    excluded. `tags` are whole tags, with * as a wildcard. `after` is the first day included,
    `before` the first excluded.
    """

    files: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    after: date | None = None
    before: date | None = None
    other_types: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True when every document may be searched."""
        return self == Filters()


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. `text` is the question without filters, excluded words and quotes.

    `phrases`, of two words or more, stay in `text` and must occur verbatim; none of the `excluded`
    words and phrases may occur. With `is_half_typed` the last word may be the beginning of one.
    """

    text: str
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    filters: Filters = field(default_factory=Filters)
    is_half_typed: bool = False

    @property
    def has_words(self) -> bool:
        """True when there is a letter or digit to search for."""
        return any(character.isalnum() for character in self.text)

    @property
    def is_only_filters(self) -> bool:
        """True when the query filters or excludes but contains no search word."""
        is_narrowed = bool(self.excluded) or not self.filters.is_empty
        return is_narrowed and not self.has_words


def strip_invalid_characters(text: str) -> str:
    """Replace characters that models and databases reject: NULs and lone surrogates.

    Lone surrogates come from bytes in another encoding on the command line.
    """
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole.replace("\0", " ")


def written_filters(text: str) -> list[str]:
    """The filters of a query as written, like `tag:roof`."""
    return [match[0] for match in _PART.finditer(text) if match["key"]]


def without_filters(text: str) -> str:
    """A query as written, without its filters."""
    return " ".join(_PART.sub(lambda match: "" if match["key"] else match[0], text).split())


def parse_query(text: str) -> Query:
    """Parse a query. Raises AppError for an invalid date.

    Filters are `file:report.pdf`, `type:pdf`, `folder:contracts`, `collection:Work`, `tag:roof`,
    `after:2024-01-31` and `before:2024-05`. A value with a space or comma is quoted;
    `type:pdf,docx` names two types. A * at either end of a name has no effect. `after:` includes
    its day, or the first day of its month or year; `before:` excludes it; the narrowest of several
    dates applies. `-word` and `-"some words"` exclude. Everything else is text: an unclosed quote,
    `note: this`, an address, `after:all`, -5, and a dash between spaces. In a long query, or one
    that ends with a question mark, quotation marks are ordinary punctuation and require nothing.
    """
    parser = _QueryParser()
    remaining = " ".join("".join(parser.read(strip_invalid_characters(text))).split())
    is_speech = remaining.endswith(_QUESTION_MARKS) or len(remaining.split()) > _MAX_SEARCH_WORDS
    return Query(
        _shortened(remaining),
        () if is_speech else _distinct(parser.phrases),
        _distinct(parser.excluded),
        parser.filters(),
    )


def _shortened(text: str) -> str:
    if len(text) <= _MOST_CHARS:
        return text
    half = _MOST_CHARS // 2
    return f"{text[:half].rpartition(' ')[0]} {text[-half:].partition(' ')[2]}"


class _QueryParser:
    def __init__(self) -> None:
        self.phrases: list[str] = []
        self.excluded: list[str] = []
        self._names: dict[str, list[str]] = {}
        self._after: list[date] = []
        self._before: list[date] = []

    def read(self, text: str) -> Iterator[str]:
        """The remaining text, piece by piece."""
        done = 0
        for match in _PART.finditer(text):
            yield text[done : match.start()]
            yield self._remaining_text(match)
            done = match.end()
        yield text[done:]

    def filters(self) -> Filters:
        """All filters combined."""
        files, types, folders, collections, tags = (
            _distinct(self._names.get(key, ())) for key in FILTERS if key not in DATES
        )
        after = max(self._after, default=None)
        before = min(self._before, default=None)
        return Filters(files, types, folders, collections, tags, after, before)

    def _remaining_text(self, match: re.Match[str]) -> str:
        if quoted := match["phrase"]:
            return self._phrase(quoted)
        if match["key"]:
            is_taken = self._filter(match["key"].casefold(), match["value"])
        else:
            is_taken = self._exclude(match["excluded_phrase"] or match["excluded"])
        return "" if is_taken else match[0]

    def _phrase(self, quoted: str) -> str:
        phrase = _unquoted(quoted)
        if len(terms(phrase)) >= _MIN_PHRASE_WORDS:
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
        if key == "tag":
            values = [name for value in _values(written, "") if (name := value.lstrip("#"))]
        if key == "type":
            plain = [value.casefold().lstrip(".") for value in values]
            values = [name for value in plain for name in _FORMATS.get(value, (value,)) if name]
        # file:https://… is not a file name.
        if not values or "://" in written:
            return False
        self._names.setdefault(key, []).extend(values)
        return True

    def _day(self, key: str, value: str) -> bool:
        # "What comes after:all that" contains no date.
        if not value[:1].isdecimal():
            return False
        days = self._after if key == "after" else self._before
        days.append(_first_day(key, value))
        return True


def _values(written: str, wild: str = "*") -> list[str]:
    """The names in a filter: `a,b` is two, quoted "a,b" is one; without `wild` at their ends."""
    value = _unquoted(written)
    several = [value] if written[0] in _OPENING else value.split(",")
    return [plain for one in several if (plain := one.strip().strip(wild))]


def _unquoted(written: str) -> str:
    if written[0] in _OPENING:
        return " ".join(written[1:-1].split())
    return written.rstrip(_TRAILING_PUNCTUATION)


def _first_day(key: str, value: str) -> date:
    match = _DATE.fullmatch(value)
    try:
        if match is None:
            raise ValueError(value)
        return date(*(int(part or 1) for part in match.groups()))
    except ValueError as exc:
        hint = f"Write it as {key}:2024, {key}:2024-05 or {key}:2024-05-31."
        raise AppError(f"“{value}” is not a date.", hint) from exc


def _distinct(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found))


_SUMMARY_WORDS = re.compile(
    r"(?:summari[sz]e(?: this)?|summary|tl;dr|zusammenfass(?:ung|en)|fasse zusammen|résum(?:é|er|e)"
    r"|resum(?:en|ir|e|o)|riassum(?:i|ere)|riassunto|samenvatt(?:ing|en)|streszczenie|podsumuj"
    r"|резюме|обобщи|кратко|摘要|总结|總結|概括|要約|まとめ|요약|özet(?:le)?)[\s.!:…]*"
)


def asks_for_summary(query: Query) -> bool:
    """True for a request word such as "summarise" alone, with or without filters."""
    return _SUMMARY_WORDS.fullmatch(query.text.casefold()) is not None
