"""The search by words and by file names, and its maintenance. Any thread.

The constants of the ranking are part of the contract: every engine returns the same scores. The
ranking is BM25 (Robertson and Zaragoza, 2009, "The Probabilistic Relevance Framework") with the idf
of Lucene, which is never negative.
"""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.domain import Passage
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.question import Readable
from desktop_rag.store.contract.database import (
    Connection,
    Database,
    completing,
    edits,
    key_of,
    plain,
)
from desktop_rag.store.contract.document_rows import address_of, read_sites
from desktop_rag.store.contract.scope import EVERYWHERE, LibraryStatistics, Scope, read_statistics

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


Ids = NDArray[np.integer]
Numbers = NDArray[np.float64]
Counts = NDArray[np.integer]
Number = TypeVar("Number", bound=np.number)


@dataclass(frozen=True, slots=True)
class PostingList:
    """The chunks a word occurs in, and how often: arrays with a row per chunk and term."""

    chunk_ids: Ids
    tf: Counts
    lengths: Counts

    def where(self, rows: NDArray[np.bool_] | Ids) -> "PostingList":
        """The selected rows."""
        return PostingList(self.chunk_ids[rows], self.tf[rows], self.lengths[rows])

    def in_chunks(self, chunk_ids: Ids) -> "PostingList":
        """The postings in the given chunks. Both in ascending order."""
        # With two types, searchsorted would convert the whole list.
        chunk_ids = chunk_ids.astype(self.chunk_ids.dtype)
        places = np.searchsorted(self.chunk_ids, chunk_ids)
        places = places[places < len(self.chunk_ids)]
        return self.where(places[self.chunk_ids[places] == chunk_ids[: len(places)]])

    @property
    def nbytes(self) -> int:
        """The size of the arrays in memory."""
        return self.chunk_ids.nbytes + self.tf.nbytes + self.lengths.nbytes


def merged(lists: Sequence[PostingList]) -> PostingList:
    """The postings of a word's alternative terms as those of one term."""
    if len(lists) == 1:
        return lists[0]
    if not lists:
        return PostingList(*(np.empty(0, np.int64) for _ in range(3)))
    chunk_ids = np.concatenate([each.chunk_ids for each in lists])
    ids, tf = summed(chunk_ids, np.concatenate([each.tf.astype(np.int64) for each in lists]))
    _, first = np.unique(chunk_ids, return_index=True)
    return PostingList(ids, tf, np.concatenate([each.lengths for each in lists])[first])


def summed(ids: Ids, values: NDArray[Number]) -> tuple[Ids, NDArray[Number]]:
    """The distinct ids in ascending order, each with the sum of its values."""
    if not len(ids):
        return ids, values
    order = np.argsort(ids, kind="stable")  # fast: the input is a few sorted pieces
    in_order = ids[order]
    begins = np.flatnonzero(np.concatenate(([True], in_order[1:] != in_order[:-1])))
    return in_order[begins], np.add.reduceat(values[order], begins)


# Reading a word in at most this many chunks costs no more than deciding whether it matters.
CHEAP = 20_000

# The postings of terms by their keys, each in a few lists ordered by chunk.
Read = Callable[[Sequence[int]], Mapping[int, Sequence[PostingList]]]


class WordPostings:
    """The postings of a question's words."""

    def __init__(self, weights: Weights, read: Read) -> None:
        self._weights = weights
        self._read = read
        self._keys = keys_of(weights)
        # Those of rare words are read in one go.
        rare = [n for n, count in enumerate(weights.counts) if count <= CHEAP]
        self._known = dict(read([key for n in rare for key in self._keys[n]]))

    def of(self, n: int) -> PostingList:
        """The postings of the n-th word."""
        return merged(self._lists(n))

    def scores_in(self, numbers: range, ids: Ids) -> Numbers:
        """The contribution of these words to the scores of chunks, which are in ascending order."""
        added = np.zeros(len(ids))
        for n in numbers:
            postings = merged([each.in_chunks(ids) for each in self._lists(n)])
            added[np.searchsorted(ids, postings.chunk_ids)] += _scores(self._weights, n, postings)
        return added

    def tf_in(self, ids: Ids) -> Numbers:
        """The frequency of each word in each of the chunks; shape (chunks, words)."""
        tf = np.zeros((len(ids), len(self._keys)))
        for n in range(len(self._keys)):
            for each in self._lists(n):
                found = each.in_chunks(ids)
                tf[np.searchsorted(ids, found.chunk_ids), n] += found.tf
        return tf

    def _lists(self, n: int) -> list[PostingList]:
        keys = self._keys[n]
        if missing := [key for key in keys if key not in self._known]:
            self._known |= self._read(missing)
        return [each for key in keys for each in self._known[key]]


def best_chunks(
    weights: Weights,
    postings: WordPostings,
    allowed: Callable[[PostingList], PostingList],
    limit: int,
    cheap: int = CHEAP,
) -> list[tuple[int, float]]:
    """The `limit` chunks with the highest score: (chunk id, score), best first. Exact.

    Words are added from the rarest on, until the remaining ones can't lift a chunk that has only
    them into the result. From then on they count only for chunks that can still reach it (Turtle
    and Flood, 1995, "Query evaluation: strategies and optimizations"). Words that occur in up to
    `cheap` chunks are always added. `allowed` leaves the postings of chunks that may be found.
    """
    count = len(weights.words)
    ids, scores, added, rest = np.empty(0, np.int64), np.empty(0), 0, 0.0
    while added < count:
        end = _next_end(weights, added, cheap)
        lists = [allowed(postings.of(n)) for n in range(added, end)]
        parts = [_scores(weights, n, each) for n, each in enumerate(lists, added)]
        ids, scores = summed(
            np.concatenate([ids, *(each.chunk_ids for each in lists)]),
            np.concatenate([scores, *parts]),
        )
        added, rest = end, weights.greatest(end)
        threshold = _nth_greatest(scores, limit)
        if threshold > rest:
            kept = scores >= threshold - rest
            ids, scores = ids[kept], scores[kept]
            break
    if added < count and len(ids):
        scores = scores + postings.scores_in(range(added, count), ids)
    first = np.lexsort((ids, -scores))[:limit]
    return list(zip(ids[first].tolist(), scores[first].tolist(), strict=True))


def keys_of(weights: Weights) -> list[list[int]]:
    """The keys of each word's terms; a term of several words belongs to the last of them."""
    owner = {term: n for n, word in enumerate(weights.words) for term in word}
    return [[key_of(t) for t in word if owner[t] == n] for n, word in enumerate(weights.words)]


def _next_end(weights: Weights, added: int, cheap: int) -> int:
    """The end of the next words to add: one, and all cheap ones after it."""
    end = added + 1
    while end < len(weights.counts) and weights.counts[end] <= cheap:
        end += 1
    return end


def _scores(weights: Weights, n: int, postings: PostingList) -> Numbers:
    """The contribution of the n-th word to the score of each chunk it occurs in."""
    tf, lengths = postings.tf.astype(np.float64), postings.lengths.astype(np.float64)
    return weights.idf[n] * (K1 + 1) * tf / (tf + length_norm(weights, lengths))


def _nth_greatest(scores: Numbers, n: int) -> float:
    """The n-th greatest score, 0 when there are fewer."""
    return float(np.partition(scores, -n)[-n]) if len(scores) >= n else 0.0


def length_norm(weights: Weights, lengths: Numbers) -> Numbers:
    """The length-dependent term in the denominator of BM25."""
    return K1 * (1 - B) + K1 * B / weights.mean_length * lengths


def neighbour_scores(
    weights: Weights,
    ids: NDArray[np.integer],
    lengths: Numbers,
    continues: NDArray[np.bool_],
    tf: Numbers,
) -> Numbers:
    """The score of each chunk, by ascending id.

    `continues` is True where the chunk before belongs to the same document; `tf` has the shape
    (chunks, words).
    """
    # 1 where the row above is the chunk before in the same document.
    follows = np.zeros(len(ids) + 1, np.float64)
    follows[1:-1] = (np.diff(ids) == 1) & continues[1:]
    before, after = follows[:-1, np.newaxis], follows[1:, np.newaxis]
    neighbour_tf = before * np.roll(tf, 1, axis=0) + after * np.roll(tf, -1, axis=0)
    neighbour_lengths = follows[:-1] * np.roll(lengths, 1) + follows[1:] * np.roll(lengths, -1)
    norm = length_norm(weights, lengths + NEIGHBOUR_LENGTH * neighbour_lengths)[:, np.newaxis]
    tf = tf + NEIGHBOUR_SHARE * neighbour_tf
    return (np.array(weights.idf) * (K1 + 1) * tf / (tf + norm)).sum(axis=1)


# Limits a statement: each term is counted, though nobody means one of so many.
_COUNTED_AT_ONCE = 500


class WordIndex(ABC):
    """The words of a library, or of what somebody may read, at one moment. For one thread."""

    # SQL for a table of every `term`.
    vocabulary = "terms"
    # SQL that begins with AND and leaves out terms with more than `$errors` edits, if there is any.
    is_near = ""
    con: Connection
    statistics: LibraryStatistics

    @abstractmethod
    def counts(self, keys: Sequence[int]) -> Mapping[int, int]:
        """The number of chunks of each term; deleted ones may count for a while."""

    @abstractmethod
    def postings(self, weights: Weights) -> WordPostings:
        """The postings of the words."""

    @abstractmethod
    def allowed(self, scope: Scope) -> Callable[[PostingList], PostingList]:
        """Leaves the postings of chunks in the scope."""

    @abstractmethod
    def lengths(self, chunk_ids: Ids) -> tuple[Ids, Numbers, NDArray[np.bool_]]:
        """Those of the chunks that exist, by id: their terms, and True where one is no first chunk.

        The ids are in ascending order.
        """

    @abstractmethod
    def condition(self, scope: Scope) -> tuple[str, dict[str, Any]]:
        """SQL that begins with AND, for rows of `chunks` in the scope, and its parameters."""

    def counted(self, words: Words) -> WordCounts:
        """The counts of each distinct word."""
        keys = {word: [key_of(term) for term in word] for word in dict.fromkeys(words)}
        found = self.counts([key for those in keys.values() for key in those])
        counts = {word: sum(found[key] for key in those) for word, those in keys.items()}
        return WordCounts(self.statistics.chunk_count, self.statistics.terms, counts)

    def weights(self, words: Words | Weights) -> Weights:
        """The weights of the words, if they are not weighted yet."""
        return words if isinstance(words, Weights) else weighted(self.counted(words))

    def terms(self, condition: str, parameters: object) -> list[str]:
        """The terms that meet a condition."""
        sql = f"SELECT term FROM {self.vocabulary} WHERE {condition}"
        return [term for (term,) in self.con.execute(sql, parameters).fetchall()]

    def chunks_of_terms(self, terms: Sequence[str]) -> dict[str, int]:
        """The number of chunks of each term that has any."""
        found: dict[int, int] = {}
        keys = {term: key_of(term) for term in terms}
        for begin in range(0, len(terms), _COUNTED_AT_ONCE):
            found |= self.counts([keys[t] for t in terms[begin : begin + _COUNTED_AT_ONCE]])
        return {term: found[key] for term, key in keys.items() if found[key]}

    def counted_terms(self, condition: str, parameters: object) -> dict[str, int]:
        """As `chunks_of_terms`, of the terms that meet a condition."""
        return self.chunks_of_terms(self.terms(condition, parameters))


class LexicalStore(ABC):
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

    # SQL for the rows of chunks with those of their documents.
    chunks_with_documents = "chunks JOIN documents USING (document_id)"
    # SQL that begins with AND, for chunks of documents that are completely written.
    is_finished = ""

    def __init__(self, database: Database) -> None:
        self.database = database

    @abstractmethod
    def index(
        self, readable: Readable | None = None, search: str = ""
    ) -> AbstractContextManager[WordIndex]:
        """The words as they are now; the engine may note the time of a `search`."""

    @abstractmethod
    def among(self, con: Any, chunk_ids: Collection[int]) -> tuple[str, dict[str, Any]]:  # noqa: ANN401
        """SQL that is true for the rows of these chunks, and its parameters."""

    def weigh(self, words: Words, readable: Readable | None = None) -> Weights:
        """The weight of each distinct word. Once per question, for the searches that follow.

        n may count deleted chunks until the next `Upkeep.run`, but not with `readable`.
        """
        return weighted(self.count(words, readable))

    def count(self, words: Words, readable: Readable | None = None) -> WordCounts:
        """The statistics that `weigh` uses, so that several libraries can be ranked as one."""
        with self.index(readable, "counts of words") as index:
            return index.counted(words)

    def best(
        self, words: Words | Weights, limit: int, scope: Scope = EVERYWHERE
    ) -> list[tuple[int, float]]:
        """The `limit` chunks with the highest score: (chunk id, score), best first, then by id.

        Exact: no other chunk scores more. Chunks without any of the words are never found.
        """
        with self.index(scope.readable, "words") as index:
            weights = index.weights(words)
            allowed = index.allowed(scope)
            return best_chunks(weights, index.postings(weights), allowed, limit)

    def scores(self, words: Words | Weights, chunk_ids: Sequence[int]) -> dict[int, float]:
        """The scores of given chunks read with their neighbours.

        A neighbour is the chunk before or after in the same document. Its words are weighted with
        NEIGHBOUR_SHARE, its length with NEIGHBOUR_LENGTH: a passage that says "it" is about what
        the one before names. Chunks without any of the words and unknown chunks are absent.
        """
        near = sorted({i + step for i in chunk_ids for step in (-1, 0, 1)})
        with self.index(search="words of given passages") as index:
            weights = index.weights(words)
            ids, lengths, continues = index.lengths(np.array(near, np.int64))
            if not len(ids) or not weights.words:
                return {}
            tf = index.postings(weights).tf_in(ids)
        totals = neighbour_scores(weights, ids, lengths, continues, tf)
        wanted = np.isin(ids, np.array(chunk_ids, np.int64)) & (totals > 0)
        return dict(zip(ids[wanted].tolist(), totals[wanted].tolist(), strict=True))

    def in_scope(self, chunk_ids: Sequence[int], scope: Scope) -> frozenset[int]:
        """The chunks that are in the scope; unknown ones are not."""
        with self.index(scope.readable) as index:
            condition, parameters = index.condition(scope)
            which, asked = self.among(index.con, chunk_ids)
            sql = f"SELECT chunk_id FROM chunks WHERE {which}{condition}"
            rows = index.con.execute(sql, parameters | asked).fetchall()
        return frozenset(row[0] for row in rows)

    def documents_of(self, chunk_ids: Sequence[int]) -> frozenset[str]:
        """The ids of the documents that the chunks belong to; unknown chunks are ignored."""
        with self.database.read() as con:
            which, asked = self.among(con, chunk_ids)
            sql = f"SELECT DISTINCT document_id FROM chunks WHERE {which}"
            rows = con.execute(sql, asked).fetchall()
        return frozenset(row[0] for row in rows)

    def newest(self, limit: int, scope: Scope) -> dict[int, float]:
        """The first chunk of each of the `limit` documents in the scope that changed last.

        Chunk id → modification time of the file in seconds; the newest first, then the lower id.
        """
        with self.index(scope.readable) as index:
            condition, parameters = index.condition(scope)
            rows = index.con.execute(
                "SELECT chunks.chunk_id, documents.mtime_ns::float8 / 1e9"
                f" FROM {self.chunks_with_documents}"
                f" WHERE chunks.position = 0{self.is_finished}{condition}"
                f" ORDER BY documents.mtime_ns DESC, 1 LIMIT {limit:d}",
                parameters,
            ).fetchall()
        return dict(rows)

    def languages(self, readable: Readable | None = None) -> Mapping[str, int]:
        """The number of documents in each language, "" for unknown; the most frequent first."""
        if readable is None:
            return dict(self.database.cached(read_statistics).languages)
        with self.index(readable) as index:
            return dict(index.statistics.languages)

    def nearest_term(self, term: str, errors: int, readable: Readable | None = None) -> str:
        """The term of the library at the smallest edit distance, up to `errors`; "" if none is.

        Its first letter is the same. An edit inserts, removes or replaces a letter, or swaps two
        adjacent ones. Of several terms the one in most chunks, then the first by code points.
        """
        with self.index(readable, "spelling") as index:
            known = index.terms(
                "starts_with(term, $first) AND abs(length(term) - length($term)) <= $errors"
                f"{index.is_near}",
                {"first": term[:1], "term": term, "errors": errors},
            )
            near = sorted(
                (distance, each) for each in known
                if (distance := edits(term, each, errors)) <= errors
            )  # fmt: skip
            for _, group in groupby(near, key=lambda pair: pair[0]):
                if counts := index.chunks_of_terms([each for _, each in group]):
                    return min(counts, key=lambda each: (-counts[each], each))
        return ""

    def terms_completing(
        self, word: str, limit: int, readable: Readable | None = None
    ) -> tuple[str, ...]:
        """Up to `limit` terms of what a half-typed word may become, those in most chunks first.

        They begin with the word, which has SHORTEST_COMPLETED letters at least; of equally frequent
        ones the first by code points comes first. Terms are stems: without any, it is the longest
        term that the word begins with, at most COMPLETED_ENDING letters shorter and not below
        SHORTEST_STEM.
        """
        if len(word) < SHORTEST_COMPLETED:
            return ()
        least = max(SHORTEST_STEM, len(word) - COMPLETED_ENDING)
        stems = {f"stem{length}": word[:length] for length in range(least, len(word))}
        condition = " OR ".join(["starts_with(term, $word)", *(f"term = ${n}" for n in stems)])
        with self.index(readable, "completion") as index:
            counts = index.counted_terms(condition, {"word": word, **stems})
        return chosen_terms(counts, word, limit)

    def passages(self, scores: dict[int, float]) -> list[Passage]:
        """The passages of the scored chunks, best first, then the lower id; no deleted chunks."""
        with self.database.read() as con:
            # Two statements: a join may read the texts of all rows around.
            which, asked = self.among(con, scores)
            chunks = con.execute(
                "SELECT chunk_id, document_id, text, anchor, start_offset, end_offset"
                f" FROM chunks WHERE {which}",
                asked,
            ).fetchall()
            which, ids = self.database.with_ids(list({row[1] for row in chunks}))
            documents = con.execute(
                "SELECT document_id, path, title, part, url, source_id FROM documents"
                f" WHERE {which}",
                ids,
            ).fetchall()
        rows = {document_id: rest for document_id, *rest in documents}
        sites = self.database.cached(read_sites)
        found: list[Passage] = []
        for chunk_id, document_id, text, anchor, start, end in chunks:
            if document_id in rows:
                path, title, part, url, source_id = rows[document_id]
                place = Anchor.from_json(json.loads(anchor))
                address = url or address_of(sites, source_id, path)
                found.append(
                    Passage(
                        chunk_id, document_id, path, title, text, place, start, end,
                        scores[chunk_id], part, address,
                    )
                )  # fmt: skip
        return sorted(found, key=lambda passage: (-passage.score, passage.chunk_id))


def chosen_terms(counts: Mapping[str, int], word: str, limit: int) -> tuple[str, ...]:
    """The result of `terms_completing`, of these terms with the number of their chunks."""
    longer = [term for term in counts if term.startswith(word)]
    if longer:
        return tuple(sorted(longer, key=lambda term: (-counts[term], term))[:limit])
    return tuple(sorted(counts, key=len, reverse=True)[:1])


@dataclass(frozen=True, slots=True)
class NamedDocuments:
    """Documents whose file names contain the same parts: their number, and the ids of some."""

    parts: frozenset[str]
    count: int
    document_ids: tuple[str, ...]


class NameStore(ABC):
    """Finds documents by the names of their files."""

    # SQL for the day of change of a row of documents, in both ways to write it.
    day: str

    @abstractmethod
    def rows(
        self, scope: Scope, statement: Callable[[str], tuple[str, dict[str, Any]]]
    ) -> list[Any]:
        """The rows of a statement, for the documents in a scope.

        It is made with SQL that begins with AND, and comes with its parameters.
        """

    @abstractmethod
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

    @abstractmethod
    def spelled_in(self, text: str, scope: Scope, limit: int) -> list[tuple[str, str]]:
        """Id and path of documents whose file name, without its ending, is spelled in a text.

        Only letters and digits are compared, ignoring case, and a name has at least three. The
        longest names first, at most `limit`. Documents that were not read are among them when the
        scope is without limits. Web pages, which have no file of the person's, never are.
        """

    @abstractmethod
    def spelled_like(self, name: str, scope: Scope, limit: int) -> list[tuple[str, str]]:
        """Id and path of documents whose file name differs from this one by a slip of the keys.

        That is one inserted, removed or replaced character or two swapped ones, or two such slips
        in twelve characters and more; compared as in `spelled_in`, with the ending. The nearest
        first.
        """

    def completing(self, text: str, limit: int) -> list[str]:
        """Ids of at most `limit` documents with each part of this text in their file name, title,
        address, folder or the day of their change, as 2025-03-14 or 14.03.2025.

        Compared as in `Scope`. Those whose file name begins with it first, then those with more of
        the parts in their name, by the length of the name and by path; for "" the files that
        changed last. Without documents inside others, those that are gone, and files attached to
        chats.
        """
        text = plain(text)
        found = self.rows(EVERYWHERE, lambda which: completing(text, self.day, which, limit))
        return [document_id for (document_id,) in found]

    def folders(self, scope: Scope) -> list[str]:
        """The folders that directly hold documents; full paths, in order."""
        sql = "SELECT DISTINCT parse_dirpath(path) FROM documents WHERE url = ''"
        return sorted(folder for (folder,) in self.rows(scope, lambda which: (sql + which, {})))

    @abstractmethod
    def fingerprint(self, scope: Scope) -> str:
        """A short text that changes when a document in scope comes, goes, moves or changes.

        It is empty only while a part of the scope can't be asked.
        """


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
