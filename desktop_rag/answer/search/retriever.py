"""Finds the passages for a question: words and meaning, fused. Any worker thread."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from desktop_rag.answer.search.candidates import (
    AnsweringIndex,
    Candidates,
    CandidateSearch,
    leads,
    shares,
)
from desktop_rag.answer.search.filename_matching import FilenameMatcher
from desktop_rag.answer.search.fusion import (
    FEW,
    IRRELEVANT_BELOW,
    FusionModel,
    company,
    fuse,
    measure,
    ordered,
    standardised,
)
from desktop_rag.answer.search.question_terms import QuestionReader, QuestionReading, Wanted
from desktop_rag.core.domain import Passage, SearchMode
from desktop_rag.core.query import Query
from desktop_rag.core.question import EVERYTHING, SearchScope
from desktop_rag.core.terms import holds_phrase
from desktop_rag.models.gate import ModelGate
from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.contract.search import LexicalStore

# Passages of documents that the question names are this much ahead, in deviations.
_NAMED_BONUS = 1.0
# Within a document that is named, the words that named it tell nothing any more: meaning counts
# this many times as much as elsewhere.
_NAMED_MEANING = 3.0
# Where passages are checked one by one, so many are ranked at first by words and meaning. If too
# few of them are as asked, the ranking by words alone is followed downwards: so many times deeper
# with each step, and down to here at least before the search gives up.
_CHECKED = 100
_DEEPER = 4
_DEEPEST = 40_000


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """Passages, best first, and the words that were searched for in place of others.

    `matching` are the chunks of all passages in the race that seem to be about the question.
    """

    passages: list[Passage]
    repaired: tuple[tuple[str, str], ...] = ()
    matching: tuple[int, ...] = ()


class Retriever:
    """Search over the whole index or a part of it.

    With no embedder, or no vectors yet, every mode falls back on words: the person gets what
    there is.
    """

    def __init__(
        self,
        lexical: LexicalStore,
        answering: Callable[[], Sequence[AnsweringIndex]],
        gate: ModelGate,
        names: FilenameMatcher,
        fusion: FusionModel,
    ) -> None:
        """`answering` gives the models to ask now with their vectors, none without any."""
        self.lexical = lexical
        self.pools = CandidateSearch(lexical, answering, gate, names)
        self._gate = gate
        self._fusion = fusion
        self.reader = QuestionReader(lexical)

    def search(
        self,
        query: Query,
        *,
        mode: SearchMode = "hybrid",
        limit: int = 10,
        reach: SearchScope = EVERYTHING,
        lexical_weight: float = 0.5,
    ) -> RetrievalResult:
        """The best passages first. Scores are comparable within one result only.

        `lexical_weight` moves the balance of hybrid search, see `FusionModel.lexical_weight`.
        """
        # Background work would take the cores from every step, not only from the embedding.
        with self._gate.question():
            return self._search(query, mode, limit, reach, lexical_weight)

    def best_of(
        self,
        document_id: str,
        query: Query,
        *,
        limit: int,
        reach: SearchScope = EVERYTHING,
        lexical_weight: float = 0.5,
    ) -> RetrievalResult:
        """The best passages of one document, as `search` finds them."""
        only = replace(reach, document_ids=(document_id,))
        with self._gate.question():
            return self._search(query, "hybrid", limit, only, lexical_weight)

    def count_files(self, chunk_ids: Sequence[int], others: Collection[str]) -> int:
        """How many documents the chunks belong to, with the `others`."""
        return len(self.lexical.documents_of(chunk_ids) | set(others))

    def best_attached(
        self, source_ids: tuple[str, ...], query: Query, *, limit: int, lexical_weight: float = 0.5
    ) -> RetrievalResult:
        """The best passages of files attached to a chat, as `search` finds them."""
        only = SearchScope(attached=source_ids)
        with self._gate.question():
            return self._search(query, "hybrid", limit, only, lexical_weight)

    def documents(self, query: Query, limit: int, reach: SearchScope = EVERYTHING) -> list[Passage]:
        """The first passage of each document that a query with its filters may find, newest first.

        `limit` is how many documents there may be.
        """
        scope, _ = self._scope(query, reach)
        return self.lexical.passages(self.lexical.newest(limit, scope))

    def attached_documents(self, source_ids: tuple[str, ...], limit: int) -> list[Passage]:
        """The first passage of each document of files attached to a chat."""
        return self.lexical.passages(self.lexical.newest(limit, Scope(attached=source_ids)))

    def inside(
        self, document_ids: Collection[str], query: Query, reach: SearchScope = EVERYTHING
    ) -> set[str]:
        """Those of the documents that a query with its filters may find."""
        scope, _ = self._scope(query, reach)
        narrowed = scope.of_documents(tuple(document_ids))
        if narrowed is None:
            return set()
        first = self.lexical.newest(len(document_ids), narrowed)
        return {passage.document_id for passage in self.lexical.passages(first)}

    def _search(
        self, asked: Query, mode: SearchMode, limit: int, reach: SearchScope, preference: float
    ) -> RetrievalResult:
        scope, exact = self._scope(asked, reach)
        if asked.is_only_filters:
            return RetrievalResult(
                self._first(limit, exact, lambda depth: self.lexical.newest(depth, scope))
            )
        if not asked.has_words:
            return RetrievalResult([])
        wanted = Wanted(asked.text, lambda: self._read(asked, exact, scope))
        if not exact.is_anything:
            scores, relevance = self._ranked(wanted, mode, limit, scope, preference)
            passages = self.lexical.passages(scores)
        else:
            depth = max(limit, _CHECKED)
            scores, relevance = self._ranked(wanted, mode, depth, scope, preference)
            passages = [p for p in self.lexical.passages(scores) if exact.allows(p.text)]
            if len(passages) < limit and len(scores) == depth:
                # What is as asked stands further down; let it race alone.
                alone = self._narrowed(scope, exact, wanted, passages)
                scores, others = self._ranked(wanted, mode, limit, alone, preference)
                passages, relevance = self.lexical.passages(scores), others | relevance
        if exact.phrases:
            relevance = {}
        found = [replace(p, relevance=relevance.get(p.chunk_id, 1.0)) for p in passages[:limit]]
        # Where passages are looked at one by one, those that were are all that is known.
        relevant = {p.chunk_id: p.relevance for p in found} if exact.is_anything else relevance
        matching = tuple(i for i, value in relevant.items() if value >= IRRELEVANT_BELOW)
        return RetrievalResult(found, wanted.reading.repaired, matching)

    def _read(self, asked: Query, exact: "_Exact", scope: Scope) -> QuestionReading:
        reading = self.reader.read(asked)
        if not exact.phrases:
            return reading
        # Words that only join are looked for too: a phrase may be all that is found by words.
        words = (*reading.words.words, *scope.required)
        return replace(reading, words=self.lexical.weigh(words))

    def _narrowed(
        self, scope: Scope, exact: "_Exact", wanted: Wanted, known: Sequence[Passage]
    ) -> Scope:
        """The scope with the first passages, in the ranking by words, that are as asked."""
        words = scope.required or wanted.reading.words
        deeper = self._first(
            _CHECKED, exact, lambda depth: dict(self.lexical.best(words, depth, scope))
        )
        return replace(scope, chunk_ids=tuple({p.chunk_id for p in (*known, *deeper)}))

    def _first(
        self, limit: int, exact: "_Exact", rank: Callable[[int], dict[int, float]]
    ) -> list[Passage]:
        """The first passages that are as asked; `rank` gives the first chunks of a ranking."""
        kept: dict[int, Passage] = {}
        seen: set[int] = set()
        depth = limit
        while True:
            ranking = rank(depth)
            fresh = {i: score for i, score in ranking.items() if i not in seen}
            for passage in self.lexical.passages(fresh):
                if exact.allows(passage.text):
                    kept[passage.chunk_id] = passage
            if len(kept) >= limit or len(ranking) < depth or depth >= _DEEPEST:
                return list(kept.values())[:limit]
            seen |= fresh.keys()
            depth *= _DEEPER

    def _ranked(
        self, wanted: Wanted, mode: SearchMode, limit: int, scope: Scope, preference: float
    ) -> tuple[dict[int, float], dict[int, float]]:
        """(chunk id → score, best first; chunk id → relevance)."""
        pool = None if mode == "lexical" else self.pools.gather(wanted, scope, limit)
        if pool is None:
            weights = wanted.reading.words
            scores = dict(self.lexical.best(weights, limit, scope))
            greatest = weights.greatest()
            return scores, {
                i: self._fusion.relevance_by_words({"share": score / greatest})
                for i, score in scores.items()
            }
        if not pool.ids:
            return {}, {}
        fused = pool.near
        if mode == "hybrid":
            signals = measure(pool.lexical, pool.similar, pool.near, pool.alike)
            if pool.is_named.any():
                preference /= preference + _NAMED_MEANING * (1 - preference)
            weight = self._fusion.lexical_weight(signals, preference)
            fused = fuse(pool.lexical, pool.near, weight)
            together = self._fusion.company_weight(signals, len(pool.ids))
            fused += together * company(fused, pool.alike)
            fused += _NAMED_BONUS * pool.is_named
        return ordered(pool.ids, fused, limit), self._relevance(pool)

    def _relevance(self, pool: Candidates) -> dict[int, float]:
        fusion = self._fusion
        values = {
            "nearness": pool.near,
            "standout": standardised(pool.lexical),
            "share": shares(pool),
            "lead": leads(pool),
        }
        if len(pool.ids) < FEW:
            relevance = fusion.relevance_among_few.each(values)
        else:
            relevance = fusion.relevance.each(values)
            if pool.has_all_words:
                # A name says little to a model of meaning, and a frequent word beside it leaves
                # nothing that stands out; the passage that has both is far ahead all the same. Of a
                # name that stands nowhere only the frequent word would be found.
                relevance = np.maximum(relevance, fusion.relevance_by_lead.each(values))
        # Of what has no vector yet, the place at the pool's end says nothing.
        by_words = fusion.relevance_by_words.each(values)
        known = np.where(pool.is_compared > 0, relevance, by_words)
        return dict(zip(pool.ids, known.tolist(), strict=True))

    def _scope(self, asked: Query, reach: SearchScope) -> tuple[Scope, "_Exact"]:
        """What may be found, and what is left to look for in the passages themselves."""
        terms_of = self.reader.alternatives
        excluded = tuple(dict.fromkeys((*asked.excluded, *reach.limits.excluded)))
        single = {word: found for word in excluded if len(found := terms_of(word)) == 1}
        scope = Scope(
            collection_ids=reach.collection_ids or None,
            document_ids=reach.document_ids,
            filters=asked.filters,
            limits=reach.limits.filters,
            attached=reach.attached,
            required=terms_of(" ".join(asked.phrases)),
            excluded=tuple(terms for found in single.values() for terms in found),
        )
        left = tuple(word for word in excluded if word not in single)
        return scope, _Exact(asked.phrases, left)


@dataclass(frozen=True, slots=True)
class _Exact:
    """What passages must hold and must not hold as it is written, of several terms each."""

    phrases: tuple[str, ...]
    excluded: tuple[str, ...]

    @property
    def is_anything(self) -> bool:
        """Passages have to be looked at."""
        return bool(self.phrases or self.excluded)

    def allows(self, text: str) -> bool:
        """Whether a passage is as asked."""
        return all(holds_phrase(text, phrase) for phrase in self.phrases) and not any(
            holds_phrase(text, words) for words in self.excluded
        )
