"""Finds the sources of an answer, by search and from the previous answer. Worker threads."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from desktop_rag.answer.search.fusion import IRRELEVANT_BELOW
from desktop_rag.answer.search.meaning import Meaning
from desktop_rag.answer.search.question_terms import made_of, without_names
from desktop_rag.answer.search.retriever import Retriever
from desktop_rag.answer.sources.evidence import chosen_evidence, in_turn
from desktop_rag.answer.sources.question_rewriting import (
    content_words,
    depends_on_history,
    question_parts,
    readings,
)
from desktop_rag.answer.sources.source_merging import (
    CountTokens,
    choose_sources,
    not_by_app,
    numbered,
    numbered_anew,
    sources_before,
    with_earlier,
)
from desktop_rag.answer.writing.answers import AnswerDraft, AnswerRequest
from desktop_rag.core.conversation import FileCounts, SearchNotes, SearchResult, SourceRef
from desktop_rag.core.domain import Passage, SearchMode
from desktop_rag.core.language.languages import language_of
from desktop_rag.core.language.translation import tr
from desktop_rag.core.query import Query
from desktop_rag.core.question import EVERYTHING, SearchScope
from desktop_rag.core.search_syntax import hints_for, limits_in_words
from desktop_rag.core.settings import LEAST_SOURCE_TOKENS, LaterSources, RetrievalSettings
from desktop_rag.core.terms import terms
from desktop_rag.core.text import rough_token_counts, words
from desktop_rag.models.ports import ChatModel, Embedder, Reader
from desktop_rag.store.contract.documents import DocumentStore

# Another document that is better by more standard deviations is what the question is about.
_BETTER = 2.4
# The share of the content words of a question that the best passage of the document has.
_LEAST_SHARE = 0.5


def inside(
    question: str, passages: Sequence[Passage], document_ids: Collection[str]
) -> tuple[Passage, ...]:
    """The passages, best first, in these documents, if the question may be about them; else none.

    "Can I keep a dog?" after a question about a lease is about that lease, although the rules of a
    park say more about dogs.
    """
    kept = tuple(p for p in passages if p.document_id in document_ids)
    is_near = kept and passages[0].score - kept[0].score <= _BETTER
    return kept if is_near and _has_words(kept[0], question) else ()


def _has_words(passage: Passage, question: str) -> bool:
    """True when the text has enough of the content words, be it inside others: "gegrillt"."""
    language, text = language_of(words(question)), passage.text.casefold()
    asked = [terms(word, language) for word in content_words(question)]
    held = [word for word in asked if all(term in text for term in word)]
    return bool(asked) and len(held) >= _LEAST_SHARE * len(asked)


def further_searches(
    text: str, names: Sequence[Sequence[str]], bare: str, files: Sequence[str]
) -> list[tuple[str, str]]:
    """What is searched for a question besides itself, each in the document of an id, or in all.

    In each of the `files` that it names it is the question without their names, `bare`, which tell
    nothing there; without any it is what it asks of each of the things of these `names`.
    """
    parts, said = question_parts(text), " ".join(word for name in names for word in name)
    lost = [[word for name in names for word in name if word not in own] for own in names]
    each = [without_names(text, [words]) for words in lost[:_MOST_NAMES] if words and not files]
    made = [f"{said} {of_a_measure}" for of_a_measure in made_of(text)]
    everywhere = [*(parts if len(parts) > 1 else ()), *each, *made]
    asked = [*((part, "") for part in everywhere), *((bare, file) for file in files)]
    return asked[:_MOST_ASKED]


# Excerpts come from so many passages, and of so many tokens in all.
EXCERPT_PASSAGES = 8
EXCERPT_TOKENS = LEAST_SOURCE_TOKENS
# Passages searched for each one wanted: some are joined, some are duplicates.
_DEPTH = 3
_NEAREST = 3
# A model reads as many of these as fit into its prompt.
_READ_DEPTH = 60
_PART_DEPTH = 20
_MOST_NAMES = 6
_MOST_ASKED = 16
SHEET_FORMATS = ("csv", "ods", "tsv", "xls", "xlsx")


class SourceFinder:
    """Searches for questions and chooses the sources of their answers."""

    def __init__(
        self, retriever: Retriever, documents: DocumentStore, embedder: Embedder | None
    ) -> None:
        """Without an embedder, tokens are estimated."""
        self._retriever = retriever
        self.reader = retriever.reader
        self.missed, self.every_file = retriever.missed, retriever.documents
        self._documents = documents
        self._embedder = embedder
        self.count_tokens: CountTokens = embedder.count_tokens if embedder else rough_token_counts

    def look_up(
        self,
        query: Query,
        settings: RetrievalSettings,
        *,
        mode: SearchMode = "hybrid",
        limit: int,
        reach: SearchScope = EVERYTHING,
    ) -> SearchResult:
        """The passages that fit best, with the notes of the search and their relevance."""
        found = self._retriever.search(
            query, mode=mode, limit=limit, reach=reach, lexical_weight=settings.lexical_weight
        )
        filters = limits_in_words(reach.limits, query)
        hints = (*hints_for(query), *self.incomplete(reach, query.text))
        is_said = bool(found.repaired or filters or hints)
        count = len(found.passages)
        notes = SearchNotes(found.repaired, filters, count, hints) if is_said else None
        is_relevant = self.is_any_relevant(found.passages)
        return SearchResult(tuple(found.passages), notes, is_relevant, found.matching)

    def about(
        self,
        query: Query,
        found: Sequence[Passage],
        settings: RetrievalSettings,
        *,
        limit: int,
        reach: SearchScope = EVERYTHING,
    ) -> list[Passage]:
        """Those of a query's passages that are among the `limit` best by words, seem to be about
        it, or are in a file that it names; then the others by words. So fewer than `limit` are all
        that have a word of it.
        """
        doubtful = {p.chunk_id for p in found if not self.is_any_relevant([p])}
        worded: list[Passage] = []
        if doubtful:
            worded = self.best(query, settings, mode="lexical", limit=limit, reach=reach)
            doubtful -= {p.chunk_id for p in worded}
        if doubtful:
            named = self._retriever.named_documents(query, reach)
            doubtful -= {p.chunk_id for p in found if p.document_id in named}
        kept = [p for p in found if p.chunk_id not in doubtful]
        known = {p.chunk_id for p in found}
        return [*kept, *(p for p in worded if p.chunk_id not in known)][:limit]

    def incomplete(self, reach: SearchScope, question: str) -> tuple[str, ...]:
        """As `missed`, and what is searched by its words only as yet."""
        return (*self.missed(reach), *self._retriever.not_ready(reach, question))

    def meaning_of(self, question: str) -> Meaning | None:
        """Compares texts with a question, by all models that read it; None when none does."""
        return self._retriever.meaning_of(question, self._embedder)

    def files(
        self, query: Query, first: int, most: int, reach: SearchScope = EVERYTHING
    ) -> list[Passage]:
        """A passage of each of up to `most` files: those of the `first` best, then the newest."""
        best = self._retriever.search(query, limit=first, reach=reach).passages
        every = self._retriever.documents(query, most, reach)
        firsts = {passage.document_id: passage for passage in reversed([*best, *every])}
        order = dict.fromkeys(passage.document_id for passage in (*best, *every))
        return [firsts[document_id] for document_id in order][:most]

    def every_attached(self, source_ids: tuple[str, ...], most: int) -> list[Passage]:
        """The first passage of each attached file, and of each document inside one."""
        reach = SearchScope(attached=source_ids)
        return self._retriever.documents(Query(""), most, reach) if source_ids else []

    def count_files(self, query: Query, most: int, reach: SearchScope = EVERYTHING) -> int:
        """The number of files that a query may find, up to `most`."""
        return len({found.path for found in self._retriever.documents(query, most, reach)})

    def best(
        self,
        query: Query,
        settings: RetrievalSettings,
        *,
        mode: SearchMode = "hybrid",
        limit: int,
        reach: SearchScope,
    ) -> list[Passage]:
        """The best passages in reach, relevant or not."""
        return self._retriever.search(
            query, mode=mode, limit=limit, reach=reach, lexical_weight=settings.lexical_weight
        ).passages

    def sheets(
        self, query: Query, settings: RetrievalSettings, reach: SearchScope
    ) -> tuple[SourceRef, ...]:
        """The passages of spreadsheets and CSV files that fit best, relevant or not."""
        filters = replace(query.filters, types=query.filters.types or SHEET_FORMATS)
        query = replace(query, filters=filters)
        # A search of a library without sheets costs as much as any other.
        if not self._retriever.documents(query, 1, reach):
            return ()
        return numbered(self.look_up(query, settings, limit=_PART_DEPTH, reach=reach).passages)

    def is_any_relevant(self, passages: Sequence[Passage]) -> bool:
        """True when one of the passages is relevant."""
        return any(passage.relevance >= IRRELEVANT_BELOW for passage in passages)

    def add_sources(
        self,
        draft: AnswerDraft,
        request: AnswerRequest,
        helper: ChatModel | None,
        reader: Reader | None,
    ) -> None:
        """Give the draft its sources, or the nearest passages; the `helper` rewrites the question.

        A `reader` gets all that it has room for, relevant or not: it can tell. Only one that may
        answer from its own knowledge is not told what is about something else.
        """
        earlier = draft.sources = self._earlier(request, reader)
        if earlier and request.setup.settings.retrieval.later_sources is LaterSources.SAME:
            return
        draft.query, found, draft.home = self._first_relevant(request, helper, reader)
        named = self._retriever.named_documents(draft.query, request.setup.reach)
        found = replace(found, passages=not_by_app(found.passages, named))
        if draft.query != request.query:
            draft.asked = draft.query.text
        taken = sum(self.count_tokens([source.text for source in earlier]))
        is_used = found.is_relevant or (reader is not None and not request.setup.is_open)
        if reader and is_used:
            room, is_widened = self.room(request, reader) - taken, not request.excludes_words
            ranks = self._ranks(draft.query, request, found.passages, reader, room)
            passages = self._covering(draft.query, request, found.passages, ranks)
            chosen = chosen_evidence(
                passages, self._documents.content, reader.count_tokens, room, is_widened=is_widened
            )
            sources = not_by_app(chosen, named)
        else:
            sources = choose_sources(
                found.passages,
                self._documents.content,
                self.count_tokens,
                most=EXCERPT_PASSAGES - len(earlier) if is_used or not reader else _NEAREST,
                most_tokens=EXCERPT_TOKENS - taken,
            )
        if is_used:
            draft.sources = with_earlier(sources, earlier)
        elif not (earlier and depends_on_history(request.question)):
            draft.sources, draft.nearest = (), sources
        draft.notes = replace(
            notes := found.notes or SearchNotes(),
            hints=(*notes.hints, *self._cut_short(request, reader)),
            asked=draft.asked if draft.asked != request.question else "",
            files=self._counted(found.matching, draft.sources),
        )

    def _covering(
        self, query: Query, request: AnswerRequest, found: Sequence[Passage], ranks: Sequence[int]
    ) -> list[Passage]:
        """The passages with places of their own for the best by a reranker, for each part of a
        question, and for each of the things and files that it names; in the order of use.
        """
        settings, reach = request.setup.settings.retrieval, request.setup.reach
        lists = [[found[n] for n in ranks], list(found)]
        names = self.reader.named_things(query.text)
        bare = self._retriever.without_file_names(query, reach)
        named = sorted(self._retriever.named_documents(query, reach))
        for text, file in further_searches(query.text, names, bare, named):
            plain = replace(query, text=text, phrases=())
            where = replace(reach, document_ids=(file,)) if file else reach
            lists.append(self.best(plain, settings, limit=_PART_DEPTH, reach=where))
        return [replace(p, score=-float(n)) for n, p in enumerate(in_turn(lists))]

    def _ranks(
        self,
        query: Query,
        request: AnswerRequest,
        found: Sequence[Passage],
        reader: Reader,
        room: int,
    ) -> Sequence[int]:
        """The order by the reader's reranker; none where all of the passages fit anyway."""
        texts = [passage.text for passage in found]
        is_needed = sum(reader.count_tokens(texts)) > room
        return reader.ranked(query.text, texts, request.cancel) if is_needed else ()

    def room(self, request: AnswerRequest, reader: Reader | None) -> int:
        """The tokens of sources that a model reads for this request; without one, of excerpts."""
        if reader is None:
            return EXCERPT_TOKENS
        room = request.setup.settings.retrieval.room
        return room.tokens(reader.context_tokens, reader.read_tokens_per_s)

    def _cut_short(self, request: AnswerRequest, reader: Reader | None) -> tuple[str, ...]:
        """What to say when less is sent because the model reads slowly."""
        room = request.setup.settings.retrieval.room
        if reader is None or self.room(request, reader) >= room.tokens(reader.context_tokens, 0.0):
            return ()
        speed = round(reader.read_tokens_per_s)
        said = tr("Less was sent, as the model reads about {speed} tokens a second.", speed=speed)
        return (said,)

    def _first_relevant(
        self, request: AnswerRequest, helper: ChatModel | None, reader: Reader | None
    ) -> tuple[Query, SearchResult, frozenset[str]]:
        """The first reading of the question with relevant passages, these, and the documents of the
        previous answer if it may be about them.

        When no reading has any, the question as it was asked, or the first way it is completed.
        """
        settings, reach = request.setup.settings.retrieval, request.setup.reach
        limit = _READ_DEPTH if reader else _DEPTH * EXCERPT_PASSAGES
        tried: dict[Query, SearchResult] = {}
        for reading in readings(request, helper):
            query = reading.query
            if query not in tried:
                tried[query] = self.look_up(query, settings, limit=limit, reach=reach)
                if tried[query].is_relevant:
                    found = tried[query]
                    if reading.may_stay:
                        return query, *self._staying(request, found)
                    return query, found, frozenset()
        asked = request.query if request.query in tried else next(iter(tried))
        return asked, tried[asked], frozenset()

    def _staying(
        self, request: AnswerRequest, found: SearchResult
    ) -> tuple[SearchResult, frozenset[str]]:
        """What was found, in turn with what the documents of the previous answer have, and these
        documents, if the question may be about them and names no other; else as found, and none.
        """
        before = {source.document_id for source in self.before(request)}
        kept = inside(request.query.text, found.passages, before)
        others = [p for p in found.passages if p not in kept]
        if not kept or not self.is_any_relevant(others):
            return found, frozenset()
        named = self._retriever.named_documents(request.query, request.setup.reach)
        if named and before.isdisjoint(named):
            return found, frozenset()
        lead = found.passages[0].score - kept[0].score
        first = [replace(p, score=p.score + lead) for p in kept]
        return replace(found, passages=tuple(in_turn([first, others]))), frozenset(before)

    def _counted(self, matching: Sequence[int], sources: Sequence[SourceRef]) -> FileCounts:
        """The counts of matching and read files; a file that is read counts as a match."""
        read = {source.document_id for source in sources}
        return FileCounts(len(self._retriever.lexical.documents_of(matching) | read), len(read))

    def before(self, request: AnswerRequest) -> list[SourceRef]:
        """The sources of the previous answer that this question may find, too."""
        before = sources_before(request.history, self._documents.content)
        document_ids = {source.document_id for source in before}
        inside = self._retriever.inside(document_ids, request.query, request.setup.reach)
        return [source for source in before if source.document_id in inside]

    def _earlier(self, request: AnswerRequest, reader: Reader | None) -> tuple[SourceRef, ...]:
        """The sources of the previous answer that are wanted and may still be found.

        Together with new ones they take up to half of the room.
        """
        settings = request.setup.settings.retrieval
        if settings.later_sources is LaterSources.FRESH:
            return ()
        before = self.before(request)
        share = 1 if settings.later_sources is LaterSources.SAME else 2
        left, kept = self.room(request, reader) // share, list[SourceRef]()
        tokens = self.count_tokens([source.text for source in before])
        for source, count in zip(before, tokens, strict=True):
            left -= count
            if left >= 0:
                kept.append(source)
        return numbered_anew(kept)
