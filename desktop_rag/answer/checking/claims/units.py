"""The units of a source, which say one thing each: a sentence, an item, a row, a labelled line.

What stands above such a part belongs to it: the title, its heading, the line that leads a list in,
the head of a table. Pure, any thread.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from itertools import pairwise

from desktop_rag.answer.checking.claims.tokens import ClaimToken

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
# Other forms of a word begin with as many equal letters.
LEAST_EQUAL = 5
_BETWEEN_CELLS = re.compile(r"[|\t]|[ ]{3,}")
# Shorter cells are names and figures.
_LEAST_SAID = 4
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

    `above`: the stems of its heading, of the title and of what leads it in. `head`: of a row, the
    tokens of the table's head, which is at [start, end) of `head_bounds`.
    """

    kind: UnitKind
    start: int
    end: int
    tokens: Sequence[ClaimToken]
    above: frozenset[str]
    head: Sequence[ClaimToken] = ()
    head_bounds: tuple[int, int] = (0, 0)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of the unit, of its head, and of what stands above it."""
        own = (token.stem for token in (*self.tokens, *self.head))
        return frozenset(own) | self.above

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """The first letters of the words of the unit and its head."""
        return frozenset(token.word[:LEAST_EQUAL] for token in (*self.tokens, *self.head))


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
            stems = above.stems_for(written)
            head, bounds = above.head_for(kind, part, (start, end), written)
            yield Unit(kind, part[0].start, part[-1].end, part, stems, head, bounds)
            if kind is UnitKind.ROW:
                yield from _said_in_cells(text, part, above.title)
            above.passed(part, written, kind)


def _said_in_cells(text: str, row: Sequence[ClaimToken], title: frozenset[str]) -> Iterator[Unit]:
    """The cells of a row that say something by themselves."""
    cells: list[list[ClaimToken]] = [[row[0]]]
    for before, token in pairwise(row):
        if _BETWEEN_CELLS.search(text[before.end : token.start]):
            cells.append([])
        cells[-1].append(token)
    for cell in cells:
        if len(cell) >= _LEAST_SAID and len(cells) > 1:
            yield Unit(UnitKind.SENTENCE, cell[0].start, cell[-1].end, cell, title)


class _Above:
    """What stands above the unit that is read next."""

    def __init__(self) -> None:
        self.title: frozenset[str] = frozenset()
        self._heading: frozenset[str] = frozenset()
        self._lead: frozenset[str] = frozenset()
        self._subject: frozenset[str] = frozenset()
        self._head: Sequence[ClaimToken] = ()
        self._head_bounds = (0, 0)
        self._is_first = True

    def heading(self, part: Sequence[ClaimToken], text: str) -> None:
        stems = frozenset(token.stem for token in part)
        if self._is_first:
            self.title = stems
        self._heading, self._lead, self._subject = stems, frozenset(), frozenset()
        self._head, self._is_first = (), False

    def stems_for(self, written: str) -> frozenset[str]:
        subject = self._subject if _PRONOUN.match(written) else frozenset[str]()
        return self.title | self._heading | self._lead | subject

    def head_for(
        self, kind: UnitKind, part: Sequence[ClaimToken], bounds: tuple[int, int], written: str
    ) -> tuple[Sequence[ClaimToken], tuple[int, int]]:
        """The head above a row; the first row is a head."""
        if kind is not UnitKind.ROW:
            self._head = ()
        elif not self._head:
            self._head, self._head_bounds = part, bounds
        else:
            return self._head, self._head_bounds
        return (), (0, 0)

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
