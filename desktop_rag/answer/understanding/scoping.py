"""Limits a question to its scope, and to the files, folders and collections that it names.

Worker threads.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from desktop_rag.answer.understanding.chosen_scope import ChosenScope, why_unread
from desktop_rag.answer.understanding.file_words import (
    asks_for_content,
    collection_words,
    folder_words,
)
from desktop_rag.answer.understanding.name_mentions import (
    Mention,
    mentioned_collections,
    mentioned_files,
    mentioned_folders,
    without,
)
from desktop_rag.answer.writing.answer_request import AnswerRequest
from desktop_rag.core.domain import Collection
from desktop_rag.core.errors import AppError
from desktop_rag.core.query import Filters, Query, parse_query
from desktop_rag.core.question import NamedFiles, SearchScope
from desktop_rag.core.summary_request import asks_for_summary
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.contract.search import NameStore

# A longer text is a document, not a question that names one.
_LONGEST_CHARS = 1_000
_MOST_NAMES = 500
_MOST_ALIKE = 3
# What is written like the name of a document, whether there is one or not.
_LIKE_A_NAME = re.compile(
    r"(?i)(?<![\w/.])[\w][\w()&+-]{1,80}\.(?:pdf|docx?|odt|rtf|xlsx?|ods|csv|tsv|pptx?|odp|md|txt"
    r"|html?|epub|eml|msg)(?!\w)"
)


@dataclass(frozen=True, slots=True)
class _Named:
    """What a text names, and the places of the names in it."""

    files: NamedFiles
    folders: tuple[str, ...]
    collection_ids: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]


class Scoping:
    """Finds what questions are about."""

    def __init__(
        self,
        names: NameStore,
        documents: DocumentStore,
        collections: Callable[[], Sequence[Collection]],
        chosen: ChosenScope,
    ) -> None:
        """`collections` gives the current ones."""
        self._names = names
        self._collections = collections
        self._documents = documents
        self._chosen = chosen

    def applied(self, request: AnswerRequest) -> AnswerRequest:
        """The request limited to its scope, and in it to what its question names, if anything.

        Filters for files and folders are the exact form of a name, so they stand alone.
        """
        request = self._chosen.applied(request)
        if request.scope.is_without_documents or (request.named and request.named.unread):
            return request
        filters, text = request.query.filters, unicodedata.normalize("NFC", request.question)
        names = () if request.named else _filtered(filters)
        asks = not asks_for_summary(request.query) and asks_for_content(request.query.text)
        if names and asks:
            return replace(request, named=NamedFiles(names, asks_for_content=True))
        is_limited = bool(filters.files or filters.folders or request.query_error)
        if is_limited or len(text) > _LONGEST_CHARS:
            return request
        reach = request.setup.reach
        named = self._named(text, _scope_of(reach, filters))
        if named is None:
            return request
        query = _query_of(without(text, named.spans), request.query)
        if named.folders:
            query = replace(query, filters=replace(query.filters, folders=named.folders))
        if named.collection_ids:
            reach = replace(reach, collection_ids=named.collection_ids)
        if named.files.document_ids:
            reach = replace(reach, document_ids=named.files.document_ids)
        found = named.files
        if request.named:
            found = replace(found, hints=(*request.named.hints, *found.hints))
        return replace(request, query=query, setup=replace(request.setup, reach=reach), named=found)

    def _named(self, text: str, scope: Scope) -> _Named | None:
        collections, ids_by_name = self._named_collections(text, scope)
        collection_ids = tuple(ids_by_name[name] for m in collections for name in m.paths)
        scope = replace(scope, collection_ids=collection_ids) if collection_ids else scope
        spelled = self._names.spelled_in(text, scope, _MOST_NAMES)
        files = mentioned_files(text, dict.fromkeys(path for _, path in spelled))
        folders = self._folders(text, scope, files)
        hints: tuple[str, ...] = ()
        if not files and not folders:
            files, spelled, hints = self._alike(text, scope)
        if not files and not folders and not collections:
            return None
        paths = {path for mention in files for path in mention.paths}
        ids = tuple(document_id for document_id, path in spelled if path in paths)
        spans = tuple((m.start, m.end) for m in (*files, *folders, *collections))
        rest = without(text, spans)
        names = [
            *_shown(sorted(paths)),
            *(f"{PurePath(f).name}/" for m in folders for f in m.paths),
        ]
        if not names:
            names = list(dict.fromkeys(name for m in collections for name in m.paths))
        asks = bool(asks_for_content(rest)) or asks_for_summary(Query(rest))
        hints += _ambiguous(files)
        found = NamedFiles(tuple(names), ids, asks, hints, self._unread(ids))
        return _Named(
            found, tuple(f"{f}/" for m in folders for f in m.paths), collection_ids, spans
        )

    def _named_collections(self, text: str, scope: Scope) -> tuple[list[Mention], dict[str, str]]:
        """The collections of the scope that a text names, and their ids by name."""
        if not any(word in text.casefold() for word in collection_words()):
            return [], {}
        ids = {c.name: c.collection_id for c in self._collections() if _may_find(scope, c)}
        return mentioned_collections(text, ids), ids

    def _folders(self, text: str, scope: Scope, files: Sequence[Mention]) -> list[Mention]:
        if not _may_name_folder(text):
            return []
        homes = [PurePath(folder) for folder in self._names.folders(scope)]
        every = {str(place) for home in homes for place in (home, *home.parents) if place.name}
        found = mentioned_folders(text, sorted(every))
        return [f for f in found if all(f.end <= m.start or m.end <= f.start for m in files)]

    def _alike(
        self, text: str, scope: Scope
    ) -> tuple[list[Mention], list[tuple[str, str]], tuple[str, ...]]:
        """The file with nearly the name that a text names; none when several come as near."""
        for match in _LIKE_A_NAME.finditer(text):
            found = self._names.spelled_like(match[0], scope, _MOST_ALIKE)
            names = {PurePath(path).name.casefold() for _, path in found}
            if len(names) == 1:
                paths = tuple(path for _, path in found)
                hint = f"No file is called “{match[0]}”; the nearest name was taken."
                return [Mention(*match.span(), paths, has_ending=True)], found, (hint,)
        return [], [], ()

    def _unread(self, document_ids: Sequence[str]) -> tuple[str, ...]:
        """Why each of the documents has no text, when none of them has."""
        documents = self._documents.get(document_ids)
        if any(document.chunk_count for document in documents):
            return ()
        return tuple(f"{document.name}: {why_unread([document])}" for document in documents)


def unknown_name(request: AnswerRequest) -> str:
    """The name that a question asks for and no document bears; "" when it asks for more."""
    match = _LIKE_A_NAME.search(request.question)
    if match is None or request.named:
        return ""
    rest = without(request.question, [match.span()])
    return match[0] if asks_for_content(rest) else ""


def _filtered(filters: Filters) -> tuple[str, ...]:
    """What the filters name: files, folders, collections and tags."""
    tags = (f"#{tag}" for tag in filters.tags)
    return (*filters.files, *filters.folders, *filters.collections, *tags)


def _scope_of(reach: SearchScope, filters: Filters) -> Scope:
    return Scope(
        collection_ids=reach.collection_ids or None,
        document_ids=reach.document_ids,
        filters=filters,
        limits=reach.limits.filters,
        about=reach.about,
        readable=reach.readable,
    )


def _query_of(rest: str, asked: Query) -> Query:
    """The rest of a question, parsed."""
    try:
        return parse_query(rest)
    except AppError:
        return replace(asked, text=rest)


def _may_find(scope: Scope, collection: Collection) -> bool:
    limits = [scope.collection_ids, scope.readable.collection_ids if scope.readable else None]
    return all(ids is None or collection.collection_id in ids for ids in limits)


def _may_name_folder(text: str) -> bool:
    """True when a word for a folder or a slash is in the text: few questions have one."""
    plain = text.casefold()
    return any(word in plain for word in ("/", "\\", *folder_words()))


def _shown(paths: Sequence[str]) -> list[str]:
    """The file names, each with its folder where several are the same."""
    names = [PurePath(path).name for path in paths]
    return [
        name if names.count(name) == 1 else f"{PurePath(path).parent.name}/{name}"
        for name, path in zip(names, paths, strict=True)
    ]


def _ambiguous(files: Sequence[Mention]) -> tuple[str, ...]:
    """A sentence for each name that several files bear."""
    return tuple(
        f"{len(mention.paths):,} files have the name “{PurePath(mention.paths[0]).name}”."
        for mention in files
        if len({PurePath(path).name for path in mention.paths}) < len(mention.paths)
    )
