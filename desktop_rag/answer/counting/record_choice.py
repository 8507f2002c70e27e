"""Chooses which structure of the documents holds the records that a question asks for. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from desktop_rag.answer.counting.counting_words import (
    CountingQuestion,
    content_words,
    matter_words,
    names_thing,
    plain_words,
)
from desktop_rag.answer.counting.record_forms import Kind, Record
from desktop_rag.answer.counting.record_names import AROUND, DIRECT, near, strength
from desktop_rag.answer.counting.record_structures import FoundStructure
from desktop_rag.core.terms import terms

# A structure is one of records when they share fields, and hold much of the text.
_UNIFORM = 0.6
_LEAST_COVERAGE = 0.3
_COVERING = 0.4
_AS_GOOD = 0.15
# Up to this share of the records may be something else: an introduction, a template.
_ODD_SHARE = 0.2
_MOSTLY = 0.6
_STRUCTURAL: dict[str, tuple[Kind, ...]] = {
    "files": (Kind.FILE,),
    "tasks": (Kind.TASK,),
    "rows": (Kind.ROW,),
    "sections": (Kind.SECTION,),
    "items": (Kind.ITEM, Kind.NUMBERED, Kind.TASK),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """The records that are counted, and the words of the question that only name them.

    `left_out` are titles of what has their form and is something else. `strength` says how surely
    the question names these records (see `record_names`); `condition` are the other words.
    """

    structure: FoundStructure
    records: tuple[Record, ...]
    nouns: tuple[str, ...]
    condition: tuple[str, ...]
    strength: int
    left_out: tuple[str, ...] = ()


def chosen(
    question: CountingQuestion, structures: Sequence[FoundStructure], around: Sequence[str]
) -> Choice | None:
    """The records that the question asks for; None where there are none.

    `around` are the names of what it is limited to. Without a word that names records, those of the
    main structure are taken, with a strength of 0.
    """
    found = _chosen(question, structures, around) if structures else None
    return None if found and _are_amounts(found) else found


def _chosen(
    question: CountingQuestion, structures: Sequence[FoundStructure], around: Sequence[str]
) -> Choice | None:
    words = content_words(question)
    if structural := _structural(question, structures, words):
        return structural
    if _asks_for_files(question):
        # "Files about the lamp" are no rows of a file about it.
        return None
    named = [(s, n) for s in structures for n in [_named(words, s, around)] if n]
    best = max((n for _, found in named for n in found.values()), default=0)
    if best >= AROUND or (best and not named[1:]):
        able = [s for s, found in named if max(found.values()) == best]
        structure = main_structure(able) or max(able, key=_size)
        if best < DIRECT and structure.kind is not Kind.FILE:
            structure = main_structure(structures) or structure
        found = _named(words, structure, around)
        surest = max(found.values(), default=0)
        nouns = tuple(word for word, n in found.items() if n == surest) or tuple(words[:1])
        return _choice(structure, words, nouns, best)
    structure = main_structure(structures)
    if structure is None:
        return None
    nouns = tuple(words[:1]) if names_thing(question) else ()
    return _choice(structure, words, nouns, best)


def _are_amounts(choice: Choice) -> bool:
    """True when a table has how many there are: its rows are none of them.

    "How many ducks in 2022?" asks for a cell below "Ducks", in the row of the year.
    """
    if choice.structure.kind is not Kind.ROW or not choice.records:
        return False
    asked = set(terms(" ".join(choice.nouns)))
    # The first column names the row, and may number what is asked for.
    for name in list(choice.records[0].fields)[1:]:
        if asked & set(terms(name)):
            values = [record.fields.get(name, "") for record in choice.records]
            if sum(map(_is_number, values)) > _MOSTLY * len(values):
                return True
    return False


def _is_number(value: str) -> bool:
    return any(map(str.isdigit, value)) and not any(map(str.isalpha, value))


def _size(structure: FoundStructure) -> tuple[bool, int]:
    return structure.uniformity >= _UNIFORM, len(structure.records)


def _structural(
    question: CountingQuestion, structures: Sequence[FoundStructure], words: Sequence[str]
) -> Choice | None:
    """Records asked for by a word for their form: "How many sections are in it?"."""
    sets = question.language.sets
    spoken = [w for w in plain_words(question.rest) if w not in sets["idle"]]
    for place, word in enumerate(spoken):
        if word in sets["entries"] and (structure := main_structure(structures)):
            return _choice(structure, words, (word,), DIRECT)
        for name, kinds in _STRUCTURAL.items():
            is_asked = word in sets[name] and (name != "files" or not place)
            fitting = [s for s in structures if s.kind in kinds] if is_asked else []
            if fitting and not any(strength(word, s, ()) for s in structures if s not in fitting):
                most = max(fitting, key=lambda s: len(s.records))
                return _choice(main_structure(fitting) or most, words, (word,), DIRECT)
    return None


def _asks_for_files(question: CountingQuestion) -> bool:
    """True when files are to be counted, and not what is in them."""
    sets = question.language.sets
    spoken = [w for w in plain_words(question.rest) if w not in sets["idle"]]
    return bool(spoken) and spoken[0] in sets["files"]


def _named(
    words: Sequence[str], structure: FoundStructure, around: Sequence[str]
) -> dict[str, int]:
    found = {word: strength(word, structure, around) for word in words}
    return {word: n for word, n in found.items() if n}


def _choice(
    structure: FoundStructure, words: Sequence[str], nouns: tuple[str, ...], surely: int
) -> Choice:
    records, left = _without_odd(structure)
    for noun in nouns:
        below = near(noun, structure.records)
        if 0 < len(below) < len(structure.records):
            # Where only what looks different is below the noun, that is what was asked for.
            inside = set(map(id, below))
            records = tuple(record for record in records if id(record) in inside) or below
    condition = tuple(word for word in words if word not in nouns)
    return Choice(structure, records, nouns, condition, surely, left)


def main_structure(structures: Sequence[FoundStructure]) -> FoundStructure | None:
    """The structure that holds the records of the documents best; None when there is none."""
    uniform = [s for s in structures if s.uniformity >= _UNIFORM and s.coverage >= _LEAST_COVERAGE]
    if uniform:
        return _innermost(uniform, _is_as_uniform)
    free = [s for s in structures if s.coverage >= _COVERING]
    tasks = [s for s in free if s.kind is Kind.TASK]
    return tasks[0] if tasks else _innermost(free, _is_divided) if free else None


def _innermost(
    structures: Iterable[FoundStructure], goes_in: Callable[[FoundStructure, FoundStructure], bool]
) -> FoundStructure:
    first, *others = structures
    for other in others:
        first = other if goes_in(first, other) else first
    return first


def _is_as_uniform(outer: FoundStructure, inner: FoundStructure) -> bool:
    """True when the records inside are as much alike, and more of them."""
    outer_worth = outer.uniformity * outer.coverage
    is_as_good = inner.uniformity * inner.coverage >= outer_worth - _AS_GOOD
    return len(inner.records) > len(outer.records) and is_as_good


def _is_divided(outer: FoundStructure, inner: FoundStructure) -> bool:
    """True for few parts with many records each: those parts only divide them."""
    return len(inner.records) >= len(outer.records) ** 2


def _without_odd(
    structure: FoundStructure,
) -> tuple[tuple[Record, ...], tuple[str, ...]]:
    """The records without those that are none, and the titles of the latter."""
    shared = set(structure.shared)

    def is_odd(record: Record) -> bool:
        if structure.kind not in (Kind.FILE, Kind.SECTION, Kind.PART):
            return False
        words = plain_words(record.title)
        stem = plain_words(record.source.document.path.stem.replace("_", " ").replace("-", " "))
        name = stem if structure.kind is Kind.FILE else words
        is_matter = bool(name) and matter_words().issuperset(name)
        if is_matter and "template" in name:
            return True  # it has the fields of a record, without values
        return shared.isdisjoint(record.fields) if shared else is_matter

    odd = [record for record in structure.records if is_odd(record)]
    if not odd or len(odd) > max(1, _ODD_SHARE * len(structure.records)):
        return structure.records, ()
    left = set(map(id, odd))
    kept = tuple(record for record in structure.records if id(record) not in left)
    return kept, tuple(record.title for record in odd)
