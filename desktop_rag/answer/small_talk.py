"""Recognises greetings, thanks and questions about the app, and answers them. Any thread.

Such a text is made of the examples in resources/questions/small_talk.toml and nothing else, so that
a question about documents is never among them: it has a word that an example lacks.
"""

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from desktop_rag.answer.writing.answers import AnswerRequest
from desktop_rag.core.language.translation import tr
from desktop_rag.core.paths import resources_dir

# Others may follow these.
_COURTESIES = ("greeting", "thanks", "farewell")
_ABOUT, _VAGUE = "about", "vague"
_KINDS = (*_COURTESIES, _ABOUT, _VAGUE, "model", "privacy", "add")
_LONGEST_CHARS = 120
_WORD = re.compile(r"[^\W_]+")
_OPTIONAL = re.compile(r"\((.*?)\)")
# A page or a button of the window.
_NAMED = re.compile(r"\*\*([A-Z][A-Za-z ]+)\*\*")


@dataclass(frozen=True, slots=True)
class _Example:
    """The words for each place of an example, and all words that may be in it."""

    places: tuple[frozenset[str], ...]
    known: frozenset[str]

    def is_said_by(self, words: Sequence[str]) -> bool:
        """True when the words have one for each place, in its order, and no others."""
        left = iter(words)
        return self.known.issuperset(words) and all(
            any(word in place for word in left) for place in self.places
        )


@dataclass(frozen=True, slots=True)
class _Language:
    """The examples of one language by kind, all their words, and the answers; see the file."""

    examples: dict[str, tuple[_Example, ...]]
    known: frozenset[str]
    answers: dict[str, str]
    # For a language without spaces: finds known pieces, the longest first, else single characters.
    pieces: re.Pattern[str] | None

    def cut(self, words: list[str]) -> list[str]:
        """The words, or in a language without spaces their pieces."""
        return self.pieces.findall("".join(words)) if self.pieces else words

    def kind_of(self, words: Sequence[str], *, is_first: bool) -> str:
        """The kind of a text of these words; "" when it may be a question about documents.

        Behind a courtesy the rest may be anything that is small talk: "thanks, bye".
        """
        if not self.known.issuperset(words):
            return ""
        if kind := self._kind_of_one(words, is_first=is_first):
            return kind
        for count in range(1, len(words)):
            courtesy = self._kind_of_one(words[:count], is_first=is_first)
            rest = courtesy and self.kind_of(words[count:], is_first=is_first)
            if rest and courtesy in _COURTESIES:
                return courtesy if rest in _COURTESIES else rest
        return ""

    def _kind_of_one(self, words: Sequence[str], *, is_first: bool) -> str:
        for kind, examples in self.examples.items():
            # Only where a conversation begins can "this" stand for the app.
            is_possible = is_first or kind != _VAGUE
            if is_possible and any(example.is_said_by(words) for example in examples):
                return kind
        return ""


def reply_for(request: AnswerRequest, *, is_open: bool) -> str:
    """The reply to small talk; "" where "this" may be an attachment, or the assistant is open."""
    if request.attachments or request.every_file or is_open:
        return ""
    return reply_to(request.question, is_first=not request.history)


def reply_to(text: str, *, is_first: bool = True) -> str:
    """The answer to a greeting or to a question about the app, in its language; else "".

    Only where a conversation begins (`is_first`) can "this" stand for the app.
    """
    if len(text) > _LONGEST_CHARS:
        return ""
    words = _words(text)
    for language in _languages():
        if kind := language.kind_of(language.cut(words), is_first=is_first):
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
    around = frozenset(_words(table["around"]))
    examples = {
        kind: tuple(_example(line, around) for line in table[kind].strip().splitlines())
        for kind in _KINDS
        if kind in table
    }
    known = around.union(*(one.known for of_kind in examples.values() for one in of_kind))
    longest_first = sorted(map(re.escape, known), key=len, reverse=True)
    cut = re.compile("|".join([*longest_first, "."]), re.DOTALL)
    return _Language(examples, known, table["answers"], cut if table.get("unspaced") else None)


def _example(line: str, around: frozenset[str]) -> _Example:
    places = tuple(frozenset(_words(place)) for place in _OPTIONAL.sub("", line).split())
    return _Example(places, around.union(_words(line)))
