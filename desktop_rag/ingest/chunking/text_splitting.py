"""Splits spans of text into pieces that fit, at the coarsest possible boundary, and fills chunks.

Pure. The cost of a piece is its token count, which must be (nearly) additive over white space, as
that of the embedder is.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

from desktop_rag.core.text import sentences

CountTokens = Callable[[Sequence[str]], list[int]]
Span = tuple[int, int]
# A span and its token count.
Piece = tuple[Span, int]
Split = Callable[[str, Span], Iterator[Span]]
Fill = Callable[[Sequence[Piece], int], Iterator[Piece]]

_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_LINE = re.compile(r"\n")
_WORD_END = re.compile(r"\s+")
# Counting the tokens of a few words at once is much faster than word by word.
_FEW_WORDS = re.compile(r"\S(?:.{0,38}\S)?(?!\S)|\S+", re.DOTALL)
# A single character can be several tokens; this many characters always fit.
_ATOM_CHARACTERS = 24
_MAX_CHARACTERS = 1000
# A span with more characters per token of capacity is split without counting its tokens.
_LONG = 6
# Texts are counted in batches of this many characters, to bound memory.
_BATCH_CHARACTERS = 500_000


def split_to_fit(
    text: str, spans: Sequence[Piece], count_tokens: CountTokens, boundaries: Sequence[Split]
) -> list[list[Piece]]:
    """Split each span at the coarsest boundary that makes every piece fit; the pieces per span.

    The spans are sorted and come with the token limit of their pieces.
    """
    done: list[Piece] = []
    waiting = list(spans)
    for split in boundaries:
        found = [(piece, most) for span, most in waiting for piece in split(text, span)]
        waiting = [(piece, most) for piece, most in found if _is_long(piece, most)]
        short = [(piece, most) for piece, most in found if not _is_long(piece, most)]
        counts = count_spans(text, [piece for piece, _ in short], count_tokens)
        for (piece, most), tokens in zip(short, counts, strict=True):
            if tokens <= most:
                done.append((piece, tokens))
            else:
                waiting.append((piece, most))
    done += waiting
    done.sort()
    ends = [bisect_left(done, ((end, end), 0)) for (_, end), _ in spans]
    return [done[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def _is_long(span: Span, most: int) -> bool:
    return span[1] - span[0] > max(_ATOM_CHARACTERS, _LONG * most)


def count_spans(text: str, spans: Sequence[Span], count_tokens: CountTokens) -> list[int]:
    """The token count of each span, with few calls."""
    counts: list[int] = []
    batch: list[str] = []
    characters = 0
    for start, end in spans:
        batch.append(text[start:end])
        characters += end - start
        if characters > _BATCH_CHARACTERS:
            counts += count_tokens(batch)
            batch, characters = [], 0
    return counts + count_tokens(batch) if batch else counts


def fill_evenly(cut: Sequence[Piece], capacity: int, most: int | None = None) -> Iterator[Piece]:
    """Join pieces into spans of about equal token count, as few as the capacity allows.

    No span exceeds `most`, which may be slightly above the capacity, so that large pieces do not
    cause an extra span.
    """
    left = sum(tokens for _, tokens in cut)
    target = left / max(1, -(-left // capacity))
    start: int | None = None
    end = packed = 0
    for (piece_start, piece_end), tokens in cut:
        # Close the chunk where the running total is closest to its fair share.
        is_full = packed + tokens > (most or capacity) or packed + tokens / 2 > target
        if start is not None and is_full:
            yield (start, end), packed
            left -= packed
            start, packed = None, 0
            target = left / max(1, -(-left // capacity))
        if start is None:
            start = piece_start
        end = piece_end
        packed += tokens
    if start is not None:
        yield (start, end), packed


def fill_tightly(cut: Sequence[Piece], capacity: int) -> Iterator[Piece]:
    """Join pieces into spans that are each as large as possible."""
    return _filled(cut, capacity, None)


def fill_characters(cut: Sequence[Piece], capacity: int) -> Iterator[Piece]:
    """Join pieces into spans of up to 1,000 characters that also fit the capacity."""
    return _filled(cut, capacity, _MAX_CHARACTERS)


def _filled(cut: Sequence[Piece], capacity: int, most_characters: int | None) -> Iterator[Piece]:
    start: int | None = None
    end = packed = 0
    for (piece_start, piece_end), tokens in cut:
        if start is not None:
            is_long = most_characters is not None and piece_end - start > most_characters
            if is_long or packed + tokens > capacity:
                yield (start, end), packed
                start, packed = None, 0
        if start is None:
            start = piece_start
        end = piece_end
        packed += tokens
    if start is not None:
        yield (start, end), packed


def stripped(text: str, span: Span) -> Iterator[Span]:
    """The span without surrounding white space; nothing when it is blank."""
    start, end = span
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
            yield from stripped(text, (start, match.start()))
            start = match.end()
        yield from stripped(text, (start, end))

    return split


def split_sentences(text: str, span: Span) -> Iterator[Span]:
    """The sentences of a span."""
    start, end = span
    for first, last in sentences(text[start:end]):
        yield start + first, start + last


def split_few_words(text: str, span: Span) -> Iterator[Span]:
    """A few words at a time, up to 40 characters; a longer word alone."""
    return (match.span() for match in _FEW_WORDS.finditer(text, *span))


def _split_atoms(_text: str, span: Span) -> Iterator[Span]:
    for start in range(span[0], span[1], _ATOM_CHARACTERS):
        yield start, min(start + _ATOM_CHARACTERS, span[1])


split_lines = _split_at(_LINE)
BY_WORDS: Sequence[Split] = (split_few_words, _split_at(_WORD_END), _split_atoms)
BY_STRUCTURE: Sequence[Split] = (
    stripped, _split_at(_PARAGRAPH), split_lines, split_sentences, *BY_WORDS,
)  # fmt: skip
