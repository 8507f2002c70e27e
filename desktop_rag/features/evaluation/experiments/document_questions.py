"""Questions made from documents, by the helper model and without one, and from feedback in chats.

On the caller's thread. Of answers with feedback, liked ones and the person's own versions are
expected, disliked ones are wrong.
"""

import json
import random
import uuid
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from threading import Event

from desktop_rag.answer.chat import Chat
from desktop_rag.answer.conversations.history import History
from desktop_rag.core.conversation import Feedback, Message, MessageState, Role
from desktop_rag.core.domain import Document, DocumentState, StoredText
from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.language.translation import tr
from desktop_rag.core.text import sentences, words
from desktop_rag.features.evaluation.experiments.answer_grader import AnswerGrader
from desktop_rag.features.evaluation.values.run import FROM_TEXT, PROPOSED, SetQuestion
from desktop_rag.features.evaluation.values.scoring import without_citations
from desktop_rag.ingest.library import Library

_LEAST_CHARS = 200
_TRIES = 3


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


USUAL_QUESTIONS = 50


def made_questions(
    library: Library,
    chat: Chat,
    count: int,
    cancel: Event,
    among: Sequence[Document],
    *,
    uses_model: bool,
) -> Iterator[SetQuestion]:
    """Up to `count` questions about these documents: of the helper model if it is used and there.

    AppError when none of them is searchable, or its endpoint fails.
    """
    searchable = [d for d in among if d.state is DocumentState.SEARCHABLE and not d.part]
    if not searchable:
        raise AppError("There is no searchable document to ask about.", "Add a folder first.")
    if uses_model and AnswerGrader(chat).model_name:
        yield from proposals(library, chat, count, cancel, searchable)
    else:
        yield from text_questions(library, searchable, count, random.Random())


_LEAST_WORDS = 6
_MOST_WORDS = 40
_LEAST_HEADING_WORDS = 2
_A_DOCUMENT = 8


def text_questions(
    library: Library, documents: Sequence[Document], count: int, chance: random.Random
) -> list[SetQuestion]:
    """Up to `count` questions made without a model: headings, and sentences before others.

    They ask for what stands next to them, which shows whether chunks keep together what belongs
    together, but not as people ask. Of as many documents as possible; up to half from headings.
    """
    found: list[SetQuestion] = []
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
        found += [
            SetQuestion(uuid.uuid4().hex, text, (expected,), (), (FROM_TEXT,), (place,))
            for text, expected in chosen
        ]
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


_PRIVATE = 0o600

# Each text once, in order: of one question what is expected, what is wrong, and the sources.
_Feedback = tuple[dict[str, None], dict[str, None], dict[str, None]]


def questions_of_feedback(chat: Chat) -> list[SetQuestion]:
    """A question for each with feedback on an answer, the newest chats first.

    A follow-up is written as it was understood. The sources are those cited by expected answers,
    and the person's own versions. AppError without any feedback.
    """
    found: dict[str, _Feedback] = {}
    for question, answer in _answers(chat):
        if question and (answer.is_rewritten or answer.feedback is not Feedback.NONE):
            _add(found.setdefault(question, ({}, {}, {})), answer, chat.history)
    if not found:
        hint = tr("Press 👍 or 👎 below answers, or write your own version.")
        raise AppError(tr("There is no feedback on answers yet."), hint)
    return [
        SetQuestion(str(number), text, tuple(expected), tuple(wrong), sources=tuple(sources))
        for number, (text, (expected, wrong, sources)) in enumerate(found.items(), 1)
    ]


def write_questions(questions: Iterable[SetQuestion], file: Path) -> None:
    """Write a set as a new .jsonl file, readable by its owner only.

    AppError when the file exists or can't be written.
    """
    rows = (
        {"id": each.question_id, "question": each.text, "answer": each.expected,
         "wrong": each.wrong, "sources": each.sources}
        for each in questions
    )  # fmt: skip
    with os_error_as(f"{file} can't be written."):
        try:
            file.touch(_PRIVATE, exist_ok=False)
        except FileExistsError as exc:
            raise AppError(f"{file} exists.", "Choose another name; nothing was written.") from exc
        with file.open("w", encoding="utf-8") as opened:
            opened.writelines(
                json.dumps({key: value for key, value in row.items() if value}, ensure_ascii=False)
                + "\n"
                for row in rows
            )


def _answers(chat: Chat) -> Iterator[tuple[str, Message]]:
    """Every finished answer once, though chats are copied, with its question."""
    seen: set[str] = set()
    for conversation in chat.history.all():
        question = ""
        for message in chat.history.messages(conversation.conversation_id):
            if message.role is Role.USER:
                question = " ".join(message.text.split())
            elif (key := message.copy_of or message.message_id) not in seen:
                seen.add(key)
                asked = message.notes.asked if message.notes else ""
                if message.state is MessageState.DONE:
                    yield " ".join(asked.split()) or question, message


def _add(known: _Feedback, answer: Message, history: History) -> None:
    expected, wrong, sources = known
    given = without_citations(answer.text).strip()
    if answer.is_rewritten or answer.feedback is Feedback.LIKED:
        expected |= _each(history.own_text(answer) if answer.is_rewritten else given)
        sources |= _each(*(s.url or s.path for s in answer.sources if s.is_cited))
    if own_file := history.own_file(answer):
        sources |= _each(str(own_file))
    if answer.feedback is Feedback.DISLIKED:
        wrong |= _each(given)


def _each(*texts: str) -> dict[str, None]:
    return dict.fromkeys(filter(None, texts))
