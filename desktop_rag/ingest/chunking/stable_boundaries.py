"""Finds the chunk boundaries that survive an edit. Pure.

Filling chunks evenly would move every boundary of an edited section. Wherever the text of a
previous chunk still exists, its boundaries are kept, and only the text in between is chunked again.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from desktop_rag.core.parsed import Chunk
from desktop_rag.ingest.chunking.text_splitting import Span, stripped

_WORD = re.compile(r"\w+")
# Moved text is found by its beginning; shorter texts only next to their neighbours.
_KEY_CHARACTERS = 32
# A beginning with more occurrences than this identifies nothing and is ignored.
_MAX_PLACES = 8


@dataclass(frozen=True, slots=True)
class _OwnText:
    """The own text of a previous chunk, without its overlap."""

    start: int
    text: str


def stable_spans(before: Sequence[Chunk], text: str) -> list[Span]:
    """Spans of the text that were a chunk's own text before, sorted and without overlaps."""
    own = list(_own_texts(before))
    if not own:
        return []
    found: dict[int, int] = {}
    _extend(found, own, text, range(len(own)), 0)
    # If everything after the edit is unchanged, the end of the text shows how far it moved.
    moved_by = len(text.rstrip()) - own[-1].start - len(own[-1].text)
    _extend(found, own, text, range(len(own) - 1, -1, -1), moved_by)
    for index, place in list(_anchors(found, own, text)):
        found[index] = place
        _extend(found, own, text, range(index + 1, len(own)), place - own[index].start)
        _extend(found, own, text, range(index - 1, -1, -1), place - own[index].start)
    return list(_in_order(found, own, text))


def _own_texts(before: Sequence[Chunk]) -> Iterator[_OwnText]:
    end = 0
    for chunk in before:
        for start, _ in stripped(chunk.text, (max(0, end - chunk.start), len(chunk.text))):
            yield _OwnText(chunk.start + start, chunk.text[start:])
        end = max(end, chunk.end)


def _extend(
    found: dict[int, int], own: Sequence[_OwnText], text: str, indices: Iterable[int], moved_by: int
) -> None:
    """Match chunk after chunk while each occurs at its expected position."""
    for index in indices:
        place = own[index].start + moved_by
        if index in found or place < 0 or not text.startswith(own[index].text, place):
            return
        found[index] = place


def _anchors(
    found: dict[int, int], own: Sequence[_OwnText], text: str
) -> Iterator[tuple[int, int]]:
    """Lost chunks that occur exactly once in the text, with their positions.

    Of these, the longest sequence in the original order, as in a patience diff.
    """
    lost = [index for index in range(len(own)) if index not in found]
    if not lost:
        return
    low = max((found[i] + len(own[i].text) for i in found if i < lost[0]), default=0)
    high = min((found[i] for i in found if i > lost[-1]), default=len(text))
    copies = Counter(own[index].text for index in lost)
    starts = _places_by_key({_key(own[i].text)[1] for i in lost} - {""}, text, (low, high))
    pairs: list[tuple[int, int]] = []
    for index in lost:
        skipped, key = _key(own[index].text)
        candidates = (place - skipped for place in starts.get(key, ()))
        places = [p for p in candidates if p >= 0 and text.startswith(own[index].text, p)]
        if len(places) == 1 and copies[own[index].text] == 1:
            pairs.append((index, places[0]))
    yield from _longest_rising(pairs)


def _key(text: str) -> tuple[int, str]:
    """The beginning of a text from its first word, and the offset of that word."""
    match = _WORD.search(text)
    start = match.start() if match else 0
    key = text[start : start + _KEY_CHARACTERS]
    return start, key if match and len(key) == _KEY_CHARACTERS else ""


def _places_by_key(keys: set[str], text: str, span: Span) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for match in _WORD.finditer(text, *span):
        start = match.start()
        key = text[start : start + _KEY_CHARACTERS]
        if key in keys and len(places.setdefault(key, [])) <= _MAX_PLACES:
            places[key].append(start)
    return {key: starts for key, starts in places.items() if len(starts) <= _MAX_PLACES}


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence of pairs with increasing second numbers."""
    tails: list[int] = []
    tail_indices: list[int] = []
    previous: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(tails, place)
        previous.append(tail_indices[length - 1] if length else -1)
        tails[length : length + 1] = [place]
        tail_indices[length : length + 1] = [index]
    run: list[tuple[int, int]] = []
    index = tail_indices[-1] if tail_indices else -1
    while index >= 0:
        run.append(pairs[index])
        index = previous[index]
    return run[::-1]


def _in_order(found: dict[int, int], own: Sequence[_OwnText], text: str) -> Iterator[Span]:
    cursor = 0
    for index in sorted(found):
        start, end = found[index], found[index] + len(own[index].text)
        if start >= cursor and not (_cuts_word(text, start) or _cuts_word(text, end)):
            yield start, end
            cursor = end


def _cuts_word(text: str, offset: int) -> bool:
    return 0 < offset < len(text) and text[offset - 1].isalnum() and text[offset].isalnum()
