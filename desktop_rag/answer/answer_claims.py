"""The sentences of an answer that can be checked, and how they stand to its sources. Any thread.

Headings, table rows, code, questions and what leads to a list claim nothing; what says that the
sources are silent can't be backed by them.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from threading import Event

from desktop_rag.answer.cited_sentences import CitedSentence, cited_sentences
from desktop_rag.core.answer_claims import Claim, unchecked
from desktop_rag.core.claims import CheckedClaim, Verdict
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.terms import terms
from desktop_rag.core.text import words

# A claim and the texts it may rest on.
CheckClaim = Callable[[str, Sequence[str]], CheckedClaim]

_LEAST_TERMS = 3
_MARKS = re.compile(r"[*`]+|__|~~|^\s*(?:>\s*)*(?:[-+•]|\d+[.)])?\s+")
_GAP = re.compile(r"\s+([.!?…,;:。！？])")
_ELSEWHERE = "It stands in source {n}, which the answer does not cite here."


def claims_of(answer: str) -> tuple[Claim, ...]:
    """What the answer claims, not checked yet."""
    return tuple(
        Claim(sentence.start, sentence.end, unchecked(_plain(sentence.text)))
        for sentence in cited_sentences(answer)
        if _is_claim(sentence)
    )


def checked(
    claims: Sequence[Claim], answer: str, sources: Sequence[SourceRef], check: CheckClaim,
    cancel: Event,
) -> tuple[Claim, ...]:  # fmt: skip
    """The claims that could be checked; what comes after a cancel stays as it is."""
    numbers = {s.start: s.numbers for s in cited_sentences(answer)}
    texts = [source.text for source in sources]

    def results() -> Iterator[Claim]:
        for claim in claims:
            if cancel.is_set():
                yield claim
                continue
            result = check(claim.checked.claim, texts)
            if result.verdict is Verdict.NOT_CHECKED:
                continue
            n = sources[result.evidence.source].n if result.evidence else 0
            cited = numbers.get(claim.start, ())
            if result.verdict is Verdict.SUPPORTED and cited and n not in cited:
                said = f"{result.explanation} {_ELSEWHERE.format(n=n)}".strip()
                result = replace(result, explanation=said)
            yield replace(claim, checked=result, n=n)

    return tuple(results())


def _is_claim(sentence: CitedSentence) -> bool:
    if sentence.marker_at < 0 or len(terms(sentence.text)) < _LEAST_TERMS:
        return False
    return bool(sentence.numbers) or not _is_about_sources(sentence.text)


def _plain(sentence: str) -> str:
    """The sentence without Markdown's marks, and without the gap that a citation left."""
    return _GAP.sub(r"\1", " ".join(_MARKS.sub("", sentence).split()))


def _is_about_sources(sentence: str) -> bool:
    """Whether it says what the sources do not hold."""
    written = {word.casefold().replace("’", "'") for word in words(sentence)}
    parts = {part for word in written for part in word.split("'")} | written
    return any(parts & sources and parts & negations for sources, negations in _about_sources())


@cache
def _about_sources() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    path = resources_dir() / "claims" / "about_sources.toml"
    tables = tomllib.loads(path.read_text(encoding="utf-8")).values()
    return tuple(
        (frozenset(table["sources"].split()), frozenset(table["negations"].split()))
        for table in tables
    )
