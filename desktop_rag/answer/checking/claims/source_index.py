"""An index of a source, built once to check many claims against it. Any thread."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import pairwise

from desktop_rag.answer.checking.claims.cells import Table, tables_of
from desktop_rag.answer.checking.claims.quantities import KnownQuantities, scale_of
from desktop_rag.answer.checking.claims.quotes import QuotableText
from desktop_rag.answer.checking.claims.rows import Columns
from desktop_rag.answer.checking.claims.tokens import ClaimToken, TokenRole, tokenize
from desktop_rag.answer.checking.claims.units import Unit, units_of
from desktop_rag.answer.checking.claims.words import Writing, is_english, writing_of
from desktop_rag.core.language.languages import function_words
from desktop_rag.core.text import sentences


def _in_scale(token: ClaimToken, scale: Decimal) -> ClaimToken:
    if token.role is not TokenRole.NUMBER:
        return token
    try:
        value = Decimal(token.stem) / scale
    except InvalidOperation:
        return token
    return replace(token, stem=f"{value.normalize():f}") if value >= 1 else token


# A longer sentence, as in a table, is split.
_MOST_TOKENS = 60
# Words with the same first letters count as forms of one word.
_BEGINNING = 5


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
        return frozenset(stem[:_BEGINNING] for stem in self.stems if len(stem) >= _BEGINNING)

    @cached_property
    def writing(self) -> Writing:
        """The language and script of the source."""
        return writing_of(self.text)

    @cached_property
    def scale(self) -> Decimal | None:
        """What its figures stand for, such as 1,000,000; None when it doesn't say."""
        return scale_of(self.text)

    def read(self, claim: Sequence[ClaimToken]) -> list[ClaimToken]:
        """A claim with its numbers in thousands or millions where the source gives them so."""
        return [
            _in_scale(token, self.scale) if self.scale and token.stem not in self.stems else token
            for token in claim
        ]

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
        return len(stem) >= _BEGINNING and stem[:_BEGINNING] in self.beginnings

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
