"""Tells whether a word of a question names the records of a structure. Pure; any thread.

Records are named by the folder, file, heading, column or type they stand under, and by words that
most of their titles have.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import takewhile

from desktop_rag.answer.counting.counting_words import plain_words
from desktop_rag.answer.counting.record_structures import FoundStructure, Kind, Record
from desktop_rag.core.terms import terms

# How surely a word names records: by what stands right above them or in most of their titles, by
# what holds all of them, by the text before the first of them.
DIRECT, AROUND, BEFORE = 3, 2, 1
_MOST = 0.6
_LEAST_LETTERS = 4
_ALIKE = 0.7
_FIRST = 3
_LANGUAGES = ("en", "de", "fr", "es", "it", "nl", "pl", "pt")
_TYPES = (
    *("type", "kind", "category", "class", "layout", "tags", "tag"),
    *("typ", "art", "kategorie", "tipo", "catégorie", "categoría", "categoria"),
)
_LONGEST_BEFORE = 600
_FOLDERS_ABOVE = 3
_FIRST_WORDS = 4


def is_form(word: str, other: str) -> bool:
    """True for two forms of one word in any of the languages."""
    if word == other:
        return True
    if _folded(word)[:_FIRST] != _folded(other)[:_FIRST]:
        return False
    return not _stems(word).isdisjoint(_stems(other))


def is_alike(word: str, other: str) -> bool:
    """True for two forms of one word, words that begin alike, and a compound that ends with one."""
    if is_form(word, other):
        return True
    short, long = sorted((word, other), key=len)
    if len(short) < _LEAST_LETTERS or not short.isalpha():
        return False
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(short, long, strict=False))
    same = sum(1 for _ in pairs)
    is_begun = same >= max(_LEAST_LETTERS, _ALIKE * len(long))
    return is_begun or (len(short) > _LEAST_LETTERS and long.endswith(short))


@cache
def _folded(word: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


@cache
def _stems(word: str) -> frozenset[str]:
    return frozenset(term for code in _LANGUAGES for term in terms(word, code))


def names_any(word: str, labels: Iterable[str]) -> bool:
    """True when the word is alike to a word of one of the labels."""
    return any(is_alike(word, part) for label in labels for part in plain_words(_spaced(label)))


def _spaced(label: str) -> str:
    return label.replace("_", " ").replace("-", " ")


def strength(word: str, structure: FoundStructure, around: Sequence[str]) -> int:
    """How surely a word names the records; 0 when it doesn't. `around` are names of the set."""
    records = structure.records
    direct = [*structure.labels, *_types(records), *_tags(structure)]
    if structure.kind is not Kind.FILE:
        direct += _common_words(records)
    if names_any(word, direct) or near(word, records):
        return DIRECT
    if names_any(word, [*around, *_folders(records), *_homes(structure)]):
        return AROUND
    return BEFORE if names_any(word, _before(records)) else 0


def near(word: str, records: Sequence[Record]) -> tuple[Record, ...]:
    """The records below a heading that the word names."""
    named = {path: names_any(word, path) for path in {record.path for record in records}}
    return tuple(record for record in records if named[record.path])


def _common_words(records: Sequence[Record]) -> list[str]:
    """The words that most titles have: "Recipe 12"."""
    counts = Counter(w for r in records for w in set(plain_words(_spaced(r.title))[:_FIRST_WORDS]))
    return [word for word in _frequent(counts, len(records)) if word.isalpha()]


def _types(records: Sequence[Record]) -> list[str]:
    """What most records say they are."""
    values = Counter(r.fields[n].casefold() for r in records for n in _TYPES if r.fields.get(n))
    return _frequent(values, len(records))


def _tags(structure: FoundStructure) -> list[str]:
    """The tags that most of the files have, which are those of files only."""
    if structure.kind is not Kind.FILE:
        return []
    tags = Counter(tag for r in structure.records for tag in set(r.source.document.all_tags))
    return _frequent(tags, len(structure.records))


def _frequent(counts: Counter[str], total: int) -> list[str]:
    return [name for name, count in counts.items() if count >= _MOST * total]


def _folders(records: Sequence[Record]) -> list[str]:
    """The names of the nearest folders that hold most of the files, those in others included."""
    above = Counter(
        folder for r in records for folder in r.source.document.path.parents[:_FOLDERS_ABOVE]
    )
    return [folder.name for folder, count in above.items() if count >= _MOST * len(records)]


def _homes(structure: FoundStructure) -> list[str]:
    """The names and first headings of the files; of files as records, what most names share."""
    documents = {r.source.document.document_id: r.source for r in structure.records}
    stems = [d.document.path.stem for d in documents.values()]
    if structure.kind is Kind.FILE:
        words = Counter(word for stem in stems for word in set(plain_words(_spaced(stem))))
        return [*_frequent(words, len(stems)), *_common_words(structure.records)]
    titles = [h.title for d in documents.values() for h in d.headings[:1]]
    return [*stems, *(d.name for d in documents.values()), *titles]


def _before(records: Sequence[Record]) -> list[str]:
    """The text before the first record of each document."""
    firsts: dict[str, Record] = {}
    for record in records:
        firsts.setdefault(record.source.document.document_id, record)
    return [r.source.text[: r.start][-_LONGEST_BEFORE:] for r in firsts.values()]
