"""Chooses what a model reads for a question: small passages find it, their surroundings are sent.

A model reads all that it is sent, so breadth comes first: each passage in the order of the search,
without near copies. Then the best ones are widened to what they stand in: a short file whole, else
the page, sheet, slide or section. Worker threads.
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import accumulate, chain, pairwise, zip_longest

from desktop_rag.answer.sources.source_merging import CountTokens, ReadContent, folded, numbered
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.domain import Passage
from desktop_rag.core.places import Places, places_from_json

# The part of the room that is filled with passages before any is widened.
_BREADTH = 0.5
# Only the best are worth their surroundings.
_MOST_WIDENED = 4
# The part of the room that one passage may grow to, and the most tokens in all.
_WIDEST_SHARE = 1 / 6
_WIDEST_TOKENS = 2_500
# A source is a page at most, so that a citation is easy to find and a table stays whole.
_SOURCE_TOKENS = 1_000
# The lines around each source in the prompt.
_FRAME_TOKENS = 30
# No text has more characters per token.
_MOST_TOKEN_CHARS = 12
# What is less, such as the number of a page, is no source.
_WORDS = re.compile(r"\w+\W+\w+")
# Splitting a longer text into lines takes too long during an answer.
_LONGEST_TEXT_CHARS = 4_000_000
_LONGEST_PLACES_CHARS = 2_000_000


def chosen_evidence(
    found: Sequence[Passage],
    read_content: ReadContent,
    count_tokens: CountTokens,
    most_tokens: int,
    *,
    is_widened: bool = True,
) -> tuple[SourceRef, ...]:
    """The sources for a prompt with room for so many tokens, from passages in order of use.

    They are numbered by document, in the order of its best passage and of its text. Those that are
    not `is_widened` are the passages alone: what stands around them may be excluded.
    """
    texts = cache(lambda document_id: _Text.of(*read_content(document_id), count_tokens))
    chosen = _Chosen(count_tokens, most_tokens, texts)
    passages = [passage for passage in folded(found) if passage.text.strip()]
    later = chosen.take(passages, int(most_tokens * _BREADTH))
    widest = min(_WIDEST_TOKENS, int(most_tokens * _WIDEST_SHARE))
    taken = passages[: len(passages) - len(later)]
    for passage in taken[:_MOST_WIDENED] if is_widened else ():
        chosen.widen(passage, widest)
    chosen.take(later, most_tokens)
    return numbered(chosen.sources())


def spans_around(
    content: tuple[str, str], start: int, end: int, count_tokens: CountTokens, most_tokens: int
) -> list[tuple[int, int]]:
    """What stands around [start, end) of a text with these places, in parts of about a page.

    It is the whole text where that is short enough, else as many pages or lines as fit.
    """
    text = _Text.of(*content, count_tokens)
    if text is None:
        return [(start, min(len(content[0]), max(end, start + most_tokens)))]
    first, last = text.surroundings(start, end, most_tokens)
    while wider := text.with_neighbours(first, last, most_tokens):
        first, last = wider
    return text.parts(first, last)


def is_within(text: str, most_tokens: int, count_tokens: CountTokens) -> bool:
    """True for a text of so many tokens at most; one that is far longer is not counted."""
    is_short = len(text) <= most_tokens * _MOST_TOKEN_CHARS
    return is_short and count_tokens([text])[0] <= most_tokens


def in_turn(lists: Sequence[Sequence[Passage]]) -> list[Passage]:
    """The first of each list, then the second of each, and so on; each passage once."""
    found: dict[int, Passage] = {}
    for tier in zip_longest(*lists):
        for passage in filter(None, tier):
            found.setdefault(passage.chunk_id, passage)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of a document with the spans that belong together."""

    text: str
    places: Places
    boundaries: tuple[int, ...]
    headings: tuple[int, ...]
    count_tokens: CountTokens

    @classmethod
    def of(cls, text: str | None, places: str, count_tokens: CountTokens) -> "_Text | None":
        """None for a document without text, or one that is too long to be looked at."""
        if not text or len(text) > _LONGEST_TEXT_CHARS or len(places) > _LONGEST_PLACES_CHARS:
            return None
        marks, headings, _ = places_from_json(places)
        found = Places(marks, headings)
        offsets = tuple(heading.offset for heading in headings)
        return cls(text, found, tuple(found.boundaries()), offsets, count_tokens)

    def surroundings(self, start: int, end: int, most_tokens: int) -> tuple[int, int]:
        """The widest of document, page and section around [start, end) that is short enough.

        Where none is, the lines around it are.
        """
        page = _between(self.boundaries, start, end, len(self.text))
        section = _between(self.headings, start, end, len(self.text))
        inner = max(page[0], section[0]), min(page[1], section[1])
        for span in ((0, len(self.text)), page, inner):
            if self._fits(*span, most_tokens):
                return span
        return self._lines_around(start, end, inner, most_tokens)

    def with_neighbours(self, start: int, end: int, most_tokens: int) -> tuple[int, int] | None:
        """The span with the page before and the page behind it; None when that is too long."""
        before = _between(self.boundaries, max(0, start - 1), start, len(self.text))[0]
        behind = _between(self.boundaries, end, min(end + 1, len(self.text)), len(self.text))[1]
        spans = ((before, behind), (start, behind), (before, end))
        wider = (span for span in spans if span != (start, end) and self._fits(*span, most_tokens))
        return next(wider, None)

    def _fits(self, start: int, end: int, most_tokens: int) -> bool:
        return is_within(self.text[start:end], most_tokens, self.count_tokens)

    def _lines_around(
        self, start: int, end: int, within: tuple[int, int], most_tokens: int
    ) -> tuple[int, int]:
        """Whole lines, as many before as after: what follows a passage explains it as often."""
        reach = (most_tokens * 4 - (end - start)) // 2
        while reach > 0:
            first = max(within[0], start - reach)
            last = min(within[1], end + reach)
            first = first if first == within[0] else self.text.find("\n", first, start) + 1 or start
            last = last if last == within[1] else self.text.rfind("\n", end, last)
            last = max(last, end)
            if self._fits(first, last, most_tokens):
                return first, last
            reach //= 2
        return start, end

    def parts(self, start: int, end: int) -> list[tuple[int, int]]:
        """The span in parts of about a page, cut between lines and where a page ends."""
        cuts = [start, *(b for b in self.boundaries if start < b < end), end]
        # Short pages, such as slides, stay apart: a source is at one place.
        parts = chain.from_iterable(self._cut(first, last) for first, last in pairwise(cuts))
        return [(a, b) for a, b in parts if _WORDS.search(self.text[a:b])]

    def _cut(self, start: int, end: int) -> list[tuple[int, int]]:
        lines = self.text[start:end].splitlines(keepends=True)
        counts, offsets = self.count_tokens(lines), accumulate(map(len, lines), initial=start)
        # Parts of equal length: the rest of a page alone says little.
        most = sum(counts) / max(1, math.ceil(sum(counts) / _SOURCE_TOKENS))
        cuts, tokens = [start], 0
        for offset, count in zip(offsets, counts, strict=False):
            if tokens and tokens + count / 2 > most:
                cuts.append(offset)
                tokens = 0
            tokens += count
        return list(zip(cuts, [*cuts[1:], end], strict=True))


def _between(cuts: Sequence[int], start: int, end: int, length: int) -> tuple[int, int]:
    """The span between the cuts around [start, end)."""
    before = bisect_right(cuts, start) - 1
    after = bisect_left(cuts, end)
    first = cuts[before] if before >= 0 else 0
    return first, cuts[after] if after < len(cuts) else length


@dataclass(slots=True)
class _Span:
    """The text [start, end) of a document, with the best passage in it."""

    start: int
    end: int
    passage: Passage


@dataclass(slots=True)
class _Chosen:
    """The spans that were chosen so far, by document."""

    count_tokens: CountTokens
    left: int
    texts: Callable[[str], _Text | None]
    spans: dict[str, list[_Span]] = field(default_factory=dict[str, list[_Span]])

    def take(self, passages: Sequence[Passage], most_tokens: int) -> list[Passage]:
        """Add passages while they fit, up to so many tokens; returns the rest."""
        least_left = self.left - most_tokens
        for place, passage in enumerate(passages):
            if self._holds(passage.document_id, passage.start, passage.end):
                continue
            tokens = self._tokens(passage.text)
            if self.spans and self.left - tokens < max(0, least_left):
                return list(passages[place:])
            self._add(passage, passage.start, passage.end)
            self.left -= tokens
        return []

    def widen(self, passage: Passage, most_tokens: int) -> None:
        """Grow the span of a passage to its surroundings, where these fit."""
        text = self.texts(passage.document_id)
        if text is None or text.text[passage.start : passage.end] != passage.text:
            return
        start, end = text.surroundings(passage.start, passage.end, most_tokens)
        if self._holds(passage.document_id, start, end):
            return
        tokens = self._tokens(text.text[start:end])
        held = sum(
            self._tokens(text.text[max(s.start, start) : min(s.end, end)])
            for s in self.spans[passage.document_id]
            if s.start < end and start < s.end
        )
        if tokens - held <= self.left:
            self._add(passage, start, end)
            self.left -= tokens - held

    def _tokens(self, text: str) -> int:
        return self.count_tokens([text])[0] + _FRAME_TOKENS

    def _holds(self, document_id: str, start: int, end: int) -> bool:
        return any(s.start <= start and end <= s.end for s in self.spans.get(document_id, ()))

    def _add(self, passage: Passage, start: int, end: int) -> None:
        """Add a span, joined with those that it touches; the best passage names it."""
        own = self.spans.setdefault(passage.document_id, [])
        text = self.texts(passage.document_id)
        kept: list[_Span] = []
        for span in own:
            if text and span.start <= end and start <= span.end:
                start, end = min(start, span.start), max(end, span.end)
                passage = max(passage, span.passage, key=lambda p: p.score)
            else:
                kept.append(span)
        self.spans[passage.document_id] = [*kept, _Span(start, end, passage)]

    def sources(self) -> list[Passage]:
        """The spans as passages of about a page, each at its place."""
        found: list[Passage] = []
        for document_id, spans in self.spans.items():
            text = self.texts(document_id)
            for span in sorted(spans, key=lambda span: span.start):
                if text is None or (span.start, span.end) == (span.passage.start, span.passage.end):
                    found.append(span.passage)
                    continue
                found += [
                    replace(
                        span.passage,
                        text=text.text[start:end],
                        anchor=text.places.anchor(start, end),
                        start=start,
                        end=end,
                    )
                    for start, end in text.parts(span.start, span.end)
                ]
        return found
