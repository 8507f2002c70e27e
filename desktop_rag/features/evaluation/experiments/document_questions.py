"""Questions proposed from documents, each checked to be answerable. Worker threads."""

import random
import uuid
from collections.abc import Iterator, Sequence
from threading import Event

from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.features.evaluation.values.question_set import SetQuestion
from desktop_rag.ingest.library import Library

_LEAST_CHARS = 200
_TRIES = 3
PROPOSED = "proposed"


def proposals(
    library: Library,
    chat: Chat,
    count: int,
    cancel: Event,
    among: Sequence[Document] | None = None,
) -> Iterator[SetQuestion]:
    """Up to so many questions, of the background model, from passages of different documents.

    They are drawn from all documents, or from those given.

    Its answer has to be supported by the passage, as the check of claims says on this computer. Few
    come where documents are short or the model proposes what they don't say. AppError when the
    endpoint fails.
    """
    every = library.documents.all() if among is None else among
    documents = [d for d in every if d.state is DocumentState.SEARCHABLE]
    random.shuffle(documents)
    found = tried = 0
    for document in documents * _TRIES:
        if found >= count or tried >= count * _TRIES or cancel.is_set():
            return
        chunks = library.documents.chunks(document.document_id)
        passages = [chunk.text for chunk in chunks if len(chunk.text) >= _LEAST_CHARS]
        if not passages:
            continue
        tried += 1
        if proposed := chat.grader.propose(random.choice(passages), cancel):
            found += 1
            question, answer = proposed
            place = document.url or str(document.path)
            yield SetQuestion(uuid.uuid4().hex, question, (answer,), (), (PROPOSED,), (place,))
