"""Files whose text comes later, from elsewhere, such as recordings: a wing reads them.

The indexer asks here before it has a file parsed. Until its text is known a document waits. Any
thread.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from desktop_rag.core.domain import Document
from desktop_rag.core.parsed import ParsedDocument
from desktop_rag.core.settings import Settings
from desktop_rag.ingest.background.background_thread import BackgroundPart, PipelineCallbacks
from desktop_rag.models.answer_priority import FairShare
from desktop_rag.store.contract.documents import DocumentStore


class TextAwaited(Exception):  # noqa: N818  no error: the document goes on waiting
    """The text of a file is not known yet."""


@dataclass(frozen=True, slots=True)
class LateKit:
    """What fetching texts works with.

    `submit` queues documents whose text is known, or known to be none; `share` makes way for
    answers, and `may_run` for files that can be read at once.
    """

    documents: DocumentStore
    submit: Callable[[Sequence[str]], None]
    share: FairShare
    may_run: Callable[[], bool]
    callbacks: PipelineCallbacks


class LateTexts:
    """Takes no file. A wing overrides all of it."""

    # Begins the reason of files that are left out for now.
    reason = ""
    # True when texts can be fetched now.
    can_read = False

    def worker(self, _kit: LateKit) -> BackgroundPart | None:
        """What fetches the texts; called once."""
        return None

    def apply(self, _settings: Settings) -> bool:
        """Follow the settings; True when other files may be read than before."""
        return False

    def refusal(self, _name: str) -> str | None:
        """Why a scan leaves a file alone, by its name; "" to take it, None for other files."""
        return None

    def takes(self, _path: Path) -> bool:
        """True when the text of a file is fetched; OSError if the file is gone."""
        return False

    def read(self, _document: Document) -> ParsedDocument:
        """The text of a file that is taken.

        Raises ParseFailed when there is and will be none, TextAwaited when there is none yet.
        """
        raise NotImplementedError

    def is_awaited(self, _document: Document) -> bool:
        """True when the document already waits for its text."""
        return False

    def as_now(self, document: Document) -> Document:
        """The row with what it waits for."""
        return document

    def forget_content(self, _documents: DocumentStore) -> None:
        """Forget the texts of files that the store has no more."""
