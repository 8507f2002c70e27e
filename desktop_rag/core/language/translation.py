"""Texts for people, in their language. Any thread.

`tr` marks a text for Qt's tools, which collect it by that name (`make words`), and translates it.
Module constants are translated on import, so the language is chosen before the window is imported.
`told` is for texts made outside the window, which stay English until they are shown.
"""

import re
import string
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import NamedTuple

_PLACE = re.compile(r"\{(\w+)(:,?(?:\.\df)?)?\}")
_COUNT = r"-?\d[\d,]*"
_DECIMAL = rf"{_COUNT}(?:\.\d+)?"
_BRACES = re.compile(r"\{\{|\}\}")
_BETWEEN = re.compile(r"(\n+|(?<=[.!?…”);]) +)")
_ENDINGS = ("", ".", ";", ".;")
# Longer texts are not messages of the app.
_LONGEST_CHARS = 2000
_MOST_SENTENCES = 20
_MOST_IN_A_TEXT = 6
_MOST_KEPT = 2000
_DEEPEST = 4
# Counts, alone and in a list, and sizes have no words of their own.
_COUNTED = (
    "{count:,} {what}", "{count:,} {what}, {rest}",
    "{size:,.1f} KB", "{size:,.1f} MB", "{size:,.1f} GB",
)  # fmt: skip


class _Form(NamedTuple):
    """A compiled template: its pattern, its translation and the number of fixed letters."""

    pattern: re.Pattern[str]
    translation: str
    size: int
    quoted: frozenset[str]


class _Found(NamedTuple):
    """A translation, and how many letters of the English text were recognised."""

    size: int
    text: str


class ToldTexts:
    """Translates finished English messages by matching them against their templates.

    Messages are stored, logged and sent to programs in English. Unknown parts stay as they are:
    names, paths, the words of a server.
    """

    def __init__(
        self,
        texts: Iterable[str],
        lookup: Callable[[str], str],
        separator: str = ",",
        decimal: str = ".",
    ) -> None:
        """A placeholder is `{name}`, or as `{name:,.1f}` for a number; other braces are doubled.

        `lookup` returns the translation of a template, "" for none; `separator` groups thousands,
        `decimal` precedes fractions.
        """
        self._written = str.maketrans({",": separator, ".": decimal})
        self._whole: dict[str, str] = {}
        # By their first word; "" for those that begin with a placeholder.
        self._forms: defaultdict[str, list[_Form]] = defaultdict(list)
        self.translated = lru_cache(_MOST_KEPT)(self._translated)
        for text in texts:
            if translation := lookup(text):
                self._add(text, translation)
        for text in _COUNTED:
            self._add(text, text)

    def _translated(self, text: str) -> str:
        return self._found(text, 0).text if len(text) <= _LONGEST_CHARS else text

    def _add(self, text: str, translation: str) -> None:
        if not _PLACE.search(text):
            self._whole[_plain(text)] = _plain(translation)
            return
        pattern, end = "", 0
        for place in _PLACE.finditer(text):
            name, form = place[1], place[2] or ""
            pattern += re.escape(_plain(text[end : place.start()]))
            value = _DECIMAL if form.endswith("f") else _COUNT if form else ".+?"
            is_known = f"(?P<{name}>" in pattern
            pattern += f"(?P={name})" if is_known else f"(?P<{name}>{value})"
            end = place.end()
        pattern += re.escape(_plain(text[end:]))
        form = _Form(
            re.compile(pattern, re.DOTALL),
            translation,
            # A place for a number says more than one for anything.
            len(_PLACE.sub("", text)) + sum(bool(form) for _, form in _PLACE.findall(text)),
            frozenset(re.findall(r"“\{(\w+)\}”", text)),
        )
        self._forms[_first_word(_PLACE.split(text)[0])].append(form)

    def _found(self, text: str, depth: int) -> _Found:
        """The reading of a text as a sequence of templates that recognises most letters."""
        pieces = _BETWEEN.split(text)
        count = len(pieces) // 2 + 1
        if count > _MOST_SENTENCES:
            return _Found(0, text)
        best = [_Found(0, "")] * (count + 1)
        for first in reversed(range(count)):
            between = pieces[2 * first + 1] if first + 1 < count else ""
            rest = best[first + 1]
            best[first] = _Found(rest.size, pieces[2 * first] + between + rest.text)
            for last in range(first, min(count, first + _MOST_IN_A_TEXT)):
                known = self._read("".join(pieces[2 * first : 2 * last + 1]), depth)
                rest = best[last + 1]
                if known and known.size + rest.size > best[first].size:
                    between = pieces[2 * last + 1] if last + 1 < count else ""
                    size = known.size + rest.size
                    best[first] = _Found(size, known.text + between + rest.text)
        return best[0]

    def _read(self, text: str, depth: int) -> _Found | None:
        """One text, with or without punctuation at its end."""
        read: list[_Found] = []
        for ending in filter(text.endswith, _ENDINGS):
            stem = text.removesuffix(ending)
            if stem in self._whole:
                return _Found(len(stem), self._whole[stem] + ending)
            forms = [*self._forms.get(_first_word(stem), ()), *self._forms[""]]
            filled = (self._filled(form, stem, depth) for form in forms)
            read += [_Found(each.size, each.text + ending) for each in filled if each]
        return max(read, key=lambda each: each.size, default=None)

    def _filled(self, form: _Form, text: str, depth: int) -> _Found | None:
        match = form.pattern.fullmatch(text)
        if not match:
            return None
        size, values = form.size, dict[str, str]()
        for name, value in match.groupdict().items():
            stripped = value.strip()
            # A name in quotation marks is a name, even where it looks like a word of ours.
            is_read = depth < _DEEPEST and name not in form.quoted and bool(stripped)
            known = self._found(stripped, depth + 1) if is_read else _Found(0, stripped)
            size += known.size
            values[name] = value.replace(stripped, known.text, 1) if stripped else value

        def put(place: re.Match[str]) -> str:
            value = values[place[1]]
            return value.translate(self._written) if place[2] else value

        return _Found(size, _filled_in(form.translation, put))


def _filled_in(translation: str, put: Callable[[re.Match[str]], str]) -> str:
    text, end = "", 0
    for place in _PLACE.finditer(translation):
        text += _plain(translation[end : place.start()]) + put(place)
        end = place.end()
    return text + _plain(translation[end:])


def _plain(text: str) -> str:
    return _BRACES.sub(lambda found: found[0][0], text)


def _first_word(text: str) -> str:
    """The complete first word of a text, "" if it runs into a placeholder."""
    word, blank, _ = text.partition(" ")
    return word if blank else ""


class _Language:
    """The language in use; by default texts stay as written."""

    lookup: Callable[[str], str] | None = None
    separator = ","
    decimal = "."
    told: ToldTexts | None = None


_in_english: ContextVar[bool] = ContextVar("in_english", default=False)


@contextmanager
def in_english() -> Generator[None]:
    """Leave texts as written, within it and on this thread.

    For what is sent to a terminal or to a program, whose own texts are English.
    """
    token = _in_english.set(True)
    try:
        yield
    finally:
        _in_english.reset(token)


def use_language(
    lookup: Callable[[str], str] | None,
    separator: str = ",",
    told_texts: Iterable[str] = (),
    decimal: str = ".",
) -> None:
    """Translate with `lookup`, which returns "" for unknown texts; None for English.

    `separator` groups thousands, `decimal` precedes fractions. `told_texts` are templates for
    `told`.
    """
    _Language.lookup, _Language.separator, _Language.decimal = lookup, separator, decimal
    _Language.told = ToldTexts(told_texts, lookup, separator, decimal) if lookup else None


def told(text: str, /) -> str:
    """A finished English failure, reason or notice in the person's language, for display only."""
    known = None if _in_english.get() else _Language.told
    return known.translated(text) if known else text


def tr(text: str, /, **values: object) -> str:
    """The translation, with any values in place of their names in braces."""
    found = translated(text)
    return _FORMATTER.vformat(found, (), values) if values else found


def translated(text: str) -> str:
    """The translation of a text that is marked."""
    lookup = None if _in_english.get() else _Language.lookup
    return (lookup(text) if lookup and text else "") or text


def number_in_words(number: int) -> str:
    """`1,998`, as the person's language writes it."""
    return _written(f"{number:,}")


def decimal_in_words(number: float, places: int) -> str:
    """`1,998.5` with this many places after the point, as the person's language writes it."""
    return _written(f"{number:,.{places}f}")


def count_of(number: int, one: str, many: str) -> str:
    """`1 file`, `1,998 files`, of both forms of the word."""
    return f"{number_in_words(number)} {one if number == 1 else many}"


class _Formatter(string.Formatter):
    def format_field(self, value: object, format_spec: str) -> str:
        text = str(super().format_field(value, format_spec))
        return _written(text) if _NUMBER.fullmatch(format_spec) else text


def _written(number: str) -> str:
    """Digits with the separators of the language."""
    if _in_english.get():
        return number
    separators = {",": _Language.separator, ".": _Language.decimal}
    return "".join(separators.get(each, each) for each in number)


_NUMBER = re.compile(r",|,?\.\d+f")
_FORMATTER = _Formatter()
