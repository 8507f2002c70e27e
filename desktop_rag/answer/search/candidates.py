"""Gathers the candidates of a search, scored by words and by each embedder. Any worker thread."""

import logging
import math
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from desktop_rag.answer.search.fusion import Scores, with_windows
from desktop_rag.answer.search.meaning import KnownVectors, Meaning, SimilarityCalibration, rescaled
from desktop_rag.answer.search.question_terms import SearchQuestion
from desktop_rag.core.language.languages import (
    ENGLISH_MODEL,
    OTHER_LATIN,
    UNKNOWN,
    function_words,
    likely_language,
    question_language,
)
from desktop_rag.core.text import words
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.models.ports import Embedder, EmbedderFaultError
from desktop_rag.store.contract.search import (
    LexicalStore,
    NamedDocuments,
    NameStore,
    Scope,
    Weights,
)
from desktop_rag.store.contract.vectors import VectorMatches, VectorSearch

_LEAST_LETTERS = 3
# Shorter words occur inside too many others: age in mortgage, man in manual. Scripts without spaces
# begin at the code point below; there a word is always inside another.
_LEAST_PIECE = 6
_UNSPACED_FROM = "\u2e80"
_POSSESSIVE = re.compile("['’]s$")
_EDGES = re.compile(r"^\W+|\W+$")
_NUMBER = re.compile(r"[0-9]{4,}")
# Words that most names share name nothing: together they must leave one document in eight.
_LEAST_WEIGHT = math.log(8)
# The share of the best document's weight that makes another document named as well.
_NEARLY = 0.8
_MOST_DOCUMENTS = 8


class FilenameMatcher:
    """Finds the documents that a question names: "Adobe's 2015 report" is ADOBE_2015_10K.pdf."""

    def __init__(self, names: NameStore) -> None:
        self._names = names

    def named_by(self, text: str, scope: Scope) -> tuple[str, ...]:
        """The ids of the documents that the question names; none when there are none or many."""
        return tuple(sorted(i for group in self._named(text, scope) for i in group.document_ids))

    def without_names(self, text: str, scope: Scope) -> str:
        """The question without the words that name documents, but with their numbers.

        It is unchanged where it names none or many, or nothing else.
        """
        parts = frozenset[str]().union(*(group.parts for group in self._named(text, scope)))
        plain = [_plain(_EDGES.sub("", word)) for word in text.split()]
        pairs = {n for n, pair in enumerate(pairwise(plain)) if "".join(pair) in parts}
        names = {n for n, word in enumerate(plain) if word in parts and not word.isdecimal()}
        names |= pairs | {n + 1 for n in pairs}
        kept = [word for n, word in enumerate(text.split()) if n not in names]
        return " ".join(kept) if names and any(map(words, kept)) else text

    def _named(self, text: str, scope: Scope) -> list[NamedDocuments]:
        """The documents that the question names, by the parts that it has of their names."""
        parts = _parts(text)
        if not parts:
            return []
        pieces = [part for part in parts if _is_piece(part)]
        beginnings = [part for part in _capitals(text) if part in parts]
        found, total = self._names.matching(parts, beginnings, pieces, scope, _MOST_DOCUMENTS)
        frequency = {part: sum(g.count for g in found if part in g.parts) for part in parts}
        weights = [
            sum(math.log(total / frequency[part]) for part in _widest(group.parts))
            for group in found
        ]
        best = max(weights, default=0.0)
        if best < _LEAST_WEIGHT:
            return []
        named = [g for g, weight in zip(found, weights, strict=True) if weight >= _NEARLY * best]
        return named if sum(group.count for group in named) <= _MOST_DOCUMENTS else []


def _parts(text: str) -> list[str]:
    """Words, pairs of words joined, and numbers, as they may occur in a file name."""
    said = words(text)
    idle = function_words(said)
    kept = [_plain(word) for word in said if word not in idle]
    kept = [word for word in kept if not word.isdecimal()]
    joined = ["".join(pair) for pair in pairwise(kept)]
    long = [word for word in kept if len(word) >= _LEAST_LETTERS or not word.isalpha()]
    return list(dict.fromkeys([*long, *joined, *_NUMBER.findall(text)]))


def _plain(word: str) -> str:
    """The word in lower case, without a possessive ending or apostrophes."""
    return _POSSESSIVE.sub("", word.casefold()).replace("'", "").replace("’", "")


def _capitals(text: str) -> list[str]:
    """Abbreviations, which may begin a longer word: MGM in MGMRESORTS_2018.pdf."""
    if text.isupper():
        return []
    said = [_POSSESSIVE.sub("", word) for word in words(text)]
    return [w.casefold() for w in said if w.isupper() and w.isalpha() and len(w) >= _LEAST_LETTERS]


def _is_piece(part: str) -> bool:
    is_long = len(part) >= _LEAST_PIECE or part[0] >= _UNSPACED_FROM
    return is_long and not part.isdecimal()


def _widest(held: frozenset[str]) -> list[str]:
    """The parts that are not contained in another one."""
    return [part for part in held if not any(part in other for other in held if other != part)]


log = logging.getLogger(__name__)

A = TypeVar("A")
B = TypeVar("B")


def run_in_parallel(here: Callable[[], A], aside: Callable[[], B]) -> tuple[A, B]:
    """The results of both; `aside` runs on a thread of its own, which has ended on return.

    A question waits for the longer one. An exception is raised here, that of `here` first.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="search") as threads:
        other = threads.submit(aside)
        return here(), other.result()


# Deep enough that the best passages of one ranking are scored by the other too.
_DEPTH = 100
# The number of candidates that each ranking adds from documents that the question names.
_NAMED_DEPTH = 30


@dataclass(frozen=True, slots=True)
class AnsweringIndex:
    """An embedder, the search over its vectors, the collections it answers for (None: all), and the
    languages of the questions that it understands (None: all).
    """

    embedder: Embedder
    vectors: VectorSearch
    collection_ids: tuple[str, ...] | None = None
    questions: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidate passages of a search, as arrays of one length.

    `lexical` holds scores by words, `near` similarities with windows. `is_compared` is 1 for a
    passage with a vector, 0 for one without a vector yet. `greatest` is an upper bound of the
    scores by words; `has_all_words` is true when every word of the question occurs in the library.
    `is_across` is 1 for passages in another language than the question that the multilingual model
    compares, `is_named` 1 for passages of documents that the question names, else 0. `alike` is the
    matrix of similarities between passages, NaN where unknown. Similarities are calibrated; see
    `SimilarityCalibration`.
    """

    ids: tuple[int, ...]
    lexical: Scores
    near: Scores
    is_compared: Scores
    greatest: float
    has_all_words: bool
    is_across: Scores
    is_named: Scores
    alike: Scores


def shares(candidates: Candidates) -> Scores:
    """The score by words of each passage, as a share of the best possible one."""
    return candidates.lexical / (candidates.greatest or 1.0)


def leads(candidates: Candidates) -> Scores:
    """The distance of each share from the median share."""
    own = shares(candidates)
    return own - np.median(own)


def nearness_leads(candidates: Candidates) -> Scores:
    """The distance of each similarity from the median one."""
    return candidates.near - np.median(candidates.near)


# The ids of what one embedder compared, their similarities, and those between them.
ModelAnswer = tuple[Sequence[int], Scores, Scores]


class CandidateSearch:
    """Gathers the top of both rankings; each candidate is scored by both."""

    def __init__(
        self,
        lexical: LexicalStore,
        answering: Callable[[], Sequence[AnsweringIndex]],
        priority: AnswerPriority,
        names: FilenameMatcher,
    ) -> None:
        """`answering` gives the embedders that can answer now; of two, the first one counts."""
        self._lexical = lexical
        self._answering = answering
        self._priority = priority
        self.names, self.named_by = names, names.named_by
        self._calibration = SimilarityCalibration()
        self._known = KnownVectors()

    def knows(self, word: str) -> bool:
        """True when an embedder reads the word as one token, as it reads frequent words."""
        spellings = list(dict.fromkeys((word, word.lower(), word.capitalize())))
        return any(1 in i.embedder.count_tokens(spellings) for i in self._answering())

    def gather(self, question: SearchQuestion, scope: Scope, limit: int = 0) -> Candidates | None:
        """The top 100 or `limit` passages of each ranking; None when no embedder has vectors."""
        limit = max(limit, _DEPTH)
        language = _language_of(question)
        asked = self._asked(question.meant, language, scope)
        if not asked:
            return None
        weights = question.reading.words
        (best, compared), named = run_in_parallel(
            lambda: self._first(weights, asked, limit, scope),
            lambda: scope.of_documents(self.named_by(question.text, scope)),
        )
        if named:
            more, others = self._first(weights, asked, _NAMED_DEPTH, named)
            best, compared = best | more, _pairwise(compared, others)
        # An embedder without any chunk has no vectors in this scope.
        answering = [pair for pair in zip(asked, compared, strict=True) if pair[1].chunk_ids]
        if not answering:
            return None
        near = {chunk_id for _, held in answering for chunk_id in held.chunk_ids}
        ids = tuple(sorted(best.keys() | near))
        lexical, answers = run_in_parallel(
            lambda: self._lexical.scores(weights, ids),
            lambda: [model.answer(held) for model, held in answering],
        )
        found = self._scored(ids, lexical, answers, weights, named)
        return replace(
            found, is_across=self._across(language, question.text, ids, answering, scope)
        )

    def meaning_of(self, question: SearchQuestion, other: Embedder | None) -> Meaning | None:
        """Compares texts with a question by all embedders that read it, by the `other` one while
        none can answer; None when none reads it.
        """
        answering, language = self._answering(), _language_of(question)
        known = (i for i in answering if i.questions is None or language in i.questions)
        read = [(index.embedder, index.questions) for index in known]
        read = [(other, None)] if other and not answering else read
        if not read:
            return None
        return Meaning(question.text, language, read, self._calibration, self._known)

    def _first(
        self, weights: Weights, asked: Sequence["_Model"], limit: int, scope: Scope
    ) -> tuple[dict[int, float], list[VectorMatches]]:
        """The top of both rankings in a scope: the scores by words, and each embedder's vectors."""

        def by_words() -> tuple[dict[int, float], list[VectorMatches]]:
            best = dict(self._lexical.best(weights, limit, scope))
            return best, [model.compared(list(best), scope, self._lexical) for model in asked]

        (best, others), nearest = run_in_parallel(
            by_words, lambda: [model.nearest(limit, scope) for model in asked]
        )
        return best, _pairwise(nearest, others)

    def _asked(self, text: str, language: str, scope: Scope) -> list["_Model"]:
        """The embedders that answer for a part of the scope, with the vector of the question."""
        found: list[_Model] = []
        for index in self._for_question(language):
            if scope.within(index.collection_ids).collection_ids == ():
                continue
            is_across = _is_multilingual(index) and language not in ENGLISH_MODEL
            asked = self._without_names(text, scope) if is_across else text
            try:
                with self._priority.answering():
                    vector = index.embedder.embed_query(asked)
                    unrelated = self._calibration.unrelated(index.embedder)
            except EmbedderFaultError as error:
                log.info("meaning was not searched: %s", error.title)
                continue
            found.append(_Model(index, vector, unrelated))
        return found

    def _without_names(self, text: str, scope: Scope) -> str:
        """A question without the names of English documents.

        The model for many languages finds whatever has the name: cover pages, share prices. In the
        language of the question the words of a name may be what is asked about.
        """
        named = scope.of_documents(self.named_by(text, scope))
        first = tuple(self._lexical.newest(_NAMED_DEPTH, named)) if named else ()
        is_english = bool(first) and len(self._in_english(first)) == len(first)
        return self.names.without_names(text, scope) if is_english else text

    def _for_question(self, language: str) -> list[AnsweringIndex]:
        """The indexes for questions in a language, without those that would find nothing more."""
        known = [i for i in self._answering() if i.questions is None or language in i.questions]
        if language in ENGLISH_MODEL and ENGLISH_MODEL.issuperset(self._lexical.languages()):
            # Then the model for English has compared whatever the one for many languages has.
            return [i for i in known if i.questions is None or i.questions <= ENGLISH_MODEL]
        return known

    def _scored(
        self,
        ids: tuple[int, ...],
        lexical: dict[int, float],
        answers: Sequence[ModelAnswer],
        weights: Weights,
        named: Scope | None,
    ) -> Candidates:
        near: dict[int, float] = {}
        for compared, similar, _ in reversed(answers):
            near |= zip(compared, similar.tolist(), strict=True)
        return Candidates(
            ids,
            _array(lexical.get(i, 0.0) for i in ids),
            _filled(ids, near),
            _array(float(i in near) for i in ids),
            weights.greatest(),
            all(weights.counts),
            np.zeros(len(ids)),
            self._of_named(ids, named),
            _alike(ids, answers),
        )

    def _across(
        self,
        language: str,
        text: str,
        ids: tuple[int, ...],
        answering: Sequence[tuple["_Model", VectorMatches]],
        scope: Scope,
    ) -> Scores:
        """See `Candidates`. English passages are those that the English model has embedded too."""
        compared = {
            is_multilingual: {i for model, held in answering for i in held.chunk_ids
                              if _is_multilingual(model.index) is is_multilingual}
            for is_multilingual in (True, False)
        }  # fmt: skip
        alone = compared[True] - compared[False]
        is_foreign_here = likely_language(text) not in self._lexical.languages(scope.readable)
        if language in ENGLISH_MODEL:
            alone -= self._in_english(tuple(alone))
        elif not is_foreign_here:
            alone &= self._in_english(tuple(alone))
        return _array(float(i in alone) for i in ids)

    def _in_english(self, ids: Sequence[int]) -> set[int]:
        """Those of the chunks that the English model has embedded."""
        found = set[int]()
        for index in self._answering():
            if index.questions is not None and not _is_multilingual(index):
                anything = np.zeros(index.embedder.dimensions, np.float32)
                found.update(index.vectors.compare(anything, list(ids)).chunk_ids)
        return found

    def _of_named(self, ids: Sequence[int], named: Scope | None) -> Scores:
        inside = self._lexical.in_scope(ids, named) if named else frozenset[int]()
        return _array(float(i in inside) for i in ids)


@dataclass(frozen=True, slots=True)
class _Model:
    """An embedder with the vector of the question and the similarity of unrelated texts."""

    index: AnsweringIndex
    vector: NDArray[np.float32]
    unrelated: float

    def nearest(self, limit: int, scope: Scope) -> VectorMatches:
        narrowed = scope.within(self.index.collection_ids)
        return self.index.vectors.nearest(self.vector, limit, narrowed)

    def compared(
        self, chunk_ids: Sequence[int], scope: Scope, lexical: LexicalStore
    ) -> VectorMatches:
        """The given chunks that the embedder answers for, compared with the question."""
        if self.index.collection_ids is not None:
            # Chunks of other collections may have vectors of this embedder too.
            chunk_ids = list(lexical.in_scope(chunk_ids, scope.within(self.index.collection_ids)))
        return self.index.vectors.compare(self.vector, chunk_ids)

    def answer(self, found: VectorMatches) -> ModelAnswer:
        vectors = found.vectors
        similar = rescaled(found.similarities, self.unrelated)
        windows = rescaled(found.window_similarities, self.unrelated)
        # Not `@`: the threads of BLAS keep spinning for a while after it returns.
        alike = rescaled(np.vecdot(vectors[:, np.newaxis], vectors), self.unrelated)
        return found.chunk_ids, with_windows(similar, windows), alike


def _is_multilingual(index: AnsweringIndex) -> bool:
    return index.questions is not None and not index.questions <= ENGLISH_MODEL


def _language_of(question: SearchQuestion) -> str:
    """The language of a question. One that may be English, but of whose words the library lacks
    more than half, is probably in another: "Was" alone may be either.
    """
    language = question_language(question.meant)
    if language != UNKNOWN:
        return language
    counts = question.reading.words.counts
    is_hardly_known = bool(counts) and 2 * sum(map(bool, counts)) < len(counts)
    return OTHER_LATIN if is_hardly_known else UNKNOWN


def _pairwise(
    some: Sequence[VectorMatches], others: Sequence[VectorMatches]
) -> list[VectorMatches]:
    return [_together(pair) for pair in zip(some, others, strict=True)]


def _together(parts: Sequence[VectorMatches]) -> VectorMatches:
    """The chunks of all parts, each once, in ascending order of id."""
    ids = np.concatenate([np.array(part.chunk_ids, np.int64) for part in parts])
    ids, first = np.unique(ids, return_index=True)
    return VectorMatches(
        ids.tolist(),
        np.concatenate([part.similarities for part in parts])[first],
        np.concatenate([part.vectors for part in parts])[first],
        np.concatenate([part.window_similarities for part in parts])[first],
    )


def _alike(ids: Sequence[int], answers: Sequence[ModelAnswer]) -> Scores:
    """The similarities between passages, known where one embedder has both."""
    places = {chunk_id: place for place, chunk_id in enumerate(ids)}
    alike = np.full((len(ids), len(ids)), np.nan)
    for compared, _, between in reversed(answers):
        own = [places[i] for i in compared]
        alike[np.ix_(own, own)] = between
    return alike


def _filled(ids: Sequence[int], values: dict[int, float]) -> Scores:
    """The values of the ids; a passage without a vector yet gets the lowest one."""
    last = min(values.values(), default=0.0)
    return _array(values.get(i, last) for i in ids)


def _array(values: Iterable[float]) -> Scores:
    return np.fromiter(values, dtype=np.float64)
