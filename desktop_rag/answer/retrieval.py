"""Finds the passages for a question: words and meaning, fused. Any worker thread."""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace

from desktop_rag.answer.fusion import (
    FEW,
    FusionModel,
    company,
    fuse,
    measure,
    ordered,
    standardised,
)
from desktop_rag.answer.naming import NamedDocuments
from desktop_rag.answer.pool import AnsweringIndex, Pool, PoolGatherer
from desktop_rag.answer.question import QuestionReader, Wanted
from desktop_rag.core.domain import Passage, SearchMode
from desktop_rag.core.query import Query, parse_query
from desktop_rag.core.terms import holds_phrase
from desktop_rag.models.gate import ModelGate
from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.contract.search import LexicalStore

# Passages of documents that the question names are this much ahead, in deviations.
_NAMED_BONUS = 1.0
# Within a document that is named, the words that named it tell nothing any more: meaning counts
# this many times as much as elsewhere.
_NAMED_MEANING = 3.0
# Where passages are checked one by one, so many times the wanted are looked at.
_CHECKED = 5


@dataclass(frozen=True, slots=True)
class Found:
    """Passages, best first, and the words that were searched for in place of others."""

    passages: list[Passage]
    repaired: tuple[tuple[str, str], ...] = ()


class Retriever:
    """Search over the whole index or one collection.

    With no embedder, or no vectors yet, every mode falls back on words: the person gets what
    there is.
    """

    def __init__(
        self,
        lexical: LexicalStore,
        answering: Callable[[], Sequence[AnsweringIndex]],
        gate: ModelGate,
        names: NamedDocuments,
        fusion: FusionModel,
    ) -> None:
        """`answering` gives the models to ask now with their vectors, none without any."""
        self.lexical = lexical
        self.pools = PoolGatherer(lexical, answering, gate, names)
        self._gate = gate
        self._fusion = fusion
        self.reader = QuestionReader(lexical)

    def search(
        self,
        query: str,
        *,
        mode: SearchMode = "hybrid",
        limit: int = 10,
        collection_id: str = "",
        lexical_weight: float = 0.5,
    ) -> Found:
        """The best passages first. Scores are comparable within one result only.

        `lexical_weight` moves the balance of hybrid search, see `FusionModel.lexical_weight`.
        """
        # Background work would take the cores from every step, not only from the embedding.
        with self._gate.question():
            return self._search(parse_query(query), mode, limit, collection_id, lexical_weight)

    def _search(
        self, asked: Query, mode: SearchMode, limit: int, collection_id: str, preference: float
    ) -> Found:
        scope = self._scope(asked, collection_id)
        if asked.is_only_filters:
            return Found(self.lexical.passages(self.lexical.newest(limit, scope)))
        wanted = self.reader.read(asked)
        is_checked = any((*asked.phrases, *(" " in word for word in asked.excluded)))
        depth = limit * _CHECKED if is_checked else limit
        scores, relevance = self._ranked(wanted, mode, depth, scope, preference)
        passages = [
            replace(passage, relevance=relevance.get(passage.chunk_id, 1.0))
            for passage in self.lexical.passages(scores)
            if not is_checked or _is_as_asked(passage.text, asked)
        ]
        return Found(passages[:limit], wanted.repaired)

    def _ranked(
        self, wanted: Wanted, mode: SearchMode, limit: int, scope: Scope, preference: float
    ) -> tuple[dict[int, float], dict[int, float]]:
        """(chunk id → score, best first; chunk id → relevance)."""
        pool = None if mode == "lexical" else self.pools.gather(wanted, scope, limit)
        if pool is None:
            weights = wanted.words
            scores = dict(self.lexical.best(weights, limit, scope))
            greatest = weights.greatest()
            return scores, {
                i: self._fusion.relevance_by_words({"share": score / greatest})
                for i, score in scores.items()
            }
        if not pool.ids:
            return {}, {}
        fused = pool.dense
        if mode == "hybrid":
            signals = measure(pool.lexical, pool.similar, pool.dense, pool.alike)
            if pool.is_named.any():
                preference /= preference + _NAMED_MEANING * (1 - preference)
            weight = self._fusion.lexical_weight(signals, preference)
            fused = fuse(pool.lexical, pool.dense, weight)
            fused += self._fusion.company_weight(signals) * company(fused, pool.alike)
            fused += _NAMED_BONUS * pool.is_named
        scores = ordered(pool.ids, fused, limit)
        return scores, self._relevance(pool, scores)

    def _relevance(self, pool: Pool, chunk_ids: Container[int]) -> dict[int, float]:
        standout = standardised(pool.lexical)
        share = pool.lexical / (pool.greatest or 1.0)
        among_few = len(pool.ids) < FEW
        relevance = self._fusion.relevance_among_few if among_few else self._fusion.relevance
        return {
            i: relevance(
                {
                    "nearness": float(pool.near[place]),
                    "standout": float(standout[place]),
                    "share": float(share[place]),
                }
            )
            for place, i in enumerate(pool.ids)
            if i in chunk_ids
        }

    def _scope(self, asked: Query, collection_id: str) -> Scope:
        return Scope(
            collection_ids=(collection_id,) if collection_id else None,
            filters=asked.filters,
            required=self.reader.alternatives(asked.phrases),
            excluded=self.reader.alternatives(
                tuple(word for word in asked.excluded if " " not in word)
            ),
        )


def _is_as_asked(text: str, asked: Query) -> bool:
    return all(holds_phrase(text, phrase) for phrase in asked.phrases) and not any(
        holds_phrase(text, words) for words in asked.excluded if " " in words
    )
