"""One library made of the person's own and a shared one, which is only read. Any thread.

Questions see both. What is written or personal, and the reading of files, is in the own library.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from hashlib import md5
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core import domain
from desktop_rag.core.domain import Document, DocumentState, Passage, Source
from desktop_rag.core.library_events import DocumentCounts, LibraryFacets
from desktop_rag.core.parsed import Chunk
from desktop_rag.core.question import Readable
from desktop_rag.core.shared_library import id_there, is_shared, shared_id
from desktop_rag.features.shared_library.joined.shared_ids import (
    OFFSET,
    SharedSide,
    begin_within,
    chunks_there,
    ids_there,
    own_chunks,
    own_ids,
    scope_here,
    scope_there,
    shared_chunks,
    shared_document,
    shared_passage,
)
from desktop_rag.store.contract.bm25_ranking import weighted
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import (
    EVERYWHERE,
    LexicalStore,
    NamedDocuments,
    NameStore,
    Scope,
    Weights,
    WordCounts,
    Words,
)
from desktop_rag.store.contract.sources import SourceStore
from desktop_rag.store.contract.vectors import ModelRow, ModelStore, VectorMatches, VectorSearch
from desktop_rag.store.sql.edit_distance import edits
from desktop_rag.store.sql.file_names import plain, plain_name, squeezed, stem

# More edits than any search by name allows.
_MANY_EDITS = 8


class JoinedNameStore:
    """Finds the documents of both by file name; `documents` are those of both."""

    def __init__(self, own: NameStore, documents: DocumentStore, shared: SharedSide) -> None:
        self._own = own
        self._documents = documents
        self._shared = shared

    def matching(
        self,
        words: Collection[str],
        beginnings: Collection[str],
        pieces: Collection[str],
        scope: Scope,
        limit: int,
    ) -> tuple[list[NamedDocuments], int]:
        """Documents by the parts that their file names contain, and the number of all."""
        nothing: tuple[list[NamedDocuments], int] = ([], 0)
        begun = begin_within(
            self._shared,
            scope,
            lambda e, part: e.names.matching(words, beginnings, pieces, part, limit),
            nothing,
        )
        here = scope_here(scope)
        found, count = (
            self._own.matching(words, beginnings, pieces, here, limit) if here else nothing
        )
        others, count_there = begun()
        # The number of all includes a side that the scope leaves out.
        every = Scope(readable=scope.readable)
        if here is None and (all_here := scope_here(every)):
            _, count = self._own.matching((), (), (), all_here, 0)
        if not count_there:
            _, count_there = begin_within(
                self._shared, every, lambda e, part: e.names.matching((), (), (), part, 0), nothing
            )()
        return _grouped(found, others, limit), count + count_there

    def spelled_in(self, text: str, scope: Scope, limit: int) -> list[tuple[str, str]]:
        """Id and path of documents whose file name is spelled in a text, the longest first."""
        found = self._paths(scope, lambda names, part: names.spelled_in(text, part, limit))
        return sorted(found, key=lambda pair: (-len(stem(plain_name(pair[1]))), pair[1]))[:limit]

    def spelled_like(self, name: str, scope: Scope, limit: int) -> list[tuple[str, str]]:
        """Id and path of documents whose file name differs by a slip, the nearest first."""
        wanted = squeezed(plain(name))

        def distance(path: str) -> int:
            return edits(squeezed(plain_name(path)), wanted, _MANY_EDITS)

        found = self._paths(scope, lambda names, part: names.spelled_like(name, part, limit))
        return sorted(found, key=lambda pair: (distance(pair[1]), pair[1]))[:limit]

    def completing(self, text: str, limit: int) -> list[str]:
        """Ids of documents with the parts of this text in their names, folders or days."""
        begun = begin_within(
            self._shared, EVERYWHERE, lambda e, _: e.names.completing(text, limit), list[str]()
        )
        own = self._own.completing(text, limit)
        others = begun()
        if not others:
            return own
        found = [*own, *map(shared_id, others)]
        rows = {row.document_id: row for row in self._documents.get(found)}
        known = [rows[document_id] for document_id in found if document_id in rows]
        if text:
            wanted = plain(text)
            names = {row.document_id: plain_name(str(row.path)) for row in known}
            known.sort(
                key=lambda row: (
                    not names[row.document_id].startswith(wanted),
                    -sum(part in names[row.document_id] for part in wanted.split()),
                    len(names[row.document_id]),
                    str(row.path),
                )
            )
        else:
            known.sort(key=lambda row: (-row.stat.mtime_ns, str(row.path)))
        return [row.document_id for row in known[:limit]]

    def folders(self, scope: Scope) -> list[str]:
        """The folders that directly contain documents of either."""
        begun = begin_within(self._shared, scope, lambda e, part: e.names.folders(part), [])
        here = scope_here(scope)
        return sorted({*(self._own.folders(here) if here else ()), *begun()})

    def fingerprint(self, scope: Scope) -> str:
        """The fingerprint of both; "" while a part of the scope is in a library that is away."""
        begun = begin_within(self._shared, scope, lambda e, part: e.names.fingerprint(part), "")
        here = scope_here(scope)
        own = self._own.fingerprint(here) if here else "0"
        other = begun()
        if scope_there(scope) is None or not self._shared.facts.collections:
            return own
        if not other:
            return ""
        return md5(f"{own} {other}".encode(), usedforsecurity=False).hexdigest()

    def _paths(self, scope: Scope, find: "_Find") -> list[tuple[str, str]]:
        begun = begin_within(self._shared, scope, lambda e, part: find(e.names, part), [])
        here = scope_here(scope)
        own = find(self._own, here) if here else []
        return [*own, *((shared_id(document_id), path) for document_id, path in begun())]


_Find = Callable[[NameStore, Scope], list[tuple[str, str]]]


def _grouped(
    found: list[NamedDocuments], others: list[NamedDocuments], limit: int
) -> list[NamedDocuments]:
    """The groups of both; those with the same parts become one."""
    groups = {group.parts: group for group in found}
    for group in others:
        own = groups.get(group.parts, NamedDocuments(group.parts, 0, ()))
        ids = (*own.document_ids, *map(shared_id, group.document_ids))
        groups[group.parts] = NamedDocuments(group.parts, own.count + group.count, ids[:limit])
    return list(groups.values())


class JoinedLexicalStore:
    """Ranks the chunks of both by words, with the scores of one library that has all chunks."""

    def __init__(self, own: LexicalStore, shared: SharedSide) -> None:
        self._own = own
        self._shared = shared

    def weigh(self, words: Words, readable: Readable | None = None) -> Weights:
        """The weight of each word in both together."""
        return weighted(self.count(words, readable))

    def count(self, words: Words, readable: Readable | None = None) -> WordCounts:
        """The counts of both, of which weights are made."""
        nothing = WordCounts(0, 0, dict.fromkeys(words, 0))
        scope = Scope(readable=readable)
        begun = begin_within(
            self._shared, scope, lambda e, part: e.lexical.count(words, part.readable), nothing
        )
        here = scope_here(scope)
        found = self._own.count(words, here.readable) if here else nothing
        return found.joined(begun())

    def best(
        self, words: Words | Weights, limit: int, scope: Scope = EVERYWHERE
    ) -> list[tuple[int, float]]:
        """The `limit` chunks of both with the highest score, best first."""
        weights = self._weights(words, scope.readable)
        begun = begin_within(
            self._shared, scope, lambda e, part: dict(e.lexical.best(weights, limit, part)), {}
        )
        here = scope_here(scope)
        found = dict(self._own.best(weights, limit, here)) if here else {}
        return _first(found | shared_chunks(begun()), limit)

    def scores(self, words: Words | Weights, chunk_ids: Sequence[int]) -> dict[int, float]:
        """The scores of given chunks read with their neighbours."""
        weights = self._weights(words)
        begun = begin_within(
            self._shared,
            Scope(chunk_ids=tuple(chunk_ids)),
            lambda e, part: e.lexical.scores(weights, part.chunk_ids or ()),
            {},
        )
        return self._own.scores(weights, own_chunks(chunk_ids)) | shared_chunks(begun())

    def in_scope(self, chunk_ids: Sequence[int], scope: Scope) -> frozenset[int]:
        """The chunks that are in the scope."""
        asked = chunks_there(chunk_ids)
        begun = begin_within(
            self._shared,
            scope,
            lambda e, part: e.lexical.in_scope(asked, part) if asked else frozenset[int](),
            frozenset[int](),
        )
        here = scope_here(scope)
        found = self._own.in_scope(own_chunks(chunk_ids), here) if here else frozenset[int]()
        return found | {chunk_id + OFFSET for chunk_id in begun()}

    def documents_of(self, chunk_ids: Sequence[int]) -> frozenset[str]:
        """The ids of the documents that the chunks belong to."""
        begun = begin_within(
            self._shared,
            Scope(chunk_ids=tuple(chunk_ids)),
            lambda e, part: e.lexical.documents_of(part.chunk_ids or ()),
            frozenset[str](),
        )
        return self._own.documents_of(own_chunks(chunk_ids)) | set(map(shared_id, begun()))

    def newest(self, limit: int, scope: Scope) -> dict[int, float]:
        """The first chunks of the documents in the scope that changed last, with their times."""
        begun = begin_within(self._shared, scope, lambda e, part: e.lexical.newest(limit, part), {})
        here = scope_here(scope)
        found = self._own.newest(limit, here) if here else {}
        return dict(_first(found | shared_chunks(begun()), limit))

    def languages(self, readable: Readable | None = None) -> Mapping[str, int]:
        """The number of documents of both in each language, the most frequent first."""
        scope = Scope(readable=readable)
        nothing: Mapping[str, int] = {}
        begun = begin_within(
            self._shared, scope, lambda e, part: e.lexical.languages(part.readable), nothing
        )
        here = scope_here(scope)
        found = self._own.languages(here.readable) if here else nothing
        total = dict(found)
        for language, count in begun().items():
            total[language] = total.get(language, 0) + count
        return dict(sorted(total.items(), key=lambda pair: (-pair[1], pair[0])))

    def nearest_term(self, term: str, errors: int, readable: Readable | None = None) -> str:
        """The nearest term of both; among equally near ones, that in most chunks."""
        scope = Scope(readable=readable)
        begun = begin_within(
            self._shared,
            scope,
            lambda e, part: e.lexical.nearest_term(term, errors, part.readable),
            "",
        )
        here = scope_here(scope)
        named = {self._own.nearest_term(term, errors, here.readable) if here else "", begun()}
        named.discard("")
        counts = self._counts(named, readable) if len(named) > 1 else dict.fromkeys(named, 0)
        return min(
            named, key=lambda known: (edits(term, known, errors), -counts[known], known), default=""
        )

    def terms_completing(
        self, word: str, limit: int, readable: Readable | None = None
    ) -> tuple[str, ...]:
        """The terms of both that begin with the word, most chunks first; else the longest stem."""
        scope, nothing = Scope(readable=readable), tuple[str, ...]()
        begun = begin_within(
            self._shared,
            scope,
            lambda e, part: e.lexical.terms_completing(word, limit, part.readable),
            nothing,
        )
        here = scope_here(scope)
        found = self._own.terms_completing(word, limit, here.readable) if here else nothing
        every = {*found, *begun()}
        longer = [term for term in every if term.startswith(word)]
        if not longer:
            return tuple(sorted(every, key=len, reverse=True)[:1])
        counts = self._counts(longer, readable)
        return tuple(sorted(longer, key=lambda term: (-counts[term], term))[:limit])

    def passages(self, scores: dict[int, float]) -> list[Passage]:
        """The passages of the scored chunks of both, best first."""
        asked = {chunk_id - OFFSET: score for chunk_id, score in scores.items()}
        begun = begin_within(
            self._shared,
            Scope(chunk_ids=tuple(scores)),
            lambda e, part: e.lexical.passages({i: asked[i] for i in part.chunk_ids or ()}),
            list[Passage](),
        )
        found = self._own.passages({i: scores[i] for i in own_chunks(scores)})
        found += map(shared_passage, begun())
        return sorted(found, key=lambda passage: (-passage.score, passage.chunk_id))

    def _weights(self, words: Words | Weights, readable: Readable | None = None) -> Weights:
        return words if isinstance(words, Weights) else self.weigh(words, readable)

    def _counts(self, terms: Collection[str], readable: Readable | None) -> dict[str, int]:
        """The number of chunks of both that each term occurs in."""
        counts = self.count([(term,) for term in terms], readable).counts
        return {term: counts[term,] for term in terms}


def _first(values: Mapping[int, float], limit: int) -> list[tuple[int, float]]:
    """The greatest values, those of lower ids first among equal ones."""
    return sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]


class JoinedModelStore:
    """The models of the own library, which gets new vectors; searches cover both.

    A model is the same where its name and its dimensions are.
    """

    def __init__(self, own: ModelStore, shared: SharedSide) -> None:
        self._own = own
        self._shared = shared
        self.vectors, self.stored, self.answering = own.vectors, own.stored, own.answering
        self.answer, self.drop_unused = own.answer, own.drop_unused

    def search(self, model_id: int) -> "JoinedVectorSearch":
        """The search over the vectors of a model in both."""
        [row] = [row for row in self._own.stored() if row.model_id == model_id]
        return JoinedVectorSearch(self._own.search(model_id), row, self._shared)


class JoinedVectorSearch:
    """Search over the vectors of one model in both."""

    def __init__(self, own: VectorSearch, model: ModelRow, shared: SharedSide) -> None:
        self._own = own
        self._model = model
        self._shared = shared

    def nearest(
        self, query: NDArray[np.float32], limit: int, scope: Scope = EVERYWHERE
    ) -> VectorMatches:
        """The `limit` chunks of both most similar to a unit vector, best first."""
        nothing = _no_matches(len(query))
        begun = self._begin(scope, lambda there, part: there.nearest(query, limit, part), nothing)
        here = scope_here(scope)
        own = self._own.nearest(query, limit, here) if here else nothing
        found = _together(own, begun())
        order = np.lexsort((np.array(found.chunk_ids, np.int64), -found.similarities))[:limit]
        return VectorMatches(
            [found.chunk_ids[n] for n in order],
            found.similarities[order],
            found.vectors[order],
            found.window_similarities[order],
        )

    def compare(self, query: NDArray[np.float32], chunk_ids: Sequence[int]) -> VectorMatches:
        """The chunks that have a vector, in any order."""
        begun = self._begin(
            Scope(chunk_ids=tuple(chunk_ids)),
            lambda there, part: there.compare(query, part.chunk_ids or ()),
            _no_matches(len(query)),
        )
        return _together(self._own.compare(query, own_chunks(chunk_ids)), begun())

    def _begin(
        self,
        scope: Scope,
        search: Callable[[VectorSearch, Scope], VectorMatches],
        nothing: VectorMatches,
    ) -> Callable[[], VectorMatches]:
        model = self._model
        if (model.name, model.dimensions) not in self._shared.facts.models:
            return lambda: nothing

        def read(engine: Engine, part: Scope) -> VectorMatches:
            vectors = engine.models.vectors(model.name, model.dimensions)
            return search(engine.models.search(vectors.model_id), part)

        return begin_within(self._shared, scope, read, nothing)


def _no_matches(dimensions: int) -> VectorMatches:
    none = np.empty(0, np.float32)
    return VectorMatches([], none, np.empty((0, dimensions), np.float32), np.empty(0))


def _together(own: VectorMatches, other: VectorMatches) -> VectorMatches:
    if not other.chunk_ids:
        return own
    return VectorMatches(
        [*own.chunk_ids, *(chunk_id + OFFSET for chunk_id in other.chunk_ids)],
        np.concatenate([own.similarities, other.similarities]),
        np.concatenate([own.vectors, other.vectors]),
        np.concatenate([own.window_similarities, other.window_similarities]),
    )


K = TypeVar("K")


class JoinedDocumentStore(DocumentStore):
    """The documents of both, to be read; what is written is in the own library."""

    def __init__(self, own: DocumentStore, shared: SharedSide) -> None:
        super().__init__(own.database, own.stored_content, own.claims)
        self._own = own
        self._shared = shared

    def documents(
        self,
        source_id: str = "",
        state: DocumentState | None = None,
        readable: Readable | None = None,
    ) -> list[Document]:
        """All documents of both, or those of a source; by path, then part."""
        scope, found = Scope(readable=readable), list[Document]()
        begun = None
        if not source_id or is_shared(source_id):
            begun = begin_within(
                self._shared,
                scope,
                lambda e, part: e.documents.documents(id_there(source_id), state, part.readable),
                list[Document](),
            )
        if not is_shared(source_id) and (here := scope_here(scope)):
            found = self._own.documents(source_id, state, here.readable)
        if begun and (others := begun()):
            found = sorted(
                [*found, *map(shared_document, others)], key=lambda d: (str(d.path), d.part)
            )
        return found

    def counts(self, source_id: str = "", readable: Readable | None = None) -> DocumentCounts:
        """The number of files and web pages of both in each state, or of a source."""
        scope, found = Scope(readable=readable), DocumentCounts()
        begun = None
        if not source_id or is_shared(source_id):
            begun = begin_within(
                self._shared,
                scope,
                lambda e, part: e.documents.counts(id_there(source_id), part.readable),
                DocumentCounts(),
            )
        if not is_shared(source_id) and (here := scope_here(scope)):
            found = self._own.counts(source_id, here.readable)
        return DocumentCounts(_added(found.by_state, begun().by_state if begun else {}))

    def facets(self) -> LibraryFacets:
        """The formats and folders of the documents of both, with counts."""
        begun = self._shared.begin(lambda e: e.documents.facets(), LibraryFacets())
        own = self._own.facets()
        other = begun()
        return LibraryFacets(
            _added(own.formats, other.formats),
            _added(own.folders, other.folders),
            _added(own.formats_inside, other.formats_inside),
            _added(own.folders_inside, other.folders_inside),
        )

    def get(self, document_ids: Sequence[str]) -> list[Document]:
        """The rows of these documents, in any order."""
        asked = ids_there(document_ids)
        begun = None
        if asked:
            begun = self._shared.begin(lambda e: e.documents.get(asked), list[Document]())
        found = self._own.get(own_ids(document_ids))
        return [*found, *map(shared_document, begun() if begun else ())]

    def with_sites(self, documents: Sequence[Document]) -> list[Document]:
        """The documents with their addresses, which shared ones have already."""
        own = self._own.with_sites([d for d in documents if not is_shared(d.document_id)])
        addressed = {d.document_id: d for d in own}
        return [addressed.get(d.document_id, d) for d in documents]

    def parts(self, document_id: str) -> list[Document]:
        """The rows of the documents inside this one, in order of their parts."""
        if not is_shared(document_id):
            return self._own.parts(document_id)
        own_id = id_there(document_id)
        found = self._shared.begin(lambda e: e.documents.parts(own_id), list[Document]())()
        return list(map(shared_document, found))

    def content(self, document_id: str) -> tuple[str | None, str]:
        """The whole extracted text, and its places as stored."""
        if not is_shared(document_id):
            return self._own.content(document_id)
        own_id = id_there(document_id)
        nothing: tuple[str | None, str] = (None, "")
        return self._shared.begin(lambda e: e.documents.content(own_id), nothing)()

    def chunks(self, document_id: str) -> list[Chunk]:
        """The chunks of a document in reading order."""
        if not is_shared(document_id):
            return self._own.chunks(document_id)
        own_id = id_there(document_id)
        return self._shared.begin(lambda e: e.documents.chunks(own_id), list[Chunk]())()


class JoinedSourceStore(SourceStore):
    """The collections and sources of both; only those of the own library can be changed."""

    def __init__(self, own: SourceStore, shared: SharedSide) -> None:
        super().__init__(own.database, own.stored_content)
        self._own = own
        self._shared = shared

    def collections(self) -> list[domain.Collection]:
        """All collections, the shared ones last."""
        return [*self._own.collections(), *self._shared.facts.collections]

    def sources(self) -> list[Source]:
        """All sources but attached files, the shared ones last."""
        return [*self._own.sources(), *self._shared.facts.sources]


def _added(own: Mapping[K, int], other: Mapping[K, int]) -> dict[K, int]:
    """The sum of both for each key."""
    return {key: own.get(key, 0) + other.get(key, 0) for key in {**own, **other}}


def joined_engine(own: Engine, shared: SharedSide) -> Engine:
    """The stores of both as one engine; closing it closes the own library."""
    documents = JoinedDocumentStore(own.documents, shared)
    return replace(
        own,
        documents=documents,
        sources=JoinedSourceStore(own.sources, shared),
        lexical=JoinedLexicalStore(own.lexical, shared),
        names=JoinedNameStore(own.names, documents, shared),
        models=JoinedModelStore(own.models, shared),
    )
