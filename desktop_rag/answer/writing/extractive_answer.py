"""Extractive answers without a model: the best sentences of the best passages, with citations.

Pure except for the embedder that is passed in. The score of a sentence combines the words it shares
with the question, weighted by rarity among the passages, its meaning, and the rank of its passage.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.terms import terms
from desktop_rag.core.text import sentences
from desktop_rag.models.ports import Embedder

NOTHING_FOUND = "Nothing in your documents matches this question."
NOTHING_RELEVANT = (
    "Nothing in your documents seems to be about this question. Other words may find more. The"
    " passages that came nearest can be looked at."
)
NOTHING_RELEVANT_HERE = (
    "Nothing in this collection seems to be about this question. Other words may find more, and so"
    " may asking all documents. The passages that came nearest can be looked at."
)
NOTHING_RELEVANT_AMONG = (
    "Nothing in these collections seems to be about this question. Other words may find more, and"
    " so may asking all documents. The passages that came nearest can be looked at."
)
NOTHING_THERE = "There are no documents yet. Add a folder to the library, then ask again."
UNREAD = "{} not been read yet; what is in them can be found as soon as they are."

_PASSAGES = 5
_SENTENCES = 3
_LONGEST = 600
# The number of sentences that a summary compares; embedding them takes a second.
_MOST_COMPARED = 40
# Question words are ignored: a "when" in a sentence does not answer "when".
_ASKING = frozenset(terms("who whom whose what which when where why how do does did is are was"))
_SHORTEST = 4
_MEANING_SHARE = 0.5
_RANK_SHARE = 0.25
# A second sentence must be nearly as good as the first, or it only dilutes the answer.
_RELATIVE_FLOOR = 0.72
# List and heading marks at the start, and emphasis; quoted sentences are plain text.
_MARKUP = re.compile(r"^(?:[-*+>|\s]|#{1,6}\s|\d+[.)]\s)+|\*\*|`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
# Text that is not prose: comments, front matter, link definitions.
_NOT_PROSE = re.compile(r"<!--|^---|^[\w.-]+:\s|: \[")
_LEAST_LETTERS = 0.6


@dataclass(frozen=True, slots=True)
class _Candidate:
    n: int
    rank: int
    position: int
    text: str
    terms: frozenset[str]


def excerpts(
    question: str, sources: Sequence[SourceRef], embedder: Embedder | None, said: str = ""
) -> str:
    """An answer of up to three sentences of the sources, each with its [n], best first.

    Sentences of the previous answer, `said`, are used only when there are no others. With nothing
    to quote, the answer says so without a citation.
    """
    best = sorted(sources, key=lambda source: -source.score)[:_PASSAGES]
    candidates = [c for rank, source in enumerate(best, 1) for c in _candidates(source, rank)]
    if not candidates:
        # Tables and fragments only: shown as they are rather than not at all.
        candidates = [c for source in best[:1] for c in _whole(source)]
    if not candidates:
        return NOTHING_FOUND
    candidates = [c for c in candidates if _quoted(c.text) not in said] or candidates
    scores = _scores(question, candidates, embedder)
    order = sorted(range(len(candidates)), key=lambda i: -scores[i])
    floor = scores[order[0]] * _RELATIVE_FLOOR
    chosen: list[_Candidate] = []
    for index in order:
        candidate = candidates[index]
        if len(chosen) == _SENTENCES or (chosen and scores[index] < floor):
            break
        if not any(_is_repeat(candidate, other) for other in chosen):
            chosen.append(candidate)
    return "\n\n".join(f"{_quoted(candidate.text)} [{candidate.n}]" for candidate in chosen)


def central_sentences(sources: Sequence[SourceRef], embedder: Embedder | None, most: int) -> str:
    """Up to `most` sentences nearest to the mean of all, in order, each with its [n].

    Without an embedder, the first ones; "" when there are no sentences.
    """
    candidates = [c for source in sources for c in _candidates(source, 1)]
    step = max(1, math.ceil(len(candidates) / _MOST_COMPARED))
    candidates = candidates[::step]
    order = list(range(len(candidates)))
    if embedder and candidates:
        vectors = embedder.embed_passages([c.text for c in candidates])
        nearness = vectors @ vectors.mean(axis=0)
        order.sort(key=lambda place: -float(nearness[place]))
    chosen: list[int] = []
    for place in order:
        repeats = (_is_repeat(candidates[place], candidates[other]) for other in chosen)
        if len(chosen) < most and not any(repeats):
            chosen.append(place)
    kept = [candidates[place] for place in sorted(chosen)]
    return " ".join(f"{_quoted(c.text)} [{c.n}]" for c in kept)


def _candidates(source: SourceRef, rank: int) -> list[_Candidate]:
    found: list[_Candidate] = []
    for start, end in sentences(source.text):
        plain = _MARKUP.sub("", _LINK.sub(r"\1", source.text[start:end]))
        text = " ".join(plain.split())
        words = terms(text)
        if len(words) >= _SHORTEST and is_prose(text):
            found.append(_Candidate(source.n, rank, start, _shortened(text), frozenset(words)))
    return found


def _whole(source: SourceRef) -> list[_Candidate]:
    text = _shortened(" ".join(_MARKUP.sub("", source.text).split()))
    words = terms(text)
    return [_Candidate(source.n, 1, 0, text, frozenset(words))] if words else []


def _shortened(text: str) -> str:
    """The beginning of a long text, up to the end of a word."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rsplit(' ', 1)[0]} …"


def is_prose(text: str) -> bool:
    """True when the text reads as prose rather than markup or numbers."""
    letters = sum(character.isalpha() or character == " " for character in text)
    return not _NOT_PROSE.search(text) and letters >= _LEAST_LETTERS * len(text)


def _scores(
    question: str, candidates: Sequence[_Candidate], embedder: Embedder | None
) -> list[float]:
    words = set(terms(question))
    asked = words - _ASKING or words
    frequency = Counter(term for c in candidates for term in c.terms)
    weight = {t: math.log(1 + len(candidates) / (1 + frequency[t])) for t in asked}
    total = sum(weight.values()) or 1.0
    shared = [sum(weight[t] for t in asked & c.terms) / total for c in candidates]
    by_rank = [_RANK_SHARE / c.rank for c in candidates]
    if embedder is None:
        return [s + r for s, r in zip(shared, by_rank, strict=True)]
    meaning = embedder.embed_passages([c.text for c in candidates]) @ embedder.embed_query(question)
    return [
        (1 - _MEANING_SHARE) * s + _MEANING_SHARE * float(m) + r
        for s, m, r in zip(shared, meaning, by_rank, strict=True)
    ]


def _is_repeat(one: _Candidate, other: _Candidate) -> bool:
    smaller = min(len(one.terms), len(other.terms))
    return len(one.terms & other.terms) >= 0.8 * smaller  # four words in five


def _quoted(text: str) -> str:
    """The sentence with Markdown escaped: document text is not our markup."""
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", text)
