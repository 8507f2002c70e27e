"""The documents, sources and collections of two libraries. Any thread.

Whatever writes, and whatever serves the reading of files, is about the own library alone.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from desktop_rag.core.domain import Collection, Document, DocumentState, Source
from desktop_rag.core.library_events import DocumentCounts, LibraryFacets
from desktop_rag.core.parsed import Chunk
from desktop_rag.core.question import Readable
from desktop_rag.core.shared_library import id_there, is_shared
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.contract.sources import SourceStore
from desktop_rag.store.joined.shared_ids import (
    ids_there,
    own_ids,
    scope_here,
    shared_document,
)
from desktop_rag.store.joined.shared_side import SharedSide, begin_within

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
