"""Features of a claim and a source: shares of words that the source has or lacks.

All but the length are shares or small counts, which do not depend on the length of claim or source.
Pure, any thread.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

from desktop_rag.answer.checking.claims.alignment import Alignment, align
from desktop_rag.answer.checking.claims.source_index import SourceIndex, Window
from desktop_rag.answer.checking.claims.tokens import ClaimToken, TokenRole
from desktop_rag.answer.checking.claims.words import has_opposite, word_lists

# The features by name, each with its monotone constraint: more of it lowers the support (-1),
# raises it (1), or may do either (0).
FEATURES: Mapping[str, int] = {
    # The share of missing content words, by weight.
    "missing": -1,
    "missing_in_sentence": -1,
    "missing_in_window": -1,
    "rarest_missing_in_window": -1,
    # The same for names, numbers, degrees and words, without framing words.
    "telling_missing": -1,
    "telling_missing_in_window": -1,
    "nouns_missing": -1,
    "framing_missing": 0,
    # Shares within each role.
    "numbers_missing": -1,
    "numbers_missing_in_window": -1,
    "names_missing": -1,
    "names_missing_in_window": -1,
    "degrees_missing_in_window": -1,
    "functions_missing_in_window": -1,
    # Signs of a reversed meaning.
    "new_negation": -1,
    "negation_differs": -1,
    "opposites": -1,
    "limits_added": -1,
    # The order of the words.
    "neighbours_parted": -1,
    "neighbours_parted_in_window": -1,
    "out_of_order": -1,
    "not_aligned": -1,
    "copied": 0,
    "longest_run": 1,
    "pieces": -1,
    "replaced": -1,
    "length": 0,
}
# The number of sentences in a window.
WINDOW_SENTENCES = 2
_COPIED_RUN = 4
_MOST_OPPOSITES = 2
_MOST_REPLACED = 3
_MOST_LIMITS = 3
# A gap with more words is another thought, not a replacement.
_REPLACED_WORDS = 2
_REPLACING_WORDS = 3
_TELLING = (TokenRole.NUMBER, TokenRole.NAME, TokenRole.DEGREE, TokenRole.WORD)
_DECISIVE = (TokenRole.NUMBER, TokenRole.NAME, TokenRole.DEGREE, TokenRole.NEGATION)
_VERB_ENDINGS = ("ed", "ing", "ize", "ise", "ify")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim compared with a source: its best window, the alignment, the features by name."""

    window: Window
    alignment: Alignment
    features: dict[str, float] = field(repr=False)


def compare(claim: Sequence[ClaimToken], index: SourceIndex) -> Comparison:
    """Compare a claim that has content words with a source that has words."""
    weights: dict[str, float] = {}
    for token in claim:
        if token.is_content:
            weights[token.stem] = weights.get(token.stem, 0.0) + token.weight
    total = sum(weights.values())
    _, in_sentence = index.best_window(weights, 1)
    window, in_window = index.best_window(weights, WINDOW_SENTENCES)
    alignment = align(claim, window.tokens)
    values = {
        "missing": _missing_share(claim, index, total),
        "missing_in_sentence": 1 - in_sentence / total,
        "missing_in_window": 1 - in_window / total,
        "length": math.log(len(claim)),
        **_telling_words(claim, index, window),
        **_shares_of_kinds(claim, index, window),
        **_turns(claim, window),
        **_neighbourhood(claim, index, window, weights),
        **_runs(claim, index),
        **_aligned(alignment),
    }
    assert values.keys() == FEATURES.keys()
    return Comparison(window, alignment, values)


def _missing_share(claim: Sequence[ClaimToken], index: SourceIndex, total: float) -> float:
    missing = (token for token in _content(claim) if token.stem not in index.stems)
    return _weight(token for token in missing if not index.has_form_of(token.stem)) / total


def _telling_words(
    claim: Sequence[ClaimToken], index: SourceIndex, window: Window
) -> dict[str, float]:
    telling = [token for token in claim if token.role in _TELLING]
    total = _weight(telling) or 1.0
    said = _weight(_content(claim))
    nouns = [
        token
        for place, token in enumerate(claim)
        if token.role is TokenRole.WORD and not _may_be_verb(claim, place)
    ]
    outside = [token for token in _content(claim) if token.stem not in window.stems]
    framing = sum(t.role is TokenRole.FRAMING and t.stem not in index.stems for t in claim)
    return {
        "telling_missing": _weight(t for t in telling if t.stem not in index.stems) / total,
        "telling_missing_in_window": _weight(t for t in telling if t.stem not in window.stems)
        / total,
        "rarest_missing_in_window": max((token.weight for token in outside), default=0.0),
        "nouns_missing": _weight(t for t in nouns if t.stem not in index.stems) / said,
        "framing_missing": framing / len(claim),
    }


def _shares_of_kinds(
    claim: Sequence[ClaimToken], index: SourceIndex, window: Window
) -> dict[str, float]:
    def share(role: TokenRole, stems: frozenset[str]) -> float:
        # Smoothed: one of one counts half, since a share of few words says little.
        of_kind = [token.stem for token in claim if token.role is role]
        return sum(stem not in stems for stem in of_kind) / (len(of_kind) + 1)

    return {
        "numbers_missing": share(TokenRole.NUMBER, index.stems),
        "numbers_missing_in_window": share(TokenRole.NUMBER, window.stems),
        "names_missing": share(TokenRole.NAME, index.stems),
        "names_missing_in_window": share(TokenRole.NAME, window.stems),
        "degrees_missing_in_window": share(TokenRole.DEGREE, window.stems),
        "functions_missing_in_window": share(TokenRole.FUNCTION, window.stems),
    }


def _turns(claim: Sequence[ClaimToken], window: Window) -> dict[str, float]:
    limiting = word_lists().limiting
    words = {token.word for token in window.tokens}
    negations = any(token.role is TokenRole.NEGATION for token in claim)
    in_window = any(token.role is TokenRole.NEGATION for token in window.tokens)
    opposites = sum(
        token.stem not in window.stems and has_opposite(token.stem, window.stems)
        for token in _content(claim)
    )
    limits = sum(token.word in limiting and token.word not in words for token in claim)
    return {
        "new_negation": float(negations and not in_window),
        "negation_differs": float(negations != in_window),
        "opposites": float(min(opposites, _MOST_OPPOSITES)),
        "limits_added": float(min(limits, _MOST_LIMITS)),
    }


def _neighbourhood(
    claim: Sequence[ClaimToken], index: SourceIndex, window: Window, weights: Mapping[str, float]
) -> dict[str, float]:
    stems = [token.stem for token in _content(claim)]
    wanted = list(pairwise(stems))

    def parted(sentences: Iterable[Sequence[ClaimToken]]) -> float:
        near: set[tuple[str, str]] = set()
        for sentence in sentences:
            found = [token.stem for token in sentence if token.stem in weights]
            near.update(pairwise(found), zip(found, found[2:], strict=False))
        return 1 - sum(pair in near for pair in wanted) / len(wanted) if wanted else 0.0

    first = {token.stem: place for place, token in reversed(list(enumerate(window.tokens)))}
    places = [first[stem] for stem in dict.fromkeys(stems) if stem in first]
    swapped = [one > other for one, other in combinations(places, 2)]
    return {
        "neighbours_parted": parted(index.sentences_of(index.window(0, index.count))),
        "neighbours_parted_in_window": parted(index.sentences_of(window)),
        "out_of_order": sum(swapped) / (len(swapped) or 1),
    }


def _runs(claim: Sequence[ClaimToken], index: SourceIndex) -> dict[str, float]:
    lengths = [run.length for run in index.runs([token.stem for token in claim])]
    copied = sum(length for length in lengths if length >= _COPIED_RUN)
    return {
        "copied": copied / len(claim),
        "longest_run": max(lengths, default=0) / len(claim),
        "pieces": len(lengths) / len(claim),
    }


def _aligned(alignment: Alignment) -> dict[str, float]:
    replaced = sum(
        0 < len(gap.claim) <= _REPLACED_WORDS
        and 0 < len(gap.evidence) <= _REPLACING_WORDS
        and any(token.role in _DECISIVE for token in gap.claim)
        for gap in alignment.gaps()
        if gap.is_inside
    )
    return {
        "not_aligned": 1 - len(alignment.pairs) / len(alignment.claim),
        "replaced": float(min(replaced, _MOST_REPLACED)),
    }


def _may_be_verb(claim: Sequence[ClaimToken], place: int) -> bool:
    before = claim[place - 1].word if place else ""
    return claim[place].word.endswith(_VERB_ENDINGS) or before in word_lists().before_verb


def _content(claim: Sequence[ClaimToken]) -> list[ClaimToken]:
    return [token for token in claim if token.is_content]


def _weight(tokens: Iterable[ClaimToken]) -> float:
    return sum(token.weight for token in tokens)
