"""A source taken apart once, so that many claims can be held against it. Any thread."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from desktop_rag.answer.checking.claims.languages import Writing, writing_of
from desktop_rag.answer.checking.claims.tokens import ClaimToken, tokenize
from desktop_rag.core.text import sentences

# What goes on without an end, as a table does, is cut.
_MOST_TOKENS = 60
# Words that begin alike are taken for forms of one.
_BEGINNING = 5
# Runs of words are looked for at so many places each word has.
_MOST_PLACES = 50


@dataclass(frozen=True, slots=True)
class Window:
    """Some sentences that stand together: the tokens [first, last) of a source, and their stems."""

    first: int
    last: int
    tokens: Sequence[ClaimToken]
    stems: frozenset[str]

    @property
    def span(self) -> tuple[int, int]:
        """Where it stands in the source."""
        return self.tokens[0].start, self.tokens[-1].end


@dataclass(frozen=True, slots=True)
class Run:
    """So many words of a claim, from `start` on, that stand in the source one after another."""

    start: int
    length: int


class SourceIndex:
    """The sentences of a source, and where each stem stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[ClaimToken] = []
        # Where in `tokens` each sentence begins, and where the last one ends.
        self._bounds = [0]
        for start, end in sentences(text):
            found = tokenize(text[start:end], start)
            for first in range(0, len(found), _MOST_TOKENS):
                self.tokens += found[first : first + _MOST_TOKENS]
                self._bounds.append(len(self.tokens))
        self.places: defaultdict[str, list[int]] = defaultdict(list)
        self._sentences_of: defaultdict[str, list[int]] = defaultdict(list)
        for sentence in range(self.count):
            for place in range(self._bounds[sentence], self._bounds[sentence + 1]):
                stem = self.tokens[place].stem
                self.places[stem].append(place)
                if self._sentences_of[stem][-1:] != [sentence]:
                    self._sentences_of[stem].append(sentence)
        self.stems = frozenset(self.places)

    @property
    def count(self) -> int:
        """How many sentences there are."""
        return len(self._bounds) - 1

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """How its longer words begin."""
        return frozenset(stem[:_BEGINNING] for stem in self.stems if len(stem) >= _BEGINNING)

    @cached_property
    def writing(self) -> Writing:
        """What it is written in."""
        return writing_of(self.text)

    def has_form_of(self, stem: str) -> bool:
        """Whether it has a word that begins as a longer one does."""
        return len(stem) >= _BEGINNING and stem[:_BEGINNING] in self.beginnings

    def best_window(self, weights: Mapping[str, float], size: int) -> tuple[Window, float]:
        """The first of the `size` sentences with most of the stems by weight, and that weight."""
        gains: defaultdict[int, float] = defaultdict(float)
        last_start = max(0, self.count - size)
        for stem, weight in weights.items():
            for start in _starts(self._sentences_of.get(stem, ()), size, last_start):
                gains[start] += weight
        # Of equals the first: the same window on every run.
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

    def runs(self, stems: Sequence[str]) -> list[Run]:
        """The claim's words in pieces of the source: from the left, each as long as can be."""
        found: list[Run] = []
        start = 0
        while start < len(stems):
            places = self.places.get(stems[start], ())[:_MOST_PLACES]
            length = max((self._common(stems, start, place) for place in places), default=0)
            if length:
                found.append(Run(start, length))
            start += max(length, 1)
        return found

    def _common(self, stems: Sequence[str], start: int, place: int) -> int:
        length = 1
        most = min(len(stems) - start, len(self.tokens) - place)
        while length < most and self.tokens[place + length].stem == stems[start + length]:
            length += 1
        return length


def _starts(sentences_with: Sequence[int], size: int, last_start: int) -> set[int]:
    """Where windows that hold any of the sentences begin."""
    return {
        min(max(sentence - back, 0), last_start)
        for sentence in sentences_with
        for back in range(size)
    }
