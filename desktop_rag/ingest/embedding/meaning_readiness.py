"""Says in an answer that the search by meaning is not ready yet. Any worker thread."""

from collections.abc import Callable

from desktop_rag.core.domain import DocumentState
from desktop_rag.core.language.model_languages import ENGLISH_MODEL, question_language
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.ingest.embedding.embedder_registry import EmbedderRegistry
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.scope import Scope
from desktop_rag.store.contract.sources import SourceStore


class MeaningReadiness:
    """Compares what a question may find with what has vectors."""

    def __init__(
        self,
        documents: DocumentStore,
        sources: SourceStore,
        embedders: EmbedderRegistry | None,
        is_at_rest: Callable[[], bool],
    ) -> None:
        """Without `embedders` there will be no vectors. `is_at_rest` is true when nothing is left
        to be embedded.
        """
        self._documents = documents
        self._sources = sources
        self._embedders = embedders
        self._is_at_rest = is_at_rest

    def missing(self, scope: Scope, question: str) -> tuple[str, ...]:
        """A sentence for the answer to a question, none when all of the scope has vectors."""
        embedders = self._embedders
        if embedders is None or embedders.embedder is None or scope.attached:
            return ()
        counts = self._counts(scope)
        if counts.of(DocumentState.SEARCHABLE_BY_WORDS):
            return (
                tr(
                    "Search by meaning is not ready yet ({ready:,} of {files}); answers get better"
                    " when it is.",
                    ready=counts.of(DocumentState.SEARCHABLE),
                    files=count_of(counts.searchable + counts.unread, tr("file"), tr("files")),
                ),
            )
        if question_language(question) in ENGLISH_MODEL or self._is_at_rest():
            return ()
        if embedders.lacks_companions():
            return (
                tr(
                    "English documents can't be searched in other languages yet; they can in a"
                    " few minutes."
                ),
            )
        return ()

    def _counts(self, scope: Scope) -> DocumentCounts:
        if scope.document_ids is not None:
            states = [d.state for d in self._documents.get(scope.document_ids)]
            return DocumentCounts({state: states.count(state) for state in set(states)})
        if scope.collection_ids is None:
            return self._documents.counts(readable=scope.readable)
        found: dict[DocumentState, int] = {}
        for source in self._sources.sources():
            if source.collection_id in scope.collection_ids:
                own = self._documents.counts(source.source_id, scope.readable).by_state
                for state, count in own.items():
                    found[state] = found.get(state, 0) + count
        return DocumentCounts(found)
