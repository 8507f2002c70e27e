"""Cleans a finished answer, validates its citations, adds certain ones, and locates the quotes.

Pure, any thread. Only numbers of sources that were sent are kept, and the quoted sentence of each
cited source is found in it. A sentence without a marker gets one when a source says it word for
word; small models forget them.
"""

import logging
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace

from desktop_rag.answer.citing.citations import cited_sentences, citing_sentences, normalise
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.markup.formulas import verbatim_spans
from desktop_rag.core.quotes import CitedQuotes, Span
from desktop_rag.core.text import sentences

log = logging.getLogger(__name__)

# A shorter sentence may be a heading or a phrase.
_LEAST_LETTERS = 12
_MARKS = re.compile(r"[*_`~\\]|^\s*(?:>\s*)*[-+•]?\s+")
_QUOTES = str.maketrans(
    "\u2018\u2019\u201a\u201c\u201d\u201e«»\u2013\u2014\u2212", 3 * "'" + 5 * '"' + 3 * "-"
)
_AROUND = " \t\n.!?…。！？,;:\"'()"


class VerbatimSupport:
    """Finds the source that says a sentence word for word, and so certainly supports it.

    Anything less is uncertain: the context may deny it ("it is a myth that"). White space, case,
    Markdown, and the kinds of quotes and dashes are ignored.
    """

    def __init__(self, sources: Sequence[SourceRef]) -> None:
        self._source_of: dict[str, int] = {}
        for source in sources:
            for start, end in sentences(source.text):
                self._source_of.setdefault(_plain(source.text[start:end]), source.n)

    def source_of(self, sentence: str) -> int:
        """The number of the first source that has the sentence word for word; 0 for none."""
        plain = _plain(sentence)
        return self._source_of.get(plain, 0) if len(plain) >= _LEAST_LETTERS else 0


def _plain(sentence: str) -> str:
    plain = _MARKS.sub("", f" {unicodedata.normalize('NFKC', sentence)}").translate(_QUOTES)
    return " ".join(plain.casefold().split()).strip(_AROUND)


_TOKEN = (
    r"<[|｜][A-Za-z_▁0-9]{2,40}[|｜]>|<(?:start|end)_of_turn>(?:model\b)?|\[/?INST\]"
    r"|<</?SYS>>|</s>(?=\s*\Z)|\ue200[^\ue201\n]{0,200}\ue201"
)
_TOKENS = re.compile(_TOKEN)
_LAST_TOKENS = re.compile(rf"(?:\s*(?:{_TOKEN}))+\s*\Z")
_FENCED = re.compile(
    r"\s*(?P<fence>`{3,}|~{3,})(?P<kind>[ \t]*\w*)[ \t]*\n(?P<body>.*)\n(?P=fence)\s*", re.S
)
_PROSE_KINDS = ("markdown", "md")
_PLAIN_KINDS = ("", "text", "txt", "plaintext", "plain")


def unwrapped(text: str, known: frozenset[int]) -> str:
    """The answer without a fence around the whole and without tokens of a template.

    A fence without a language stays unless there are citations of `known` sources in it: it may be
    the code or the text that was asked for.
    """
    end = _LAST_TOKENS.search(text[-400:])
    if end:
        text = text[: len(text) - len(end[0])]
    text = _without_fence(text, known)
    if not _TOKENS.search(text):
        return text
    code = verbatim_spans(text)
    parts: list[str] = []
    done = 0
    for start, stop in [*code, (len(text), len(text))]:
        parts += [_TOKENS.sub("", text[done:start]), text[start:stop]]
        done = stop
    return "".join(parts)


def _without_fence(text: str, known: frozenset[int]) -> str:
    found = _FENCED.fullmatch(text)
    if found is None:
        return text
    body, kind = found["body"], found["kind"].strip().lower()
    # Two blocks of code with text between them are no fence around the whole.
    fences = [line for line in body.split("\n") if line.startswith(found["fence"])]
    if len(fences) % 2 or (fences and fences[0] == found["fence"]):
        return text
    cites = normalise(body, known)[0] != normalise(body, frozenset())[0]
    return body if kind in _PROSE_KINDS or (kind in _PLAIN_KINDS and cites) else text


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
