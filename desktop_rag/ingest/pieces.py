"""Cuts a span of text into pieces that fit, at the coarsest borders that do. Pure.

What a piece costs is its tokens; counting them must be (nearly) additive over white space, as that
of the embedder is.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from desktop_rag.core.text import sentences

CountTokens = Callable[[Sequence[str]], list[int]]
Span = tuple[int, int]
# A span and what it costs in tokens.
Piece = tuple[Span, int]
Split = Callable[[str, Span], Iterator[Span]]

_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_LINE = re.compile(r"\n")
_WORD_END = re.compile(r"\s+")
# Even one character can be several tokens; this many characters always fit.
_ATOM_CHARACTERS = 24
_MOST_CHARACTERS = 1000


def pieces(
    text: str, span: Span, count_tokens: CountTokens, capacity: int, borders: Sequence[Split]
) -> Iterator[Piece]:
    """Cut at the coarsest border that makes every piece fit, in order."""
    spans = list(borders[0](text, span))
    counts = count_tokens([text[start:end] for start, end in spans])
    for piece, tokens in zip(spans, counts, strict=True):
        if tokens <= capacity:
            yield piece, tokens
        elif len(borders) > 1:
            yield from pieces(text, piece, count_tokens, capacity, borders[1:])
        else:
            yield piece, capacity


def fill_evenly(cut: Sequence[Piece], capacity: int) -> Iterator[Span]:
    """Join pieces to spans of about equal token count, none above the capacity."""
    total = sum(tokens for _, tokens in cut)
    target = total / max(1, -(-total // capacity))
    start: int | None = None
    end = packed = done = 0
    for (piece_start, piece_end), tokens in cut:
        # Close the chunk where the running total comes nearest to its fair share.
        if start is not None and (packed + tokens > capacity or packed + tokens / 2 > target):
            yield start, end
            done += packed
            start, packed = None, 0
            left = total - done
            target = left / max(1, -(-left // capacity))
        if start is None:
            start = piece_start
        end = piece_end
        packed += tokens
    if start is not None:
        yield start, end


def fill_tightly(cut: Sequence[Piece], capacity: int) -> Iterator[Span]:
    """Join pieces to spans, each as large as it can be."""
    return _filled(cut, capacity, None)


def fill_characters(cut: Sequence[Piece], capacity: int) -> Iterator[Span]:
    """Join pieces to spans of up to 1,000 characters, as long as those fit the capacity too."""
    return _filled(cut, capacity, _MOST_CHARACTERS)


def _filled(cut: Sequence[Piece], capacity: int, most_characters: int | None) -> Iterator[Span]:
    start: int | None = None
    end = packed = 0
    for (piece_start, piece_end), tokens in cut:
        if start is not None:
            is_long = most_characters is not None and piece_end - start > most_characters
            if is_long or packed + tokens > capacity:
                yield start, end
                start, packed = None, 0
        if start is None:
            start = piece_start
        end = piece_end
        packed += tokens
    if start is not None:
        yield start, end


def stripped(text: str, start: int, end: int) -> Iterator[Span]:
    """The span without white space around it; nothing if that is all there is."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end


def _split_at(pattern: re.Pattern[str]) -> Split:
    def split(text: str, span: Span) -> Iterator[Span]:
        start, end = span
        for match in pattern.finditer(text, start, end):
            yield from stripped(text, start, match.start())
            start = match.end()
        yield from stripped(text, start, end)

    return split


def split_sentences(text: str, span: Span) -> Iterator[Span]:
    """The sentences of a span."""
    start, end = span
    for first, last in sentences(text[start:end]):
        yield start + first, start + last


def _split_atoms(text: str, span: Span) -> Iterator[Span]:
    del text
    for start in range(span[0], span[1], _ATOM_CHARACTERS):
        yield start, min(start + _ATOM_CHARACTERS, span[1])


split_lines = _split_at(_LINE)
split_words = _split_at(_WORD_END)
BY_STRUCTURE: Sequence[Split] = (
    _split_at(_PARAGRAPH), split_lines, split_sentences, split_words, _split_atoms,
)  # fmt: skip
BY_WORDS: Sequence[Split] = (split_words, _split_atoms)
