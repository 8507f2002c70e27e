"""The embedding models of the collections: the chosen one and the one that answers.

Any worker thread. A collection has the model chosen for it, else that of the settings. Until all
its passages have vectors of that model, those of the model before answer; the store remembers which
one that is. The bundled model is two: one for English, and one for many languages, which embeds
English too, so that a question in another language finds it.
"""

import logging
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto

from desktop_rag.core import domain
from desktop_rag.core.domain import DocumentState
from desktop_rag.core.errors import AppError, put_off
from desktop_rag.core.language.languages import (
    ENGLISH_MODEL,
    MULTILINGUAL_MODEL,
    QUESTIONS_OF_ENGLISH_MODEL,
    QUESTIONS_OF_MULTILINGUAL_MODEL,
    question_language,
)
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.models.embedding.joined_embedding import BUNDLED, BUNDLED_MULTILINGUAL
from desktop_rag.models.embedding.remote_embedder import is_address
from desktop_rag.models.ports import Embedder
from desktop_rag.store.contract.chunks import ChunkStore, Coverage
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.search import Scope
from desktop_rag.store.contract.sources import SourceStore
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


class Part(Enum):
    """What an index is for a collection.

    MAIN makes the collection answer by it. BESIDE is for the languages that the main one does not
    read. COMPANION embeds what the main one embeds too, afterwards.
    """

    MAIN = auto()
    BESIDE = auto()
    COMPANION = auto()


@dataclass(frozen=True, slots=True)
class Assigned:
    """An index with the documents that it embeds."""

    index: DenseIndex
    coverage: Coverage
    part: Part = Part.MAIN


@dataclass(frozen=True, slots=True)
class Answering:
    """An index, its collections and the languages of questions it understands; None is all."""

    index: DenseIndex
    collection_ids: tuple[str, ...] | None
    questions: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be embedded; what no model reads; and the errors of models by their spec."""

    assigned: list[Assigned]
    unread: Coverage
    failures: dict[str, AppError]


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
        elsewhere: Callable[[], Mapping[str, ModelRow | None]] = dict[str, ModelRow | None],
    ) -> None:
        """`default` is the spec of the settings. Its embedder is opened at once; when it can't be,
        `fault` says why. Vectors that nobody needs any more are dropped. `elsewhere` gives
        collections that are searched but not embedded here, each with the model that answers there.
        """
        self._models = models
        self.chunks = chunks
        self._collections = collections
        self._open = open_embedder
        self._default = default
        self._threads = threads
        self._elsewhere = elsewhere
        self._lock = threading.Lock()
        self._loading = threading.Lock()
        self._embedders: dict[str, Embedder] = {}
        self._failed: dict[str, AppError] = {}
        self._wanted: dict[str, DenseIndex] = {}
        self._former: dict[int, DenseIndex | None] = {}
        self._retired: list[Embedder] = []
        chosen = {default, *(c.embedder or default for c in collections())}
        with put_off("vectors of models that nobody chose"):
            models.drop_unused({each for spec in chosen for each, _, _ in _parts(spec)})
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

    # --- assigning models ------------------------------------------------------------------------

    def wanted(self, skipped: Collection[str]) -> Wanted:
        """The models that are to embed. Loads new models; specs in `skipped` are left out."""
        groups: dict[str, list[str]] = {}
        failures: dict[str, AppError] = {}
        collections = self._collections()
        for collection in collections:
            groups.setdefault(collection.embedder or self._default, []).append(
                collection.collection_id
            )
        assigned: list[Assigned] = []
        for spec, ids in groups.items():
            which = None if len(ids) == len(collections) else tuple(ids)
            for each, languages, part in _parts(spec):
                if each in skipped or each in failures:
                    continue
                try:
                    index = self._wanted_index(each)
                except AppError as error:
                    failures[each] = error
                    continue
                assigned.append(Assigned(index, Coverage(which, languages), part))
        bundled = tuple(groups.get(BUNDLED, ()))
        unread = Coverage(bundled, but_languages=MULTILINGUAL_MODEL)
        return Wanted(assigned, unread, failures)

    def answering(self) -> list[Answering]:
        """The models that answer now, with their collections; English before multilingual."""
        groups: dict[int, tuple[DenseIndex, list[str]]] = {}
        collections = self._collections()
        for collection in collections:
            index = self._answering_index(collection)
            if index is not None:
                group = groups.setdefault(index.vectors.model_id, (index, []))
                group[1].append(collection.collection_id)
        others = self._elsewhere()
        for collection_id, row in others.items():
            if row and (index := self._index_of(row)):
                group = groups.setdefault(index.vectors.model_id, (index, []))
                group[1].append(collection_id)
        found: list[Answering] = []
        for index, ids in groups.values():
            which = None if len(ids) == len(collections) + len(others) else tuple(ids)
            second = self._multilingual() if index.spec == BUNDLED else None
            found.append(Answering(index, which, QUESTIONS_OF_ENGLISH_MODEL if second else None))
            if second:
                found.append(Answering(second, which, QUESTIONS_OF_MULTILINGUAL_MODEL))
        return found

    def reads(self, language: str) -> bool:
        """True when a model that answers now, if any does, understands questions in a language."""
        answering = self.answering()
        understood = (each.questions for each in answering)
        return not answering or any(known is None or language in known for known in understood)

    def lacks_companions(self) -> bool:
        """True while English documents lack vectors of the multilingual model."""
        index = self._wanted.get(BUNDLED_MULTILINGUAL)
        users = tuple(
            c.collection_id for c in self._collections() if (c.embedder or self._default) == BUNDLED
        )
        if index is None or not users:
            return False
        coverage = Coverage(users, ENGLISH_MODEL)
        return self.chunks.vector_counts(index.vectors.model_id, coverage)[1] > 0

    def by_words_only(self) -> list[str]:
        """The collections elsewhere whose model is not available here."""
        others = self._elsewhere()
        return [key for key, row in others.items() if not (row and self._index_of(row))]

    def _index_of(self, row: ModelRow) -> DenseIndex | None:
        """The index of the same model here; none that would have to be fetched first."""
        if self._default not in self._wanted and not is_address(self._default):
            with suppress(AppError):
                self._wanted_index(self._default)
        for index in list(self._wanted.values()):
            if (index.embedder.name, index.embedder.dimensions) == (row.name, row.dimensions):
                return index
        return None

    def _multilingual(self) -> DenseIndex | None:
        try:
            return self._wanted_index(BUNDLED_MULTILINGUAL)
        except AppError as error:
            log.info("no multilingual model: %s", error.title)
            return None

    def answering_model(self, collection_id: str) -> str:
        """The name of the model that answers for a collection, without its hash; "" for none."""
        row = self._answering.get(collection_id)
        return row.name.partition("@")[0] if row else ""

    def answering_for(self, collection: domain.Collection, language: str) -> DenseIndex | None:
        """The model that answers now for documents of a collection in this language."""
        index = self._answering_index(collection)
        if index is None or index.spec != BUNDLED or language in ENGLISH_MODEL:
            return index
        return self._multilingual() if language in MULTILINGUAL_MODEL else None

    def check(self, spec: str) -> None:
        """Load the model of this spec, or ask its endpoint; AppError when it isn't usable."""
        with self._lock:
            self._failed.pop(spec, None)
        self._wanted_index(spec)

    def complete(self, assigned: Assigned) -> None:
        """Let the model answer from now on: all passages of these documents have their vectors."""
        collections = self._collections()
        ids = assigned.coverage.collection_ids
        ids = tuple(c.collection_id for c in collections) if ids is None else ids
        model_id = assigned.index.vectors.model_id
        is_main = assigned.part is Part.MAIN
        if is_main and any(self._answering_id(i) != model_id for i in ids):
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

    def bundled(self, spec: str) -> Embedder:
        """A bundled model, opened at its first use; AppError when its files can't be used."""
        return self._embedder(spec)

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

    # --- dropping unused models ------------------------------------------------------------------

    def _answering_id(self, collection_id: str) -> int:
        row = self._answering.get(collection_id)
        return row.model_id if row else 0

    def _prune(self, collections: list[domain.Collection]) -> None:
        """Drop vectors of passages that are gone or that another model answers for."""
        opened = {i.vectors.model_id: i for i in self._former.values() if i}
        opened |= {i.vectors.model_id: i for i in self._wanted.values()}
        for model_id, index in opened.items():
            users = tuple(c.collection_id for c in collections if self._is_used(index, c))
            languages = ENGLISH_MODEL if index.spec == BUNDLED else None
            which = None if len(users) == len(collections) else users
            self.chunks.prune_vectors(model_id, Coverage(which, languages))
            if not users:
                self._retire(index)

    def _is_used(self, index: DenseIndex, collection: domain.Collection) -> bool:
        """True when the index answers for the collection, or is to."""
        spec = collection.embedder or self._default
        row = self._answering.get(collection.collection_id)
        if index.spec == BUNDLED_MULTILINGUAL and BUNDLED in (spec, row.spec if row else None):
            return True
        return self._wanted.get(spec) is index or (
            row is not None and row.model_id == index.vectors.model_id
        )

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


def _parts(spec: str) -> list[tuple[str, frozenset[str] | None, Part]]:
    """The models that a spec stands for, with the languages of the documents that each embeds.

    The main one is the last of those that make documents searchable: once it is done, all are.
    """
    if spec != BUNDLED:
        return [(spec, None, Part.MAIN)]
    return [
        (BUNDLED_MULTILINGUAL, MULTILINGUAL_MODEL - ENGLISH_MODEL, Part.BESIDE),
        (BUNDLED, ENGLISH_MODEL, Part.MAIN),
        (BUNDLED_MULTILINGUAL, ENGLISH_MODEL, Part.COMPANION),
    ]


# A question waits for so many passages to be embedded, about half a second.
_EMBEDDED_FIRST = 24


class MeaningReadiness:
    """Says in an answer that search by meaning is not ready yet, and gives the passages that a
    question is about by its words their vectors before all others. Any worker thread.
    """

    def __init__(
        self,
        documents: DocumentStore,
        sources: SourceStore,
        embedders: EmbedderRegistry | None,
        is_at_rest: Callable[[], bool],
    ) -> None:
        """Without `embedders` there are no vectors; `is_at_rest` when none is left to be made."""
        self._documents = documents
        self._sources = sources
        self._embedders = embedders
        self._is_at_rest = is_at_rest

    def missing(self, scope: Scope, question: str) -> tuple[str, ...]:
        """A sentence for the answer to a question, none when all of the scope has vectors."""
        embedders = self._embedders
        if embedders is None or embedders.embedder is None or scope.attached:
            return ()
        if self._counts(scope).of(DocumentState.SEARCHABLE_BY_WORDS):
            return (tr("Search by meaning is not ready yet; answers get better when it is."),)
        language = question_language(question)
        if not embedders.reads(language):
            return (
                tr(
                    "No model here reads the language of this question: only its words were"
                    " compared."
                ),
            )
        if language in ENGLISH_MODEL or self._is_at_rest():
            return ()
        if embedders.lacks_companions():
            return (
                tr(
                    "English documents can't be searched in other languages yet; they can in a"
                    " few minutes."
                ),
            )
        return ()

    def embed_first(self, best: Callable[[int], Sequence[domain.Passage]]) -> None:
        """Embed what of these many `best` passages has no vector yet; what fails is left."""
        embedders = self._embedders
        if embedders is None or embedders.embedder is None:
            return
        if not self._documents.counts().of(DocumentState.SEARCHABLE_BY_WORDS):
            return
        spans: dict[str, set[tuple[int, int]]] = {}
        for passage in best(_EMBEDDED_FIRST):
            spans.setdefault(passage.document_id, set()).add((passage.start, passage.end))
        collections = {c.collection_id: c for c in self._sources.collections()}
        homes = {s.source_id: collections.get(s.collection_id) for s in self._sources.sources()}
        missing: dict[int, tuple[DenseIndex, dict[str, str]]] = {}
        for document in self._documents.get(list(spans)):
            home = homes.get(document.source_id)
            index = home and embedders.answering_for(home, document.language)
            if not index or is_address(index.spec):
                continue  # another computer's model may be away, or cost
            chunks = self._documents.chunks(document.document_id)
            texts = {
                chunk.content_hash: chunk.embedded_text
                for chunk in chunks
                if (chunk.start, chunk.end) in spans[document.document_id]
            }
            missing.setdefault(index.vectors.model_id, (index, {}))[1].update(texts)
        for index, texts in missing.values():
            if lacking := sorted(index.vectors.missing(list(texts))):
                with suppress(AppError):
                    vectors = index.embedder.embed_passages([texts[each] for each in lacking])
                    index.vectors.add(lacking, vectors)

    def _counts(self, scope: Scope) -> DocumentCounts:
        if scope.document_ids is not None:
            states = [d.state for d in self._documents.get(scope.document_ids)]
            return DocumentCounts({state: states.count(state) for state in set(states)})
        if scope.collection_ids is None:
            return self._documents.counts(readable=scope.readable)
        return DocumentCounts.sum_of(
            self._documents.counts(source.source_id, scope.readable)
            for source in self._sources.sources()
            if source.collection_id in scope.collection_ids
        )
