"""The embedding models of the collections: the chosen one and the one that answers. Any worker
thread.

A collection has the model chosen for it, else that of the settings. Until all its passages have
vectors of that model, those of the model before answer; the store remembers which one that is.
"""

import logging
import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from desktop_rag.core import domain
from desktop_rag.core.errors import AppError
from desktop_rag.models.embedding.remote_embedder import is_address
from desktop_rag.models.ports import Embedder
from desktop_rag.store.contract.chunks import ChunkStore
from desktop_rag.store.contract.vectors import ModelRow, ModelStore, VectorStore

log = logging.getLogger(__name__)

# (spec, threads, dimensions): see EmbedderOpener.open.
OpenEmbedder = Callable[[str, int, int], Embedder]


@dataclass(frozen=True, slots=True)
class DenseIndex:
    """An embedder, the vectors it made, and where it was found."""

    embedder: Embedder
    vectors: VectorStore
    spec: str


@dataclass(frozen=True, slots=True)
class Assigned:
    """An index with the collections it is for; None is every one there is."""

    index: DenseIndex
    collection_ids: tuple[str, ...] | None


class EmbedderRegistry:
    """Opens models when they are first needed, and assigns them to collections."""

    def __init__(
        self,
        models: ModelStore,
        chunks: ChunkStore,
        collections: Callable[[], list[domain.Collection]],
        open_embedder: OpenEmbedder,
        *,
        default: str,
        threads: int,
    ) -> None:
        """`default` is the spec of the settings. Its embedder is opened at once; when it can't be,
        `fault` says why. Vectors that nobody needs any more are dropped.
        """
        self._models = models
        self.chunks = chunks
        self._collections = collections
        self._open = open_embedder
        self._default = default
        self._threads = threads
        self._lock = threading.Lock()
        self._loading = threading.Lock()
        self._embedders: dict[str, Embedder] = {}
        self._failed: dict[str, AppError] = {}
        self._wanted: dict[str, DenseIndex] = {}
        self._former: dict[int, DenseIndex | None] = {}
        self._retired: list[Embedder] = []
        models.drop_unused({default, *(c.embedder or default for c in collections())})
        self._answering = models.answering()
        self.embedder: Embedder | None = None
        self.fault: AppError | None = None
        try:
            self.embedder = self._embedder(default)
        except AppError as error:
            log.warning("no embedder: %s", error.title)
            self.fault = error

    def close(self) -> None:
        """Close connections; requests under way end soon."""
        former = [index.embedder for index in self._former.values() if index]
        for embedder in (*self._embedders.values(), *former, *self._retired):
            embedder.close()

    def set_threads(self, threads: int) -> None:
        """Set the number of threads; 0 uses every core."""
        self._threads = threads
        for embedder in list(self._embedders.values()):
            embedder.set_threads(threads)

    # --- who is for what -------------------------------------------------------------------------

    def wanted(self, skipped: Collection[str]) -> tuple[list[Assigned], dict[str, AppError]]:
        """The models that are to embed, and the errors of others by their spec. Loads new models.

        The specs in `skipped` are left out.
        """
        groups: dict[int, tuple[DenseIndex, list[str]]] = {}
        failures: dict[str, AppError] = {}
        collections = self._collections()
        for collection in collections:
            spec = collection.embedder or self._default
            if spec in skipped or spec in failures:
                continue
            try:
                index = self._wanted_index(spec)
            except AppError as error:
                failures[spec] = error
                continue
            group = groups.setdefault(index.vectors.model_id, (index, []))
            group[1].append(collection.collection_id)
        return _assigned(groups.values(), len(collections)), failures

    def answering(self) -> list[Assigned]:
        """The models that answer now, each for its collections; a collection without any is left
        out.
        """
        groups: dict[int, tuple[DenseIndex, list[str]]] = {}
        collections = self._collections()
        for collection in collections:
            index = self._answering_index(collection)
            if index is not None:
                group = groups.setdefault(index.vectors.model_id, (index, []))
                group[1].append(collection.collection_id)
        return _assigned(groups.values(), len(collections))

    def answering_model(self, collection_id: str) -> str:
        """The name of the model that answers for a collection, without its hash; "" for none."""
        row = self._answering.get(collection_id)
        return row.name.partition("@")[0] if row else ""

    def answering_for(self, collection: domain.Collection) -> DenseIndex | None:
        """The model that answers now for a collection."""
        return self._answering_index(collection)

    def check(self, spec: str) -> None:
        """AppError when there is no usable model at this spec. Loads it, or asks the endpoint."""
        with self._lock:
            self._failed.pop(spec, None)
        self._wanted_index(spec)

    def complete(self, assigned: Assigned) -> None:
        """Every passage of these collections has its vector: they answer from now on."""
        collections = self._collections()
        ids = assigned.collection_ids
        ids = tuple(c.collection_id for c in collections) if ids is None else ids
        model_id = assigned.index.vectors.model_id
        if any(self._answering_id(i) != model_id for i in ids):
            self._models.answer(model_id, ids)
            self._answering = self._models.answering()
        self._prune(collections)

    # --- opening ---------------------------------------------------------------------------------

    def _embedder(self, spec: str) -> Embedder:
        with self._loading:
            if error := self._failed.get(spec):
                raise error
            if spec not in self._embedders:
                try:
                    self._embedders[spec] = self._open(spec, self._threads, 0)
                except AppError as error:
                    self._failed[spec] = error
                    raise
            return self._embedders[spec]

    def _wanted_index(self, spec: str) -> DenseIndex:
        """AppError when the model can't be used; EmbedderFaultError when it can't just now."""
        if spec in self._wanted:
            return self._wanted[spec]
        embedder = self._embedder(spec)
        vectors = self._models.vectors(embedder.name, embedder.dimensions, spec)
        with self._lock:
            return self._wanted.setdefault(spec, DenseIndex(embedder, vectors, spec))

    def _answering_index(self, collection: domain.Collection) -> DenseIndex | None:
        if row := self._answering.get(collection.collection_id):
            for index in list(self._wanted.values()):
                if index.vectors.model_id == row.model_id:
                    return index
            if former := self._former_index(row):
                return former
        spec = collection.embedder or self._default
        if spec not in self._wanted and is_address(spec):
            # An endpoint is contacted in the background only: here a person waits for an answer.
            return None
        try:
            return self._wanted_index(spec)
        except AppError as error:
            log.info("no model for %s: %s", collection.name, error.title)
            return None

    def _former_index(self, row: ModelRow) -> DenseIndex | None:
        """The model that made these vectors, if it is still there unchanged."""
        if row.model_id not in self._former:
            try:
                found = self._find_former(row)
            except AppError as error:
                log.info("the model %s is not there any more: %s", row.name, error.title)
                found = None
            with self._lock:
                self._former.setdefault(row.model_id, found)
        return self._former[row.model_id]

    def _find_former(self, row: ModelRow) -> DenseIndex | None:
        if is_address(row.spec):
            embedder = self._open(row.spec, self._threads, row.dimensions)
        else:
            embedder = self._embedder(row.spec)
        if (embedder.name, embedder.dimensions) != (row.name, row.dimensions):
            return None
        return DenseIndex(embedder, self._models.vectors(row.name, row.dimensions), row.spec)

    # --- keeping what is needed ------------------------------------------------------------------

    def _answering_id(self, collection_id: str) -> int:
        row = self._answering.get(collection_id)
        return row.model_id if row else 0

    def _prune(self, collections: list[domain.Collection]) -> None:
        """Drop vectors of passages that are gone or that another model answers for."""
        opened = {i.vectors.model_id: i for i in self._former.values() if i}
        opened |= {i.vectors.model_id: i for i in self._wanted.values()}
        for model_id, index in opened.items():
            users = [
                c.collection_id
                for c in collections
                if self._answering_id(c.collection_id) == model_id
                or self._wanted.get(c.embedder or self._default) is index
            ]
            is_for_all = len(users) == len(collections)
            self.chunks.prune_vectors(model_id, None if is_for_all else users)
            if not users:
                self._retire(index)

    def _retire(self, index: DenseIndex) -> None:
        """Remove a model that no collection needs any more. A search may still be using it."""
        if index.embedder is self.embedder:
            return
        with self._lock:
            self._former.pop(index.vectors.model_id, None)
            if self._wanted.get(index.spec) is index:
                del self._wanted[index.spec]
            if self._embedders.get(index.spec) is index.embedder:
                del self._embedders[index.spec]
            if is_address(index.spec):
                self._retired.append(index.embedder)


def _assigned(groups: Iterable[tuple[DenseIndex, list[str]]], collections: int) -> list[Assigned]:
    return [
        Assigned(index, None if len(ids) == collections else tuple(ids)) for index, ids in groups
    ]
