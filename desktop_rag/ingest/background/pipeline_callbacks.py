"""Callbacks of the indexing pipeline. They run on the pipeline's threads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from desktop_rag.core.domain import Document, Source
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import ChangeSummary, Notice, RequestRefused


@dataclass(frozen=True, slots=True)
class PipelineCallbacks:
    """Functions that the parts of the pipeline call when something happens.

    `documents_changed`: rows are new, changed or gone. `source_scanned`: a scan finished.
    `source_reached`: a source was reachable, or not. `notify`: show a notice to the person.
    `failed`: an error stops all indexing. `became_idle`: a part has nothing left to do.
    `refused`: a web page was not fetched because that is forbidden.
    """

    documents_changed: Callable[[Sequence[Document]], None]
    source_scanned: Callable[[Source, ChangeSummary], None]
    source_reached: Callable[[Source, bool], None]
    notify: Callable[[Notice], None]
    failed: Callable[[AppError], None]
    became_idle: Callable[[], None] = lambda: None
    refused: Callable[[RequestRefused], None] = lambda _: None
