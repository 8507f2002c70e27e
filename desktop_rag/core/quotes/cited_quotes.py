"""Finds the words of a source that support a sentence which cites it. Pure, any thread."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.quotes.quote_alignment import Span
from desktop_rag.core.terms import terms
from desktop_rag.core.text import sentences

# The least share of the citing sentence's weight that a quote has in common with it; a word that no
# source has weighs as much as a rare one.
_LEAST_SHARE = 0.2
_UNKNOWN_WEIGHT = 3.0
# A row of a table has a label and this many figures.
_FEWEST_FIGURES = 2


class CitedQuotes:
    """The sentences and rows of the sources of one answer; a word that is in few weighs more."""

    def __init__(self, sources: Sequence[SourceRef]) -> None:
        self._passages = {
            source.n: [(span, frozenset(terms(source.text[slice(*span)]))) for span in spans]
            for source in sources
            for spans in [_sentences_and_rows(source.text)]
        }
        found = [words for passage in self._passages.values() for _, words in passage]
        frequency = Counter(term for words in found for term in words)
        self._weights = {
            term: math.log((len(found) + 1) / count) for term, count in frequency.items()
        }

    def place(self, n: int, citing: Sequence[str]) -> Span | None:
        """Where source `n` says most of what one of the sentences says, in the text of the source.

        With too little in common, as between two languages or when the passage does not support
        the sentence, there is no place: it would mislead. Nor is there one of an unknown source.
        """
        claims = [frozenset(terms(sentence)) for sentence in citing]
        weights = self._weights
        least = min(sum(weights.get(term, _UNKNOWN_WEIGHT) for term in claim) for claim in claims)
        most, place = least * _LEAST_SHARE, None
        for (first, last), found in self._passages.get(n, ()):
            shared = max(sum(weights[term] for term in found & claim) for claim in claims)
            is_shorter = place and math.isclose(shared, most) and last - first < place[1] - place[0]
            if shared > most + 1e-9 or (shared > 0 and is_shorter):
                most, place = max(most, shared), (first, last)
        return place

    def places(self, n: int, citing: Sequence[str]) -> list[Span]:
        """Where source `n` says what each of the sentences says, in order and without overlaps."""
        found = sorted({place for sentence in citing if (place := self.place(n, [sentence]))})
        apart: list[Span] = []
        for place in found:
            if not apart or place[0] >= apart[-1][1]:
                apart.append(place)
        return apart


def quoting(source: SourceRef, sentence: str) -> SourceRef:
    """The source with the words that support this sentence as its quote; else as it is."""
    place = CitedQuotes([source]).place(source.n, [sentence]) if sentence else None
    return source.narrowed(*place) if place else source


def _sentences_and_rows(text: str) -> list[Span]:
    """A sentence ends before the row of a table, and begins behind it."""
    rows = list(_rows(text))
    spans = list(rows)
    for start, end in sentences(text):
        inside = [row for row in rows if row[0] < end and row[1] > start]
        edges = [start, *(edge for row in inside for edge in row), end]
        pieces = zip(edges[::2], edges[1::2], strict=True)
        spans += [_stripped(text, first, last) for first, last in pieces if first < last]
    return [(first, last) for first, last in spans if first < last]


def _stripped(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def _rows(text: str) -> Iterator[Span]:
    """The spans of lines with a label and figures: tables in the text of a PDF, which have no stops
    between them.
    """
    start = 0
    for line in text.splitlines(keepends=True):
        behind = list(takewhile(_has_no_letter, reversed(line.split())))
        figures = sum(any(map(str.isdigit, part)) for part in behind)
        if figures >= _FEWEST_FIGURES and len(behind) < len(line.split()):
            yield start, start + len(line.rstrip())
        start += len(line)


def _has_no_letter(word: str) -> bool:
    return not any(map(str.isalpha, word))
