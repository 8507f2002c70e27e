"""What is indexed, what waits and what failed, for other programs. Worker threads."""

from collections import Counter
from importlib.metadata import version
from typing import Any

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.rest.readable_library import ReadableLibrary
from desktop_rag.ingest.library import Library

_MOST_FAULTS = 100


class StatusCalls:
    """Tells how far indexing is, with the numbers of what the caller may read."""

    def __init__(self, library: Library, readable: ReadableLibrary) -> None:
        self._library = library
        self._readable = readable

    def status(self, caller: Caller) -> dict[str, Any]:
        """The state of indexing and of the documents; no name of what is being read.

        The stage is that of the whole library, and so not for everyone.
        """
        indexing = self._library.indexing
        documents = [d for d in self._readable.documents(caller) if not d.parent_id]
        states = Counter(document.state for document in documents)
        failed = [d for d in documents if d.state is DocumentState.FAILED]
        return {
            "version": version("desktop-rag"),
            "stage": "" if caller.is_limited else indexing.progress().stage.value,
            "is_paused": indexing.is_paused,
            "documents": len(documents),
            "searchable": sum(n for state, n in states.items() if state.is_searchable),
            "waiting": states[DocumentState.WAITING] + states[DocumentState.READING],
            "pictures_waiting": sum(document.pictures_waiting for document in documents),
            "failed": len(failed),
            "states": {state.value: n for state, n in states.items()},
            "faults": [_fault(document) for document in failed[:_MOST_FAULTS]],
        }


def _fault(document: Document) -> dict[str, Any]:
    return {
        "id": document.document_id,
        "title": document.title or document.name,
        "reason": document.reason,
    }
