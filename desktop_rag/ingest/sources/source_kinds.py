"""Kinds of sources: each keeps the documents of its sources as what is there. Any thread.

Folders and what programs send are kinds of the core. A wing adds one that fetches, such as web
pages, by the hook `sources`: it lists what a source has, with what tells a change (a time, an
ETag, a version), fetches what is new or changed into a file below `Source.path`, stores its row
and has the indexer read it. What can't be reached is offline, and never deleted.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Protocol

from desktop_rag.core.crawling import CrawlReport
from desktop_rag.core.domain import LINKS, ON_DISK, PROGRAM, Source, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.ingest.background.background_thread import BackgroundPart, PipelineCallbacks
from desktop_rag.ingest.indexing.indexer import Indexer
from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.registry import hooks
from desktop_rag.store.contract.database import Database
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.sources import SourceStore


@dataclass(frozen=True, slots=True)
class SourceKit:
    """What a kind works with. `storage` is for rows of its own, `folder` has one per source."""

    documents: DocumentStore
    sources: SourceStore
    storage: Database
    indexer: Indexer
    callbacks: PipelineCallbacks
    make_parser: Callable[[], ParserProcess]
    folder: Path


class SourceKind(Protocol):
    """A queue of sources to look at, and the thread that does."""

    def start(self) -> None:
        """Begin, also with what an earlier run left."""
        ...

    def close(self) -> None:
        """End the work under way; the next start finds the rest. Idempotent."""
        ...

    def set_paused(self, is_paused: bool) -> None:
        """Pause after the piece of work under way, or resume."""
        ...

    @property
    def is_idle(self) -> bool:
        """True when no source is due or being looked at."""
        ...

    def request(self, source: Source, places: frozenset[Path] | None = None, /) -> None:
        """Compare a source, or only these places of it, with what is there."""
        ...

    def forget(self, source_id: str) -> None:
        """Stop looking at a removed source, and delete what was kept for it."""
        ...


class FetchingKind(BackgroundPart, ABC):
    """A kind that fetches documents, on a schedule of its own."""

    @abstractmethod
    def request(self, source: Source, places: frozenset[Path] | None = None, /) -> None:
        """Fetch what is new or changed now."""

    @abstractmethod
    def forget(self, source_id: str) -> None:
        """As `SourceKind.forget`."""

    @abstractmethod
    def stop(self, source_id: str) -> None:
        """End the fetching of a source where it is; what was read stays."""

    @abstractmethod
    def release(self) -> None:
        """Free what is made again when it is needed."""

    @property
    @abstractmethod
    def reports(self) -> Mapping[str, CrawlReport]:
        """The report on fetching each source, so far or at the end, by the source's id."""


class LinkKind(FetchingKind):
    """Fetches web pages. What a person typed is checked here; AppError says what is wrong."""

    @abstractmethod
    def checked(self, links: WebLinks) -> WebLinks:
        """The links as they are kept."""

    @abstractmethod
    def checked_base(self, address: str) -> str:
        """The address of a mirrored site as it is kept; "" for none."""

    @abstractmethod
    def checked_hosts(self, lines: Sequence[str]) -> tuple[str, ...]:
        """Hosts of the local network as they are kept."""

    @abstractmethod
    def refused(
        self, urls: Sequence[str], collection_id: str, cancel: Event
    ) -> list[tuple[str, str]]:
        """The first addresses that can't be fetched now, each with its reason."""


MakeKind = Callable[[SourceKit], FetchingKind]


class SourceScans:
    """Sends each source to its kind. That of a wing is made when a source first needs it."""

    def __init__(
        self,
        scanner: SourceKind,
        sent: SourceKind,
        kit: SourceKit,
        *,
        forgotten: Callable[[], None],
    ) -> None:
        """`forgotten` is called when the documents of a source are gone."""
        self._kinds = {ON_DISK: scanner, PROGRAM: sent}
        self._fetching: dict[str, FetchingKind] = {}
        self._kit = kit
        self._forgotten = forgotten
        self._makers: dict[str, MakeKind] = {}
        for hook in hooks("sources").values():
            self._makers |= hook()
        # A kind is made on any thread, once.
        self._lock = threading.RLock()
        self._is_started = self._is_paused = False

    @property
    def links(self) -> LinkKind:
        """What fetches web pages; AppError in an app without it."""
        kind = self._of(LINKS)
        if not isinstance(kind, LinkKind):
            raise AppError("Web pages can't be read here.", "This app has no part that does.")
        return kind

    def reports(self) -> dict[str, CrawlReport]:
        """The report on fetching each source, so far or at the end, by the source's id."""
        self._make_those_needed()
        return {
            key: report for kind in self._fetching.values() for key, report in kind.reports.items()
        }

    def stop(self, source_id: str) -> None:
        """End the fetching of a source where it is."""
        for kind in list(self._fetching.values()):
            kind.stop(source_id)

    def request(self, source: Source, places: frozenset[Path] | None = None) -> None:
        """Compare a source, or only these places of it, with what is there."""
        if kind := self._of(source.kind):
            kind.request(source, places)

    def forget(self, source_id: str) -> None:
        """Remove a source and all its documents from the store."""
        for kind in list(self._kinds.values()):
            kind.forget(source_id)
        self._forgotten()

    def release(self) -> None:
        """Free what is made again when it is needed."""
        for kind in list(self._fetching.values()):
            kind.release()

    def start(self) -> None:
        """Begin, also with what an earlier run left."""
        with self._lock:
            self._make_those_needed()
            self._is_started = True
            for kind in self._kinds.values():
                kind.start()

    def close(self) -> None:
        """End the work under way; the next start finds the rest. Idempotent."""
        with self._lock:
            self._is_started = False
            kinds = list(self._kinds.values())
        for kind in kinds:
            kind.close()

    def set_paused(self, is_paused: bool) -> None:
        """Pause after the piece of work under way, or resume."""
        with self._lock:
            self._is_paused = is_paused
            for kind in self._kinds.values():
                kind.set_paused(is_paused)

    @property
    def is_idle(self) -> bool:
        """True when no source is due or being looked at."""
        return all(kind.is_idle for kind in list(self._kinds.values()))

    def _of(self, kind: str) -> SourceKind | None:
        """What looks after sources of this kind; None in an app without it."""
        with self._lock:
            if kind not in self._kinds and kind in self._makers:
                self._kinds[kind] = self._fetching[kind] = made = self._makers[kind](self._kit)
                made.set_paused(self._is_paused)
                if self._is_started:
                    made.start()
            return self._kinds.get(kind)

    def _make_those_needed(self) -> None:
        """Those with sources, and while something is left of removed ones, all."""
        folder, needed = self._kit.folder, {source.kind for source in self._kit.sources.sources()}
        if folder.is_dir() and any(folder.iterdir()):
            needed |= self._makers.keys()
        for kind in needed:
            self._of(kind)
