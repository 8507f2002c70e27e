"""The sentences of an answer, and which sources each of them cites. Pure, any thread."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from desktop_rag.answer.citations import citations
from desktop_rag.answer.code_spans import code_spans
from desktop_rag.core.align import Span
from desktop_rag.core.text import sentences

_ENDS = ".!?…。！？"
# "31." and "ca." look like the ends of sentences and are not: what follows tells.
_SHORT_NUMBER = re.compile(r"(?<!\d)\d{1,3}\.$")
_RULE = re.compile(r"[=*_-]+$")
_NOT_AFTER = ("?", "？", ":", "：")


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence without its markers, and the numbers these had.

    `marker_at` is where in the answer a marker would stand; -1 where none may be put.
    """

    text: str
    numbers: tuple[int, ...]
    marker_at: int


def cited_sentences(text: str) -> list[CitedSentence]:
    """The sentences in order."""
    found = list(citations(text))
    plain, places = _without_markers(text, [(c.start, c.end) for c in found])
    spans = sentences(plain)
    if not spans:
        numbers = dict.fromkeys(n for citation in found for n in citation.numbers)
        return [CitedSentence("", tuple(numbers), -1)] if numbers else []
    cited: list[list[int]] = [[] for _ in spans]
    starts = [start for start, _ in spans]
    for place, citation in zip(places, found, strict=True):
        index = bisect_left(starts, place) - 1
        # A citation at the start of a line belongs to what follows it.
        if index < 0 or "\n" in plain[spans[index][1] : place]:
            index = min(index + 1, len(spans) - 1)
        cited[index] += citation.numbers
    code = code_spans(plain)
    lengths = [citation.end - citation.start for citation in found]
    return [
        CitedSentence(
            plain[slice(*span)],
            tuple(dict.fromkeys(numbers)),
            _marker_place(plain, span, code, list(zip(places, lengths, strict=True))),
        )
        for span, numbers in zip(spans, cited, strict=True)
    ]


def _without_markers(text: str, markers: Sequence[Span]) -> tuple[str, list[int]]:
    """The text without its markers, and where in that each of them stood."""
    parts: list[str] = []
    places: list[int] = []
    done = taken = 0
    for start, end in markers:
        parts.append(text[done:start])
        places.append(start - taken)
        done = end
        taken += end - start
    return "".join([*parts, text[done:]]), places


def _marker_place(
    plain: str, span: Span, code: Sequence[Span], markers: Sequence[tuple[int, int]]
) -> int:
    start, end = span
    sentence = plain[start:end]
    in_code = any(first < end and start < last for first, last in code)
    if in_code or _is_layout(sentence) or not _ends_there(plain, span):
        return -1
    place = start + len(sentence.rstrip(_ENDS))
    return place + sum(length for at, length in markers if at <= start)


def _is_layout(sentence: str) -> bool:
    """Whether it is a heading or a table row, asks, or leads to a list."""
    is_ruled = bool(_RULE.fullmatch(sentence.splitlines()[-1].strip()))
    return is_ruled or sentence[0] == "#" or "|" in sentence or sentence.endswith(_NOT_AFTER)


def _ends_there(plain: str, span: Span) -> bool:
    """Whether what follows on the line begins another sentence."""
    following = plain[span[1] :].split("\n", 1)[0].strip()
    if not following:
        return True
    sentence = plain[slice(*span)]
    goes_on = following[0].isdigit() or following[0].islower()
    return not goes_on and not _SHORT_NUMBER.search(sentence)


def numbers_of(sentences_of_answer: Sequence[CitedSentence]) -> Iterator[tuple[int, str]]:
    """Each cited number with each sentence that cites it."""
    for sentence in sentences_of_answer:
        for n in sentence.numbers:
            yield n, sentence.text
