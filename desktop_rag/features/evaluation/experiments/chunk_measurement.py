"""Compares chunk settings over the documents of a collection, in a library of its own.

The folders are indexed once; each setting then chunks and embeds them anew, and the same questions
are searched. The caller's thread.
"""

import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from desktop_rag.answer.chat import Chat
from desktop_rag.answer.sources.source_finder import EXCERPT_PASSAGES, EXCERPT_TOKENS
from desktop_rag.core.domain import Collection, Document, DocumentState, StoredText
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.language.translation import tr
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.core.text import sentences, words
from desktop_rag.features.evaluation.experiments.answer_grader import AnswerGrader
from desktop_rag.features.evaluation.experiments.answerer import OpenScratch
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
from desktop_rag.features.evaluation.values.experiment_events import ChunkTrialChanged, TrialStage
from desktop_rag.features.evaluation.values.run import QuestionSet, SetQuestion
from desktop_rag.ingest.library import Library

if TYPE_CHECKING:
    from desktop_rag.app import Services

_LOOK_S = 0.2


class TrialControl(threading.Event):
    """Publishes the progress of a comparison, pauses and ends it. Set once the work is to end."""

    def __init__(self, publish: Callable[[ChunkTrialChanged], None]) -> None:
        super().__init__()
        self._publish = publish
        self._paused = threading.Event()
        self.progress = ChunkTrialChanged(TrialStage.RUNNING)

    def tell(self, doing: str, done: int = 0, total: int = 0) -> None:
        """Publish the present step and its progress."""
        stage = TrialStage.PAUSED if self._paused.is_set() else TrialStage.RUNNING
        self.progress = ChunkTrialChanged(stage, doing, done, total)
        self._publish(self.progress)

    def end(self, stage: TrialStage, title: str = "", hint: str = "") -> None:
        """Publish that the work is done, was cancelled, or failed."""
        self.progress = ChunkTrialChanged(stage, error_title=title, error_hint=hint)
        self._publish(self.progress)

    def pause(self, *, is_wanted: bool) -> None:
        """Pause the work after its present step, or resume it."""
        if is_wanted:
            self._paused.set()
        else:
            self._paused.clear()
        before = self.progress
        self.tell(before.doing, before.done, before.total)

    def check(self, scratch: Library | None = None) -> None:
        """Wait while the work and its indexing are paused. Cancelled when it is to end."""
        if self._paused.is_set() and scratch:
            scratch.indexing.pause()
        while self._paused.is_set() and not self.wait(_LOOK_S):
            pass
        if self.is_set():
            raise Cancelled
        if scratch and scratch.indexing.is_paused:
            scratch.indexing.resume()


_LEAST_CHARS = 200
_TRIES = 3
PROPOSED = "proposed"


def proposals(
    library: Library, chat: Chat, count: int, cancel: Event, among: Sequence[Document] | None = None
) -> Iterator[SetQuestion]:
    """Up to `count` questions of the helper model, from passages of different documents.

    Drawn from all documents, or from those given. The local claim checker has to find each answer
    supported by its passage: few pass where documents are short. AppError when the endpoint fails.
    """
    every = library.documents.all() if among is None else among
    documents = [d for d in every if d.state is DocumentState.SEARCHABLE]
    random.shuffle(documents)
    found = tried = 0
    grader = AnswerGrader(chat)
    for document in documents * _TRIES:
        if found >= count or tried >= count * _TRIES or cancel.is_set():
            return
        chunks = library.documents.chunks(document.document_id)
        passages = [chunk.text for chunk in chunks if len(chunk.text) >= _LEAST_CHARS]
        if not passages:
            continue
        tried += 1
        if proposed := grader.propose(random.choice(passages), cancel):
            found += 1
            question, answer = proposed
            place = document.url or str(document.path)
            yield SetQuestion(uuid.uuid4().hex, question, (answer,), (), (PROPOSED,), (place,))


_LEAST_WORDS = 6
_MOST_WORDS = 40
_LEAST_HEADING_WORDS = 2
_A_DOCUMENT = 8


def text_questions(
    library: Library, documents: Sequence[Document], count: int, chance: random.Random
) -> list[TrialQuestion]:
    """Up to `count` questions made without a model: headings, and sentences before others.

    They ask for what stands next to them, which shows whether chunks keep together what belongs
    together, but not as people ask. Of as many documents as possible; up to half from headings.
    """
    found: list[TrialQuestion] = []
    for document in chance.sample(documents, len(documents)):
        stored = library.documents.stored_text(document.document_id)
        if stored is None:
            continue
        share = min(_A_DOCUMENT, -(-count // len(documents)))
        headings, others = list(_of_headings(stored)), list(_of_sentences(stored))
        chance.shuffle(headings)
        chance.shuffle(others)
        chosen = headings[: share // 2]
        chosen += others[: share - len(chosen)]
        place = document.url or str(document.path)
        for text, expected in chosen:
            made = TrialQuestion(uuid.uuid4().hex, text, place, expected, QuestionOrigin.TEXT)
            found.append(made)
        if len(found) >= count:
            break
    return found[:count]


def _of_headings(stored: StoredText) -> Iterator[tuple[str, str]]:
    """A heading, and the first sentence below it."""
    text, headings = stored.text, stored.headings
    ends = [*(heading.offset for heading in headings[1:]), len(text)]
    for heading, end in zip(headings, ends, strict=True):
        below = text.find("\n", heading.offset)
        if len(words(heading.title)) < _LEAST_HEADING_WORDS or not heading.offset < below < end:
            continue
        for sentence in _usable(text[below:end])[:1]:
            yield heading.title, sentence


def _of_sentences(stored: StoredText) -> Iterator[tuple[str, str]]:
    """A sentence, and the next one of its paragraph."""
    for paragraph in stored.text.split("\n\n"):
        for one, following in pairwise(_usable(paragraph)):
            if following != one:
                yield one, following


def _usable(text: str) -> list[str]:
    """The sentences that are neither scraps nor tables."""
    every = (text[start:end] for start, end in sentences(text))
    return [s for s in every if _LEAST_WORDS <= len(words(s)) <= _MOST_WORDS and " | " not in s]


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


class ChunkMeasurement:
    """One comparison, which runs once."""

    def __init__(
        self, plan: ChunkPlan, library: Library, chat: Chat, open_scratch: OpenScratch
    ) -> None:
        self._plan = plan
        self._library = library
        self._chat = chat
        self._open_scratch = open_scratch

    def run(self, control: TrialControl) -> ChunkComparison:
        """Measure. AppError when there is nothing to measure with, Cancelled."""
        collection = self._collection()
        documents = self._documents(collection)
        asked, left_out = self._questions(documents, control)
        if not asked:
            hint = "Choose another set, or have questions made from the documents."
            raise AppError("No question is known to be answered by these documents.", hint)
        settings = self._chat.models.settings
        with self._open_scratch(settings) as scratch:
            trials = tuple(self._trials(scratch, collection, asked, control))
        return ChunkComparison(
            uuid.uuid4().hex, collection.collection_id, collection.name, time.time(), asked,
            trials, left_out, EXCERPT_PASSAGES, EXCERPT_TOKENS,
        )  # fmt: skip

    # --- questions ---------------------------------------------------------------------------

    def _collection(self) -> Collection:
        for each in self._library.collections.all():
            if each.collection_id == self._plan.collection_id:
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
        self, documents: Sequence[Document], control: TrialControl
    ) -> tuple[tuple[TrialQuestion, ...], int]:
        """The questions, and how many of the set are left out."""
        if given := self._plan.question_set:
            found = [_of_set(question, documents) for question in given.questions]
            known = tuple(each for each in found if each)[:MOST_QUESTIONS]
            return known, sum(each is None for each in found)
        count = min(self._plan.count, MOST_QUESTIONS)
        if self._plan.uses_model and AnswerGrader(self._chat).model_name:
            return tuple(self._proposed(documents, count, control)), 0
        control.tell(tr("Making questions from headings and sentences"))
        return tuple(text_questions(self._library, documents, count, random.Random())), 0

    def _proposed(
        self, documents: Sequence[Document], count: int, control: TrialControl
    ) -> Iterator[TrialQuestion]:
        words = tr("The model writes questions")
        control.tell(words, 0, count)
        found = proposals(self._library, self._chat, count, control, documents)
        for number, each in enumerate(found, 1):
            control.check()
            control.tell(words, number, count)
            yield TrialQuestion(
                each.question_id, each.text, each.sources[0], each.expected[0],
                QuestionOrigin.MODEL,
            )  # fmt: skip
        control.check()

    # --- trials ------------------------------------------------------------------------------

    def _trials(
        self,
        scratch: "Services",
        collection: Collection,
        asked: Sequence[TrialQuestion],
        control: TrialControl,
    ) -> Iterator[ChunkTrial]:
        library = scratch.library
        own = library.collections.find_or_add(collection.name)
        if collection.embedder:
            library.collections.set_embedder(own.collection_id, collection.embedder)
        chunkings = tuple(dict.fromkeys((collection.chunking, *self._plan.chunkings)))
        library.collections.set_chunking(own.collection_id, chunkings[0])
        for source in self._library.sources.all():
            if source.collection_id == collection.collection_id and source.is_on_disk:
                library.sources.add(source.path, own.collection_id, source.rules)
        places: dict[str, Place] = {}
        for number, chunking in enumerate(chunkings):
            if number:
                library.collections.set_chunking(own.collection_id, chunking)
            name = in_words(chunking)
            control.tell(tr("Indexing: {name}", name=name), number, len(chunkings))
            while not library.indexing.wait_until_idle(_LOOK_S):
                control.check(library)
            places = places or _places(library, asked)
            control.tell(tr("Searching: {name}", name=name), number, len(chunkings))
            yield self._trial(scratch, chunking, asked, places, control)

    def _trial(
        self,
        scratch: "Services",
        chunking: ChunkSettings,
        asked: Sequence[TrialQuestion],
        places: dict[str, Place],
        control: TrialControl,
    ) -> ChunkTrial:
        found: list[Retrieved] = []
        for question in asked:
            control.check()
            place = places[question.question_id]
            passages = scratch.chat.search(question.text, limit=DEPTH)
            chunks = scratch.library.documents.chunks(place.document_id)
            most, tokens = EXCERPT_PASSAGES, EXCERPT_TOKENS
            found.append(retrieved(question, place, passages, chunks, passages=most, tokens=tokens))
        every = sum(document.chunk_count for document in scratch.library.documents.all())
        return ChunkTrial(chunking, every, tuple(found))


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
