"""Web links with everything they need: the real store, indexer and parser process."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

from desktop_rag.core.domain import Document, DocumentState, Source, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import ChangeSummary, Notice
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.core.paths import Home
from desktop_rag.core.text import rough_token_counts
from desktop_rag.features.web_pages.crawler import WebAccess, WebLimits
from desktop_rag.features.web_pages.link_refresher import LinkRefresher
from desktop_rag.features.web_pages.source_pages import WebPageStore
from desktop_rag.ingest.background.background_thread import PipelineCallbacks
from desktop_rag.ingest.background.progress import ProgressMeter
from desktop_rag.ingest.chunking.document_chunker import DocumentChunker
from desktop_rag.ingest.indexing.indexer import Indexer, OwnKinds
from desktop_rag.ingest.indexing.late_texts import LateTexts
from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.pictures.pictures import Pictures
from desktop_rag.ingest.read.foundation.format_names import is_worth_reading
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.ingest.sent_files import SentFolders
from desktop_rag.ingest.sources.fetched_documents import FetchReports
from desktop_rag.ingest.sources.source_kinds import SourceKit
from desktop_rag.models.answer_priority import AnswerPriority, FairShare
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.duckdb_engine import engine_over, library_file
from tests.servers.web_server import WebServer
from tests.waiting import until

WORDS = DocumentState.SEARCHABLE_BY_WORDS
SKIPPED, FAILED = DocumentState.SKIPPED, DocumentState.FAILED


@dataclass
class Heard:
    """Notifications from the links."""

    changed: list[Document] = field(default_factory=list[Document])
    scanned: list[ChangeSummary] = field(default_factory=list[ChangeSummary])
    reached: list[bool] = field(default_factory=list[bool])
    told: list[Notice] = field(default_factory=list[Notice])
    stopped: list[AppError] = field(default_factory=list[AppError])


def _own_kinds(sent: Path) -> OwnKinds:
    pictures = Pictures(None, ProgressMeter(has_embedder=False), are_read=False)
    return OwnKinds(SentFolders(sent), LateTexts(), pictures)


class Room:
    """The links over one home; can be closed and built again."""

    def __init__(self, home: Home, access: WebAccess, now: float = 1000.0) -> None:
        home.create()
        self.pages = home.pages
        self.now = now
        self.heard = Heard()
        self.database = Database(library_file(home), memory_mb=256, backups=home.backups)
        stores = engine_over(self.database)
        self.documents = stores.documents
        self.sources = stores.sources
        self.web_pages = WebPageStore(self.database)
        self.reports = FetchReports(self.database)
        callbacks = PipelineCallbacks(
            self.heard.changed.extend,
            lambda _, summary: self.heard.scanned.append(summary),
            lambda _, is_online: self.heard.reached.append(is_online),
            self.heard.told.append,
            self.heard.stopped.append,
        )
        self.indexer = Indexer(
            self.documents, ParserProcess(), DocumentChunker(rough_token_counts, 256),
            lambda _: ChunkSettings(), ProgressMeter(has_embedder=False),
            share=FairShare(AnswerPriority()),
            kinds=_own_kinds(home.sent),
            callbacks=replace(callbacks, documents_changed=lambda _: None),
        )  # fmt: skip
        self.kit = SourceKit(
            self.documents, self.sources, self.database, self.indexer, callbacks, ParserProcess,
            self.pages, IgnoreRules(is_worth_reading, 10_000_000),
        )  # fmt: skip
        self.links = LinkRefresher(self.kit, access, lambda: self.now)

    def start(self) -> None:
        self.indexer.start()
        self.links.start()

    def close(self) -> None:
        self.links.close()
        self.indexer.close()
        self.database.close()

    def add(self, *urls: str, limit: int = 100, hours: float = 24.0) -> Source:
        source = self.sources.add_links(WebLinks(urls, limit, hours), self.pages, "c")
        self.links.request(source)
        return source

    def settle(self) -> None:
        """Wait until everything is fetched and read."""
        until(lambda: self.links.is_idle and self.indexer.is_idle)
        assert not self.heard.stopped

    def refresh(self) -> ChangeSummary:
        self.links.request(self.sources.sources()[0])
        self.settle()
        return self.heard.scanned[-1]

    def states(self, site: WebServer) -> dict[str, DocumentState]:
        """States by the path of the address on the site."""
        rows = self.documents.documents()
        return {row.url.removeprefix(site.url("")): row.state for row in rows}

    def row(self, url: str) -> Document:
        return next(row for row in self.documents.documents() if row.url == url)


Build = Callable[..., Room]


def loopback_access(
    seconds: float = 20.0,
    delay_s: float = 0.0,
    resolve: Callable[[str, int], Sequence[str]] | None = None,
) -> WebAccess:
    """Web access that also allows 127.0.0.1, and no other private address."""
    limits = WebLimits(seconds=seconds, delay_s=delay_s, page_bytes=1 << 20, busy_s=0.01)
    return WebAccess(limits, is_home, resolve)


def is_home(address: IPv4Address | IPv6Address) -> bool:
    return str(address) == "127.0.0.1"
