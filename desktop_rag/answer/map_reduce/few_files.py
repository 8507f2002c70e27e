"""Decides whether files are asked one by one, and by their best passages or in full.

Worker threads.
"""

from collections.abc import Iterator
from threading import Event

from desktop_rag.answer.endpoints.chat_models import ChatModels
from desktop_rag.answer.map_reduce.map_reduce import MapReduce
from desktop_rag.answer.map_reduce.whole_library import WholeLibrary
from desktop_rag.answer.map_reduce.whole_reading import WholeReading
from desktop_rag.answer.sources.source_finder import SourceFinder
from desktop_rag.answer.writing.answer_draft import AnswerDraft
from desktop_rag.answer.writing.answer_request import AnswerRequest
from desktop_rag.core.conversation import AnswerEvent
from desktop_rag.core.settings import FEW_FILES
from desktop_rag.models.ports import ChatModel, Embedder
from desktop_rag.store.contract.documents import DocumentStore


class FewFiles:
    """Fills drafts from files that are asked one by one."""

    def __init__(
        self,
        finder: SourceFinder,
        documents: DocumentStore,
        embedder: Embedder | None,
        map_reduce: MapReduce,
        models: ChatModels,
    ) -> None:
        """Of the `models`, the helper reads whole texts."""
        self._finder = finder
        self._models = models
        self._whole_library = WholeLibrary(finder, documents, embedder, map_reduce)
        self._whole_reading = WholeReading(finder, documents, map_reduce)

    def should_be_asked(self, draft: AnswerDraft, request: AnswerRequest) -> bool:
        """True when nothing is relevant in the whole library, but it has few files.

        Asked alone, one of them may have an answer; more files would take too long. It takes a
        model to tell: without one, 13 of 143 off-topic questions were answered with sentences that
        happened to share words. With attachments, these are what the question is about.
        """
        asks_few = request.setup.settings.answers.asks_few_files
        if not (draft.nearest and asks_few) or request.attachments:
            return False
        count = self._finder.count_files(draft.query, FEW_FILES + 1, request.setup.reach)
        return 0 < count <= FEW_FILES

    def answer(
        self, draft: AnswerDraft, request: AnswerRequest, model: ChatModel | None, cancel: Event
    ) -> Iterator[AnswerEvent]:
        """Ask each file, by its whole text when nothing in it is near and that is not too long."""
        draft.has_several_steps = True
        helper = self._models.helper(request.setup.settings)
        if request.every_file or not (model and helper):
            yield from self._whole_library.answer(draft, request, model, cancel)
        elif parts := self._whole_reading.parts(request, helper):
            models = (helper, model)
            yield from self._whole_reading.answer(draft, request, parts, models, cancel)
        else:
            yield from self._whole_library.answer(draft, request, model, cancel)

    def read_on(
        self, draft: AnswerDraft, request: AnswerRequest, model: ChatModel, cancel: Event
    ) -> Iterator[AnswerEvent]:
        """Read the whole text after an answer from passages that says that they don't tell."""
        asks_few = request.setup.settings.answers.asks_few_files
        helper = self._models.helper(request.setup.settings)
        if helper and asks_few and not (request.attachments or draft.is_open):
            yield from self._whole_reading.read_on(draft, request, (helper, model), cancel)
