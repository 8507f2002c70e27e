"""Kinds of sources: each keeps the documents of its sources as what is there. Any thread.

Folders and what programs send are kinds of the core. A wing adds one that fetches, such as web
pages, by the hook `sources`: it lists what a source has, with what tells a change (a time, an
ETag, a version), fetches what is new or changed into a file below `Source.path`, stores its row
and has the indexer read it. What can't be reached is offline, and never deleted.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from desktop_rag.core.crawling import CrawlReport
from desktop_rag.core.domain import LINKS, ON_DISK, PROGRAM, Document, Source, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import FolderPreview
from desktop_rag.ingest.background.background_thread import BackgroundPart, PipelineCallbacks
from desktop_rag.ingest.indexing.indexer import Indexer
from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.ingest.scanning.scanner import Scanner
from desktop_rag.ingest.sources.sent_check import SentCheck
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
    rules: IgnoreRules


class SourceKind(BackgroundPart):
    """A kind of a wing: it fetches on request, and on a schedule of its own."""

    @property
    def reports(self) -> Mapping[str, CrawlReport]:
        """The report on fetching each source, so far or at the end, by the source's id."""
        raise NotImplementedError

    def request(self, source: Source, places: frozenset[Path] | None = None, /) -> None:
        """Fetch what is new or changed, or only at these places."""
        raise NotImplementedError

    def stop(self, source_id: str) -> None:
        """End the fetching of a source where it is; what was read stays."""
        raise NotImplementedError

    def forget(self, source_id: str) -> None:
        """As `stop`, of a removed source: delete what was kept for it."""
        raise NotImplementedError

    def release(self) -> None:
        """Free what is made again when it is needed."""

    def pages(self, document_ids: Sequence[str]) -> Mapping[str, str]:
        """The addresses of the pages that show these documents, by their ids, where there are."""
        return {}

    def checked(self, links: WebLinks) -> WebLinks:
        """The links as they are kept; AppError says what is wrong with them."""
        raise NotImplementedError

    def keep_password(self, links: WebLinks, password: str) -> bool:
        """Keep the password for a place; False when it is lost when the app ends."""
        raise NotImplementedError

    def preview(self, links: WebLinks, password: str, cancel: threading.Event) -> FolderPreview:
        """What adding these links would fetch; fetches none. AppError when the host refuses."""
        raise NotImplementedError


class LinkKind(SourceKind):
    """Fetches web pages, and knows what can be one. AppError says what is wrong with a text."""

    @staticmethod
    def checked_base(text: str) -> str:
        """The address of a mirrored site as it is kept."""
        raise NotImplementedError

    @staticmethod
    def checked_hosts(lines: Sequence[str]) -> tuple[str, ...]:
        """Hosts of the local network as they are kept."""
        raise NotImplementedError

    def refused(
        self, urls: Sequence[str], collection_id: str, cancel: threading.Event
    ) -> list[tuple[str, str]]:
        """The first addresses that can't be fetched now, each with its reason. Takes seconds."""
        raise NotImplementedError


MakeKind = Callable[[SourceKit], SourceKind]


class SourceScans:
    """Sends each source to its kind. That of a wing is made when a source first needs it."""

    def __init__(
        self, scanner: Scanner, sent: SentCheck, kit: SourceKit, forgotten: Callable[[], None]
    ) -> None:
        """`forgotten` is called when the documents of a source are gone."""
        self._kinds: dict[str, Scanner | SentCheck | SourceKind]
        self._kinds = {ON_DISK: scanner, PROGRAM: sent}
        self._fetching: list[SourceKind] = []
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
        return cast("LinkKind", self.fetching(WebLinks(())))

    def fetching(self, links: WebLinks) -> SourceKind:
        """What fetches these links; AppError in an app without it."""
        if kind := self._of(links.remote or LINKS):
            return cast("SourceKind", kind)
        what = links.remote or "Web pages"
        raise AppError(f"{what} can't be read here.", "This app has no part that does.")

    @property
    def remote_kinds(self) -> list[str]:
        """The names of the kinds of places on servers."""
        return [name for name in self._makers if name != LINKS]

    def reports(self) -> dict[str, CrawlReport]:
        """The report on fetching each source, by its id."""
        self._make_those_needed()
        return {key: each for kind in self._fetching for key, each in kind.reports.items()}

    def with_pages(self, documents: Sequence[Document]) -> list[Document]:
        """The documents with the addresses of the pages that show them on their servers."""
        ids = [d.document_id for d in documents] if self._fetching else []
        pages = {key: page for kind in self._fetching for key, page in kind.pages(ids).items()}
        return [
            replace(d, site_url=page) if (page := pages.get(d.document_id)) else d
            for d in documents
        ]

    def stop(self, source_id: str) -> None:
        """End the fetching of a source where it is."""
        for kind in self._fetching:
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
        for kind in self._fetching:
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
        for kind in self._kinds.values():
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

    def _of(self, kind: str) -> Scanner | SentCheck | SourceKind | None:
        """What looks after sources of this kind; None in an app without it."""
        with self._lock:
            if kind not in self._kinds and kind in self._makers:
                made = self._makers[kind](self._kit)
                made.set_paused(self._is_paused)
                if self._is_started:
                    made.start()
                self._kinds[kind] = made
                self._fetching.append(made)
            return self._kinds.get(kind)

    def _make_those_needed(self) -> None:
        """Those with sources, and while something is left of removed ones, all."""
        kinds = {source.source_id: source.kind for source in self._kit.sources.sources()}
        folder, needed = self._kit.folder, {*kinds.values()}
        if folder.is_dir() and any(each.name not in kinds for each in folder.iterdir()):
            needed |= self._makers.keys()
        for kind in needed:
            self._of(kind)
