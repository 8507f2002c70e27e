"""Hybrid retrieval: finds passages by words and by meaning, and fuses both. Any worker thread."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, pairwise

import numpy as np

from desktop_rag.answer.search.candidates import (
    AnsweringIndex,
    Candidates,
    CandidateSearch,
    FilenameMatcher,
    leads,
    nearness_leads,
    shares,
)
from desktop_rag.answer.search.fusion import (
    FEW,
    GUARDED_PLACE,
    IRRELEVANT_BELOW,
    FusionModel,
    Scores,
    agreement,
    best_places,
    company,
    fuse,
    guarded,
    ordered,
    standardised,
)
from desktop_rag.answer.search.meaning import Meaning
from desktop_rag.answer.search.question_terms import QuestionReader, QuestionReading, SearchQuestion
from desktop_rag.core.domain import Passage, SearchMode
from desktop_rag.core.language.languages import is_open_question, likely_language
from desktop_rag.core.query import Query
from desktop_rag.core.question import EVERYTHING, SearchScope
from desktop_rag.core.terms import holds_phrase
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.models.ports import Embedder
from desktop_rag.store.contract.search import LexicalStore, Scope, Weights

# The bonus of passages whose document the question names, in standard deviations.
_NAMED_BONUS = 1.0
# Within a named document, the words that named it no longer discriminate: meaning counts this many
# times as much as elsewhere.
_NAMED_MEANING = 3.0
# The share of the best possible score by words from which a passage is not buried.
_MOST_WORDS = 0.7
# The language is told of so many passages in others than the question's, by their beginnings; the
# best of each has a place of its own, up to as many languages, if it is half as near as the best.
_ACROSS_READ = 30
_ACROSS_SHARE = 0.5
_LANGUAGE_CHARS = 1_000
_MOST_LANGUAGES = 3
# What a list of what is elsewhere counts less than its score, in standard deviations.
_LISTING_LESS = 1.0
# Lines of words that end in the numbers of pages, which rise; "Item 9A. Controls" may begin one.
_PAGE_AT_END = re.compile(r"(?:[\s.…·|_]|[A-Z]-)(\d{1,3})$")
_LONGEST_BEGINNING_WORDS = 2
_FEWEST_PAGES = 5
_RISING_SHARE = 0.95
# Numbered entries that refer to other documents in the same words; the clauses of a contract don't.
_ENTRY = re.compile(r"\W{0,3}\d{1,3}(?:\.\d{1,3})+[^\w%]{0,6}(?:\(\d+\))?\s*[^\W\d_]")
_LETTERS = re.compile(r"[^\W\d_]+")
_RUN_WORDS = 4
_FEWEST_ENTRIES = 3
_REPEATED_SHARE = 0.2
_SIGNED = re.compile(r"(?im)^.{0,40}?(?:/s/|\bgez\.|\bsigned:)")
_SHORT_LINE_WORDS = 10
# Phrases and exclusions are checked in the text of passages. `_CHECKED` of the fused ranking are
# checked first. If too few match, the ranking by words is followed, `_DEEPER` times as deep with
# each step, at least to `_DEEPEST` before the search gives up.
_CHECKED = 100
_DEEPER = 4
_DEEPEST = 40_000


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """Passages, best first; corrected words; the chunks of all relevant candidates (`matching`)."""

    passages: list[Passage]
    repaired: tuple[tuple[str, str], ...] = ()
    matching: tuple[int, ...] = ()


class Retriever:
    """Searches the index or a part of it, by words alone where there are no vectors."""

    def __init__(
        self,
        lexical: LexicalStore,
        answering: Callable[[], Sequence[AnsweringIndex]],
        priority: AnswerPriority,
        names: FilenameMatcher,
        fusion: FusionModel,
        missed: Callable[[Scope], tuple[str, ...]] = lambda _: (),
        *,
        not_ready: Callable[[Scope, str], tuple[str, ...]] = lambda _scope, _question: (),
        embed_first: Callable[[Callable[[int], Sequence[Passage]]], None] = lambda _: None,
    ) -> None:
        """`answering` gives the embedders that can answer now, with their vectors; `missed` and
        `not_ready` say what of a scope was not searched, or by words only. `embed_first` embeds
        what it takes of the passages that are best by words, while vectors are still being made.
        """
        self.lexical = lexical
        self.candidate_search = CandidateSearch(lexical, answering, priority, names)
        self._priority = priority
        self._fusion = fusion
        self._missed = missed
        self._not_ready = not_ready
        self._embed_first = embed_first
        self.reader = QuestionReader(lexical, self.candidate_search.knows)

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

        `lexical_weight` shifts the balance of hybrid search; see `FusionModel.lexical_weight`.
        """
        # Background work would slow down every step, not only the embedding.
        with self._priority.answering():
            return self._search(query, mode, limit, reach, lexical_weight)

    def missed(self, reach: SearchScope) -> tuple[str, ...]:
        """What of these documents can't be searched now, in sentences for an answer."""
        return self._missed(_reached(reach))

    def not_ready(self, reach: SearchScope, question: str) -> tuple[str, ...]:
        """What of these documents is searched by words only as yet, in sentences for an answer."""
        return self._not_ready(_reached(reach), question)

    def meaning_of(self, text: str, other: Embedder | None) -> Meaning | None:
        """Compares texts with a question; by the `other` model while none has vectors."""
        question = SearchQuestion(text, lambda: self.reader.read(Query(text)))
        with self._priority.answering():
            return self.candidate_search.meaning_of(question, other)

    def documents(self, query: Query, limit: int, reach: SearchScope = EVERYTHING) -> list[Passage]:
        """The first passages of up to `limit` documents that a query may find, newest first."""
        scope, _ = self._scope(query, reach)
        return self.lexical.passages(self.lexical.newest(limit, scope))

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

    def named_documents(self, query: Query, reach: SearchScope = EVERYTHING) -> frozenset[str]:
        """The documents whose file names the words of a query name; none for many."""
        scope, _ = self._scope(query, reach)
        return frozenset(self.candidate_search.named_by(query.text, scope))

    def without_file_names(self, query: Query, reach: SearchScope = EVERYTHING) -> str:
        """The text of a query without the words that name files, if others are left."""
        return self.candidate_search.names.without_names(query.text, self._scope(query, reach)[0])

    def _search(
        self, asked: Query, mode: SearchMode, limit: int, reach: SearchScope, preference: float
    ) -> RetrievalResult:
        scope, exact = self._scope(asked, reach)
        if asked.is_only_filters or (not asked.text and reach != EVERYTHING):
            return RetrievalResult(
                self._first(limit, exact, lambda depth: self.lexical.newest(depth, scope))
            )
        if not asked.has_words:
            return RetrievalResult([])
        question = SearchQuestion(asked.text, lambda: self._read(asked, exact, scope))
        if not exact.is_set:
            scores, relevance = self._ranked(question, mode, limit, scope, preference)
            passages = self.lexical.passages(scores)
        else:
            depth = max(limit, _CHECKED)
            scores, relevance = self._ranked(question, mode, depth, scope, preference)
            passages = [p for p in self.lexical.passages(scores) if exact.allows(p.text)]
            if len(passages) < limit and len(scores) == depth:
                # The matches stand further down: rank them by themselves.
                alone = self._narrowed(scope, exact, question, passages)
                scores, others = self._ranked(question, mode, limit, alone, preference)
                passages, relevance = self.lexical.passages(scores), others | relevance
        if exact.phrases:
            relevance = {}
        passages = _listings_later(passages[:limit]) if mode == "hybrid" else passages[:limit]
        found = [replace(p, relevance=relevance.get(p.chunk_id, 1.0)) for p in passages]
        # With phrases or exclusions, only the passages that were checked are known to match.
        relevant = {p.chunk_id: p.relevance for p in found} if exact.is_set else relevance
        matching = tuple(i for i, value in relevant.items() if value >= IRRELEVANT_BELOW)
        return RetrievalResult(found, question.reading.repaired, matching)

    def _read(self, asked: Query, exact: "_Exact", scope: Scope) -> QuestionReading:
        reading = self.reader.read(asked, scope.readable)
        if not exact.phrases:
            return reading
        # Function words count too: the phrase may be all that is left to search for.
        words = (*reading.words.words, *scope.required)
        return replace(reading, words=self.lexical.weigh(words, scope.readable))

    def _narrowed(
        self, scope: Scope, exact: "_Exact", question: SearchQuestion, known: Sequence[Passage]
    ) -> Scope:
        """The scope limited to the first passages, ranked by words, that match the exact parts."""
        words = scope.required or question.reading.words
        deeper = self._first(
            _CHECKED, exact, lambda depth: dict(self.lexical.best(words, depth, scope))
        )
        return replace(scope, chunk_ids=tuple({p.chunk_id for p in (*known, *deeper)}))

    def _first(
        self, limit: int, exact: "_Exact", rank: Callable[[int], dict[int, float]]
    ) -> list[Passage]:
        """The first passages that match the exact parts; `rank` gives the top of a ranking."""
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
        self,
        question: SearchQuestion,
        mode: SearchMode,
        limit: int,
        scope: Scope,
        preference: float,
    ) -> tuple[dict[int, float], dict[int, float]]:
        """(chunk id → score, best first; chunk id → relevance)."""
        candidates, weights = None, question.reading.words
        if mode != "lexical":
            self._embed_first(lambda most: self._best_by_words(weights, most, scope))
            candidates = self.candidate_search.gather(question, scope, limit)
        if candidates is None:
            scores = dict(self.lexical.best(weights, limit, scope))
            greatest = weights.greatest()
            return scores, {
                i: self._fusion.relevance_by_words({"share": score / greatest})
                for i, score in scores.items()
            }
        if not candidates.ids:
            return {}, {}
        fused = candidates.near
        if mode == "hybrid":
            if candidates.is_named.any():
                preference /= preference + _NAMED_MEANING * (1 - preference)
            fused = self._fused(question, candidates, preference)
            fused += _NAMED_BONUS * candidates.is_named
        ranked = ordered(candidates.ids, fused, len(candidates.ids))
        if mode == "hybrid":
            # Of those that lead anyway nothing needs to be asked.
            first = set(islice(ranked, GUARDED_PLACE))
            best = _best_of_each(
                candidates, lambda i: i in first or i in self._with_rare_words(weights, scope)
            )
            ranked = guarded(ranked, [*best, *self._best_of_languages(candidates)])
        return dict(islice(ranked.items(), limit)), self._relevance(candidates)

    def _with_rare_words(self, weights: Weights, scope: Scope) -> set[int]:
        """The passages that alone have a word of the question, such as a code."""
        words = zip(weights.words, weights.counts, strict=True)
        rare = weights.only([word for word, count in words if count == 1])
        return set(dict(self.lexical.best(rare, FEW, scope))) if rare.words else set()

    def _best_of_languages(self, candidates: Candidates) -> list[int]:
        """The best by meaning in each of the languages other than the question's."""
        across = np.where(candidates.is_across > 0, candidates.near, -np.inf)
        places = best_places(across, min(_ACROSS_READ, int(candidates.is_across.sum())))
        scores = {candidates.ids[place]: float(across[place]) for place in places}
        least = _ACROSS_SHARE * max(scores.values(), default=0.0)
        scores = {passage: near for passage, near in scores.items() if near >= least}
        best: dict[str, int] = {}
        for passage in self.lexical.passages(scores) if scores else ():
            best.setdefault(likely_language(passage.text[:_LANGUAGE_CHARS]), passage.chunk_id)
        return list(best.values())[:_MOST_LANGUAGES]

    def _best_by_words(self, weights: Weights, most: int, scope: Scope) -> list[Passage]:
        return self.lexical.passages(dict(self.lexical.best(weights, most, scope)))

    def _fused(self, question: SearchQuestion, candidates: Candidates, preference: float) -> Scores:
        """The scores by words, meaning and company, standardised."""
        count = len(candidates.ids)
        is_open = is_open_question(question.text)
        agreed = agreement(candidates.lexical, candidates.near)
        weight = self._fusion.lexical_weight(agreed, count, preference, is_open=is_open)
        fused = fuse(shares(candidates), candidates.near, weight)
        together = self._fusion.company_weight(count, is_open=is_open)
        return standardised(fused) + together * company(fused, candidates.alike)

    def _relevance(self, candidates: Candidates) -> dict[int, float]:
        fusion = self._fusion
        values = {
            "nearness": candidates.near,
            "nearness_lead": nearness_leads(candidates),
            "standout": standardised(candidates.lexical),
            "share": shares(candidates),
            "lead": leads(candidates),
        }
        if len(candidates.ids) < FEW:
            relevance = fusion.relevance_among_few.each(values)
        else:
            relevance = fusion.relevance.each(values)
            if candidates.has_all_words:
                # An embedding says little about a name, and beside a frequent word no passage
                # stands out; yet the passage with both is far ahead. When the name stands nowhere,
                # only the frequent word would be found.
                relevance = np.maximum(relevance, fusion.relevance_by_lead.each(values))
        # Words in another language match by chance, or not at all.
        is_few = len(candidates.ids) < FEW
        across = fusion.relevance_across_among_few if is_few else fusion.relevance_across
        by_meaning = np.maximum(relevance, across.each(values))
        relevance = np.where(candidates.is_across > 0, by_meaning, relevance)
        # A passage without a vector is last by meaning, which says nothing about it.
        by_words = fusion.relevance_by_words.each(values)
        known = np.where(candidates.is_compared > 0, relevance, by_words)
        return dict(zip(candidates.ids, known.tolist(), strict=True))

    def _scope(self, asked: Query, reach: SearchScope) -> tuple[Scope, "_Exact"]:
        """The scope of a search, and the exact parts to check in the text of passages."""
        terms_of = partial(self.reader.alternatives, readable=reach.readable)
        excluded = tuple(dict.fromkeys((*asked.excluded, *reach.limits.excluded)))
        single = {word: found for word in excluded if len(found := terms_of(word)) == 1}
        scope = replace(
            _reached(reach),
            filters=asked.filters,
            limits=reach.limits.filters,
            but=reach.but,
            required=terms_of(" ".join(asked.phrases)),
            excluded=tuple(terms for found in single.values() for terms in found),
        )
        left = tuple(word for word in excluded if word not in single)
        return scope, _Exact(asked.phrases, left)


def _listings_later(passages: Sequence[Passage]) -> list[Passage]:
    """The passages by their scores, those that only list what is elsewhere for less."""
    return sorted(passages, key=lambda p: _LISTING_LESS * _is_listing(p.text) - p.score)


def _is_listing(text: str) -> bool:
    """True for the shape of a table of contents, a list of exhibits or a block of signatures."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    pages = [page for line in lines if (page := _page_at_end(line))]
    if len(pages) >= max(_FEWEST_PAGES, len(lines) / 2) and pages[0] < pages[-1]:
        rising = sum(before <= page for before, page in pairwise(pages))
        if rising >= _RISING_SHARE * (len(pages) - 1):
            return True
    if sum(bool(_ENTRY.match(line)) for line in lines) >= _FEWEST_ENTRIES:
        said = _LETTERS.findall(text.casefold())
        runs = Counter(zip(*(said[n:] for n in range(_RUN_WORDS)), strict=False))
        repeated = sum(count for count in runs.values() if count >= _FEWEST_ENTRIES)
        return repeated >= _REPEATED_SHARE * runs.total()
    short = sum(len(line.split()) <= _SHORT_LINE_WORDS for line in lines)
    return len(_SIGNED.findall(text)) > 1 and short > len(lines) / 2


def _page_at_end(line: str) -> int:
    """The number of a page behind words that have no other; 0 for none."""
    found = _PAGE_AT_END.search(line.rstrip(" |"))
    said = line[: found.start()].split() if found else []
    is_figure = any(map(str.isdecimal, "".join(said[_LONGEST_BEGINNING_WORDS:])))
    is_said = any(map(str.isalpha, "".join(said)))
    return int(found[1]) if found and is_said and not is_figure else 0


def _best_of_each(candidates: Candidates, is_sure: Callable[[int], bool]) -> list[int]:
    """The best by meaning, and by words where it has most of them or `is_sure`, as with a rare one:
    the best of those that share a word or two is no better than the next.
    """
    rankings = [candidates.near]
    best = int(np.argmax(candidates.lexical))
    if shares(candidates)[best] >= _MOST_WORDS or is_sure(candidates.ids[best]):
        rankings.append(candidates.lexical)
    return [candidates.ids[int(np.argmax(ranking))] for ranking in rankings]


def _reached(reach: SearchScope) -> Scope:
    """The documents in reach, whatever the filters of a query and its limits."""
    return Scope(
        collection_ids=reach.collection_ids or None,
        document_ids=reach.document_ids,
        attached=reach.attached,
        about=reach.about,
        readable=reach.readable,
    )


@dataclass(frozen=True, slots=True)
class _Exact:
    """Phrases that passages must contain, and those that they must not."""

    phrases: tuple[str, ...]
    excluded: tuple[str, ...]

    @property
    def is_set(self) -> bool:
        return bool(self.phrases or self.excluded)

    def allows(self, text: str) -> bool:
        return all(holds_phrase(text, phrase) for phrase in self.phrases) and not any(
            holds_phrase(text, words) for words in self.excluded
        )
