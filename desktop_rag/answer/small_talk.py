"""Recognises greetings, thanks and questions about the app, and answers them. Any thread.

Such a text is made of the examples in resources/questions/small_talk.toml and of their words alone,
so that a question about documents is never among them: it has a word that no example has.
"""

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from desktop_rag.core.language.translation import tr
from desktop_rag.core.paths import resources_dir

# Others may follow these.
_THANKS = "thanks"
_COURTESIES = ("greeting", _THANKS, "farewell")
_ABOUT, _VAGUE = "about", "vague"
_KINDS = (*_COURTESIES, _ABOUT, _VAGUE, "model", "privacy", "add")
_LONGEST_CHARS = 120
# The share that an example has at least in a question: "who can help me" isn't "help me".
_LEAST_SHARE = 2 / 3
_QUESTION_MARKS = ("?", "？", "؟")
_WORD = re.compile(r"[^\W_]+")
_OPTIONAL = re.compile(r"\((.*?)\)")
# A page or a button of the window.
_NAMED = re.compile(r"\*\*([A-Z][A-Za-z ]+)\*\*")

# The words that may stand at each place of an example.
_Example = tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class _Language:
    """The examples of one language and their words, by kind, and the answers; see the file."""

    around: frozenset[str]
    examples: dict[str, tuple[_Example, ...]]
    known: dict[str, frozenset[str]]
    answers: dict[str, str]
    # For a language without spaces: finds known pieces, the longest first, else single characters.
    pieces: re.Pattern[str] | None

    def cut(self, words: list[str]) -> list[str]:
        """The words, or in a language without spaces their pieces."""
        return self.pieces.findall("".join(words)) if self.pieces else words

    def kind_of(self, words: Sequence[str], *, is_first: bool, asks: bool) -> str:
        """The kind of a text of these words; "" when it may be a question about documents.

        Behind a courtesy the rest may be anything that is small talk: "thanks, bye".
        """
        if kind := self._kind_of_one(words, is_first=is_first, asks=asks):
            return kind
        for count in range(1, len(words)):
            courtesy = self._kind_of_one(words[:count], is_first=is_first, asks=asks)
            rest = courtesy and self.kind_of(words[count:], is_first=is_first, asks=asks)
            if rest and courtesy in _COURTESIES:
                return courtesy if rest in _COURTESIES else rest
        return ""

    def _kind_of_one(self, words: Sequence[str], *, is_first: bool, asks: bool) -> str:
        own = [word for word in words if word not in self.around]
        for kind, examples in self.examples.items():
            # Only where a conversation begins can "this" stand for the app.
            is_possible = not (asks if kind == _THANKS else kind == _VAGUE and not is_first)
            if is_possible and self.known[kind].issuperset(own):
                is_told = kind in _COURTESIES and not asks
                least = 0 if is_told else _LEAST_SHARE * len(own)
                if any(self._size(e) >= least and _holds(words, e) for e in examples):
                    return kind
        return ""

    def _size(self, example: _Example) -> int:
        return sum(not place <= self.around for place in example)


def _holds(words: Sequence[str], example: _Example) -> bool:
    """True when the words have one for each place of the example, in its order."""
    left = iter(words)
    return all(any(word in place for word in left) for place in example)


def reply_to(text: str, *, is_first: bool = True) -> str:
    """The answer to a greeting or to a question about the app, in its language; else "".

    Only where a conversation begins (`is_first`) can "this" stand for the app.
    """
    if len(text) > _LONGEST_CHARS:
        return ""
    asks = any(mark in text for mark in _QUESTION_MARKS)
    words = _words(text)
    for language in _languages():
        if kind := language.kind_of(language.cut(words), is_first=is_first, asks=asks):
            return _with_names(language.answers[_ABOUT if kind == _VAGUE else kind])
    return ""


def _with_names(answer: str) -> str:
    """The answer with the pages and buttons named as the window has them."""
    names = {
        "Library": tr("Library"),
        "Add folder": tr("Add folder"),
        "Settings": tr("Settings"),
        "Privacy": tr("Privacy"),
    }
    return _NAMED.sub(lambda found: f"**{names.get(found[1], found[1])}**", answer)


def _words(text: str) -> list[str]:
    """The words in lower case, without accents."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(letter for letter in apart if not unicodedata.combining(letter))
    return _WORD.findall(unicodedata.normalize("NFC", plain))


@cache
def _languages() -> tuple[_Language, ...]:
    path = resources_dir() / "questions" / "small_talk.toml"
    return tuple(map(_language_of, tomllib.loads(path.read_text(encoding="utf-8")).values()))


def _language_of(table: dict[str, Any]) -> _Language:
    lines = {kind: table[kind].strip().splitlines() for kind in _KINDS if kind in table}
    around = frozenset(_words(table["around"]))
    known = {kind: frozenset(_words(table[kind])) for kind in lines}
    pieces = sorted(around.union(*known.values()), key=len, reverse=True)
    cut = re.compile("|".join([*map(re.escape, pieces), "."]), re.DOTALL)
    examples = {kind: tuple(map(_example, each)) for kind, each in lines.items()}
    return _Language(
        around, examples, known, table["answers"], cut if table.get("unspaced") else None
    )


def _example(line: str) -> _Example:
    return tuple(frozenset(_words(place)) for place in _OPTIONAL.sub("", line).split())
