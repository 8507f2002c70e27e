"""The query syntax explained, filters put into words, and hints on mistyped ones. Any thread."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from desktop_rag.core.language.translation import tr
from desktop_rag.core.query import DATES, FILTERS, Filters, Query

_LONGEST_ENDING = 5
# Quotation marks end a value, and runs of white space are collapsed in it.
_NOT_IN_A_VALUE = re.compile(r'["“”„«»]|[^\S ]|\s{2,}')
# A word with a colon and a value, except an address.
_FILTER_LIKE = re.compile(r"(?<!\S)([^\W\d_]{3,11}):(?![/:])[^\s]+")


@dataclass(frozen=True, slots=True)
class SyntaxExample:
    """A piece of syntax and its effect."""

    written: str
    meaning: str


SEARCH_SYNTAX = (
    SyntaxExample('"exact words"', tr("only passages with these words in this order")),
    SyntaxExample("-word", tr("only passages without the word")),
    SyntaxExample("file:report", tr("only files with this in their name")),
    SyntaxExample("type:pdf", tr("only files of this type")),
    SyntaxExample("folder:taxes", tr("only what lies in such a folder")),
    SyntaxExample("collection:Work", tr("only such a collection")),
    SyntaxExample("tag:idea", tr("only files with this tag")),
    SyntaxExample("after:2024-01-31", tr("only files dated this day or later")),
    SyntaxExample("before:2024-12-31", tr("only files dated before this day")),
)


def quoted_value(name: str) -> str:
    """A name as the value of a filter, with * for characters a value can't hold."""
    return '"' + _NOT_IN_A_VALUE.sub("*", name) + '"'


def syntax_lines() -> list[str]:
    """One line per example, in columns."""
    width = max(len(example.written) for example in SEARCH_SYNTAX) + 2
    return [f"{example.written:<{width}}{example.meaning}" for example in SEARCH_SYNTAX]


def limits_in_words(*queries: Query) -> str:
    """A description of all filters: `Only PDF files in the folder “taxes”`; empty without filters.

    Filters of several queries are combined. There is no full stop.
    """
    each = [[*_document_limits(query.filters), *_passage_limits(query)] for query in queries]
    said = ", and of these only ".join(", ".join(limits) for limits in each if limits)
    return f"Only {said}" if said else ""


def hints_for(query: Query) -> tuple[str, ...]:
    """Hints on words that look like mistyped filters."""
    return tuple(_hints(query.text))


def _hints(text: str) -> Iterator[str]:
    for match in _FILTER_LIKE.finditer(text):
        key = match[1].casefold()
        if key in DATES:
            yield f"{_quoted(match[0])} was searched as words: a date is {key}:2024-01-31."
        elif meant := next((name for name in FILTERS if _is_one_edit_away(key, name)), ""):
            yield f"{_quoted(match[0])} was searched as words: the filter is {meant}:."


def _is_one_edit_away(word: str, name: str) -> bool:
    """True for one wrong, missing or extra letter after the first, or two swapped ones."""
    if word == name or word[0] != name[0] or abs(len(word) - len(name)) > 1:
        return False
    begins = next((n for n, (a, b) in enumerate(zip(word, name, strict=False)) if a != b), None)
    if begins is None:
        return True
    rest, wanted = word[begins:], name[begins:]
    return (
        rest[1:] == wanted[1:]
        or rest == wanted[1:]
        or rest[1:] == wanted
        or (rest[:2] == wanted[1::-1] and rest[2:] == wanted[2:])
    )


def _document_limits(filters: Filters) -> Iterator[str]:
    if filters.is_empty:
        return
    said = [
        f"{_joined_with_or(list(map(_type, filters.types)))} files" if filters.types else "files"
    ]
    for words, names in (
        ("named like", filters.files),
        ("in the folder", filters.folders),
        ("of the collection", filters.collections),
        ("tagged", filters.tags),
    ):
        if names:
            said.append(f"{words} {_joined_with_or(list(map(_quoted, names)))}")
    if filters.after:
        said.append(f"dated {_day(filters.after)} or later")
    if filters.before:
        said.append(f"{'and' if filters.after else 'dated'} before {_day(filters.before)}")
    yield " ".join(said)


def _passage_limits(query: Query) -> Iterator[str]:
    if query.phrases:
        yield f"passages with {' and '.join(map(_quoted, query.phrases))}"
    if query.excluded:
        without = f"without {_joined_with_or(list(map(_quoted, query.excluded)))}"
        yield without if query.phrases else f"passages {without}"


def _joined_with_or(names: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _type(name: str) -> str:
    """A file ending in capitals, any other name unchanged: PDF, spreadsheet."""
    return name.upper() if len(name) <= _LONGEST_ENDING else name


def _quoted(name: str) -> str:
    return f"“{name}”"


def _day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"
