"""Questions made from documents without a model: headings, and sentences before others.

They ask for what stands next to them, which shows whether chunks keep together what belongs
together. They don't ask as people do. Worker threads.
"""

import random
import uuid
from collections.abc import Iterator, Sequence
from itertools import pairwise

from desktop_rag.core.domain import Document, StoredText
from desktop_rag.core.experiments.chunk_trial import QuestionOrigin, TrialQuestion
from desktop_rag.core.text import sentences, words
from desktop_rag.ingest.library import Library

_LEAST_WORDS = 6
_MOST_WORDS = 40
_LEAST_HEADING_WORDS = 2
_A_DOCUMENT = 8


def text_questions(
    library: Library, documents: Sequence[Document], count: int, chance: random.Random
) -> list[TrialQuestion]:
    """Up to so many, of as many documents as possible; up to half of them from headings."""
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
