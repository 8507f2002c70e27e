"""Indexes a folder before a measurement. Runs on the caller's thread."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_rag.core.domain import DocumentState
from desktop_rag.ingest.library import Library
from desktop_rag.waiting import Waiting

Say = Callable[[str], None]

_REPORT_S = 5.0
_UNREAD = (DocumentState.FAILED, DocumentState.SKIPPED)


@dataclass(frozen=True, slots=True)
class IndexFigures:
    """The cost of indexing: seconds in total and until words were searchable, and the passages."""

    seconds: float
    words_seconds: float
    passages: int

    def to_json(self) -> dict[str, Any]:
        """The keys of the command line."""
        return {
            "index_seconds": round(self.seconds, 2),
            "words_seconds": round(self.words_seconds, 2),
            "passages": self.passages,
        }


def index_folder(library: Library, folder: Path, say: Say) -> IndexFigures:
    """Add the folder to a started library, and wait until all of it is searchable.

    AppError when indexing stops, say because the disk is full. `say` hears how far it is.
    """
    with Waiting(library, say, report_s=_REPORT_S) as waiting:
        began_at = time.monotonic()
        library.sources.add(folder)
        waiting.until_idle()
        seconds = time.monotonic() - began_at
    documents = library.documents.all()
    figures = IndexFigures(
        seconds,
        max(0.0, library.indexing.searchable_at - began_at),
        sum(d.chunk_count for d in documents),
    )
    say(f"{figures.passages:,} passages of {len(documents):,} documents in {seconds:.1f} s")
    if unread := [d for d in documents if d.state in _UNREAD]:
        say(f"{len(unread):,} were not read, the first: {unread[0].name}: {unread[0].reason}")
    return figures
