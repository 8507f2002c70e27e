"""Limits a question to what the person chose to ask about. Worker threads."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from desktop_rag.answer.sources.source_finder import SourceFinder
from desktop_rag.answer.understanding.file_words import asks_for_content
from desktop_rag.answer.writing.answer_request import AnswerRequest
from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.query import Query
from desktop_rag.core.question import NamedFiles, Readable, SearchScope
from desktop_rag.core.question_scope import ScopeItem, ScopeKind
from desktop_rag.core.shared_library import is_shared_item
from desktop_rag.core.summary_request import asks_for_summary
from desktop_rag.store.contract.documents import DocumentStore

# The whole text of more documents never fits into a prompt.
_MOST_WHOLE = 50
# The documents looked at to tell which of the files have any, with those inside them.
_MOST_INSIDE = 5_000
_ANY = Query("")
_AWAY = "the shared library is offline"
_GONE = "it is no longer in the library"
_OUTSIDE = "it is not among the documents of this assistant"
_NOTHING_YET = "nothing in it can be searched yet"


class ChosenScope:
    """Finds the documents of scopes, and says which of their items have none."""

    def __init__(self, finder: SourceFinder, documents: DocumentStore) -> None:
        self._finder = finder
        self._documents = documents

    def applied(self, request: AnswerRequest) -> AnswerRequest:
        """The request limited to its scope; unchanged when that has no items.

        Items without a document to read are named: as hints beside others, else as the reason why
        there is nothing to answer from.
        """
        items = request.scope.items
        if not items or request.query_error:
            return request
        reach = replace(request.setup.reach, about=items)
        missing = self.missing(items, reach)
        said = tuple(f"{item.name}: {why}" for item, why in missing.items())
        is_empty = len(missing) == len(items)
        text = unicodedata.normalize("NFC", request.question)
        named = NamedFiles(
            tuple(item.name for item in items if item not in missing),
            () if is_empty else self._ids(reach),
            bool(asks_for_content(text)) or asks_for_summary(request.query),
            () if is_empty else tuple(f"Left out: {each}." for each in said),
            said if is_empty else (),
        )
        return replace(request, setup=replace(request.setup, reach=reach), named=named)

    def _ids(self, reach: SearchScope) -> tuple[str, ...]:
        """The documents in reach; none when there are too many to be read whole."""
        found = self._finder.every_file(_ANY, _MOST_WHOLE + 1, reach)
        return () if len(found) > _MOST_WHOLE else tuple(p.document_id for p in found)

    def missing(self, items: Sequence[ScopeItem], reach: SearchScope) -> dict[ScopeItem, str]:
        """The items of which nothing within reach can be read, each with the reason."""
        files = tuple(item for item in items if item.kind is ScopeKind.FILE)
        found = self._finder.every_file(_ANY, _MOST_INSIDE, replace(reach, about=files))
        there = {p.document_id for p in found if files} | {p.path for p in found}
        empty = (
            item
            for item in items
            if not there.intersection((item.key, item.path or item.key))
            and not (item not in files and self._has_documents(item, reach))
        )
        return {item: self._why_empty(item, reach.readable) for item in empty}

    def _has_documents(self, item: ScopeItem, reach: SearchScope) -> bool:
        return self._finder.count_files(_ANY, 1, replace(reach, about=(item,))) > 0

    def _why_empty(self, item: ScopeItem, readable: Readable | None) -> str:
        if self._has_documents(item, SearchScope(readable=readable)):
            return _OUTSIDE
        if readable:
            # Whether there is such a document is not for everyone to know.
            return _GONE
        if self._finder.missed(SearchScope(about=(item,))) and is_shared_item(item):
            return _AWAY
        if item.kind is not ScopeKind.FILE:
            return _NOTHING_YET
        return why_unread(self._documents.get([item.key]))


def why_unread(documents: Sequence[Document]) -> str:
    """Why the first of these rows of a document, if there is any, has no text."""
    known = [d for d in documents if d.state is not DocumentState.GONE]
    if not known:
        return _GONE
    if known[0].reason:
        return known[0].reason.rstrip(".")
    is_read = known[0].state is DocumentState.SEARCHABLE
    return "no text was found in it" if is_read else "not read yet"
