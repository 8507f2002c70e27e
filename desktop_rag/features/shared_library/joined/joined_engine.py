"""One library made of the own one and a shared one, which is only read.

Questions see both; whatever is written or personal is in the own library.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from desktop_rag.core.domain import Collection, Document, DocumentState, Source
from desktop_rag.core.library_events import DocumentCounts, LibraryFacets
from desktop_rag.core.parsed import Chunk
from desktop_rag.core.question import Readable
from desktop_rag.core.shared_library import id_there, is_shared
from desktop_rag.features.shared_library.joined.joined_lexical import JoinedLexicalStore
from desktop_rag.features.shared_library.joined.joined_names import JoinedNameStore
from desktop_rag.features.shared_library.joined.shared_ids import (
    OFFSET,
    SharedSide,
    begin_within,
    ids_there,
    own_chunks,
    own_ids,
    scope_here,
    shared_document,
)
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import EVERYWHERE, Scope
from desktop_rag.store.contract.sources import SourceStore
from desktop_rag.store.contract.vectors import ModelRow, ModelStore, VectorMatches, VectorSearch

# Searches the vectors of the same model in two libraries. Any thread.
#
# A model is the same where its name and its dimensions are. Vectors are added to the own library.


class JoinedModelStore:
    """The models of the own library, whose searches cover both."""

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
    """Search over the vectors of one model."""

    def __init__(self, own: VectorSearch, model: ModelRow, shared: SharedSide) -> None:
        self._own = own
        self._model = model
        self._shared = shared

    def nearest(
        self, query: NDArray[np.float32], limit: int, scope: Scope = EVERYWHERE
    ) -> VectorMatches:
        """The `limit` chunks of both most similar to a unit vector, best first."""
        nothing = _no_matches(len(query))
        begun = (
            begin_within(
                self._shared,
                scope,
                lambda e, part: self._there(e).nearest(query, limit, part),
                nothing,
            )
            if self._is_there
            else (lambda: nothing)
        )
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
        nothing = _no_matches(len(query))
        begun = (
            begin_within(
                self._shared,
                Scope(chunk_ids=tuple(chunk_ids)),
                lambda e, part: self._there(e).compare(query, part.chunk_ids or ()),
                nothing,
            )
            if self._is_there
            else (lambda: nothing)
        )
        return _together(self._own.compare(query, own_chunks(chunk_ids)), begun())

    @property
    def _is_there(self) -> bool:
        return (self._model.name, self._model.dimensions) in self._shared.facts.models

    def _there(self, engine: Engine) -> VectorSearch:
        vectors = engine.models.vectors(self._model.name, self._model.dimensions)
        return engine.models.search(vectors.model_id)


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


# The documents, sources and collections of two libraries. Any thread.
#
# Whatever writes, and whatever serves the reading of files, is about the own library alone.

K = TypeVar("K")


class JoinedDocumentStore:
    """The documents of both, to be read."""

    def __init__(self, own: DocumentStore, shared: SharedSide) -> None:
        self._own = own
        self._shared = shared
        self.claims = own.claims
        self.known_files, self.read_files = own.known_files, own.read_files
        self.outdated, self.changes_since = own.outdated, own.changes_since
        self.with_reason, self.content_hashes = own.with_reason, own.content_hashes
        self.apply_changes, self.settle, self.recut = own.apply_changes, own.settle, own.recut
        self.requeue, self.requeue_failed = own.requeue, own.requeue_failed
        self.requeue_older_than = own.requeue_older_than
        self.count_orphans, self.count_inconsistent = own.count_orphans, own.count_inconsistent
        self.purge_orphans = own.purge_orphans
        self.counts_by_source, self.of_sources = own.counts_by_source, own.of_sources

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
        """The formats and folders of the documents of both, with their numbers."""
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
        """The documents with their addresses; those from there have them already."""
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

    def text(self, document_id: str) -> str | None:
        """The whole extracted text; None for a document without text, or an unknown one."""
        return self.content(document_id)[0]

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


class JoinedSourceStore:
    """The collections and sources of both; only those of the own library can be changed."""

    def __init__(self, own: SourceStore, shared: SharedSide) -> None:
        self._own = own
        self._shared = shared
        self.add_collection, self.default_collection = own.add_collection, own.default_collection
        self.rename_collection, self.remove_collection = (
            own.rename_collection,
            own.remove_collection,
        )
        self.set_chunking, self.set_embedder = own.set_chunking, own.set_embedder
        self.set_intranet_hosts, self.set_collection = own.set_intranet_hosts, own.set_collection
        self.add_source, self.add_links = own.add_source, own.add_links
        self.add_program, self.add_attached = own.add_program, own.add_attached
        self.attached_ids, self.set_path, self.set_rules = (
            own.attached_ids,
            own.set_path,
            own.set_rules,
        )
        self.set_links, self.set_base_address = own.set_links, own.set_base_address
        self.set_refreshed, self.remove_source = own.set_refreshed, own.remove_source
        self.set_put_away = own.set_put_away

    def collections(self) -> list[Collection]:
        """All collections, those from there last."""
        return [*self._own.collections(), *self._shared.facts.collections]

    def sources(self) -> list[Source]:
        """All sources but attached files, those from there last."""
        return [*self._own.sources(), *self._shared.facts.sources]


def _added(own: Mapping[K, int], other: Mapping[K, int]) -> dict[K, int]:
    """The sum of both for each key."""
    return {key: own.get(key, 0) + other.get(key, 0) for key in {**own, **other}}


def joined_engine(own: Engine, shared: SharedSide) -> Engine:
    """The stores of both as those of one; closing it closes the own one."""
    documents = JoinedDocumentStore(own.documents, shared)
    return replace(
        own,
        documents=documents,
        sources=JoinedSourceStore(own.sources, shared),
        lexical=JoinedLexicalStore(own.lexical, shared),
        names=JoinedNameStore(own.names, documents, shared),
        models=JoinedModelStore(own.models, shared),
    )
