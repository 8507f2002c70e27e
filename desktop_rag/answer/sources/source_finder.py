"""Finds what an answer may rest on: by a search, or with the answer before. Worker threads."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from threading import Event

from desktop_rag.answer.search.fusion import IRRELEVANT_BELOW
from desktop_rag.answer.search.retriever import Retriever
from desktop_rag.answer.sources.earlier_sources import numbered_anew, sources_before, with_earlier
from desktop_rag.answer.sources.passages import CountTokens, choose_sources
from desktop_rag.answer.sources.question_rewriting import (
    can_be_written_out,
    leans_on_history,
    refers_back,
    with_the_one_before,
    written_out,
)
from desktop_rag.answer.writing.answer_draft import AnswerDraft
from desktop_rag.core.conversation import FileCounts, Message, SearchNotes, SearchResult, SourceRef
from desktop_rag.core.domain import Passage, SearchMode
from desktop_rag.core.query import parse_query
from desktop_rag.core.question import EVERYTHING, SearchScope
from desktop_rag.core.search_syntax import hints_for, limits_in_words
from desktop_rag.core.settings import LaterSources, RetrievalSettings
from desktop_rag.core.text import rough_token_counts
from desktop_rag.models.ports import ChatModel, Embedder
from desktop_rag.store.contract.documents import DocumentStore

# Passages asked for, for each one wanted: some are joined, some say the same.
_DEPTH = 3
_NEAREST = 3


class SourceFinder:
    """Looks questions up, and chooses the sources of their answers."""

    def __init__(
        self, retriever: Retriever, documents: DocumentStore, embedder: Embedder | None
    ) -> None:
        """Without an embedder tokens are counted roughly."""
        self._retriever = retriever
        self._documents = documents
        self.count_tokens: CountTokens = embedder.count_tokens if embedder else rough_token_counts

    def look_up(
        self,
        query: str,
        settings: RetrievalSettings,
        *,
        mode: SearchMode = "hybrid",
        limit: int,
        reach: SearchScope = EVERYTHING,
    ) -> SearchResult:
        """The passages that fit best, what the search made of the query, whether any is about it.

        AppError for a wrong date in a filter.
        """
        found = self._retriever.search(
            query,
            mode=mode,
            limit=limit,
            reach=reach,
            lexical_weight=settings.lexical_weight,
        )
        asked = parse_query(query)
        filters, hints = limits_in_words(reach.limits, asked), hints_for(asked)
        is_said = bool(found.repaired or filters or hints)
        count = len(found.passages)
        notes = SearchNotes(found.repaired, filters, count, hints) if is_said else None
        is_relevant = self.is_any_relevant(found.passages)
        return SearchResult(tuple(found.passages), notes, is_relevant, found.matching)

    def files(
        self, asked: str, first: int, most: int, reach: SearchScope = EVERYTHING
    ) -> list[Passage]:
        """A passage of each file that may be found, those that match best first.

        Of the others, after the `first` passages, the newest first; up to `most` together.
        """
        best = self._retriever.search(asked, limit=first, reach=reach).passages
        every = self._retriever.documents(asked, most, reach)
        firsts = {passage.document_id: passage for passage in reversed([*best, *every])}
        order = dict.fromkeys(passage.document_id for passage in (*best, *every))
        return [firsts[document_id] for document_id in order][:most]

    def every_file(self, asked: str, most: int, reach: SearchScope = EVERYTHING) -> list[Passage]:
        """The first passage of each file that may be found, up to `most`, the newest first."""
        return self._retriever.documents(asked, most, reach)

    def every_attached(self, source_ids: tuple[str, ...], most: int) -> list[Passage]:
        """The first passage of each attached file, and of each document inside one."""
        return self._retriever.attached_documents(source_ids, most) if source_ids else []

    def count_files(self, asked: str, most: int, reach: SearchScope = EVERYTHING) -> int:
        """How many files a question may find, up to `most`."""
        return len(self._retriever.documents(asked, most, reach))

    def best_attached(
        self, source_ids: tuple[str, ...], asked: str, settings: RetrievalSettings, *, limit: int
    ) -> list[Passage]:
        """The passages of attached files that fit best, whether they are about it or not."""
        found = self._retriever.best_attached(
            source_ids, asked, limit=limit, lexical_weight=settings.lexical_weight
        )
        return found.passages

    def is_any_relevant(self, passages: Sequence[Passage]) -> bool:
        """Whether one of them is about what was searched for."""
        return any(passage.relevance >= IRRELEVANT_BELOW for passage in passages)

    def best_of(
        self,
        document_id: str,
        asked: str,
        settings: RetrievalSettings,
        *,
        limit: int,
        reach: SearchScope = EVERYTHING,
    ) -> list[Passage]:
        """The passages of one document that are about the question, best first."""
        found = self._retriever.best_of(
            document_id, asked, limit=limit, reach=reach, lexical_weight=settings.lexical_weight
        )
        return [p for p in found.passages if p.relevance >= IRRELEVANT_BELOW]

    def give(
        self,
        draft: AnswerDraft,
        question: str,
        history: Sequence[Message],
        settings: RetrievalSettings,
        *,
        reach: SearchScope,
        model: ChatModel | None,
        cancel: Event,
    ) -> None:
        """Give the draft its sources, or what came nearest when nothing is about the question.

        A question that leans on the `history` before it is written out by the `model`, if any.
        """
        draft.asked = question
        earlier = self._earlier(question, history, reach, settings)
        if earlier and settings.later_sources is LaterSources.SAME:
            draft.sources = earlier
            return

        def look_up(asked: str) -> SearchResult:
            limit = _DEPTH * settings.passages
            return self.look_up(asked, settings, limit=limit, reach=reach)

        draft.asked, found = _understood(question, history, look_up, model, cancel)
        taken = sum(self.count_tokens([source.text for source in earlier]))
        sources = choose_sources(
            found.passages,
            self._documents.content,
            self.count_tokens,
            most=settings.passages - len(earlier) if found.is_relevant else _NEAREST,
            most_tokens=settings.source_tokens - taken,
        )
        if found.is_relevant:
            draft.sources = with_earlier(sources, earlier)
        elif earlier and leans_on_history(question):
            draft.sources = earlier
        else:
            draft.nearest = sources
        draft.notes = replace(
            found.notes or SearchNotes(),
            asked=draft.asked if draft.asked != question else "",
            files=self._counted(found.matching, draft.sources),
        )

    def _counted(self, matching: Sequence[int], sources: Sequence[SourceRef]) -> FileCounts:
        """What is read has matched: a passage among the best, though alone it says little."""
        read = {source.document_id for source in sources}
        return FileCounts(self._retriever.count_files(matching, read), len(read))

    def _earlier(
        self,
        question: str,
        history: Sequence[Message],
        reach: SearchScope,
        settings: RetrievalSettings,
    ) -> tuple[SourceRef, ...]:
        """The sources of the answer before that are wanted and may still be found.

        Together with new ones they take up to half of the room.
        """
        if settings.later_sources is LaterSources.FRESH:
            return ()
        before = sources_before(history, self._documents.content)
        inside = self._retriever.inside({s.document_id for s in before}, question, reach)
        before = [source for source in before if source.document_id in inside]
        share = 1 if settings.later_sources is LaterSources.SAME else 2
        left, kept = settings.source_tokens // share, list[SourceRef]()
        tokens = self.count_tokens([source.text for source in before])
        for source, count in zip(before[: settings.passages // share], tokens, strict=False):
            left -= count
            if left >= 0:
                kept.append(source)
        return numbered_anew(kept)


def _understood(
    question: str,
    history: Sequence[Message],
    look_up: Callable[[str], SearchResult],
    model: ChatModel | None,
    cancel: Event,
) -> tuple[str, SearchResult]:
    """The question in the first way to understand it that something is about, and what is."""
    tried: dict[str, SearchResult] = {}
    for asked in _ways(question, history, model, cancel):
        if asked not in tried:
            tried[asked] = look_up(asked)
            if tried[asked].is_relevant:
                return asked, tried[asked]
    return question, tried[question]


def _ways(
    question: str, history: Sequence[Message], model: ChatModel | None, cancel: Event
) -> Iterator[str]:
    """The ways to understand a question, itself among them, the most likely first."""
    if not (can_be_written_out(question, history) and leans_on_history(question)):
        yield question
        return
    if model:
        written = written_out(question, history, model, secrets.token_hex(8), cancel)
        if written:
            yield written
    together = with_the_one_before(question, history)
    yield from (together, question) if refers_back(question) else (question, together)
