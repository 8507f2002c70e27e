"""Records changes of the index from the events of the library. Runs on the library's threads."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from desktop_rag.activity.activity_event import IndexChange
from desktop_rag.activity.recorder import Recorder
from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.library_events import (
    ChangeSummary,
    DocumentsChanged,
    LibraryEvent,
    RequestRefused,
    SourceScanned,
)

_UNREAD = {DocumentState.WAITING, DocumentState.READING}


@dataclass
class _Reading:
    """The files of one source that are being read, and the numbers of those that were."""

    waiting: set[str] = field(default_factory=set[str])
    read: int = 0
    failed: int = 0
    skipped: int = 0


class LibraryRecorder:
    """One event for each scan with changes, and one when all files of a source have been read."""

    def __init__(self, recorder: Recorder, source_names: Callable[[], Mapping[str, str]]) -> None:
        """`source_names` returns the names of all sources by id."""
        self._recorder = recorder
        self._source_names = source_names
        self._lock = threading.Lock()
        self._readings: dict[str, _Reading] = {}

    def on_event(self, event: LibraryEvent) -> None:
        """Record an event of the library; most are none of its business."""
        match event:
            case SourceScanned(source_id=source_id, summary=summary) if not summary.is_empty:
                self._record_scan(source_id, summary)
            case DocumentsChanged(documents=documents):
                self._count(documents)
            case RequestRefused(url=url, reason=reason):
                self._recorder.refused("A web page was not fetched.", reason, url=url)
            case _:
                pass

    def _record_scan(self, source_id: str, summary: ChangeSummary) -> None:
        counts = (
            ("added", summary.added),
            ("changed", summary.changed),
            ("moved", summary.moved),
            ("removed", summary.gone),
        )
        self._recorder.index_change(self._name_of(source_id), IndexChange.SCANNED, counts)

    def _count(self, documents: Sequence[Document]) -> None:
        finished: dict[str, _Reading] = {}
        with self._lock:
            for document in documents:
                reading = self._readings.setdefault(document.source_id, _Reading())
                _follow(reading, document)
            for source_id, reading in list(self._readings.items()):
                if not reading.waiting:
                    finished[source_id] = self._readings.pop(source_id)
        for source_id, done in finished.items():
            counts = (("read", done.read), ("failed", done.failed), ("skipped", done.skipped))
            if any(number for _, number in counts):
                self._recorder.index_change(self._name_of(source_id), IndexChange.READ, counts)

    def _name_of(self, source_id: str) -> str:
        return self._source_names().get(source_id, "")


def _follow(reading: _Reading, document: Document) -> None:
    if document.state in _UNREAD:
        reading.waiting.add(document.document_id)
        return
    # Others change for other reasons, such as a vector.
    if document.document_id not in reading.waiting:
        return
    reading.waiting.discard(document.document_id)
    reading.read += document.state.is_searchable
    reading.failed += document.state is DocumentState.FAILED
    reading.skipped += document.state is DocumentState.SKIPPED
