"""Finds where a quoted sentence stands in a text, by alignment. Pure, any thread.

First as it is written; then by letters and digits alone, which is blind to case, white space,
accents, kinds of quotes and dashes, ligatures and hyphens at the end of a line; then word by word,
which forgives a few words that are missing, added or changed.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

Span = tuple[int, int]

_BLOCK_CHARACTERS = 4096
_NOT_ALPHANUMERIC = bytes(code for code in range(128) if not chr(code).isalnum())
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LETTERS = rf"(?:(?![{_CJK}])[^\W_]|[\u0300-\u036f])+"
_LINE_END_HYPHEN = r"(?:\u00ad\s*|[-\u2010]\s*\n\s*)"
# A word that the end of a line has cut in two is one; without spaces, each sign is one.
_WORD = re.compile(rf"[{_CJK}]|{_LETTERS}(?:{_LINE_END_HYPHEN}{_LETTERS})*")
_PLAIN_WORD = re.compile(rf"[{_CJK}]|{_LETTERS}")
_WIDE = re.compile(rf"[{_CJK}]")
# Up to this many letters, what is alike without spaces need not be alike: "a + b" is not "ab".
_SHORT_KEY = 16
_MOST_OCCURRENCES = 100
_MOST_WORDS = 5000
_LEAST_WORDS = 3
_LEAST_SUPPORT = 0.7
# What a word of the text that the quote does not have takes from the worth of one that it has.
_STRANGER_COST = 0.25
_SEED_WORDS = (4, 2, 1)
_SEED_LETTERS = 6
_WIDE_TELLS = 3
_MOST_SEEDS = 24
_COMMON = 12
_MOST_WINDOWS = 6


def locate(quote: str, text: str) -> Span | None:
    """The span [start, end) of the quote in the text; None with less than 70 % of its words.

    Takes time in proportion to both lengths, whatever they hold.
    """
    quote = quote.strip()
    if not quote:
        return None
    if found := _exact(quote, text):
        return found
    key = _Key(quote)
    if not key.letters:
        return None
    haystack = _Key(text)
    found = _by_letters(quote, key.letters, text, haystack)
    return found or _by_words(quote, text, haystack)


class _Key:
    """The letters and digits of a text, folded, and the way back to where they stand in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        starts = range(0, len(text), _BLOCK_CHARACTERS)
        blocks = [_folded(text[start : start + _BLOCK_CHARACTERS]) for start in starts]
        self.letters = "".join(blocks)
        self._ends = list(accumulate(map(len, blocks)))

    def place(self, index: int) -> int:
        """The offset in the text of the character that gave the letter."""
        block = bisect_right(self._ends, index)
        left = index - (self._ends[block - 1] if block else 0)
        start = block * _BLOCK_CHARACTERS
        for offset in range(start, min(start + _BLOCK_CHARACTERS, len(self._text))):
            left -= len(_folded(self._text[offset]))
            if left < 0:
                return offset
        raise IndexError(index)


def _folded(text: str) -> str:
    # Decomposed and without its accents, each character gives the same alone as among others.
    if text.isascii():
        return text.encode("ascii").lower().translate(None, _NOT_ALPHANUMERIC).decode("ascii")
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text).casefold()))


def _exact(quote: str, text: str) -> Span | None:
    first: Span | None = None
    for start in _occurrences(quote, text, _MOST_OCCURRENCES):
        span = start, start + len(quote)
        if _is_whole(text, span):
            return span
        first = first or span
    return first


def _occurrences(needle: str, text: str, most: int) -> Iterator[int]:
    start = text.find(needle)
    while start >= 0 and most > 0:
        yield start
        most -= 1
        start = text.find(needle, start + 1)


def _is_whole(text: str, span: Span) -> bool:
    """Whether no word is cut at either end."""
    return not any(
        0 < offset < len(text)
        and text[offset - 1].isalnum()
        and text[offset].isalnum()
        and not _WIDE.match(text, offset)
        for offset in span
    )


def _by_letters(quote: str, letters: str, text: str, haystack: _Key) -> Span | None:
    first: Span | None = None
    for found in _occurrences(letters, haystack.letters, _MOST_OCCURRENCES):
        span = haystack.place(found), haystack.place(found + len(letters) - 1) + 1
        if len(letters) < _SHORT_KEY and not _has_words_of(quote, text[slice(*span)]):
            continue
        if _is_whole(text, span):
            return _with_punctuation(quote, text, span)
        first = first or span
    return first if len(letters) >= _SHORT_KEY else None


def _with_punctuation(quote: str, text: str, span: Span) -> Span:
    """What stands around the words in the quote belongs to it in the text too."""
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


def _by_words(quote: str, text: str, haystack: _Key) -> Span | None:
    wanted = _words(quote)
    if not _LEAST_WORDS <= len(wanted) <= _MOST_WORDS:
        return None
    best: tuple[float, int, int] | None = None
    for start, end in _windows(wanted, haystack, text):
        matches = list(_WORD.finditer(text, start, end))
        pairs = _dense(_common_words(wanted, [_folded(match[0]) for match in matches]))
        if len(pairs) < max(_LEAST_WORDS, _LEAST_SUPPORT * len(wanted)):
            continue
        first, last = matches[pairs[0]], matches[pairs[-1]]
        worth = len(pairs) - _STRANGER_COST * (pairs[-1] - pairs[0] + 1 - len(pairs))
        if best is None or worth > best[0]:
            best = worth, first.start(), last.end()
    return _with_punctuation(quote, text, best[1:]) if best else None


def _windows(wanted: Sequence[str], haystack: _Key, text: str) -> Iterator[Span]:
    """Parts of the text in which rare runs of the quote's words stand about as they should."""
    lengths = [0, *accumulate(map(len, wanted))]
    size = max(lengths[-1], 1)
    for run in _SEED_WORDS:
        votes: Counter[int] = Counter()
        for index in _seeds(wanted, run):
            seed = "".join(wanted[index : index + run])
            for found in _seed_places(seed, haystack.letters):
                # A quote that begins at the end of one bucket has its other half in the next.
                bucket = (found - lengths[index]) // size
                votes.update((bucket, bucket + 1))
        places = sorted(votes, key=lambda bucket: (-votes[bucket], bucket))[:_MOST_WINDOWS]
        if places:
            yield from (_window(place * size, size, haystack, text) for place in places)
            return


def _seeds(wanted: Sequence[str], run: int) -> list[int]:
    """Where in the quote its most telling runs of words begin: the longest are the rarest."""
    tells = [len(word) * (_WIDE_TELLS if _WIDE.match(word) else 1) for word in wanted]
    sums = [0, *accumulate(tells)]
    worth = [sums[index + run] - sums[index] for index in range(len(wanted) - run + 1)]
    telling = [index for index, letters in enumerate(worth) if letters >= _SEED_LETTERS]
    step = max(1, len(telling) // _MOST_SEEDS)
    groups = [telling[start : start + step] for start in range(0, len(telling), step)]
    return [max(group, key=worth.__getitem__) for group in groups]


def _seed_places(seed: str, letters: str) -> list[int]:
    # What stands everywhere tells nothing, but where all is alike the first places will do.
    places = list(_occurrences(seed, letters, _COMMON))
    return places if len(places) < _COMMON else places[:2]


def _window(start: int, size: int, haystack: _Key, text: str) -> Span:
    last = len(haystack.letters) - 1
    first = max(0, min(start - 2 * size, last))
    final = max(first, min(start + 3 * size, last))
    return haystack.place(first), haystack.place(final) + 1


def _common_words(wanted: Sequence[str], found: Sequence[str]) -> list[int]:
    """Indices in `found` of a longest common subsequence with `wanted`.

    Bit-parallel, after Hyyrö, "Bit-parallel LCS-length computation revisited" (2004): a row of
    the table is one number, in which a zero stands where the length grows.
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
    # From the first place that has it all, back to the nearest one each: as close as they can be.
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


def _dense(pairs: list[int]) -> list[int]:
    """The run of matches worth most once the strangers between them are paid for."""
    best: tuple[float, int, int] = (0.0, 0, 0)
    worth, start = 1.0, 0
    for index, gap in enumerate([0, *(b - a - 1 for a, b in pairwise(pairs))]):
        worth = 1 + (worth - _STRANGER_COST * gap if index else 0.0)
        if worth < 1:
            worth, start = 1.0, index
        if worth > best[0]:
            best = worth, start, index + 1
    return pairs[best[1] : best[2]]
