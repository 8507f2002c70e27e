"""Who hears of what the library finds and does. Plain values, called on the threads behind it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from desktop_rag.core.domain import Document, Source
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import ChangeSummary, Notice


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who hears of what, on the threads of the pipeline.

    `documents`: rows that are new, changed or gone. `scanned`: what a look at a source found.
    `reached`: whether a source could be looked at. `told`: what the person should know.
    `stopped`: why everything has to hold. `rested`: a part has nothing left to do.
    """

    documents: Callable[[Sequence[Document]], None]
    scanned: Callable[[Source, ChangeSummary], None]
    reached: Callable[[Source, bool], None]
    told: Callable[[Notice], None]
    stopped: Callable[[AppError], None]
    rested: Callable[[], None] = lambda: None
