"""Answers in excerpts from the sources of a draft. Runs on the answering thread."""

from collections.abc import Iterator

from desktop_rag.answer.checking.answer_checking import CheckClaim
from desktop_rag.answer.checking.disputes import checked_dispute, dispute_of
from desktop_rag.answer.checking.standing_firm import excerpt
from desktop_rag.answer.counting.counting_words import counting_language
from desktop_rag.answer.search.similarity_calibration import SimilarityCalibration
from desktop_rag.answer.sources.question_rewriting import asks_for_more
from desktop_rag.answer.sources.source_finder import SourceFinder
from desktop_rag.answer.writing.answer_draft import AnswerDraft
from desktop_rag.answer.writing.answer_request import AnswerRequest
from desktop_rag.answer.writing.extractive_answer import excerpts, share_of_words
from desktop_rag.answer.writing.source_tables import surroundings_of
from desktop_rag.core.conversation import AnswerEvent, Role, SourcesFound, TextDelta
from desktop_rag.models.ports import Embedder
from desktop_rag.store.contract.documents import DocumentStore

_NEAREST = 3
_MOST_WORDS = 0.5


class ExcerptAnswer:
    """Fills drafts with pieces of their sources."""

    def __init__(
        self,
        finder: SourceFinder,
        documents: DocumentStore,
        embedder: Embedder | None,
        check: CheckClaim,
    ) -> None:
        """Without an embedder, sentences are chosen by their words."""
        self._finder = finder
        self._documents = documents
        self._embedder = embedder
        self._check = check
        self._calibration = SimilarityCalibration()

    def answer(self, draft: AnswerDraft, request: AnswerRequest) -> Iterator[AnswerEvent]:
        """Quote what answers the question.

        When nothing in the sources seems to be about it, they become the nearest passages, and
        there is no event. In files that the question names, something is quoted, and the nearest
        passages too if they have its words: a row for "2022" means little and may be the answer.
        """
        if not draft.sources and request.named and self._is_said(draft):
            draft.sources, draft.nearest = draft.nearest, ()
        if not draft.sources:
            return
        text = self._disputed(draft, request) or self._quoted(draft, request)
        if not text:
            draft.nearest, draft.sources = draft.sources[:_NEAREST], ()
            return
        draft.is_excerpts, draft.text = True, text
        yield SourcesFound(draft.sources, draft.notes)
        yield TextDelta(text)

    def _disputed(self, draft: AnswerDraft, request: AnswerRequest) -> str:
        dispute = dispute_of(request.question, request.history)
        return excerpt(checked_dispute(dispute, draft.sources, self._check)) if dispute else ""

    def _is_said(self, draft: AnswerDraft) -> bool:
        around = surroundings_of(self._documents, draft.nearest)
        return share_of_words(draft.plain_question, draft.nearest, around) >= _MOST_WORDS

    def _quoted(self, draft: AnswerDraft, request: AnswerRequest) -> str:
        asked = draft.plain_question
        asked = draft.notes.repair(asked) if draft.notes else asked
        around = surroundings_of(self._documents, draft.sources)
        languages = {each.language for each in around.values()}
        embedder = self._finder.embedder_for(asked, languages) or self._embedder
        is_told_where = bool(request.named or request.attached_ids)
        unrelated = (
            self._calibration.unrelated(embedder) if embedder and not is_told_where else None
        )
        said = _previous_answer(draft, request)
        counts = bool(counting_language(asked))
        return excerpts(
            asked, draft.sources, embedder, said, around, unrelated, asks_how_many=counts
        )


def _previous_answer(draft: AnswerDraft, request: AnswerRequest) -> str:
    """The previous answer, for a question that asks for more than it says; else ""."""
    answers = [message.text for message in request.history if message.role is Role.ASSISTANT]
    return answers[-1] if answers and asks_for_more(request.query.text, draft.asked) else ""
