"""Recognises greetings, thanks and questions about the app, and answers them. Any thread.

Such a text is made of the phrases in resources/questions/small_talk.toml and nothing else, so that
a question about documents is never among them.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from desktop_rag.core.language.translation import tr
from desktop_rag.core.paths import resources_dir

# Courtesies: a text of nothing else is one, and others may follow them.
_COURTESIES = ("greeting", "thanks", "farewell")
# Whole clauses of the same kinds, in languages that have them.
_SAID = {"greetings": "greeting", "thanked": "thanks", "parted": "farewell"}
_VAGUE = "vague"
_TOPICS = ("about", "model", "privacy", _VAGUE)
_LONGEST_CHARS = 120
# Left out wherever they stand.
_POLITENESS = frozenset(
    ["please", "pls", "plz", "bitte", "svp", "alsjeblieft", "alstublieft", "lütfen", "пожалуйста"]
)
_CLAUSE_END = re.compile(r"[,;.!?…:،؟。！？、，]+(?=\s|$)|[。！？、，]|\s[-–—]\s|\n")
# A page or a button of the window.
_NAMED = re.compile(r"\*\*([A-Z][A-Za-z ]+)\*\*")
_NO_WORD = re.compile(r"[^\w'-]+|(?<!\w)['-]|['-](?!\w)")


@dataclass(frozen=True, slots=True)
class _Bag:
    """A text of these words, one of the `needed` at least, has one meaning."""

    needed: frozenset[str]
    others: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Language:
    """The phrases of one language, and the answers; see the file."""

    courtesies: dict[str, _Bag]
    topics: dict[str, str]
    add: frozenset[str]
    what: frozenset[str]
    asks_how: frozenset[str]
    with_add: frozenset[str]
    said: dict[str, str]
    openers: frozenset[str]
    answers: dict[str, str]
    # For a language without spaces: finds known pieces, the longest first, else single characters.
    pieces: re.Pattern[str] | None

    def kind_of(self, text: str, *, is_first: bool) -> str:
        """The kind of a plain text; "" when it may be a question about documents."""
        words = self.pieces.findall("".join(text.split())) if self.pieces else text.split()
        if not words:
            return ""
        for name, bag in self.courtesies.items():
            if bag.needed.union(bag.others).issuperset(words) and bag.needed.intersection(words):
                return name
        rest = self._without_greeting(words)
        # "Great job" begins like "great, bye", so the whole is looked up first.
        phrases = [self._joined(each) for each in (rest, self._without_openers(rest))]
        if said := next((self.said[phrase] for phrase in phrases if phrase in self.said), ""):
            return said
        topic = next((self.topics[phrase] for phrase in phrases if phrase in self.topics), "")
        if topic and (is_first or topic != _VAGUE):
            return "about" if topic == _VAGUE else topic
        is_adding = all(part.intersection(rest) for part in (self.add, self.what, self.asks_how))
        known = self.add.union(self.what, self.asks_how, self.with_add)
        return "add" if is_adding and known.issuperset(rest) else ""

    def kind_of_all(self, clauses: list[str], *, is_first: bool) -> str:
        """The kind of a text of these clauses; "" unless each of them is small talk."""
        kinds = [self.kind_of(clause, is_first=is_first) for clause in clauses]
        if not kinds or not all(kinds):
            return ""
        return next((kind for kind in kinds if kind not in _COURTESIES), kinds[0])

    def _without_openers(self, words: list[str]) -> list[str]:
        """The words after "ok", "so" and the like, unless they are all there is."""
        count = next((n for n, word in enumerate(words) if word not in self.openers), 0)
        return words[count:]

    def _without_greeting(self, words: list[str]) -> list[str]:
        """The words after a greeting, and before words of politeness at the end."""
        bag = self.courtesies["greeting"]
        for count in range(1, len(words)):
            first = words[:count]
            is_greeting = bag.needed.union(bag.others).issuperset(first)
            if (
                is_greeting
                and bag.needed.intersection(first)
                and self._joined(words[count:]) in self.topics
            ):
                return words[count:]
        return words

    def _joined(self, words: list[str]) -> str:
        return ("" if self.pieces else " ").join(words)


def reply_to(text: str, *, is_first: bool = True) -> str:
    """The answer to a greeting or to a question about the app, in its language; else "".

    Only where a conversation begins (`is_first`) can "this" stand for the app.
    """
    if len(text) > _LONGEST_CHARS:
        return ""
    plain = _plain(text)
    clauses = [clause for part in _CLAUSE_END.split(text) if (clause := _plain(part))]
    for language in _languages():
        kind = language.kind_of(plain, is_first=is_first)
        if kind := kind or language.kind_of_all(clauses, is_first=is_first):
            return _with_names(language.answers[kind])
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


def _plain(text: str) -> str:
    """Lower case, without punctuation, and without a word of politeness at the end."""
    lower = text.casefold().replace("’", "'")
    return " ".join(word for word in _NO_WORD.sub(" ", lower).split() if word not in _POLITENESS)


def _cutter(pieces: Iterable[str]) -> re.Pattern[str]:
    """Cuts a text without spaces into known pieces; the rest into characters."""
    longest_first = sorted(pieces, key=len, reverse=True)
    return re.compile("|".join([*map(re.escape, longest_first), "."]), re.DOTALL)


@cache
def _languages() -> tuple[_Language, ...]:
    path = resources_dir() / "questions" / "small_talk.toml"
    return tuple(map(_language_of, tomllib.loads(path.read_text(encoding="utf-8")).values()))


def _language_of(table: dict[str, Any]) -> _Language:
    def listed(name: str) -> frozenset[str]:
        return frozenset(table[name].split())

    sets = [listed(name) for name in ("add", "what", "asks_how", "with_add")]
    courtesies = {n: _Bag(listed(n), listed(f"with_{n}")) for n in _COURTESIES}
    spoken = [word for bag in courtesies.values() for word in (*bag.needed, *bag.others)]
    pieces = {*spoken, *(word for words in sets for word in words)}
    add, what, asks_how, with_add = sets
    return _Language(
        courtesies,
        {phrase: topic for topic in _TOPICS for phrase in table[topic].split("|") if phrase},
        add,
        what,
        asks_how,
        with_add,
        {p: kind for name, kind in _SAID.items() for p in table.get(name, "").split("|") if p},
        frozenset(table.get("openers", "").split()),
        table["answers"],
        _cutter(pieces) if table.get("pieces") else None,
    )
