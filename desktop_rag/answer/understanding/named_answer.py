"""Answers from the files that a question names. Worker threads."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from desktop_rag.answer.prompting.prompt import ANSWER_SHARE
from desktop_rag.answer.sources.source_finder import SourceFinder
from desktop_rag.answer.sources.whole_text import WholeTexts
from desktop_rag.answer.understanding.file_outline import outline_of
from desktop_rag.answer.understanding.file_words import language_around
from desktop_rag.answer.writing.answer_draft import AnswerDraft
from desktop_rag.answer.writing.answer_request import AnswerRequest
from desktop_rag.answer.writing.answer_texts import AnswerTexts, texts_for
from desktop_rag.answer.writing.excerpt_markdown import quoted
from desktop_rag.core.conversation import (
    AnswerEvent,
    FileCounts,
    SearchNotes,
    SourcesFound,
    TextDelta,
)
from desktop_rag.core.domain import Document
from desktop_rag.core.question import NamedFiles
from desktop_rag.models.ports import ChatModel
from desktop_rag.store.contract.documents import DocumentStore

_UNREAD = "There is no text to answer from."
# The share of the prompt for whole texts.
_WHOLE_SHARE = 0.7
_MOST_OUTLINES = 20
# Of several files, a few lines each.
_LINES_OF_ONE, _LINES_OF_SEVERAL = 20, 5


class NamedAnswer:
    """Fills drafts from named files."""

    def __init__(self, finder: SourceFinder, documents: DocumentStore) -> None:
        self._finder = finder
        self._documents = documents
        self._whole = WholeTexts(documents, finder.count_tokens)

    def read_for(self, model: ChatModel, draft: AnswerDraft, request: AnswerRequest) -> bool:
        """Give the draft the whole of the named files where it fits into the prompt; True then.

        Else it keeps the best passages of them, relevant or not: the person knows where to look.
        """
        named = request.named
        if named is None:
            return False
        room = int(model.context_tokens * (1 - ANSWER_SHARE) * _WHOLE_SHARE)
        documents = self._documents.get(named.document_ids)
        # In the order of the question.
        documents.sort(key=lambda d: named.document_ids.index(d.document_id))
        whole = self._whole.within(documents, room, model.count_tokens) if documents else ()
        draft.send(whole or draft.sources or draft.nearest)
        draft.nearest = () if draft.sources else draft.nearest
        return bool(whole)

    def outline(
        self,
        draft: AnswerDraft,
        request: AnswerRequest,
        *,
        is_comparison: bool = False,
        is_answer: bool = False,
        language: str = "",
    ) -> Iterator[AnswerEvent]:
        """Say what is in the named files, in their own words; in place of a comparison, too.

        With `is_answer` the question may be one that this answers, as for the number of rows;
        `language` is the code of its language where that is known.
        """
        preferred = request.setup.settings.preferences.language
        named = request.named
        if named is None:
            return
        language = language or language_around(request.question, named.names)
        texts = texts_for(request.question, preferred, language)
        documents = [
            self._documents.get([passage.document_id])[0]
            for passage in self._finder.every_file(
                request.query, _MOST_OUTLINES, request.setup.reach
            )
        ]
        lines = _LINES_OF_ONE if len(documents) == 1 else _LINES_OF_SEVERAL
        said: list[str] = []
        for document in documents:
            text, places = self._documents.content(document.document_id)
            first = len(draft.sources) + 1
            found = outline_of(document, text or "", places, texts, first=first, most=lines)
            if found.text:
                if len(documents) > 1:
                    said.append(f"**{quoted(_name_among(document, documents))}**")
                said.append(found.text)
                draft.sources = (*draft.sources, *found.sources)
        if not said:
            return
        if is_comparison:
            said.insert(0, texts.said("not_compared"))
        elif not (named.asks_for_content or is_answer):
            said.insert(0, _not_about(named, texts))
        draft.is_excerpts, draft.nearest = True, ()
        draft.text = "\n\n".join(said)
        _count(draft, len(documents))
        yield SourcesFound(draft.sources, draft.notes)
        yield TextDelta(draft.text)

    def without_text(self, draft: AnswerDraft, named: NamedFiles) -> Iterator[AnswerEvent]:
        """Say why nothing can be read of the named files."""
        yield SourcesFound((), draft.notes)
        draft.text = "\n\n".join([*map(quoted, named.unread), _UNREAD])
        yield TextDelta(draft.text)


def _not_about(named: NamedFiles, texts: AnswerTexts) -> str:
    sentence = "not_about_file" if len(named.names) == 1 else "not_about_files"
    return texts.said(sentence, names=quoted(texts.joined(named.names)))


def _name_among(document: Document, documents: Sequence[Document]) -> str:
    """The name, with its folder when another of the documents has the same."""
    is_one = sum(other.name == document.name for other in documents) == 1
    return document.name if is_one else f"{document.path.parent.name}/{document.name}"


def _count(draft: AnswerDraft, count: int) -> None:
    draft.notes = replace(draft.notes or SearchNotes(), files=FileCounts(count, count))
