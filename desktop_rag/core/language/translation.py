"""Texts for people, in their language. Any thread.

`tr` marks a text for Qt's tools, which collect it by that name (`make words`), and gives its
translation. Constants of modules are translated when they are imported, so the language is chosen
before the rooms of the window are.

`told` is for texts made outside the window's rooms, which are English until somebody shows them.
"""

import re
import string
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar

from desktop_rag.core.language.told_texts import ToldTexts


class _Language:
    """What is used now; without a choice, the texts as they are written here."""

    lookup: Callable[[str], str] | None = None
    separator = ","
    decimal = "."
    told: ToldTexts | None = None


_in_english: ContextVar[bool] = ContextVar("in_english", default=False)


@contextmanager
def in_english() -> Generator[None]:
    """Within it, and on this thread, texts are as they are written here.

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
    """Translate by `lookup`, which returns "" for what it doesn't know; None for English.

    `separator` stands between the thousands of a number, `decimal` before its fractions.
    `told_texts` are those that `told` knows.
    """
    _Language.lookup, _Language.separator, _Language.decimal = lookup, separator, decimal
    _Language.told = ToldTexts(told_texts, lookup, separator) if lookup else None


def told(text: str, /) -> str:
    """A failure, reason or notice in the person's language: a finished text in English.

    For what is about to be shown. What is stored, logged or sent to a program stays English.
    """
    known = None if _in_english.get() else _Language.told
    return known.translated(text) if known else text


def tr(text: str, /, **values: object) -> str:
    """The text in the person's language, with the values in place of their names in braces.

    Without values, braces are braces.
    """
    lookup = None if _in_english.get() else _Language.lookup
    translated = (lookup(text) if lookup else "") or text
    return _FORMATTER.vformat(translated, (), values) if values else translated


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
    """A number in digits with the separators of the language."""
    if _in_english.get():
        return number
    separators = {",": _Language.separator, ".": _Language.decimal}
    return "".join(separators.get(each, each) for each in number)


_NUMBER = re.compile(r",|,?\.\d+f")
_FORMATTER = _Formatter()
