"""Splits an answer into sentences, each with the sources that it cites. Pure, any thread."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from desktop_rag.answer.citing.citations import citations
from desktop_rag.core.markup.formulas import verbatim_spans
from desktop_rag.core.quotes import Span
from desktop_rag.core.text import sentences

_ENDS = ".!?…。！？"
# "31." and "ca." look like ends of sentences; the next character decides.
_SHORT_NUMBER = re.compile(r"(?<!\d)\d{1,3}\.$")
_CODE_IN_LINE = re.compile(r"`[^`\n]*`")
_NEXT_ON_LINE = re.compile(r"[^\S\n]*(\S)")
_RULE = re.compile(r"[=*_-]+$")
_NOT_AFTER = ("?", "？", ":", "：")


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence without its markers, and the cited numbers.

    With its markers, it is at [start, end) of the answer. `marker_at` is the position for a new
    marker, -1 when there must be none.
    """

    text: str
    numbers: tuple[int, ...]
    marker_at: int
    start: int = 0
    end: int = 0


def cited_sentences(text: str) -> list[CitedSentence]:
    """The sentences in order."""
    found = list(citations(text))
    plain, places = _without_markers(text, [(c.start, c.end) for c in found])
    spans = [
        span for found_span in sentences(plain) for span in _without_heading(plain, found_span)
    ]
    if not spans:
        numbers = dict.fromkeys(n for citation in found for n in citation.numbers)
        return [CitedSentence("", tuple(numbers), -1)] if numbers else []
    cited: list[list[int]] = [[] for _ in spans]
    starts = [start for start, _ in spans]
    ends = [0] * len(spans)
    for place, citation in zip(places, found, strict=True):
        index = bisect_left(starts, place) - 1
        # A citation at the start of a line belongs to the sentence after it.
        if index < 0 or "\n" in plain[spans[index][1] : place]:
            index = min(index + 1, len(spans) - 1)
        cited[index] += citation.numbers
        ends[index] = citation.end
    layout = _Layout(plain, verbatim_spans(plain), places, [c.end - c.start for c in found])
    return [
        CitedSentence(
            plain[slice(*span)],
            tuple(dict.fromkeys(numbers)),
            layout.marker_place(span),
            layout.in_answer(span[0]),
            max(layout.in_answer(span[1] - 1) + 1, end),
        )
        for span, numbers, end in zip(spans, cited, ends, strict=True)
    ]


def _without_markers(text: str, markers: Sequence[Span]) -> tuple[str, list[int]]:
    """The text without its markers, and the position of each in the result."""
    parts: list[str] = []
    places: list[int] = []
    done = taken = 0
    for start, end in markers:
        parts.append(text[done:start])
        places.append(start - taken)
        done = end
        taken += end - start
    return "".join([*parts, text[done:]]), places


class _Layout:
    """The code and formulas, and the removed markers, around the sentences of a text."""

    def __init__(
        self, plain: str, code: Sequence[Span], places: Sequence[int], lengths: Sequence[int]
    ) -> None:
        """`places` are the positions of the removed markers, ascending, `lengths` their lengths."""
        self._plain = plain
        self._code = code
        self._code_starts = [start for start, _ in code]
        self._places = places
        self._taken = [0, *accumulate(lengths)]

    def in_answer(self, place: int) -> int:
        """The position in the answer of a character of the text without markers."""
        return place + self._taken[bisect_right(self._places, place)]

    def marker_place(self, span: Span) -> int:
        """The position in the answer for a marker of this sentence; -1 when there must be none."""
        start, _ = span
        sentence = self._plain[slice(*span)]
        place = start + len(sentence.rstrip(_ENDS))
        if self._is_in_code(span, place) or _is_layout(sentence):
            return -1
        if not _ends_there(self._plain, span):
            return -1
        return place + self._taken[bisect_right(self._places, start)]

    def _is_in_code(self, span: Span, place: int) -> bool:
        """True when the sentence is code or a formula, or a marker would be inside one."""
        start, end = span
        before = self._code_before(start)
        around = self._code_before(place - 1)
        return (before is not None and end <= before[1]) or (
            around is not None and place < around[1]
        )

    def _code_before(self, place: int) -> Span | None:
        index = bisect_right(self._code_starts, place) - 1
        return self._code[index] if index >= 0 else None


def _without_heading(plain: str, span: Span) -> Iterator[Span]:
    """Split a heading from the text that follows it without a blank line."""
    start, end = span
    line_end = plain.find("\n", start, end)
    if plain[start] == "#" and line_end > 0:
        yield start, line_end
        start = line_end + 1
        while plain[start].isspace():
            start += 1
    yield start, end


def _is_layout(sentence: str) -> bool:
    """True for a heading, a table row, a question, or the introduction of a list."""
    is_ruled = bool(_RULE.fullmatch(sentence.splitlines()[-1].strip()))
    is_row = "|" in _CODE_IN_LINE.sub("", sentence)
    return is_ruled or sentence[0] == "#" or is_row or sentence.endswith(_NOT_AFTER)


def _ends_there(plain: str, span: Span) -> bool:
    """True when the rest of the line begins another sentence."""
    following = _NEXT_ON_LINE.match(plain, span[1])
    if following is None:
        return True
    goes_on = following[1].isdigit() or following[1].islower()
    return not goes_on and not _SHORT_NUMBER.search(plain[slice(*span)])


def citing_sentences(text: str) -> dict[int, list[str]]:
    """The sentences of an answer that cite a source, by the number of the source."""
    citing: dict[int, list[str]] = {}
    for sentence in cited_sentences(text):
        for n in sentence.numbers:
            citing.setdefault(n, []).append(sentence.text)
    return citing
