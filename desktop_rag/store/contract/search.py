"""The search by words and by file names, and its maintenance. Protocols and values; any thread.

The constants of the ranking are part of the contract: every engine returns the same scores.
"""

import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Protocol

from desktop_rag.core.domain import Passage
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.query import Filters
from desktop_rag.core.question import Readable
from desktop_rag.core.question_scope import ScopeItem
from desktop_rag.store.contract.document_rows import Sites, address_of
from desktop_rag.store.sql.scope_filters import key_of


@dataclass(frozen=True, slots=True)
class Scope:
    """The chunks that a search may find; all limits apply together.

    With the defaults, everything is found except documents that are gone and files attached to
    chats. With `attached`, only the files of these sources are found. With `about`, only what one
    of these items stands for: a document with its id, or with its path and the documents inside;
    what lies below a folder, compared by code points; the documents of a source or a collection.
    With `but`, nothing of the files with these paths. With `readable`, only what that covers, and
    whatever else is returned depends on nothing else either.
    `collection_ids`, `document_ids` and `chunk_ids`: None means all, an empty tuple none.
    A chunk must contain one of the alternative terms of each `required` word, and none of those of
    an `excluded` word.

    `filters` and `limits` are compared with a document in the same way. `files`, `folders` and
    `collections` match a part of the file's name, part and address, of its folder, and of the
    collection's name; letter case and Unicode normal form are ignored, ß equals ss, and a final
    sigma any other one. `types` match the format, or the suffix of the file in lower case. `after`
    and `before` are days in the local time zone, compared with the file's modification time.
    """

    collection_ids: tuple[str, ...] | None = None
    filters: Filters = field(default_factory=Filters)
    limits: Filters = field(default_factory=Filters)
    document_ids: tuple[str, ...] | None = None
    required: tuple[tuple[str, ...], ...] = ()
    excluded: tuple[tuple[str, ...], ...] = ()
    chunk_ids: tuple[int, ...] | None = None
    attached: tuple[str, ...] = ()
    about: tuple[ScopeItem, ...] = ()
    but: tuple[str, ...] = ()
    readable: Readable | None = None

    def within(self, collection_ids: tuple[str, ...] | None) -> "Scope":
        """The scope limited to these collections; None means all."""
        if collection_ids is None:
            return self
        own = self.collection_ids
        both = collection_ids if own is None else tuple(i for i in own if i in collection_ids)
        return replace(self, collection_ids=both)

    def of_documents(self, document_ids: tuple[str, ...]) -> "Scope | None":
        """The scope limited to these documents; None when there are none."""
        return replace(self, document_ids=document_ids) if document_ids else None


EVERYWHERE = Scope()


# Short passages gain little from length normalisation; better than 1.2 and .75 when measured.
K1 = 0.9
B = 0.4
# A chunk is read with its neighbours, whose words and lengths count with these weights.
NEIGHBOUR_SHARE = 0.65
NEIGHBOUR_LENGTH = 0.2
# What a half-typed word may have beyond the stem of the whole one: "emergen" and "emerg".
COMPLETED_ENDING = 4
SHORTEST_COMPLETED = 3
# A shorter beginning is more often another word.
SHORTEST_STEM = 4

# A word is a tuple of alternative terms, such as its stems in several languages.
Words = Sequence[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Weights:
    """A question's words, the rarest first, with their statistics.

    `counts` are the numbers of chunks that each word occurs in; `mean_length` is the mean number of
    terms in the chunks of the whole library, 1 without any.
    """

    words: tuple[tuple[str, ...], ...]
    idf: tuple[float, ...]
    counts: tuple[int, ...]
    mean_length: float

    def greatest(self, first: int = 0) -> float:
        """An upper bound of what the words from `first` on can add to a score."""
        return sum(self.idf[first:]) * (K1 + 1)

    def only(self, words: Words) -> "Weights":
        """The weights of some of the words."""
        kept = [n for n, word in enumerate(self.words) if word in words]
        return replace(
            self,
            words=tuple(self.words[n] for n in kept),
            idf=tuple(self.idf[n] for n in kept),
            counts=tuple(self.counts[n] for n in kept),
        )


@dataclass(frozen=True, slots=True)
class WordCounts:
    """The statistics behind the weights of words, in a library or a part of one.

    `counts` are the numbers of chunks that each word occurs in.
    """

    chunks: int
    terms: int
    counts: Mapping[tuple[str, ...], int]

    def joined(self, other: "WordCounts") -> "WordCounts":
        """The counts of a library that has the chunks of both; for the same words."""
        counts = {word: count + other.counts[word] for word, count in self.counts.items()}
        return WordCounts(self.chunks + other.chunks, self.terms + other.terms, counts)


def weighted(found: WordCounts) -> Weights:
    """The weight of each word, the rarest first."""
    order = sorted(found.counts, key=lambda word: (found.counts[word], word))
    counts = tuple(found.counts[word] for word in order)
    return Weights(
        tuple(order),
        tuple(math.log(1 + max(0.5, found.chunks - n + 0.5) / (n + 0.5)) for n in counts),
        counts,
        found.terms / found.chunks if found.terms else 1.0,
    )


class LexicalStore(Protocol):
    """Ranks chunks by the words of a question, with BM25 over the whole library.

    A word adds idf · tf · (K1 + 1) / (tf + K1 · (1 − B + B · length / mean length)) to the score
    of a chunk. tf is the number of occurrences of its alternative terms; a term that belongs to
    several words counts for the most frequent of them only. length is the number of the chunk's
    terms; both are capped at 65,535. idf is ln(1 + max(½, N − n + ½) / (n + ½)) with N chunks in
    the library and n chunks with the word, summed over its terms. Scopes narrow the result, never
    N, n or the mean length. Terms are compared exactly: `core.terms` makes them from text.

    With `readable` the library is what that covers: N, n, the mean length, the vocabulary and the
    languages are those of a library that holds nothing else.
    """

    def weigh(self, words: Words, readable: Readable | None = None) -> Weights:
        """The weight of each distinct word. Once per question, for the searches that follow.

        n may count deleted chunks until the next `Upkeep.run`, but not with `readable`.
        """
        return weighted(self.count(words, readable))

    def count(self, words: Words, readable: Readable | None = None) -> WordCounts:
        """The statistics that `weigh` uses, so that several libraries can be ranked as one."""
        ...

    def best(
        self, words: Words | Weights, limit: int, scope: Scope = EVERYWHERE
    ) -> list[tuple[int, float]]:
        """The `limit` chunks with the highest score: (chunk id, score), best first, then by id.

        Exact: no other chunk scores more. Chunks without any of the words are never found.
        """
        ...

    def scores(self, words: Words | Weights, chunk_ids: Sequence[int]) -> dict[int, float]:
        """The scores of given chunks read with their neighbours.

        A neighbour is the chunk before or after in the same document. Its words are weighted with
        NEIGHBOUR_SHARE, its length with NEIGHBOUR_LENGTH: a passage that says "it" is about what
        the one before names. Chunks without any of the words and unknown chunks are absent.
        """
        ...

    def in_scope(self, chunk_ids: Sequence[int], scope: Scope) -> frozenset[int]:
        """The chunks that are in the scope; unknown ones are not."""
        ...

    def documents_of(self, chunk_ids: Sequence[int]) -> frozenset[str]:
        """The ids of the documents that the chunks belong to; unknown chunks are ignored."""
        ...

    def newest(self, limit: int, scope: Scope) -> dict[int, float]:
        """The first chunk of each of the `limit` documents in the scope that changed last.

        Chunk id → modification time of the file in seconds; the newest first, then the lower id.
        """
        ...

    def languages(self, readable: Readable | None = None) -> Mapping[str, int]:
        """The number of documents in each language, "" for unknown; the most frequent first."""
        ...

    def nearest_term(self, term: str, errors: int, readable: Readable | None = None) -> str:
        """The term of the library at the smallest edit distance, up to `errors`; "" if none is.

        Its first letter is the same. An edit inserts, removes or replaces a letter, or swaps two
        adjacent ones. Of several terms the one in most chunks, then the first by code points.
        """
        ...

    def terms_completing(
        self, word: str, limit: int, readable: Readable | None = None
    ) -> tuple[str, ...]:
        """Up to `limit` terms of what a half-typed word may become, those in most chunks first.

        They begin with the word, which has SHORTEST_COMPLETED letters at least; of equally frequent
        ones the first by code points comes first. Terms are stems: without any, it is the longest
        term that the word begins with, at most COMPLETED_ENDING letters shorter and not below
        SHORTEST_STEM.
        """
        ...

    def passages(self, scores: dict[int, float]) -> list[Passage]:
        """The passages of the scored chunks, best first, then the lower id; no deleted chunks."""
        ...


def stems_of(word: str) -> list[str]:
    """The terms that a half-typed word may already be longer than."""
    least = max(SHORTEST_STEM, len(word) - COMPLETED_ENDING)
    return [word[:length] for length in range(least, len(word))]


def chosen_terms(counts: Mapping[str, int], word: str, limit: int) -> tuple[str, ...]:
    """The result of `terms_completing`, of these terms with the number of their chunks."""
    longer = [term for term in counts if term.startswith(word)]
    if longer:
        return tuple(sorted(longer, key=lambda term: (-counts[term], term))[:limit])
    return tuple(sorted(counts, key=len, reverse=True)[:1])


def chosen_nearest(
    found: Iterable[tuple[int, str]], counts_of: Callable[[Sequence[str]], Mapping[str, int]]
) -> str:
    """The result of `nearest_term`, of (distance, term) in this order.

    `counts_of` gives the number of chunks of each term that has any.
    """
    for _, group in groupby(found, key=lambda pair: pair[0]):
        if counts := counts_of([term for _, term in group]):
            return min(counts, key=lambda term: (-counts[term], term))
    return ""


# Limits a statement: each term is counted, though nobody means one of so many.
_COUNTED_AT_ONCE = 500


def term_counts_of(
    terms: Sequence[str], counts_of: Callable[[Sequence[int]], Mapping[int, int]]
) -> dict[str, int]:
    """The number of chunks of each term that has any; `counts_of` gives it by the terms' keys."""
    found: dict[int, int] = {}
    keys = {term: key_of(term) for term in terms}
    for begin in range(0, len(terms), _COUNTED_AT_ONCE):
        found |= counts_of([keys[term] for term in terms[begin : begin + _COUNTED_AT_ONCE]])
    return {term: found[key] for term, key in keys.items() if found[key]}


def passages_of(
    rows: Iterable[Sequence[Any]], scores: Mapping[int, float], sites: Sites
) -> list[Passage]:
    """The result of `passages`, of rows of chunks followed by those of their documents.

    They are: chunk id, document id, text, anchor, both offsets, path, title, part, url, source id.
    """
    found: list[Passage] = []
    for i, document_id, text, anchor, start, end, path, title, part, url, source_id in rows:
        place = Anchor.from_json(json.loads(anchor))
        address = url or address_of(sites, source_id, path)
        found.append(
            Passage(i, document_id, path, title, text, place, start, end, scores[i], part, address)
        )
    return sorted(found, key=lambda passage: (-passage.score, passage.chunk_id))


@dataclass(frozen=True, slots=True)
class NamedDocuments:
    """Documents whose file names contain the same parts: their number, and the ids of some."""

    parts: frozenset[str]
    count: int
    document_ids: tuple[str, ...]


class NameStore(Protocol):
    """Finds documents by the names of their files."""

    def matching(
        self,
        words: Collection[str],
        beginnings: Collection[str],
        pieces: Collection[str],
        scope: Scope,
        limit: int,
    ) -> tuple[list[NamedDocuments], int]:
        """Documents by the parts that their file names contain; and the number of all documents.

        Each set of parts has up to `limit` ids, so that a part of every name costs little.

        `words` must be whole words or numbers of the name: runs of letters and digits, also split
        between letters and digits, between lower and upper case, and before the last capital of
        several that a lower-case letter follows. `beginnings` must start such a word, `pieces` may
        occur anywhere. Names are compared in the same way as filters, see `Scope`. Only documents
        with chunks count; their number is that of the whole library, or of what is readable.
        """
        ...

    def spelled_in(self, text: str, scope: Scope, limit: int) -> list[tuple[str, str]]:
        """Id and path of documents whose file name, without its ending, is spelled in a text.

        Only letters and digits are compared, ignoring case, and a name has at least three. The
        longest names first, at most `limit`. Documents that were not read are among them when the
        scope is without limits. Web pages, which have no file of the person's, never are.
        """
        ...

    def spelled_like(self, name: str, scope: Scope, limit: int) -> list[tuple[str, str]]:
        """Id and path of documents whose file name differs from this one by a slip of the keys.

        That is one inserted, removed or replaced character or two swapped ones, or two such slips
        in twelve characters and more; compared as in `spelled_in`, with the ending. The nearest
        first.
        """
        ...

    def completing(self, text: str, limit: int) -> list[str]:
        """Ids of at most `limit` documents with each part of this text in their file name, title,
        address, folder or the day of their change, as 2025-03-14 or 14.03.2025.

        Compared as in `Scope`. Those whose file name begins with it first, then those with more of
        the parts in their name, by the length of the name and by path; for "" the files that
        changed last. Without documents inside others, those that are gone, and files attached to
        chats.
        """
        ...

    def folders(self, scope: Scope) -> list[str]:
        """The folders that directly hold documents; full paths, in order."""
        ...

    def fingerprint(self, scope: Scope) -> str:
        """A short text that changes when a document in scope comes, goes, moves or changes.

        It is empty only while a part of the scope can't be asked.
        """
        ...


class Upkeep(Protocol):
    """Maintenance that keeps searches fast and the store small, for idle times.

    It changes no result, except that weights no longer count deleted chunks.
    """

    def is_due(self) -> bool:
        """True when enough has changed. Takes milliseconds; False for an engine without need."""
        ...

    def run(self) -> None:
        """Run it now, one at a time; may take minutes. Reads and writes continue.

        When it fails or the process ends, nothing has changed.
        """
        ...
