"""Limits a question to what the person chose to ask about. Worker threads."""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from desktop_rag.answer.sources.source_finder import SourceFinder
from desktop_rag.answer.understanding.file_words import asks_for_content
from desktop_rag.answer.writing.answer_request import AnswerRequest
from desktop_rag.core.domain import Document, DocumentState, Source
from desktop_rag.core.query import Query, asks_for_summary
from desktop_rag.core.question import NamedFiles, Readable, SearchScope, Setup
from desktop_rag.core.question_scope import QuestionScope, ScopeItem, ScopeKind
from desktop_rag.core.shared_library import is_shared_item
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import EVERYWHERE, Scope

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


# What can be asked about, by its name, and what of a scope can't be read. Worker threads.

_MOST_FOLDERS = 4


class Scopes:
    """Offers the items of scopes, and checks scopes: `chat.scopes`."""

    def __init__(self, engine: Engine, chosen: ChosenScope, set_up: Callable[[str], Setup]) -> None:
        """`set_up` gives the setup of an assistant by its id."""
        self._engine = engine
        self._chosen = chosen
        self._set_up = set_up

    def completing(self, text: str, limit: int) -> list[ScopeItem]:
        """Collections, folders, links and up to `limit` files with this text in their names.

        Of equal kinds, names that begin with it come first, then the shorter ones; for no text the
        files that changed last.
        """
        wanted = text.casefold()
        sources = self._engine.sources.sources()
        collections = map(ScopeItem.of_collection, self._engine.sources.collections())
        links = (ScopeItem.of_source(source) for source in sources if not source.is_on_disk)
        found = [
            *_fitting(collections, wanted),
            *_fitting(self._folders(sources, wanted), wanted)[:_MOST_FOLDERS],
            *_fitting(links, wanted),
        ]
        files = self._engine.names.completing(text, limit)
        rows = {d.document_id: d for d in self._engine.documents.get(files)}
        return found + [ScopeItem.of_document(rows[i]) for i in files if i in rows]

    def missing(self, scope: QuestionScope, assistant_id: str = "") -> list[tuple[ScopeItem, str]]:
        """The items of which nothing can be read for a question to this assistant, and why."""
        return list(self._chosen.missing(scope.items, self._set_up(assistant_id).reach).items())

    def fingerprint(self, scope: QuestionScope) -> str:
        """A short text that is another one once a document of the scope has changed."""
        return self._engine.names.fingerprint(Scope(about=scope.items))

    def _folders(self, sources: Sequence[Source], wanted: str) -> Iterator[ScopeItem]:
        """The folders that the person added, and for a text those below them that hold files."""
        roots = [source.path for source in sources if source.is_on_disk]
        found = set(roots)
        for folder in self._engine.names.folders(EVERYWHERE) if wanted else ():
            place = Path(folder)
            for root in roots:
                if place.is_relative_to(root):
                    above = (parent for parent in place.parents if parent.is_relative_to(root))
                    found.update((place, *above))
        return (ScopeItem.of_folder(place) for place in sorted(found))


def _fitting(items: Iterator[ScopeItem], wanted: str) -> list[ScopeItem]:
    fitting = [item for item in items if wanted in item.name.casefold()]
    return sorted(
        fitting, key=lambda i: (not i.name.casefold().startswith(wanted), len(i.name), i.name)
    )
