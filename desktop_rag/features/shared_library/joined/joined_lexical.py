"""Finds chunks by words in two libraries as in one. Any thread.

Weights are made of the counts of both, so that scores are those of one library that holds all.
"""

from collections.abc import Collection, Mapping, Sequence

from desktop_rag.core.domain import Passage
from desktop_rag.core.question import Readable
from desktop_rag.core.shared_library import shared_id
from desktop_rag.features.shared_library.joined.shared_ids import (
    OFFSET,
    SharedSide,
    begin_within,
    chunks_there,
    own_chunks,
    scope_here,
    shared_chunks,
    shared_passage,
)
from desktop_rag.store.contract.search import (
    EVERYWHERE,
    LexicalStore,
    Scope,
    Weights,
    WordCounts,
    Words,
)
from desktop_rag.store.sql.bm25_ranking import weighted
from desktop_rag.store.sql.edit_distance import edits


class JoinedLexicalStore:
    """Ranks the chunks of both libraries by the words of a question."""

    def __init__(self, own: LexicalStore, shared: SharedSide) -> None:
        self._own = own
        self._shared = shared

    def weigh(self, words: Words, readable: Readable | None = None) -> Weights:
        """The weight of each word in both together."""
        return weighted(self.count(words, readable))

    def count(self, words: Words, readable: Readable | None = None) -> WordCounts:
        """What the weights are made of, in both together."""
        nothing = WordCounts(0, 0, dict.fromkeys(words, 0))
        scope = Scope(readable=readable)
        begun = begin_within(
            self._shared, scope, lambda e, part: e.lexical.count(words, part.readable), nothing
        )
        here = scope_here(scope)
        found = self._own.count(words, here.readable) if here else nothing
        return found.joined(begun())

    def best(
        self, words: Words | Weights, limit: int, scope: Scope = EVERYWHERE
    ) -> list[tuple[int, float]]:
        """The `limit` chunks of both with the highest score, best first."""
        weights = self._weights(words, scope.readable)
        begun = begin_within(
            self._shared, scope, lambda e, part: dict(e.lexical.best(weights, limit, part)), {}
        )
        here = scope_here(scope)
        found = dict(self._own.best(weights, limit, here)) if here else {}
        return _first(found | shared_chunks(begun()), limit)

    def scores(self, words: Words | Weights, chunk_ids: Sequence[int]) -> dict[int, float]:
        """The scores of given chunks read with their neighbours."""
        weights = self._weights(words)
        begun = begin_within(
            self._shared,
            Scope(chunk_ids=tuple(chunk_ids)),
            lambda e, part: e.lexical.scores(weights, part.chunk_ids or ()),
            {},
        )
        return self._own.scores(weights, own_chunks(chunk_ids)) | shared_chunks(begun())

    def in_scope(self, chunk_ids: Sequence[int], scope: Scope) -> frozenset[int]:
        """The chunks that are in the scope."""
        asked = chunks_there(chunk_ids)
        begun = begin_within(
            self._shared,
            scope,
            lambda e, part: e.lexical.in_scope(asked, part) if asked else frozenset[int](),
            frozenset[int](),
        )
        here = scope_here(scope)
        found = self._own.in_scope(own_chunks(chunk_ids), here) if here else frozenset[int]()
        return found | {chunk_id + OFFSET for chunk_id in begun()}

    def documents_of(self, chunk_ids: Sequence[int]) -> frozenset[str]:
        """The ids of the documents that the chunks belong to."""
        begun = begin_within(
            self._shared,
            Scope(chunk_ids=tuple(chunk_ids)),
            lambda e, part: e.lexical.documents_of(part.chunk_ids or ()),
            frozenset[str](),
        )
        return self._own.documents_of(own_chunks(chunk_ids)) | set(map(shared_id, begun()))

    def newest(self, limit: int, scope: Scope) -> dict[int, float]:
        """The first chunks of the documents in the scope that changed last, with their times."""
        begun = begin_within(self._shared, scope, lambda e, part: e.lexical.newest(limit, part), {})
        here = scope_here(scope)
        found = self._own.newest(limit, here) if here else {}
        return dict(_first(found | shared_chunks(begun()), limit))

    def languages(self, readable: Readable | None = None) -> Mapping[str, int]:
        """The number of documents of both in each language, the most frequent first."""
        scope = Scope(readable=readable)
        nothing: Mapping[str, int] = {}
        begun = begin_within(
            self._shared, scope, lambda e, part: e.lexical.languages(part.readable), nothing
        )
        here = scope_here(scope)
        found = self._own.languages(here.readable) if here else nothing
        total = dict(found)
        for language, count in begun().items():
            total[language] = total.get(language, 0) + count
        return dict(sorted(total.items(), key=lambda pair: (-pair[1], pair[0])))

    def nearest_term(self, term: str, errors: int, readable: Readable | None = None) -> str:
        """The nearer of the terms that both name; of equally near ones that in most chunks."""
        scope = Scope(readable=readable)
        begun = begin_within(
            self._shared,
            scope,
            lambda e, part: e.lexical.nearest_term(term, errors, part.readable),
            "",
        )
        here = scope_here(scope)
        named = {self._own.nearest_term(term, errors, here.readable) if here else "", begun()}
        named.discard("")
        counts = self._counts(named, readable) if len(named) > 1 else dict.fromkeys(named, 0)
        return min(
            named, key=lambda known: (edits(term, known, errors), -counts[known], known), default=""
        )

    def terms_completing(
        self, word: str, limit: int, readable: Readable | None = None
    ) -> tuple[str, ...]:
        """Those of both that begin with the word, most chunks first; else the longest stem."""
        scope, nothing = Scope(readable=readable), tuple[str, ...]()
        begun = begin_within(
            self._shared,
            scope,
            lambda e, part: e.lexical.terms_completing(word, limit, part.readable),
            nothing,
        )
        here = scope_here(scope)
        found = self._own.terms_completing(word, limit, here.readable) if here else nothing
        every = {*found, *begun()}
        longer = [term for term in every if term.startswith(word)]
        if not longer:
            return tuple(sorted(every, key=len, reverse=True)[:1])
        counts = self._counts(longer, readable)
        return tuple(sorted(longer, key=lambda term: (-counts[term], term))[:limit])

    def passages(self, scores: dict[int, float]) -> list[Passage]:
        """The passages of the scored chunks of both, best first."""
        asked = {chunk_id - OFFSET: score for chunk_id, score in scores.items()}
        begun = begin_within(
            self._shared,
            Scope(chunk_ids=tuple(scores)),
            lambda e, part: e.lexical.passages({i: asked[i] for i in part.chunk_ids or ()}),
            list[Passage](),
        )
        found = self._own.passages({i: scores[i] for i in own_chunks(scores)})
        found += map(shared_passage, begun())
        return sorted(found, key=lambda passage: (-passage.score, passage.chunk_id))

    def _weights(self, words: Words | Weights, readable: Readable | None = None) -> Weights:
        return words if isinstance(words, Weights) else self.weigh(words, readable)

    def _counts(self, terms: Collection[str], readable: Readable | None) -> dict[str, int]:
        """The number of chunks of both that each term occurs in."""
        counts = self.count([(term,) for term in terms], readable).counts
        return {term: counts[term,] for term in terms}


def _first(values: Mapping[int, float], limit: int) -> list[tuple[int, float]]:
    """The greatest values, those of lower ids first among equal ones."""
    return sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]
