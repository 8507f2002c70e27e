"""Questions made from documents: by the helper model, and without one. The caller's thread."""

import random
import uuid
from collections.abc import Iterator, Sequence
from itertools import pairwise
from threading import Event

from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import Document, DocumentState, StoredText
from desktop_rag.core.text import sentences, words
from desktop_rag.features.evaluation.experiments.answer_grader import AnswerGrader
from desktop_rag.features.evaluation.values.chunk_trial import QuestionOrigin, TrialQuestion
from desktop_rag.features.evaluation.values.run import SetQuestion
from desktop_rag.ingest.library import Library

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
