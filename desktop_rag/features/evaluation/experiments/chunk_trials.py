"""Compares chunk settings over the documents of a collection, in a library of its own.

The folders are indexed once; each setting then chunks and embeds them anew, and the same questions
are searched. Owns a thread while a comparison is under way. A comparison does not outlive the app:
what it has found is stored once it is complete.
"""

import random
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from desktop_rag.answer.chat import Chat
from desktop_rag.answer.sources.source_finder import EXCERPT_PASSAGES, EXCERPT_TOKENS
from desktop_rag.core.domain import Collection, Document, DocumentState
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.language.translation import tr
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.features.evaluation.experiments.answer_grader import AnswerGrader
from desktop_rag.features.evaluation.experiments.answerer import OpenScratch
from desktop_rag.features.evaluation.experiments.document_questions import (
    PROPOSED,
    proposals,
    text_questions,
)
from desktop_rag.features.evaluation.experiments.experiment_store import ExperimentStore
from desktop_rag.features.evaluation.values.chunk_advice import CHUNKINGS, in_words
from desktop_rag.features.evaluation.values.chunk_trial import (
    DEPTH,
    ChunkComparison,
    ChunkTrial,
    Place,
    QuestionOrigin,
    Retrieved,
    TrialQuestion,
    answer_span,
    retrieved,
)
from desktop_rag.features.evaluation.values.experiment_events import (
    ChunkTrialChanged,
    SetsChanged,
    TrialStage,
)
from desktop_rag.features.evaluation.values.run import QuestionSet, SetQuestion
from desktop_rag.ingest.library import Library

if TYPE_CHECKING:
    from desktop_rag.app import Services

_LOOK_S = 0.2
MOST_QUESTIONS = 200
USUAL_QUESTIONS = 50


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """The present settings of a collection are compared with `chunkings`.

    The questions are those of the set; without one, up to `count` are made from the documents, by
    the helper model if there is one and `uses_model`.
    """

    collection_id: str
    question_set: QuestionSet | None = None
    count: int = USUAL_QUESTIONS
    uses_model: bool = True
    chunkings: tuple[ChunkSettings, ...] = CHUNKINGS


class ChunkTrials:
    """One comparison at a time; the latest of each collection is kept.

    `progress` is that of the comparison, or the end of the last one.
    """

    def __init__(
        self, store: ExperimentStore, chat: Chat, library: Library, open_scratch: OpenScratch
    ) -> None:
        self._store = store
        self._chat = chat
        self._library = library
        self._open_scratch = open_scratch
        self._publish = chat.changes.publish
        self._beginning = threading.Lock()
        self._ending = threading.Event()
        self._paused = threading.Event()
        self._thread: threading.Thread | None = None
        self.progress = ChunkTrialChanged(TrialStage.IDLE)

    def begin(self, plan: ChunkPlan) -> None:
        """Compare in the background. AppError while another comparison is under way."""
        with self._beginning:
            if self.progress.is_under_way:
                hint = "Wait for it, or cancel it."
                raise AppError("Chunks are being compared already.", hint)
            self._ending.clear()
            self._paused.clear()
            self.progress = ChunkTrialChanged(TrialStage.RUNNING)
            self._thread = threading.Thread(
                target=self._work, args=(plan,), name="chunk-trials", daemon=True
            )
            self._thread.start()

    def pause(self, *, is_wanted: bool) -> None:
        """Pause the comparison after its present step, or resume it."""
        before = self.progress
        if not before.is_under_way:
            return
        if is_wanted:
            self._paused.set()
        else:
            self._paused.clear()
        self._tell(before.doing, before.done, before.total)

    def cancel(self) -> None:
        """Cancel the comparison; nothing of it is kept."""
        self._ending.set()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the comparison to end; False when it did not in this time."""
        if self._thread:
            self._thread.join(timeout_s)
        return not (self._thread and self._thread.is_alive())

    def close(self) -> None:
        """Cancel the comparison and wait for its end. Idempotent."""
        self.cancel()
        self.wait()

    def latest(self, collection_id: str) -> ChunkComparison | None:
        """The last comparison over this collection."""
        found = [c for c in self._store.all(ChunkComparison) if c.collection_id == collection_id]
        return found[-1] if found else None

    def use(self, collection_id: str, chunking: ChunkSettings) -> ChunkSettings:
        """Use these chunks for a collection; returns its former settings, to undo that.

        The old chunks answer until the new ones are there. AppError when the collection is gone.
        """
        former = self._collection(collection_id).chunking
        self._library.collections.set_chunking(collection_id, chunking)
        self._publish(SetsChanged())
        return former

    # --- the thread --------------------------------------------------------------------------

    def _work(self, plan: ChunkPlan) -> None:
        try:
            self._keep(self._compared(plan))
            self._end(TrialStage.DONE)
        except Cancelled:
            self._end(TrialStage.CANCELLED)
        except AppError as error:
            self._end(TrialStage.FAILED, error.title, error.hint)
        except BaseException:
            # The thread's excepthook shows it; the page must not wait for ever.
            self._end(TrialStage.FAILED, tr("Chunks could not be compared."))
            raise

    def _keep(self, found: ChunkComparison) -> None:
        for each in self._store.all(ChunkComparison):
            if each.collection_id == found.collection_id:
                self._store.remove(each.comparison_id)
        self._store.put(found)

    def _tell(self, doing: str, done: int = 0, total: int = 0) -> None:
        """Publish the present step and its progress."""
        stage = TrialStage.PAUSED if self._paused.is_set() else TrialStage.RUNNING
        self.progress = ChunkTrialChanged(stage, doing, done, total)
        self._publish(self.progress)

    def _end(self, stage: TrialStage, title: str = "", hint: str = "") -> None:
        """Publish that the comparison is done, was cancelled, or failed."""
        self.progress = ChunkTrialChanged(stage, error_title=title, error_hint=hint)
        self._publish(self.progress)

    def _check(self, scratch: Library | None = None) -> None:
        """Wait while the work and its indexing are paused. Cancelled when it is to end."""
        if self._paused.is_set() and scratch:
            scratch.indexing.pause()
        while self._paused.is_set() and not self._ending.wait(_LOOK_S):
            pass
        if self._ending.is_set():
            raise Cancelled
        if scratch and scratch.indexing.is_paused:
            scratch.indexing.resume()

    def _compared(self, plan: ChunkPlan) -> ChunkComparison:
        """Measure. AppError when there is nothing to measure with, Cancelled."""
        collection = self._collection(plan.collection_id)
        asked, left_out = self._questions(plan, self._documents(collection))
        if not asked:
            hint = "Choose another set, or have questions made from the documents."
            raise AppError("No question is known to be answered by these documents.", hint)
        with self._open_scratch(self._chat.models.settings) as scratch:
            trials = tuple(self._trials(plan, scratch, collection, asked))
        return ChunkComparison(
            uuid.uuid4().hex, collection.collection_id, collection.name, time.time(), asked,
            trials, left_out, EXCERPT_PASSAGES, EXCERPT_TOKENS,
        )  # fmt: skip

    # --- questions ---------------------------------------------------------------------------

    def _collection(self, collection_id: str) -> Collection:
        for each in self._library.collections.all():
            if each.collection_id == collection_id:
                return each
        raise AppError("This collection is gone.", "Choose another one.")

    def _documents(self, collection: Collection) -> list[Document]:
        found: list[Document] = []
        for source in self._library.sources.all():
            if source.collection_id == collection.collection_id and source.is_on_disk:
                found += self._library.documents.all(source_id=source.source_id)
        searchable = [d for d in found if d.state is DocumentState.SEARCHABLE and not d.part]
        if not searchable:
            title = f"“{collection.name}” has no folder with searchable files."
            raise AppError(title, "Chunks can be compared over folders, not over links.")
        return searchable

    def _questions(
        self, plan: ChunkPlan, documents: Sequence[Document]
    ) -> tuple[tuple[TrialQuestion, ...], int]:
        """The questions, and how many of the set are left out."""
        if given := plan.question_set:
            found = [_of_set(question, documents) for question in given.questions]
            known = tuple(each for each in found if each)[:MOST_QUESTIONS]
            return known, sum(each is None for each in found)
        count = min(plan.count, MOST_QUESTIONS)
        if plan.uses_model and AnswerGrader(self._chat).model_name:
            return tuple(self._proposed(documents, count)), 0
        self._tell(tr("Making questions from headings and sentences"))
        return tuple(text_questions(self._library, documents, count, random.Random())), 0

    def _proposed(self, documents: Sequence[Document], count: int) -> Iterator[TrialQuestion]:
        words = tr("The model writes questions")
        self._tell(words, 0, count)
        found = proposals(self._library, self._chat, count, self._ending, documents)
        for number, each in enumerate(found, 1):
            self._check()
            self._tell(words, number, count)
            yield TrialQuestion(
                each.question_id, each.text, each.sources[0], each.expected[0],
                QuestionOrigin.MODEL,
            )  # fmt: skip
        self._check()

    # --- trials ------------------------------------------------------------------------------

    def _trials(
        self,
        plan: ChunkPlan,
        scratch: "Services",
        collection: Collection,
        asked: Sequence[TrialQuestion],
    ) -> Iterator[ChunkTrial]:
        library = scratch.library
        own = library.collections.find_or_add(collection.name)
        if collection.embedder:
            library.collections.set_embedder(own.collection_id, collection.embedder)
        chunkings = tuple(dict.fromkeys((collection.chunking, *plan.chunkings)))
        library.collections.set_chunking(own.collection_id, chunkings[0])
        for source in self._library.sources.all():
            if source.collection_id == collection.collection_id and source.is_on_disk:
                library.sources.add(source.path, own.collection_id, source.rules)
        places: dict[str, Place] = {}
        for number, chunking in enumerate(chunkings):
            if number:
                library.collections.set_chunking(own.collection_id, chunking)
            name = in_words(chunking)
            self._tell(tr("Indexing: {name}", name=name), number, len(chunkings))
            while not library.indexing.wait_until_idle(_LOOK_S):
                self._check(library)
            places = places or _places(library, asked)
            self._tell(tr("Searching: {name}", name=name), number, len(chunkings))
            found: list[Retrieved] = []
            for question in asked:
                self._check()
                passages = scratch.chat.search(question.text, limit=DEPTH)
                place = places[question.question_id]
                chunks = library.documents.chunks(place.document_id)
                found.append(
                    retrieved(
                        question, place, passages, chunks,
                        passages=EXCERPT_PASSAGES, tokens=EXCERPT_TOKENS,
                    )
                )  # fmt: skip
            count = sum(document.chunk_count for document in library.documents.all())
            yield ChunkTrial(chunking, count, tuple(found))


def _of_set(question: SetQuestion, documents: Sequence[Document]) -> TrialQuestion | None:
    """A question whose source is among the documents, by its path, address or file name."""
    for source in question.sources:
        for document in documents:
            if source in {str(document.path), document.url, document.site_url}:
                return _asked(question, document)
        named = [d for d in documents if d.path.name == Path(source).name]
        if len(named) == 1 and Path(source).name == source:
            return _asked(question, named[0])
    return None


def _asked(question: SetQuestion, document: Document) -> TrialQuestion:
    origin = QuestionOrigin.MODEL if PROPOSED in question.tags else QuestionOrigin.SET
    expected = question.expected[0] if question.expected else ""
    place = document.url or str(document.path)
    return TrialQuestion(question.question_id, question.text, place, expected, origin)


def _places(library: Library, asked: Sequence[TrialQuestion]) -> dict[str, Place]:
    """The places of the answers in the scratch library, by the id of the question."""
    documents = {d.url or str(d.path): d for d in library.documents.all() if not d.part}
    return {q.question_id: _place(library, q, documents.get(q.place)) for q in asked}


def _place(library: Library, question: TrialQuestion, document: Document | None) -> Place:
    if document is None or document.state is not DocumentState.SEARCHABLE:
        return Place()
    if not question.expected:
        return Place(document.document_id)
    text = library.documents.text(document.document_id)
    span = library.documents.locate(document.document_id, question.expected)
    span = span or answer_span(text, question.expected)
    if span is None:
        return Place(document.document_id)
    return Place(document.document_id, *span, text[slice(*span)])
