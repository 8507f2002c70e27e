"""Extractive answers without a model: the best sentences of the best passages, with citations.

Pure except for the embedder that is passed in. The score of a sentence combines the words it shares
with the question, weighted by rarity among the passages, its meaning, and the rank of its passage.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from desktop_rag.answer.search.meaning import Meaning
from desktop_rag.answer.writing.excerpt_candidates import (
    IDLE,
    LONGEST,
    NO_SURROUNDINGS,
    Candidate,
    Surroundings,
    all_candidates,
    asked_words,
    candidates_of,
    is_about_older,
    named_in,
    telling_words,
    whole_passage,
)
from desktop_rag.answer.writing.excerpt_units import Unit, label_of
from desktop_rag.answer.writing.relevance import (
    Doubt,
    in_other_languages,
    is_across,
    relevance_of,
    similarity,
    words_held,
)
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.markup.formulas import formulas
from desktop_rag.core.terms import terms
from desktop_rag.models.ports import Embedder

_COMPOUND = re.compile(r"\d+(?:[-./:,]\d+)*")


def blocks(chosen: Sequence[Candidate]) -> Iterator[str]:
    """The pieces as Markdown; rows and items of one source stand together, in order."""
    left, before = list(chosen), ""
    while left:
        first = left[0]
        together = [c for c in left if _is_together(first, c)]
        left = [c for c in left if c not in together]
        together.sort(key=lambda c: c.unit.start)
        above, before = _above(first) if _above(first) != before else "", _above(first)
        if above and (first.unit.caption or first.unit.cells or first.unit.is_item):
            yield f"{above}:"
            above = ""
        if first.unit.caption:
            yield f"{quoted(first.unit.caption)}: [{first.n}]"
        if first.unit.is_item and first.unit.lead:
            yield f"{quoted(first.unit.lead.removesuffix(':'))}: [{first.n}]"
        if first.unit.header:
            yield _table(together)
        elif first.unit.cells:
            yield "\n".join(f"- {_figures(c.unit)} [{c.n}]" for c in together)
        elif first.unit.is_item:
            yield "\n".join(f"- {quoted(c.text)} [{c.n}]" for c in together)
        else:
            label = f"**{quoted(first.unit.lead)}** " if first.unit.lead else ""
            yield f"{f'{above}: ' if above else ''}{label}{quoted(first.text)} [{first.n}]"
            below = [replace(unit, lead="") for unit in first.listed]
            below = [replace(first, unit=unit, listed=(), subject="", name="") for unit in below]
            yield from blocks(below)


def _above(piece: Candidate) -> str:
    """What a piece is about and where it stands: **Kestrel Ltd** (companies.md)."""
    where = ", ".join(filter(None, (quoted(piece.name), piece.older)))
    if not piece.subject:
        return f"*{where}*" if where else ""
    return f"**{quoted(piece.subject)}** ({where})"


def _is_together(one: Candidate, other: Candidate) -> bool:
    """True for the same piece, rows of one table, and items of one source."""
    if one.listed or other.listed:
        return one == other
    if one.n != other.n or not (one.unit.cells or one.unit.is_item):
        return one == other
    if (one.unit.lead, one.subject) != (other.unit.lead, other.subject):
        return False
    is_row = bool(one.unit.cells and other.unit.cells)
    same_columns = len(one.unit.cells) == len(other.unit.cells)
    same_head = one.unit.header == other.unit.header and one.unit.caption == other.unit.caption
    same_table = is_row and same_columns and same_head
    return same_table or (one.unit.is_item and other.unit.is_item)


def _table(rows: Sequence[Candidate]) -> str:
    """A Markdown table of rows, each cited in its last cell."""
    width = max(len(row.unit.cells) for row in rows)
    names = rows[0].unit.header
    names = names if len(names) >= width else (*names, *("",) * (width - len(names)))
    lines = [_row([quoted(name) for name in names]), _row(["---"] * len(names))]
    for row in rows:
        cells = [quoted(cell) for cell in row.unit.cells]
        cells += [""] * (len(names) - len(cells))
        lines.append(_row([*cells[:-1], f"{cells[-1]} [{row.n}]".strip()]))
    return "\n".join(lines)


def _figures(row: Unit) -> str:
    """A row whose columns have no names, on one line."""
    label, *figures = map(quoted, row.cells)
    scale = f" ({quoted(row.scale)})" if row.scale else ""
    return f"{label}: {' · '.join(figures)}{scale}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def quoted(text: str) -> str:
    """The sentence with Markdown escaped: document text is not our markup, but for formulas."""
    parts: list[str] = []
    done = 0
    for formula in formulas(text):
        parts += [_escaped(text[done : formula.start]), text[formula.start : formula.end]]
        done = formula.end
    return "".join([*parts, _escaped(text[done:])])


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", text)


_PASSAGES = 5
_SENTENCES = 3
# The number of sentences that a summary compares; embedding them takes a second.
_MOST_COMPARED = 40
# Below this share of the question's words, those that match may do so by chance.
_LEAST_SHARED = 0.34
_MEANING_SHARE = 0.5
_RANK_SHARE = 0.25
_LABEL_SHARE = 0.4
# A second sentence must be nearly as good as the first, or it only dilutes the answer.
_RELATIVE_FLOOR = 0.72
# It also needs this share of the words that the first one has of the question.
_RELATIVE_WORDS = 0.5
# A further row of figures needs this share of what the first one's label has of the question.
_RELATIVE_LABEL = 0.75
# Figures below unknown columns say little, even in the right row, and so does half a sentence.
_UNNAMED_SHARE = 0.8
_CUT_SHARE = 0.7
# Questions in a document answer nothing.
_ASKED_SHARE = 0.5
# A piece without a figure seldom says how many.
_BESIDE_SHARE = 0.7
# Passages with less of the score of the best one are not about the question.
_LEAST_SCORE = 0.4
# A comparison quotes so many pieces, of files with this share of the best score.
_MOST_SIDED = 4
_SIDE_SHARE = 0.5
# Documents whose names have fewer words of the question, beside those that have more.
_OTHERS_SHARE = 0.8


class Excerpts(NamedTuple):
    """Quoted pieces in Markdown, "" for none, and whether they are surely about the question."""

    text: str
    is_sure: bool


def excerpts(
    question: str,
    sources: Sequence[SourceRef],
    meaning: Meaning | None,
    said: str = "",
    surroundings: Mapping[int, Surroundings] = NO_SURROUNDINGS,
    *,
    wanted: Callable[[Candidate], bool] | None = None,
    is_comparison: bool = False,
    doubt: Doubt | None = None,
) -> Excerpts:
    """An answer of up to three pieces of the sources, each with its [n], best first.

    Rows of a table become a table, with the names of columns that the passage itself or the
    `surroundings` of the source, by its number, give. Pieces of the previous answer, `said`, are
    used only when there are no others. It is empty with nothing to quote, or, with a `doubt`, about
    the question. What is `wanted`, a figure or a time, comes first. A comparison quotes both sides.
    """
    across = in_other_languages(question, meaning, surroundings)
    if meaning and doubt:
        sources = [source for source in sources if source.n not in doubt.apart | doubt.of_others]
    ranked = _near_the_best(sources, across, surroundings)
    asked = asked_words(question)
    best = [s for n, s in enumerate(ranked) if n < _PASSAGES or s.n in across]
    near = frozenset[tuple[int, int]]()
    if meaning and doubt:
        is_about, near = relevance_of(question, best, meaning, surroundings, doubt)
        if not is_about:
            # A second look goes through all of them.
            best = ranked = sorted(sources, key=lambda source: -source.score)
            is_about, near = relevance_of(question, best, meaning, surroundings, doubt)
        if not is_about:
            return Excerpts("", is_sure=False)
    candidates = all_candidates(best, asked, surroundings)
    if meaning and _tell_little(asked, candidates):
        candidates = _by_meaning(asked, ranked, surroundings, meaning)
        question = _without_names(question, ranked)
    # Fragments only are shown as they are rather than not at all.
    candidates = candidates or [c for source in best[:1] for c in whole_passage(source)]
    if not candidates:
        return Excerpts("", is_sure=False)
    candidates = [c for c in candidates if quoted(c.text) not in said] or candidates
    similar = similarity(question, candidates, meaning) if meaning else None
    if wanted:
        candidates = [replace(c, is_beside=not wanted(c)) for c in candidates]
    candidates = candidates if is_about_older(question) else _newest_first(candidates)
    homes = {source.n: source.document_id for source in sources if is_comparison}
    chosen = _best(asked, candidates, similar, meaning, homes)
    is_sure = not (meaning and doubt) or any((c.n, c.unit.start) in near for c in chosen[:1])
    return Excerpts("\n\n".join(blocks(chosen)), is_sure=is_sure)


def _by_meaning(
    asked: set[str],
    sources: Sequence[SourceRef],
    surroundings: Mapping[int, Surroundings],
    meaning: Meaning,
) -> list[Candidate]:
    """All pieces, in the documents named if any in another language, for words that tell little as
    there: meaning decides.
    """
    found = all_candidates(sources, asked, surroundings, any_row=True)
    most = max((len(c.named) for c in found if is_across(c, meaning)), default=0)
    fit = [c for c in found if len(c.named) == most or not is_across(c, meaning)]
    return [replace(candidate, rank=1) for candidate in fit]


def _newest_first(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The pieces, those of older documents beside the point unless the question names these.

    It does by words of their files or by a year; a title such as "Office lease" is that of others.
    """
    named = [
        sum(word.isdigit() or word in terms(PurePath(c.name).stem) for word in c.named)
        for c in candidates
    ]
    most = max((n for n, c in zip(named, candidates, strict=True) if not c.older), default=-1)
    return [
        replace(c, is_beside=c.is_beside or (bool(c.older) and n <= most))
        for n, c in zip(named, candidates, strict=True)
    ]


def _both_sides(
    asked: set[str],
    candidates: Sequence[Candidate],
    scores: Sequence[float],
    homes: Mapping[int, str],
) -> list[Candidate]:
    """For each word that a question compares, the piece that says it in each of the best two files;
    where there is one file only, the best piece for each word.
    """
    order = sorted(range(len(candidates)), key=lambda i: -scores[i])
    near = [homes[candidates[i].n] for i in order if scores[i] >= _SIDE_SHARE * scores[order[0]]]
    sides = list(dict.fromkeys(near))[:2]
    held = [set[str]().union(*(c.said for c in candidates if homes[c.n] == s)) for s in sides]
    compared = asked.intersection(*held).difference(*(c.named for c in candidates))
    chosen: list[Candidate] = []
    for side in sides:
        own = [candidates[i] for i in order if homes[candidates[i].n] == side]
        best = [
            max(said, key=lambda c, word=word: _is_headed(c, word))
            for word in sorted(compared)
            if (said := [c for c in own if word in c.said])
        ]
        chosen += list(dict.fromkeys(best))[:_MOST_SIDED] or own[:1]
    return sorted(chosen, key=lambda c: (sides.index(homes[c.n]), c.n, c.unit.start))


def _is_headed(piece: Candidate, word: str) -> tuple[int, int]:
    """How far a word names a row or heads a piece; the first of those below a heading leads."""
    if piece.unit.cells and word in terms(piece.unit.cells[0]):
        return 2, 0
    is_headed = word in terms(f"{piece.unit.title} {piece.unit.lead}")
    return int(is_headed), -piece.unit.start if is_headed else 0


def nearest_piece(
    question: str,
    sources: Sequence[SourceRef],
    meaning: Meaning | None,
    surroundings: Mapping[int, Surroundings],
    names: str,
) -> Candidate | None:
    """The piece that comes nearest to a question which no piece is about.

    Where a question has `names`, these alone don't count: all pieces about Anna are near to what is
    asked about her.
    """
    asked = asked_words(question)
    candidates = _newest_first(all_candidates(sources, asked, surroundings))
    if not candidates:
        return None
    similar = similarity(question, candidates, meaning) if meaning else None
    if names and meaning and similar is not None:
        return candidates[int(np.argmax(similar - similarity(names, candidates, meaning)))]
    return _best(asked, candidates, similar, meaning, {})[0]


def _near_the_best(
    sources: Sequence[SourceRef], across: Collection[int], surroundings: Mapping[int, Surroundings]
) -> list[SourceRef]:
    """The passages best first, without those far behind the best one in the same language.

    Other versions of what the best one is from stay.
    """
    ranked = sorted(sources, key=lambda source: -source.score)
    least = _LEAST_SCORE * ranked[0].score if ranked and ranked[0].score > 0 else -math.inf
    series = {n: around.version.series for n, around in surroundings.items()}
    same = series.get(ranked[0].n) if ranked else None
    near = set(across).union(n for n, name in series.items() if name and name == same)
    return [source for source in ranked if source.score >= least or source.n in near]


def _best(
    asked: set[str],
    candidates: Sequence[Candidate],
    similar: NDArray[np.float64] | None,
    meaning: Meaning | None,
    homes: Mapping[int, str],
) -> list[Candidate]:
    """The best pieces, fewer where the others are far behind.

    For a comparison, of both sides: `homes` are the documents of the sources then.
    """
    words = _shared_words(asked, candidates)
    across = [bool(meaning and is_across(c, meaning)) for c in candidates]
    scores = _scores(asked, candidates, words, similar, is_alone=not any(across))
    if homes:
        return _both_sides(asked, candidates, scores, homes)
    order = sorted(range(len(candidates)), key=lambda i: -scores[i])
    floor = scores[order[0]] * _RELATIVE_FLOOR
    fewest = words[order[0]] * _RELATIVE_WORDS
    label = _named(candidates[order[0]], asked) * _RELATIVE_LABEL
    chosen: list[Candidate] = []
    for index in order:
        candidate = candidates[index]
        if candidate.unit.is_figures and _named(candidate, asked) < label:
            # Beside the row that was asked for, others are noise.
            continue
        if len(chosen) == _SENTENCES or (chosen and scores[index] < floor):
            break
        is_near = words[index] >= fewest or across[index]
        if is_near and not any(_is_repeat(candidate, other) for other in chosen):
            chosen.append(candidate)
    return chosen


def central_sentences(sources: Sequence[SourceRef], embedder: Embedder | None, most: int) -> str:
    """Up to `most` sentences nearest to the mean of all, in order, each with its [n].

    Without an embedder, the first ones; "" when there are no sentences.
    """
    found = [c for source in sources for c in candidates_of(source, 1)]
    candidates = [c for c in found if not (c.unit.cells or c.is_short)]
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
    return " ".join(f"{quoted(c.text)} [{c.n}]" for c in kept)


def _without_names(question: str, sources: Sequence[SourceRef]) -> str:
    """The question without the words that name a document.

    Sentences with the name of a company are nearer to a question with it, whatever they say.
    """
    asked = asked_words(question)
    names = frozenset[str]().union(*(named_in(source, asked) for source in sources))
    kept = [word for word in question.split() if not set(terms(word)) & names]
    return " ".join(kept) or question


def _tell_little(asked: set[str], candidates: Sequence[Candidate]) -> bool:
    """True when the words of the question hardly occur, apart from names of the documents."""
    others = asked.difference(*(c.named for c in candidates))
    shared = _shared_words(others, candidates)
    return bool(others) and max(shared, default=0.0) < _LEAST_SHARED


def _shared_words(asked: set[str], candidates: Sequence[Candidate]) -> list[float]:
    """The share of the question's words that each piece has, rare ones counting more."""
    held = [words_held(asked, c.terms | c.named) for c in candidates]
    frequency = Counter(term for each in held for term in each)
    # What all pieces have tells none from another: the company in its own report.
    telling = {t for t in asked if frequency[t] < len(candidates)}
    # Nor does "in", where all have the rest.
    telling = telling if telling - IDLE else asked - IDLE or asked
    weight = {t: math.log(1 + len(candidates) / (1 + frequency[t])) for t in telling}
    total = sum(weight.values()) or 1.0
    return [sum(weight[t] for t in telling & each) / total for each in held]


def _scores(
    asked: set[str],
    candidates: Sequence[Candidate],
    shared: Sequence[float],
    similar: NDArray[np.float64] | None,
    *,
    is_alone: bool,
) -> list[float]:
    by_rank = [_RANK_SHARE / c.rank + _LABEL_SHARE * _named(c, asked) for c in candidates]
    most_named = max((len(c.named) for c in candidates), default=0)
    trust = [
        _trust(c.unit)
        * (1.0 if len(c.named) == most_named else _OTHERS_SHARE)
        * (_BESIDE_SHARE if c.is_beside else 1.0)
        for c in candidates
    ]
    if similar is None:
        return [t * (s + r) for t, s, r in zip(trust, shared, by_rank, strict=True)]
    return [
        t * (_mixed(s, float(m), is_alone=is_alone) + r)
        for t, s, m, r in zip(trust, shared, similar, by_rank, strict=True)
    ]


def _mixed(shared: float, meaning: float, *, is_alone: bool) -> float:
    """Words and meaning in one; beside pieces in another language, at least the meaning."""
    mixed = (1 - _MEANING_SHARE) * shared + _MEANING_SHARE * meaning
    return mixed if is_alone else max(mixed, meaning)


def _trust(unit: Unit) -> float:
    if unit.is_figures and not unit.header:
        return _UNNAMED_SHARE
    if unit.text.endswith(("?", "？")):
        return _ASKED_SHARE
    is_cut = unit.text.startswith("…") or (unit.text.endswith("…") and len(unit.text) < LONGEST)
    return _CUT_SHARE if is_cut else 1.0


def _named(row: Candidate, asked: set[str]) -> float:
    """How far a label, of a row or a line, and the question have the same words (Dice)."""
    label = set(terms(row.unit.cells[0] if row.unit.cells else label_of(row.text)))
    telling = telling_words(asked, row.named) if row.unit.cells else asked
    return 2 * len(label & telling) / (len(label) + len(telling)) if label else 0.0


def _is_repeat(one: Candidate, other: Candidate) -> bool:
    is_of_same = (one.older, one.subject) == (other.older, other.subject)
    if not is_of_same and _COMPOUND.findall(one.text) != _COMPOUND.findall(other.text):
        return False  # what another version says, or is said of something else
    if one.n == other.n and (one.unit in other.listed or other.unit in one.listed):
        return True
    smaller = min(len(one.said), len(other.said))
    return len(one.said & other.said) >= 0.8 * smaller  # four words in five
