"""Extractive answers without a model: the best sentences of the best passages, with citations.

Pure except for the embedder that is passed in. The score of a sentence combines the words it shares
with the question, weighted by rarity among the passages, its meaning, and the rank of its passage.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, takewhile
from types import MappingProxyType

from desktop_rag.answer.writing.excerpt_units import Unit, plain, units_of
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.markup.formulas import formulas
from desktop_rag.core.terms import terms
from desktop_rag.models.ports import Embedder

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
_LABEL_SHARE = 0.25
# A second sentence must be nearly as good as the first, or it only dilutes the answer.
_RELATIVE_FLOOR = 0.72
# Text that is not prose: comments, front matter, link definitions.
_NOT_PROSE = re.compile(r"<!--|^---|^[\w.-]+:\s|: \[")
_LEAST_LETTERS = 0.6
_MOST_LISTED = 8
# The stop of a sentence, with what may stand behind it: quotation marks, numbers of notes.
_ENDED = re.compile(r"""[.!?:;…。！？](?:\s?\[\d{1,4}\]|["'”’»)\]」])*$""")
_NO_HEADERS: Mapping[int, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A piece that may be quoted, with the items or rows that it `listed` below itself."""

    n: int
    rank: int
    unit: Unit
    terms: frozenset[str]
    listed: tuple[Unit, ...] = ()

    @property
    def text(self) -> str:
        """The words, without the names of columns."""
        return self.unit.text


def excerpts(
    question: str,
    sources: Sequence[SourceRef],
    embedder: Embedder | None,
    said: str = "",
    headers: Mapping[int, str] = _NO_HEADERS,
) -> str:
    """An answer of up to three pieces of the sources, each with its [n], best first.

    Rows of a table become a table, below its `headers` by number of the source where these are
    known. Pieces of the previous answer, `said`, are used only when there are no others. With
    nothing to quote, it is empty.
    """
    best = sorted(sources, key=lambda source: -source.score)[:_PASSAGES]
    asked = _asked(question)
    candidates = [
        candidate
        for rank, source in enumerate(best, 1)
        for candidate in _candidates(source, rank, headers.get(source.n, ""))
        # A row is quoted for its words, not for its place.
        if not candidate.unit.cells or asked & candidate.terms
    ]
    if not candidates:
        # Fragments only: shown as they are rather than not at all.
        candidates = [c for source in best[:1] for c in _whole(source)]
    if not candidates:
        return ""
    candidates = [c for c in candidates if quoted(c.text) not in said] or candidates
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
    return "\n\n".join(_blocks(chosen))


def _blocks(chosen: Sequence[_Candidate]) -> Iterator[str]:
    """The pieces as Markdown; rows and items of one source stand together, in order."""
    left = list(chosen)
    while left:
        first = left[0]
        together = [c for c in left if _is_together(first, c)]
        left = [c for c in left if c not in together]
        together.sort(key=lambda c: c.unit.start)
        if first.unit.header:
            yield _table(together)
        elif first.unit.cells:
            yield "\n".join(f"- {_figures(c.unit)} [{c.n}]" for c in together)
        elif first.unit.is_item:
            yield "\n".join(f"- {quoted(c.text)} [{c.n}]" for c in together)
        else:
            yield f"{quoted(first.text)} [{first.n}]"
            yield from _blocks([replace(first, unit=unit, listed=()) for unit in first.listed])


def _is_together(one: _Candidate, other: _Candidate) -> bool:
    """True for the same piece, rows of one table, and items of one source."""
    if one.listed or other.listed:
        return one == other
    if one.n != other.n or not (one.unit.cells or one.unit.is_item):
        return one == other
    is_row = bool(one.unit.cells and other.unit.cells)
    same_columns = len(one.unit.cells) == len(other.unit.cells)
    same_table = is_row and same_columns and one.unit.header == other.unit.header
    return same_table or (one.unit.is_item and other.unit.is_item)


def _table(rows: Sequence[_Candidate]) -> str:
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


def central_sentences(sources: Sequence[SourceRef], embedder: Embedder | None, most: int) -> str:
    """Up to `most` sentences nearest to the mean of all, in order, each with its [n].

    Without an embedder, the first ones; "" when there are no sentences.
    """
    found = [c for source in sources for c in _candidates(source, 1)]
    candidates = [c for c in found if not c.unit.cells]
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


def _candidates(source: SourceRef, rank: int, header: str = "") -> list[_Candidate]:
    found: list[_Candidate] = []
    units = list(units_of(source.text, header))
    for place, unit in enumerate(units):
        if unit.cells:
            held = frozenset(terms(f"{unit.text} {' '.join(unit.header)}"))
            found.append(_Candidate(source.n, rank, unit, held))
            continue
        words = terms(unit.text)
        listed = _listed_below(units, place)
        is_unfinished = unit.text.endswith(":") and not listed
        if len(words) >= _SHORTEST and is_prose(unit.text) and not is_unfinished:
            is_last = place == len(units) - 1
            text = _cut_marked(_shortened(unit.text)) if is_last else _shortened(unit.text)
            found.append(
                _Candidate(source.n, rank, replace(unit, text=text), frozenset(words), listed)
            )
    return found


def _listed_below(units: Sequence[Unit], place: int) -> tuple[Unit, ...]:
    """The items or rows that a sentence with a colon announces."""
    if not units[place].text.endswith(":"):
        return ()
    below = takewhile(lambda unit: unit.cells or unit.is_item, units[place + 1 :])
    return tuple(islice(below, _MOST_LISTED))


def _cut_marked(text: str) -> str:
    """A sentence that goes on in the next passage, with a sign for that."""
    return text if _ENDED.search(text) else f"{text} …"


def _whole(source: SourceRef) -> list[_Candidate]:
    text = _shortened(plain(source.text))
    words = terms(text)
    return [_Candidate(source.n, 1, Unit(text, 0), frozenset(words))] if words else []


def _shortened(text: str) -> str:
    """The beginning of a long text, up to the end of a word."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rsplit(' ', 1)[0]} …"


def is_prose(text: str) -> bool:
    """True when the text reads as prose rather than markup or numbers."""
    letters = sum(character.isalpha() or character == " " for character in text)
    return not _NOT_PROSE.search(text) and letters >= _LEAST_LETTERS * len(text)


def _asked(question: str) -> set[str]:
    """The words of a question that may answer it."""
    words = set(terms(question))
    return words - _ASKING or words


def _scores(
    question: str, candidates: Sequence[_Candidate], embedder: Embedder | None
) -> list[float]:
    asked = _asked(question)
    frequency = Counter(term for c in candidates for term in c.terms)
    weight = {t: math.log(1 + len(candidates) / (1 + frequency[t])) for t in asked}
    total = sum(weight.values()) or 1.0
    shared = [sum(weight[t] for t in asked & c.terms) / total for c in candidates]
    by_rank = [_RANK_SHARE / c.rank + _LABEL_SHARE * _named(c.unit, asked) for c in candidates]
    if embedder is None:
        return [s + r for s, r in zip(shared, by_rank, strict=True)]
    meaning = embedder.embed_passages([c.text for c in candidates]) @ embedder.embed_query(question)
    return [
        (1 - _MEANING_SHARE) * s + _MEANING_SHARE * float(m) + r
        for s, m, r in zip(shared, meaning, by_rank, strict=True)
    ]


def _named(row: Unit, asked: set[str]) -> float:
    """The share of a row's label that the question names."""
    label = set(terms(row.cells[0])) if row.cells else set[str]()
    return len(label & asked) / len(label) if label else 0.0


def _is_repeat(one: _Candidate, other: _Candidate) -> bool:
    if one.n == other.n and (one.unit in other.listed or other.unit in one.listed):
        return True
    smaller = min(len(one.terms), len(other.terms))
    return len(one.terms & other.terms) >= 0.8 * smaller  # four words in five


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
