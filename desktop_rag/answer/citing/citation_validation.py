"""Validates the citations of a finished answer, adds certain ones, and locates the quotes.

Pure, any thread. Only numbers of sources that were sent are kept, and the quoted sentence of each
cited source is found in it. A sentence without a marker gets one when a source says it word for
word; small models forget them.
"""

import logging
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from desktop_rag.answer.citing.answer_wrapping import unwrapped
from desktop_rag.answer.citing.citations import normalise
from desktop_rag.answer.citing.cited_sentences import cited_sentences, numbers_of
from desktop_rag.answer.citing.verbatim_support import VerbatimSupport
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.terms import terms
from desktop_rag.core.text import sentences

log = logging.getLogger(__name__)

# The least share of the citing sentence's weight that a quote has in common with it; a word that no
# source has weighs as much as a rare one.
_LEAST_SHARE = 0.2
_UNKNOWN_WEIGHT = 3.0
# A row of a table has a label and this many figures.
_FEWEST_FIGURES = 2


def finish_answer(text: str, sources: Sequence[SourceRef]) -> tuple[str, tuple[SourceRef, ...]]:
    """The text with valid citations only, and the sources with the cited ones located.

    `sources` are those that were sent, each with its passage as `text` and the position of the
    passage in the document as `start`. A cited one gets the `quote` with its `start` and `end`.
    """
    known = frozenset(source.n for source in sources)
    finished, dropped = normalise(unwrapped(text, known), known)
    if dropped:
        log.info("Removed citations of sources that were not sent: %d", dropped)
    finished = _with_missing(finished, sources)
    claims: dict[int, list[frozenset[str]]] = {}
    for n, sentence in numbers_of(cited_sentences(finished)):
        claims.setdefault(n, []).append(frozenset(terms(sentence)))
    return finished, _located(sources, claims)


def _with_missing(text: str, sources: Sequence[SourceRef]) -> str:
    """The text with a marker after each unmarked sentence that a source certainly supports."""
    support = VerbatimSupport(sources)
    parts: list[str] = []
    done = 0
    for sentence in cited_sentences(text):
        if sentence.numbers or sentence.marker_at < 0:
            continue
        if n := support.source_of(sentence.text):
            parts += [text[done : sentence.marker_at], f" [{n}]"]
            done = sentence.marker_at
    return "".join([*parts, text[done:]])


def _located(
    sources: Sequence[SourceRef], claims: dict[int, list[frozenset[str]]]
) -> tuple[SourceRef, ...]:
    if not claims:
        return tuple(sources)
    passages = {
        source.n: [(span, frozenset(terms(source.text[slice(*span)]))) for span in spans]
        for source in sources
        for spans in [[*sentences(source.text), *_rows(source.text)]]
    }
    frequency = Counter(term for found in passages.values() for _, ts in found for term in ts)
    total = sum(map(len, passages.values()))
    weights = {term: math.log((total + 1) / count) for term, count in frequency.items()}
    return tuple(
        _quoted(source, passages[source.n], claims[source.n], weights)
        if source.n in claims
        else source
        for source in sources
    )


def _rows(text: str) -> Iterator[tuple[int, int]]:
    """The spans of lines with a label and figures: tables in the text of a PDF, which have no stops
    between them.
    """
    start = 0
    for line in text.splitlines(keepends=True):
        behind = list(takewhile(_has_no_letter, reversed(line.split())))
        figures = sum(any(map(str.isdigit, part)) for part in behind)
        if figures >= _FEWEST_FIGURES and len(behind) < len(line.split()):
            yield start, start + len(line.rstrip())
        start += len(line)


def _has_no_letter(word: str) -> bool:
    return not any(map(str.isalpha, word))


def _quoted(
    source: SourceRef,
    passage: list[tuple[tuple[int, int], frozenset[str]]],
    claims: list[frozenset[str]],
    weights: dict[str, float],
) -> SourceRef:
    """The source, quoting the sentence or row that has most in common with a citing one, by weight.

    With too little in common, as between two languages or when the passage does not support the
    sentence, there is no quote: it would mislead.
    """
    if source.query:
        # Its text is a result, which is not in the document.
        return replace(source, is_cited=True)
    start, end = 0, 0
    least = min(sum(weights.get(term, _UNKNOWN_WEIGHT) for term in claim) for claim in claims)
    most = least * _LEAST_SHARE
    for (first, last), found in passage:
        shared = max(sum(weights[term] for term in found & claim) for claim in claims)
        is_shorter = end > 0 and math.isclose(shared, most) and last - first < end - start
        if shared > most + 1e-9 or (shared > 0 and is_shorter):
            most, start, end = max(most, shared), first, last
    if not end:
        return replace(source, is_cited=True)
    return replace(
        source,
        quote=source.text[start:end],
        start=source.start + start,
        end=source.start + end,
        is_cited=True,
    )
