"""An index of a source, built once to check many claims against it, with its units. Any thread.

A unit says one thing: a sentence, an item, a row, a labelled line. What stands above it belongs to
it: the title, its heading, the line that leads a list in, the head of a table.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from enum import Enum, auto
from functools import cached_property
from itertools import pairwise

from desktop_rag.answer.checking.claims.quantities import (
    KnownQuantities,
    Quantity,
    quantities,
    scale_of,
)
from desktop_rag.answer.checking.claims.quotes import QuotableText
from desktop_rag.answer.checking.claims.source_tables import Table, tables_of
from desktop_rag.answer.checking.claims.table_claims import Columns
from desktop_rag.answer.checking.claims.tokens import ClaimToken, TokenRole, tokenize
from desktop_rag.answer.checking.claims.words import LEAST_EQUAL, unit_named
from desktop_rag.core.language.languages import Writing, function_words, is_english, writing_of
from desktop_rag.core.text import sentences

_LABEL = re.compile(r"[^\s:|.!?;,]+(?:[ ][^\s:|.!?;,]+){0,4}:[ \t]+\S")
_COLUMNS = re.compile(r"\S(?:\t|[ ]{3,})\S")
_HEADING = re.compile(r"#{1,6}\s")
# Longer lines are no headings.
_MOST_HEADING = 80
_ENDS_SENTENCE = re.compile(r"[.!?…。！？]['\"”’)\]]*$")
_PRONOUN = re.compile(
    r"(?:it|its|they|their|she|he|her|his|this|these|er|sie|es|ihr|ihre|sein|seine|dies|diese)\b",
    re.IGNORECASE,
)
# The words that begin a sentence may be the subject of the next one.
_MOST_SUBJECT = 4


class UnitKind(Enum):
    """The form of a unit."""

    SENTENCE = auto()
    LABEL = auto()
    ROW = auto()


@dataclass(frozen=True)
class Unit:
    """The tokens of one unit at [start, end) of its source.

    `above`: the stems of its heading, of the title and of what leads it in.
    """

    kind: UnitKind
    start: int
    end: int
    tokens: Sequence[ClaimToken]
    above: frozenset[str]

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of the unit and of what stands above it."""
        return frozenset(token.stem for token in self.tokens) | self.above

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """The first letters of the words of the unit."""
        return frozenset(token.word[:LEAST_EQUAL] for token in self.tokens)


def units_of(text: str, sentences: Sequence[Sequence[ClaimToken]]) -> Iterator[Unit]:
    """The units of a text in order, from the tokens of its sentences."""
    above = _Above()
    for sentence in sentences:
        for part in _lines(text, sentence):
            start, end = _line_bounds(text, part)
            if any(map(str.isalnum, text[start : part[0].start])):
                start = part[0].start
            written = text[start:end].strip()
            kind = _kind(written)
            if kind is UnitKind.SENTENCE and _is_heading(text, part, written):
                above.heading(part, text)
                # A heading may state something too.
                yield Unit(kind, part[0].start, part[-1].end, part, above.title)
                continue
            yield Unit(kind, part[0].start, part[-1].end, part, above.stems_for(written))
            above.passed(part, written, kind)


class _Above:
    """What stands above the unit that is read next."""

    def __init__(self) -> None:
        self.title: frozenset[str] = frozenset()
        self._heading: frozenset[str] = frozenset()
        self._lead: frozenset[str] = frozenset()
        self._subject: frozenset[str] = frozenset()
        self._is_first = True

    def heading(self, part: Sequence[ClaimToken], text: str) -> None:
        stems = frozenset(token.stem for token in part)
        if self._is_first:
            self.title = stems
        self._heading, self._lead, self._subject = stems, frozenset(), frozenset()
        self._is_first = False

    def stems_for(self, written: str) -> frozenset[str]:
        subject = self._subject if _PRONOUN.match(written) else frozenset[str]()
        return self.title | self._heading | self._lead | subject

    def passed(self, part: Sequence[ClaimToken], written: str, kind: UnitKind) -> None:
        self._is_first = False
        if written.endswith(":"):
            self._lead = frozenset(token.stem for token in part)
        if kind is UnitKind.SENTENCE and not _PRONOUN.match(written):
            self._subject = frozenset(token.stem for token in part[:_MOST_SUBJECT])


def _lines(text: str, sentence: Sequence[ClaimToken]) -> Iterator[Sequence[ClaimToken]]:
    """The sentence, split where it is a row of lines that stand for themselves."""
    first = 0
    for place, (token, following) in enumerate(pairwise(sentence), 1):
        between = text[token.end : following.start]
        if ";" in between:
            yield sentence[first:place]
            first = place
        if "\n" not in between:
            continue
        line, below = (
            text[slice(*_line_bounds(text, [one]))].strip() for one in (token, following)
        )
        if _kind(line) is not UnitKind.SENTENCE or _kind(below) is not UnitKind.SENTENCE:
            if first < place:
                yield sentence[first:place]
            first = place
    if sentence:
        yield sentence[first:]


def _line_bounds(text: str, part: Sequence[ClaimToken]) -> tuple[int, int]:
    """From the beginning of the line with the first token to the end of that with the last."""
    start = text.rfind("\n", 0, part[0].start) + 1
    end = text.find("\n", part[-1].end)
    return start, len(text) if end < 0 else end


def _kind(line: str) -> UnitKind:
    if "|" in line or _COLUMNS.search(line):
        return UnitKind.ROW
    return UnitKind.LABEL if _LABEL.match(line) else UnitKind.SENTENCE


def _is_heading(text: str, part: Sequence[ClaimToken], written: str) -> bool:
    if _HEADING.match(written):
        return True
    return (
        len(written) <= _MOST_HEADING
        and not _ENDS_SENTENCE.search(written)
        and not written.endswith((":", ","))
        and text[part[-1].end :].lstrip(" \t)”\"'*_").startswith("\n")
        and not written.startswith(("-", "*", "•", "1", "2", "3", "4", "5", "6", "7", "8", "9"))
    )


def _in_scale(token: ClaimToken, scale: Decimal) -> ClaimToken:
    try:
        value = Decimal(token.stem) / scale
    except InvalidOperation:
        return token
    return replace(token, stem=f"{value.normalize():f}") if value >= 1 else token


# A longer sentence, as in a table, is split.
_MOST_TOKENS = 60


@dataclass(frozen=True, slots=True)
class Window:
    """Adjacent sentences: the tokens [first, last) of a source, and their stems."""

    first: int
    last: int
    tokens: Sequence[ClaimToken]
    stems: frozenset[str]

    @property
    def span(self) -> tuple[int, int]:
        """The characters [start, end) of the source."""
        return self.tokens[0].start, self.tokens[-1].end


class SourceIndex:
    """The sentences of a source, and which of them have each stem."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[ClaimToken] = []
        # The index in `tokens` where each sentence begins, then where the last one ends.
        self._bounds = [0]
        for start, end in sentences(text):
            found = tokenize(text[start:end], start)
            for first in range(0, len(found), _MOST_TOKENS):
                self.tokens += found[first : first + _MOST_TOKENS]
                self._bounds.append(len(self.tokens))
        self._sentences_of: defaultdict[str, list[int]] = defaultdict(list)
        for sentence in range(self.count):
            for place in range(self._bounds[sentence], self._bounds[sentence + 1]):
                stem = self.tokens[place].stem
                if self._sentences_of[stem][-1:] != [sentence]:
                    self._sentences_of[stem].append(sentence)
        self.stems = frozenset(self._sentences_of)

    @property
    def count(self) -> int:
        """The number of sentences."""
        return len(self._bounds) - 1

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """The first letters of its longer words."""
        return frozenset(stem[:LEAST_EQUAL] for stem in self.stems if len(stem) >= LEAST_EQUAL)

    @cached_property
    def writing(self) -> Writing:
        """The language and script of the source."""
        return writing_of(self.text)

    @cached_property
    def scale(self) -> Decimal | None:
        """What its figures stand for, such as 1,000,000; None when it doesn't say."""
        return scale_of(self.text)

    def read(self, claim: Sequence[ClaimToken], text: str) -> list[ClaimToken]:
        """A claim with its numbers in thousands, millions, percent or units as in the source."""
        said = {one.start: one for one in quantities(text)}
        claim = list(self._in_units(claim, said))
        return [
            token
            if token.role is not TokenRole.NUMBER or token.stem in self.stems
            else self._as_written(token, said.get(token.start))
            for token in claim
        ]

    def _in_units(
        self, claim: Sequence[ClaimToken], said: Mapping[int, Quantity]
    ) -> Iterator[ClaimToken]:
        """The claim with the figures and units of measure of the source: 1.5 t for 1,500 kg."""
        unit: ClaimToken | None = None
        for token in claim:
            own = said.get(token.start)
            held = own and next(filter(own.is_converted, self.figures.all), None)
            if unit and unit_named(token.word):
                yield replace(token, word=unit.word, stem=unit.stem)
            elif held:
                written = [one for one in self.tokens if one.end > held.start][:2]
                yield replace(token, stem=written[0].stem)
                unit = written[-1]
                continue
            else:
                yield token
            unit = None

    def _as_written(self, token: ClaimToken, said: Quantity | None) -> ClaimToken:
        share = next(filter(said.is_share, self.figures.all), None) if said else None
        if share:
            return next(replace(token, stem=t.stem) for t in self.tokens if t.end > share.start)
        return _in_scale(token, self.scale) if self.scale else token

    @cached_property
    def figures(self) -> KnownQuantities:
        """Its figures and dates."""
        return KnownQuantities(self.text, self.stems)

    @cached_property
    def tables(self) -> list[Table]:
        """Its tables."""
        return tables_of(self.text)

    @cached_property
    def columns(self) -> list[Columns]:
        """The columns of each of its tables."""
        return [Columns(table) for table in self.tables]

    @cached_property
    def quotable(self) -> QuotableText:
        """Its words, to find quotes."""
        return QuotableText(self.text)

    @cached_property
    def units(self) -> list[Unit]:
        """The parts that say one thing each."""
        whole = self.window(0, self.count) if self.tokens else None
        return list(units_of(self.text, list(self.sentences_of(whole)))) if whole else []

    @cached_property
    def is_english(self) -> bool:
        """True unless the source is clearly in another language than English."""
        return is_english(self.text)

    @cached_property
    def functions(self) -> frozenset[str]:
        """The function words of its language, in lower case."""
        return function_words([token.word for token in self.tokens])

    def has_form_of(self, stem: str) -> bool:
        """True when it has a word with the same first letters."""
        return len(stem) >= LEAST_EQUAL and stem[:LEAST_EQUAL] in self.beginnings

    def best_window(self, weights: Mapping[str, float], size: int) -> tuple[Window, float]:
        """The first of the heaviest windows of `size` sentences, and its weight of stems."""
        gains: defaultdict[int, float] = defaultdict(float)
        last_start = max(0, self.count - size)
        for stem, weight in weights.items():
            for start in _starts(self._sentences_of.get(stem, ()), size, last_start):
                gains[start] += weight
        # Ties go to the first window, so that every run gives the same one.
        start = min(gains, key=lambda start: (-round(gains[start], 9), start), default=0)
        return self.window(start, min(start + size, self.count)), gains[start]

    def window(self, first: int, last: int) -> Window:
        """The sentences [first, last)."""
        start, end = self._bounds[first], self._bounds[last]
        tokens = self.tokens[start:end]
        return Window(start, end, tokens, frozenset(token.stem for token in tokens))

    def sentences_of(self, window: Window) -> Iterable[Sequence[ClaimToken]]:
        """The tokens of each sentence of a window."""
        inside = [bound for bound in self._bounds if window.first <= bound <= window.last]
        return (self.tokens[a:b] for a, b in pairwise(inside))


def _starts(sentences_with: Sequence[int], size: int, last_start: int) -> set[int]:
    return {
        min(max(sentence - back, 0), last_start)
        for sentence in sentences_with
        for back in range(size)
    }
