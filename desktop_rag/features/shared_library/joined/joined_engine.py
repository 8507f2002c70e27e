"""One library made of the person's own and a shared one, which is only read. Any thread.

Questions see both. What is written or personal, and the reading of files, is in the own library.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from hashlib import md5
from typing import Generic, TypeVar

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
    scope_here,
    scope_there,
    shared_chunks,
    shared_document,
    shared_passage,
)
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
    chosen_terms,
)
from desktop_rag.store.contract.sources import SourceStore
from desktop_rag.store.contract.vectors import ModelStore, VectorMatches, VectorSearch
from desktop_rag.store.sql.file_names import edits, plain, plain_name, squeezed, stem

S = TypeVar("S")
T = TypeVar("T")
K = TypeVar("K")
# More edits than any search by name allows.
_MANY_EDITS = 8


class _Both(Generic[S]):
    """One kind of store of both libraries."""

    def __init__(self, own: S, there: Callable[[Engine], S], shared: SharedSide) -> None:
        self._own = own
        self._there = there
        self._shared = shared

    def ask(
        self, scope: Scope, read: Callable[[S, Scope], T], nothing: T, of: str = ""
    ) -> tuple[T, T]:
        """What both say about their parts of a scope, the own first.

        A part that is surely empty gives `nothing`; with the id `of` a thing, the other library
        than its own does.
        """
        begun = None
        if not of or is_shared(of):
            begun = begin_within(
                self._shared, scope, lambda e, part: read(self._there(e), part), nothing
            )
        here = scope_here(scope) if not is_shared(of) else None
        found = read(self._own, here) if here else nothing
        return found, begun() if begun else nothing


class JoinedNameStore(NameStore):
    """Finds the documents of both by file name; `documents` are those of both."""

    def __init__(self, own: NameStore, documents: DocumentStore, shared: SharedSide) -> None:
        self._own = own
        self._documents = documents
        self._shared = shared
        self._both = _Both[NameStore](own, lambda e: e.names, shared)

    def matching(
        self,
        words: Collection[str],
        beginnings: Collection[str],
        pieces: Collection[str],
        scope: Scope,
        limit: int,
    ) -> tuple[list[NamedDocuments], int]:
        nothing: tuple[list[NamedDocuments], int] = ([], 0)
        (found, count), (others, count_there) = self._both.ask(
            scope,
            lambda names, part: names.matching(words, beginnings, pieces, part, limit),
            nothing,
        )
        if scope_here(scope) is None or not count_there:
            # The number of all includes a side that the scope leaves out.
            (_, count), (_, count_there) = self._both.ask(
                Scope(readable=scope.readable),
                lambda names, part: names.matching((), (), (), part, 0),
                nothing,
            )
        return _grouped(found, others, limit), count + count_there

    def spelled_in(self, text: str, scope: Scope, limit: int) -> list[tuple[str, str]]:
        found = self._paths(scope, lambda names, part: names.spelled_in(text, part, limit))
        return sorted(found, key=lambda pair: (-len(stem(plain_name(pair[1]))), pair[1]))[:limit]

    def spelled_like(self, name: str, scope: Scope, limit: int) -> list[tuple[str, str]]:
        wanted = squeezed(plain(name))

        def distance(path: str) -> int:
            return edits(squeezed(plain_name(path)), wanted, _MANY_EDITS)

        found = self._paths(scope, lambda names, part: names.spelled_like(name, part, limit))
        return sorted(found, key=lambda pair: (distance(pair[1]), pair[1]))[:limit]

    def completing(self, text: str, limit: int) -> list[str]:
        own, others = self._both.ask(
            EVERYWHERE, lambda names, _: names.completing(text, limit), list[str]()
        )
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
        own, others = self._both.ask(scope, lambda names, part: names.folders(part), list[str]())
        return sorted({*own, *others})

    def fingerprint(self, scope: Scope) -> str:
        own, other = self._both.ask(scope, lambda names, part: names.fingerprint(part), "")
        if scope_here(scope) is None:
            own = "0"
        if scope_there(scope) is None or not self._shared.facts.collections:
            return own
        return md5(f"{own} {other}".encode(), usedforsecurity=False).hexdigest() if other else ""

    def _paths(
        self, scope: Scope, find: Callable[[NameStore, Scope], list[tuple[str, str]]]
    ) -> list[tuple[str, str]]:
        own, others = self._both.ask(scope, find, [])
        return [*own, *((shared_id(document_id), path) for document_id, path in others)]


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


class JoinedLexicalStore(LexicalStore):
    """Ranks the chunks of both by words, with the scores of one library that has all chunks."""

    def __init__(self, own: LexicalStore, shared: SharedSide) -> None:
        self._both = _Both[LexicalStore](own, lambda e: e.lexical, shared)

    def count(self, words: Words, readable: Readable | None = None) -> WordCounts:
        own, other = self._both.ask(
            Scope(readable=readable),
            lambda lexical, part: lexical.count(words, part.readable),
            WordCounts(0, 0, dict.fromkeys(words, 0)),
        )
        return own.joined(other)

    def best(
        self, words: Words | Weights, limit: int, scope: Scope = EVERYWHERE
    ) -> list[tuple[int, float]]:
        weights = self._weights(words, scope.readable)
        own, other = self._both.ask(
            scope, lambda lexical, part: dict(lexical.best(weights, limit, part)), {}
        )
        return _first(own | shared_chunks(other), limit)

    def scores(self, words: Words | Weights, chunk_ids: Sequence[int]) -> dict[int, float]:
        weights = self._weights(words)
        own, other = self._both.ask(
            Scope(chunk_ids=tuple(chunk_ids)),
            lambda lexical, part: lexical.scores(weights, part.chunk_ids or ()),
            {},
        )
        return own | shared_chunks(other)

    def in_scope(self, chunk_ids: Sequence[int], scope: Scope) -> frozenset[int]:
        kept = scope.chunk_ids
        asked = tuple(i for i in chunk_ids if kept is None or i in kept)
        own, other = self._both.ask(
            replace(scope, chunk_ids=asked),
            lambda lexical, part: lexical.in_scope(
                part.chunk_ids or (), replace(part, chunk_ids=None)
            ),
            frozenset[int](),
        )
        return own | {chunk_id + OFFSET for chunk_id in other}

    def documents_of(self, chunk_ids: Sequence[int]) -> frozenset[str]:
        own, other = self._both.ask(
            Scope(chunk_ids=tuple(chunk_ids)),
            lambda lexical, part: lexical.documents_of(part.chunk_ids or ()),
            frozenset[str](),
        )
        return own | set(map(shared_id, other))

    def newest(self, limit: int, scope: Scope) -> dict[int, float]:
        own, other = self._both.ask(
            scope, lambda lexical, part: lexical.newest(limit, part), dict[int, float]()
        )
        return dict(_first(own | shared_chunks(other), limit))

    def languages(self, readable: Readable | None = None) -> Mapping[str, int]:
        nothing: Mapping[str, int] = {}
        total = _added(
            *self._both.ask(
                Scope(readable=readable),
                lambda lexical, part: lexical.languages(part.readable),
                nothing,
            )
        )
        return dict(sorted(total.items(), key=lambda pair: (-pair[1], pair[0])))

    def nearest_term(self, term: str, errors: int, readable: Readable | None = None) -> str:
        found = self._both.ask(
            Scope(readable=readable),
            lambda lexical, part: lexical.nearest_term(term, errors, part.readable),
            "",
        )
        named = set(filter(None, found))
        counts = self._counts(named, readable) if len(named) > 1 else dict.fromkeys(named, 0)
        return min(
            named, key=lambda known: (edits(term, known, errors), -counts[known], known), default=""
        )

    def terms_completing(
        self, word: str, limit: int, readable: Readable | None = None
    ) -> tuple[str, ...]:
        own, other = self._both.ask(
            Scope(readable=readable),
            lambda lexical, part: lexical.terms_completing(word, limit, part.readable),
            tuple[str, ...](),
        )
        return chosen_terms(self._counts({*own, *other}, readable), word, limit)

    def passages(self, scores: dict[int, float]) -> list[Passage]:
        own, other = self._both.ask(
            Scope(chunk_ids=tuple(scores)),
            lambda lexical, part: lexical.passages(dict.fromkeys(part.chunk_ids or (), 0.0)),
            list[Passage](),
        )
        found = [replace(p, score=scores[p.chunk_id]) for p in (*own, *map(shared_passage, other))]
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


class JoinedModelStore(ModelStore):
    """The models of the own library, which gets new vectors; searches cover both.

    A model is the same where its name and its dimensions are.
    """

    def __init__(self, own: ModelStore, shared: SharedSide) -> None:
        super().__init__(own.database, own.tables, own.opened)
        self._shared = shared

    def search(self, model_id: int) -> VectorSearch:
        own = super().search(model_id)
        [row] = [row for row in self.stored() if row.model_id == model_id]
        if (row.name, row.dimensions) not in self._shared.facts.models:
            return own

        def there(engine: Engine) -> VectorSearch:
            vectors = engine.models.vectors(row.name, row.dimensions)
            return engine.models.search(vectors.model_id)

        return JoinedVectorSearch(_Both(own, there, self._shared))


class JoinedVectorSearch:
    """Search over the vectors of one model in both."""

    def __init__(self, both: _Both[VectorSearch]) -> None:
        self._both = both

    def nearest(
        self, query: NDArray[np.float32], limit: int, scope: Scope = EVERYWHERE
    ) -> VectorMatches:
        """The `limit` chunks of both most similar to a unit vector, best first."""
        found = _together(
            *self._both.ask(
                scope,
                lambda search, part: search.nearest(query, limit, part),
                _no_matches(len(query)),
            )
        )
        order = np.lexsort((np.array(found.chunk_ids, np.int64), -found.similarities))[:limit]
        return VectorMatches(
            [found.chunk_ids[n] for n in order],
            found.similarities[order],
            found.vectors[order],
            found.window_similarities[order],
        )

    def compare(self, query: NDArray[np.float32], chunk_ids: Sequence[int]) -> VectorMatches:
        """The chunks that have a vector, in any order."""
        return _together(
            *self._both.ask(
                Scope(chunk_ids=tuple(chunk_ids)),
                lambda search, part: search.compare(query, part.chunk_ids or ()),
                _no_matches(len(query)),
            )
        )


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


class JoinedDocumentStore(DocumentStore):
    """The documents of both, to be read; what is written is in the own library."""

    def __init__(self, own: DocumentStore, shared: SharedSide) -> None:
        super().__init__(own.database, own.stored_content, own.claims)
        self._own = own
        self._shared = shared
        self._both = _Both(own, lambda e: e.documents, shared)

    def documents(
        self,
        source_id: str = "",
        state: DocumentState | None = None,
        readable: Readable | None = None,
    ) -> list[Document]:
        found, others = self._both.ask(
            Scope(readable=readable),
            lambda store, part: store.documents(id_there(source_id), state, part.readable),
            list[Document](),
            of=source_id,
        )
        if not others:
            return found
        every = [*found, *map(shared_document, others)]
        return sorted(every, key=lambda d: (str(d.path), d.part))

    def counts(self, source_id: str = "", readable: Readable | None = None) -> DocumentCounts:
        found, other = self._both.ask(
            Scope(readable=readable),
            lambda store, part: store.counts(id_there(source_id), part.readable),
            DocumentCounts(),
            of=source_id,
        )
        return DocumentCounts(_added(found.by_state, other.by_state))

    def facets(self) -> LibraryFacets:
        own, other = self._both.ask(EVERYWHERE, lambda store, _: store.facets(), LibraryFacets())
        return LibraryFacets(
            _added(own.formats, other.formats),
            _added(own.folders, other.folders),
            _added(own.formats_inside, other.formats_inside),
            _added(own.folders_inside, other.folders_inside),
        )

    def get(self, document_ids: Sequence[str]) -> list[Document]:
        found, others = self._both.ask(
            Scope(document_ids=tuple(document_ids)),
            lambda store, part: store.get(part.document_ids or ()),
            list[Document](),
        )
        return [*found, *map(shared_document, others)]

    def with_sites(self, documents: Sequence[Document]) -> list[Document]:
        own = self._own.with_sites([d for d in documents if not is_shared(d.document_id)])
        addressed = {d.document_id: d for d in own}
        return [addressed.get(d.document_id, d) for d in documents]

    def parts(self, document_id: str) -> list[Document]:
        found, others = self._of(document_id, lambda d, own_id: d.parts(own_id), list[Document]())
        return [*found, *map(shared_document, others)]

    def content(self, document_id: str) -> tuple[str | None, str]:
        nothing: tuple[str | None, str] = (None, "")
        found, other = self._of(document_id, lambda d, own_id: d.content(own_id), nothing)
        return other if is_shared(document_id) else found

    def chunks(self, document_id: str) -> list[Chunk]:
        found, others = self._of(document_id, lambda d, own_id: d.chunks(own_id), list[Chunk]())
        return [*found, *others]

    def _of(
        self, document_id: str, read: Callable[[DocumentStore, str], T], nothing: T
    ) -> tuple[T, T]:
        """What the library of a document says about it; nothing from the other one."""
        own_id = id_there(document_id)
        return self._both.ask(
            EVERYWHERE, lambda store, _: read(store, own_id), nothing, of=document_id
        )


class JoinedSourceStore(SourceStore):
    """The collections and sources of both; only those of the own library can be changed."""

    def __init__(self, own: SourceStore, shared: SharedSide) -> None:
        super().__init__(own.database, own.stored_content)
        self._shared = shared

    def collections(self) -> list[domain.Collection]:
        return [*super().collections(), *self._shared.facts.collections]

    def sources(self) -> list[Source]:
        return [*super().sources(), *self._shared.facts.sources]


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
