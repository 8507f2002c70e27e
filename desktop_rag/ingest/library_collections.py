"""The collections of the library. Any worker thread."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from desktop_rag.core.domain import Collection, Source
from desktop_rag.core.errors import AppError
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.core.shared_library import SharedLibraryStatus, id_there, is_shared
from desktop_rag.ingest.library_sources import LibrarySources
from desktop_rag.ingest.pipeline import Findable, Pipeline
from desktop_rag.ingest.web.intranet_hosts import parse_intranet_hosts
from desktop_rag.store.contract.sources import SourceStore


class LibraryCollections:
    """Collections with their settings for chunking and embedding: `library.collections`."""

    def __init__(
        self,
        store: SourceStore,
        findable: Findable,
        sources: LibrarySources,
        pipeline: Pipeline,
    ) -> None:
        """`findable` has the collections of a shared library too."""
        self._store = store
        self._findable = findable
        self._sources = sources
        self._pipeline = pipeline

    def all(self) -> list[Collection]:
        """All collections, the oldest first."""
        return self._store.collections()

    def searchable(self) -> list[Collection]:
        """All that questions can be limited to: the own ones, then those of a shared library."""
        return self._findable.sources.collections()

    def searchable_sources(self) -> list[Source]:
        """The sources of these collections; only the own ones can be changed."""
        return self._findable.sources.sources()

    @property
    def shared_status(self) -> SharedLibraryStatus:
        """How the shared library is. Cheap."""
        return self._findable.status()

    def by_words_only(self) -> list[Collection]:
        """Those of a shared library that are not searched by meaning: their model is not here."""
        registry = self._pipeline.embedders
        ids = registry.by_words_only() if registry else ()
        return [c for c in self.searchable() if c.collection_id in ids]

    def find_searchable(self, name: str) -> Collection:
        """The collection of this name, an own one first; `shared:NAME` is of the shared library.

        AppError with the existing names when there is none.
        """
        every = self.searchable()
        shared = [c for c in every if is_shared(c.collection_id)]
        if is_shared(name) and (found := _named(shared, id_there(name))):
            return found
        return _named(every, name) or self.find(name)

    def find(self, name: str) -> Collection:
        """The collection of this name; AppError with the existing names when there is none."""
        found = _named(self.all(), name)
        if found is None:
            collections = self.searchable()
            names = ", ".join(f"“{c.name}”" for c in collections) or "none yet"
            raise AppError(f"There is no collection “{name}”.", f"Collections: {names}.")
        return found

    def find_or_add(self, name: str) -> Collection:
        """The collection of this name, added if there is none."""
        return _named(self.all(), name) or self.add(name)

    def add(self, name: str) -> Collection:
        """A new collection; AppError when the name is empty or taken."""
        return self._store.add_collection(name)

    def rename(self, collection_id: str, name: str) -> Collection:
        """Give it another name; AppError when that is empty or taken."""
        return self._store.rename_collection(collection_id, name)

    def remove(self, collection_id: str) -> None:
        """Remove the collection and its sources; files are not touched."""
        for source in [s for s in self._sources.all() if s.collection_id == collection_id]:
            self._sources.remove(source.source_id)
        self._store.remove_collection(collection_id)

    def set_members(self, collection_id: str, source_ids: AbstractSet[str]) -> dict[str, str]:
        """Make these sources its members; returns the former collection of each that moved, by id.

        Each source is in one collection: those that leave go to the oldest other one. Passages and
        vectors follow in the background where the settings differ.

        Raises:
            AppError: when a part of a source is in the collection already, or there is no other.
        """
        former: dict[str, str] = {}
        for source in self._sources.all():
            is_member = source.collection_id == collection_id
            is_wanted = source.source_id in source_ids
            if is_member != is_wanted:
                goal = collection_id if is_wanted else self._other_than(collection_id)
                self._sources.move(source.source_id, goal)
                former[source.source_id] = source.collection_id
        self._fit(former)
        return former

    def move_back(self, former: Mapping[str, str]) -> None:
        """Undo `set_members`: move each source to the collection that it was in."""
        for source_id, collection_id in former.items():
            self._sources.move(source_id, collection_id)
        self._fit(former)

    def _other_than(self, collection_id: str) -> str:
        others = [c.collection_id for c in self.all() if c.collection_id != collection_id]
        if not others:
            raise AppError(
                "There is no other collection.", "Make a new one first, or remove the folder."
            )
        return others[0]

    def _fit(self, moved: Mapping[str, str]) -> None:
        """Make passages and vectors as the settings of the new collections want them."""
        if moved:
            self._pipeline.rechunker.request()
            if self._pipeline.embedding:
                self._pipeline.embedding.reset()

    def set_chunking(self, collection_id: str, chunking: ChunkSettings) -> None:
        """Chunk its documents again in the background; the old chunks answer until then."""
        self._store.set_chunking(collection_id, chunking)
        self._pipeline.rechunker.request()

    def set_embedder(self, collection_id: str, embedder: str) -> None:
        """Embed its documents with another model in the background; the old vectors answer until
        then. AppError when the model can't be used.
        """
        registry, embedding = self._pipeline.embedders, self._pipeline.embedding
        if registry and embedder:
            registry.check(embedder)
        self._store.set_embedder(collection_id, embedder)
        if embedding:
            embedding.reset()

    def set_intranet_hosts(self, collection_id: str, hosts: Sequence[str]) -> Collection:
        """Let its links name these hosts outside the public internet; AppError for another text.

        Each is `host`, `host:port`, either with the network that its addresses are in, or a
        network, for addresses written as numbers. This lets the app reach what only this computer
        can reach: it is for the person who looks after it, not for those who add links.
        """
        return self._store.set_intranet_hosts(collection_id, parse_intranet_hosts(hosts))

    def answering_model(self, collection_id: str) -> str:
        """The model whose vectors are searched now, without its hash; "" when there is none."""
        registry = self._pipeline.embedders
        return registry.answering_model(collection_id) if registry else ""


def _named(collections: list[Collection], name: str) -> Collection | None:
    wanted = name.strip().casefold()
    return next((c for c in collections if c.name.casefold() == wanted), None)
