"""Validates the citations of a finished answer, adds certain ones, and locates the quotes.

Pure, any thread. Only numbers of sources that were sent are kept, and the quoted sentence of each
cited source is found in it. A sentence without a marker gets one when a source says it word for
word; small models forget them.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from desktop_rag.answer.citing.answer_wrapping import unwrapped
from desktop_rag.answer.citing.citations import normalise
from desktop_rag.answer.citing.cited_sentences import cited_sentences, citing_sentences
from desktop_rag.answer.citing.verbatim_support import VerbatimSupport
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.quotes.cited_quotes import CitedQuotes
from desktop_rag.core.quotes.quote_alignment import Span

log = logging.getLogger(__name__)


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
    return finished, _located(sources, citing_sentences(finished))


def cited_places(text: str, sources: Sequence[SourceRef]) -> dict[int, list[Span]]:
    """Where each source says what a finished answer cites it for, in the text of the source."""
    quotes = CitedQuotes([source for source in sources if source.is_cited and not source.query])
    return {n: quotes.places(n, sentences) for n, sentences in citing_sentences(text).items()}


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
    sources: Sequence[SourceRef], citing: Mapping[int, Sequence[str]]
) -> tuple[SourceRef, ...]:
    if not citing:
        return tuple(sources)
    quotes = CitedQuotes(sources)
    return tuple(
        _quoted(source, quotes, citing[source.n]) if source.n in citing else source
        for source in sources
    )


def _quoted(source: SourceRef, quotes: CitedQuotes, citing: Sequence[str]) -> SourceRef:
    """The source, quoting the sentence or row that has most in common with a citing one."""
    # The text of a query is a result, which is not in the document.
    place = None if source.query else quotes.place(source.n, citing)
    cited = replace(source, is_cited=True)
    if not place:
        return cited
    start, end = place
    return replace(
        cited, quote=source.text[start:end], start=source.start + start, end=source.start + end
    )
