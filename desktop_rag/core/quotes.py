"""Locates a quoted sentence in a text, and the words of a source that support a sentence. Pure.

`locate` tries the exact text first; then letters and digits only, which ignores case, white space,
accents, quote and dash styles, ligatures and line-end hyphens; then single words, which tolerates a
few that are missing, added or changed.
"""

import math
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise, takewhile

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.terms import terms
from desktop_rag.core.text import sentences

Span = tuple[int, int]

_BLOCK_CHARACTERS = 4096
_NOT_ALPHANUMERIC = bytes(code for code in range(128) if not chr(code).isalnum())
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LETTERS = rf"(?:(?![{_CJK}])[^\W_]|[\u0300-\u036f])+"
_LINE_END_HYPHEN = r"(?:\u00ad\s*|[-\u2010]\s*\n\s*)"
# A word hyphenated at a line end counts as one; in scripts without spaces each character does.
_WORD = re.compile(rf"[{_CJK}]|{_LETTERS}(?:{_LINE_END_HYPHEN}{_LETTERS})*")
_PLAIN_WORD = re.compile(rf"[{_CJK}]|{_LETTERS}")
_CJK_CHARACTER = re.compile(rf"[{_CJK}]")
# Below this many letters, equal keys need not mean equal words: "a + b" is not "ab".
_SHORT_LETTERS = 16
_MAX_OCCURRENCES = 100
_MAX_WORDS = 5000
_MIN_WORDS = 3
_MIN_WORD_SHARE = 0.7
# Cost of a word in the text that the quote lacks, relative to the gain of a shared word.
_EXTRA_WORD_COST = 0.25
_SEED_WORDS = (4, 2, 1)
_SEED_LETTERS = 6
_CJK_WEIGHT = 3
_MAX_SEEDS = 24
_MAX_SEED_PLACES = 12
_MAX_WINDOWS = 6


def locate(quote: str, text: str) -> Span | None:
    """The span [start, end) of the quote in the text, or None when under 70 % of its words match.

    Linear in the length of both texts, whatever they contain.
    """
    quote = quote.strip()
    if not quote:
        return None
    if found := _exact(quote, text):
        return found
    key = _FoldedText(quote)
    if not key.letters:
        return None
    haystack = _FoldedText(text)
    found = _by_letters(quote, key.letters, text, haystack)
    return found or _by_words(quote, text, haystack)


class _FoldedText:
    """The folded letters and digits of a text, with a mapping back to its offsets."""

    def __init__(self, text: str) -> None:
        self._text = text
        starts = range(0, len(text), _BLOCK_CHARACTERS)
        blocks = [_folded(text[start : start + _BLOCK_CHARACTERS]) for start in starts]
        self.letters = "".join(blocks)
        self._ends = list(accumulate(map(len, blocks)))

    def place(self, index: int) -> int:
        """The offset of the character that produced the letter."""
        block = bisect_right(self._ends, index)
        left = index - (self._ends[block - 1] if block else 0)
        start = block * _BLOCK_CHARACTERS
        for offset in range(start, min(start + _BLOCK_CHARACTERS, len(self._text))):
            left -= len(_folded(self._text[offset]))
            if left < 0:
                return offset
        raise IndexError(index)


def _folded(text: str) -> str:
    # Decomposing and dropping accents makes folding independent of the neighbouring characters.
    if text.isascii():
        return text.encode("ascii").lower().translate(None, _NOT_ALPHANUMERIC).decode("ascii")
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text).casefold()))


def _exact(quote: str, text: str) -> Span | None:
    first: Span | None = None
    for start in _occurrences(quote, text, _MAX_OCCURRENCES):
        span = start, start + len(quote)
        if _ends_at_word_boundaries(text, span):
            return span
        first = first or span
    return first


def _occurrences(needle: str, text: str, most: int) -> Iterator[int]:
    start = text.find(needle)
    while start >= 0 and most > 0:
        yield start
        most -= 1
        start = text.find(needle, start + 1)


def _ends_at_word_boundaries(text: str, span: Span) -> bool:
    return not any(
        0 < offset < len(text)
        and text[offset - 1].isalnum()
        and text[offset].isalnum()
        and not _CJK_CHARACTER.match(text, offset)
        for offset in span
    )


def _by_letters(quote: str, letters: str, text: str, haystack: _FoldedText) -> Span | None:
    first: Span | None = None
    for found in _occurrences(letters, haystack.letters, _MAX_OCCURRENCES):
        span = haystack.place(found), haystack.place(found + len(letters) - 1) + 1
        if len(letters) < _SHORT_LETTERS and not _has_words_of(quote, text[slice(*span)]):
            continue
        if _ends_at_word_boundaries(text, span):
            return _with_punctuation(quote, text, span)
        first = first or span
    return first if len(letters) >= _SHORT_LETTERS else None


def _with_punctuation(quote: str, text: str, span: Span) -> Span:
    """Extend the span by the punctuation that surrounds the words in the quote."""
    start, end = span
    before = next(index for index, char in enumerate(quote) if char.isalnum())
    after = next(index for index, char in enumerate(reversed(quote)) if char.isalnum())
    while before and start and not (text[start - 1].isspace() or text[start - 1].isalnum()):
        before, start = before - 1, start - 1
    while after and end < len(text) and not (text[end].isspace() or text[end].isalnum()):
        after, end = after - 1, end + 1
    return start, end


def _has_words_of(quote: str, found: str) -> bool:
    wanted = _words(quote, _PLAIN_WORD), _words(quote)
    return _words(found, _PLAIN_WORD) in wanted or _words(found) in wanted


def _words(text: str, pattern: re.Pattern[str] = _WORD) -> list[str]:
    return [_folded(match[0]) for match in pattern.finditer(text)]


def _by_words(quote: str, text: str, haystack: _FoldedText) -> Span | None:
    wanted = _words(quote)
    if not _MIN_WORDS <= len(wanted) <= _MAX_WORDS:
        return None
    best: tuple[float, int, int] | None = None
    for start, end in _windows(wanted, haystack, text):
        matches = list(_WORD.finditer(text, start, end))
        pairs = _best_run(_common_words(wanted, [_folded(match[0]) for match in matches]))
        if len(pairs) < max(_MIN_WORDS, _MIN_WORD_SHARE * len(wanted)):
            continue
        first, last = matches[pairs[0]], matches[pairs[-1]]
        score = len(pairs) - _EXTRA_WORD_COST * (pairs[-1] - pairs[0] + 1 - len(pairs))
        if best is None or score > best[0]:
            best = score, first.start(), last.end()
    return _with_punctuation(quote, text, best[1:]) if best else None


def _windows(wanted: Sequence[str], haystack: _FoldedText, text: str) -> Iterator[Span]:
    """Parts of the text with rare word runs of the quote at about the expected positions."""
    lengths = [0, *accumulate(map(len, wanted))]
    size = max(lengths[-1], 1)
    for run in _SEED_WORDS:
        votes: Counter[int] = Counter()
        for index in _seeds(wanted, run):
            seed = "".join(wanted[index : index + run])
            for found in _seed_places(seed, haystack.letters):
                # A quote that starts late in one bucket continues in the next, so both get a vote.
                bucket = (found - lengths[index]) // size
                votes.update((bucket, bucket + 1))
        places = sorted(votes, key=lambda bucket: (-votes[bucket], bucket))[:_MAX_WINDOWS]
        if places:
            yield from (_window(place * size, size, haystack, text) for place in places)
            return


def _seeds(wanted: Sequence[str], run: int) -> list[int]:
    """Start indices of the quote's most selective word runs: the longest are the rarest."""
    weights = [len(word) * (_CJK_WEIGHT if _CJK_CHARACTER.match(word) else 1) for word in wanted]
    sums = [0, *accumulate(weights)]
    score = [sums[index + run] - sums[index] for index in range(len(wanted) - run + 1)]
    selective = [index for index, letters in enumerate(score) if letters >= _SEED_LETTERS]
    step = max(1, len(selective) // _MAX_SEEDS)
    groups = [selective[start : start + step] for start in range(0, len(selective), step)]
    return [max(group, key=score.__getitem__) for group in groups]


def _seed_places(seed: str, letters: str) -> list[int]:
    # A seed that occurs everywhere is useless, but in a repetitive text the first hits will do.
    places = list(_occurrences(seed, letters, _MAX_SEED_PLACES))
    return places if len(places) < _MAX_SEED_PLACES else places[:2]


def _window(start: int, size: int, haystack: _FoldedText, text: str) -> Span:
    last = len(haystack.letters) - 1
    first = max(0, min(start - 2 * size, last))
    final = max(first, min(start + 3 * size, last))
    return haystack.place(first), haystack.place(final) + 1


def _common_words(wanted: Sequence[str], found: Sequence[str]) -> list[int]:
    """Indices in `found` of a longest common subsequence with `wanted`.

    Bit-parallel, after Hyyrö, "Bit-parallel LCS-length computation revisited" (2004): each table
    row is one integer, with a zero bit where the length grows.
    """
    positions: dict[str, int] = {}
    for index, word in enumerate(wanted):
        positions[word] = positions.get(word, 0) | 1 << index
    everything = (1 << len(wanted)) - 1
    row = everything
    rows = [row]
    for word in found:
        shared = row & positions.get(word, 0)
        row = ((row + shared) | (row - shared)) & everything
        rows.append(row)
    lengths = [len(wanted) - row.bit_count() for row in rows]
    pairs: list[int] = []
    # Backtrack from the first complete match to the nearest predecessors, for the tightest span.
    column, index = len(wanted) - 1, lengths.index(lengths[-1])
    while column >= 0 and index > 0:
        if wanted[column] == found[index - 1]:
            pairs.append(index - 1)
            column, index = column - 1, index - 1
        elif rows[index] >> column & 1:
            column -= 1
        else:
            index -= 1
    return pairs[::-1]


def _best_run(pairs: list[int]) -> list[int]:
    """The run of matches with the highest score after subtracting the cost of the words between."""
    best: tuple[float, int, int] = (0.0, 0, 0)
    score, start = 1.0, 0
    for index, gap in enumerate([0, *(b - a - 1 for a, b in pairwise(pairs))]):
        score = 1 + (score - _EXTRA_WORD_COST * gap if index else 0.0)
        if score < 1:
            score, start = 1.0, index
        if score > best[0]:
            best = score, start, index + 1
    return pairs[best[1] : best[2]]


# The least share of the citing sentence's weight that a quote has in common with it; a word that no
# source has weighs as much as a rare one.
_LEAST_SHARE = 0.2
_UNKNOWN_WEIGHT = 3.0
# A row of a table has a label and this many figures.
_FEWEST_FIGURES = 2


class CitedQuotes:
    """The sentences and rows of one answer's sources; rare words weigh more."""

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
        """The span in source `n` that says most of what one of the sentences says.

        None for an unknown source, and with too little in common, as between two languages or when
        the passage does not support the sentence: a place would mislead.
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
        """The spans in source `n` for each of the sentences, in order and without overlaps."""
        found = sorted({place for sentence in citing if (place := self.place(n, [sentence]))})
        apart: list[Span] = []
        for place in found:
            if not apart or place[0] >= apart[-1][1]:
                apart.append(place)
        return apart


def quoting(source: SourceRef, sentence: str) -> SourceRef:
    """The source with the words that support this sentence as its quote, if there are any."""
    place = CitedQuotes([source]).place(source.n, [sentence]) if sentence else None
    return source.narrowed(*place) if place else source


def _sentences_and_rows(text: str) -> list[Span]:
    """The spans of table rows, and of the sentences between them."""
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
    """The spans of lines with a label and figures: table rows of a PDF have no full stops."""
    start = 0
    for line in text.splitlines(keepends=True):
        behind = list(takewhile(_has_no_letter, reversed(line.split())))
        figures = sum(any(map(str.isdigit, part)) for part in behind)
        if figures >= _FEWEST_FIGURES and len(behind) < len(line.split()):
            yield start, start + len(line.rstrip())
        start += len(line)


def _has_no_letter(word: str) -> bool:
    return not any(map(str.isalpha, word))
