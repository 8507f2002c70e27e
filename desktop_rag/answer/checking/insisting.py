"""Recognises turns in which a person holds on to what an answer denied. Pure, any thread.

By the phrases of twelve languages in resources/questions/insisting.toml. A model gives in to such a
turn more easily than to any argument.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from desktop_rag.core.paths import resources_dir

# Longer texts explain something new, and are read as they are.
_LONGEST_CHARS = 600
# A point inside a number, and after the day of a date, ends no sentence.
_SENTENCE = re.compile(
    r"[^.!?…。！？\n]+(?:(?:[.](?=\S)|(?<=\b\d)[.]|(?<=\b\d\d)[.])[^.!?…。！？\n]+)*[.!?…。！？]*"
)
_QUESTION_MARKS = ("?", "？", "؟")
_EDGES = " \t\r\n,;:.!…–—-、，。！：；\"“”„«»'"
# Fewer words left of a denial claim nothing.
_LEAST_WORDS = 3
_NUMBER = re.compile(r"\d")
_CLAUSE = re.compile(r"[,;:](?=\s)|[、，；：]|\s[–—-]\s")


def insisted_claim(text: str) -> str | None:
    """What a turn claims against the answer before it, "" for a mere denial.

    None when it does not insist on anything.
    """
    if len(text) > _LONGEST_CHARS:
        return None
    sentences = [found[0].strip() for found in _SENTENCE.finditer(text.replace("’", "'"))]
    stated = [s for s in sentences if s.strip(_EDGES) and not s.endswith(_QUESTION_MARKS)]
    if len(stated) > 1 and stated[0] == sentences[0] and not _asks(stated[1]):
        # "No. It was 2019." is one objection.
        first = stated[0].strip(_EDGES)
        stated = [f"{first}, {stated[1]}", *stated[2:]] if len(first.split()) == 1 else stated
    for place, sentence in enumerate(stated):
        if language := _language_of(sentence, is_first=not place):
            return " ".join(filter(None, map(language.claim_in, stated)))
    return None


@dataclass(frozen=True, slots=True)
class _Language:
    denials: re.Pattern[str]
    opener: re.Pattern[str]
    fillers: re.Pattern[str]
    asks: re.Pattern[str]
    clarifies: re.Pattern[str]

    def begun(self, sentence: str) -> str:
        """The sentence without the fillers that it begins with: "look, …", but not "look again"."""
        return sentence if self.denials.match(sentence) else self.fillers.sub("", sentence)

    def asks_first(self, sentence: str) -> bool:
        """True when it begins as a question or a request, and with no longer denial."""
        begun = self.begun(sentence)
        asks, denies = (
            self.asks.match(sentence) or self.asks.match(begun),
            self.denials.match(begun),
        )
        return bool(asks) and not (denies and len(denies[0]) > len(asks[0]))

    def insistence(self, sentence: str, *, is_first: bool) -> int:
        """The number of characters that insist; 0 when none does."""
        denied = sum(len(found[0]) for found in self.denials.finditer(sentence))
        begun = self.begun(sentence)
        opener = self.opener.match(begun) if is_first else None
        has_more = opener and begun[opener.end() :].strip(_EDGES)
        return denied + (len(opener[0]) if opener and has_more else 0)

    def is_request(self, sentence: str) -> bool:
        """True when it says what was meant, or asks for something."""
        return bool(self.clarifies.search(self.denials.sub("", sentence)))

    def claim_in(self, sentence: str) -> str:
        """The sentence without the clauses, or at least the words, that only insist."""
        clauses = [clause.strip(_EDGES) for clause in _CLAUSE.split(self.begun(sentence))]
        claims = [clause for clause in clauses if not self.denials.search(clause)]
        if claims:
            opener = self.opener.match(claims[0]) if claims[0] == clauses[0] else None
            claims[0] = claims[0][opener.end() :].strip(_EDGES) if opener else claims[0]
            return ", ".join(filter(None, claims))
        rest = " ".join(self.denials.sub("", sentence).split()).strip(_EDGES)
        return rest if len(rest.split()) >= _LEAST_WORDS or _NUMBER.search(rest) else ""


def _asks(sentence: str) -> bool:
    """True when a sentence begins as a question or a request does."""
    return any(language.asks_first(sentence) for language in _languages())


def _language_of(sentence: str, *, is_first: bool) -> _Language | None:
    """The language in which a sentence insists most; None when it asks for something in one."""
    every = _languages()
    if _asks(sentence):
        return None
    found = {n: every[n].insistence(sentence, is_first=is_first) for n in range(len(every))}
    insisting = [n for n, length in found.items() if length]
    if not insisting or any(every[n].is_request(sentence) for n in insisting):
        return None
    return every[max(insisting, key=lambda n: found[n])]


@cache
def _languages() -> tuple[_Language, ...]:
    path = resources_dir() / "questions" / "insisting.toml"
    return tuple(_read(tomllib.loads(path.read_text(encoding="utf-8")).values()))


def _read(tables: Iterable[dict[str, Any]]) -> Iterator[_Language]:
    for table in tables:
        has_spaces = not table.get("pieces", False)
        denying = _any_of([*table["denials"], *table["assurances"]], has_spaces=has_spaces)
        fillers = _any_of(table["fillers"], has_spaces=has_spaces)
        yield _Language(
            _with_contrasts(denying, table["contrasts"]),
            _any_of(table["opener"], has_spaces=has_spaces),
            re.compile(rf"^(?:{fillers.pattern}[\s,.…–—、，-]*)+", re.IGNORECASE),
            _any_of(table["asks"], has_spaces=has_spaces),
            _any_of(table["clarifies"], has_spaces=has_spaces),
        )


def _with_contrasts(denying: re.Pattern[str], contrasts: list[str]) -> re.Pattern[str]:
    """Matches a denial, or a number that is said not to be the one: "not in 2017"."""
    if not contrasts:
        return denying
    number = rf"(?<!\w)(?:{'|'.join(contrasts)})\s+(?:\w{{1,4}}\s+)?\d[\d.,:]*"
    return re.compile(f"{denying.pattern}|{number}", re.IGNORECASE)


def _any_of(phrases: list[str], *, has_spaces: bool) -> re.Pattern[str]:
    """Matches one of the phrases, the longest first, as whole words where these are spaced."""
    ordered = sorted(phrases, key=len, reverse=True)
    joined = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in ordered)
    bounded = rf"(?<!\w)(?:{joined})(?!\w)" if has_spaces else f"(?:{joined})"
    return re.compile(bounded, re.IGNORECASE)
