"""The rows and copies of a source's pages: what a fetched or a refused page makes of them.

Runs on the thread of the links. Each page is stored for itself, when it comes.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from desktop_rag.core.domain import Document, DocumentState, FileStat, Source
from desktop_rag.core.library_events import ChangeSummary
from desktop_rag.ingest.indexing.indexer import Indexer
from desktop_rag.ingest.web.fetched_page import FetchedPage, Stamp
from desktop_rag.ingest.web.page_files import drop, is_kept, page_path, save, stat_of
from desktop_rag.ingest.web.refusal import Kind, PageRefused
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.sources import WebPage, WebPageStore

_NO_FILE = FileStat(0, 0, 0)
# What is kept of a page that was read before: it may be had again.
_KEPT = {Kind.UNREACHABLE, Kind.FAILING, Kind.BLOCKED}
# Refusals that trying again is unlikely to change: listed as skipped, not as failed.
_SKIPPED = {Kind.BLOCKED, Kind.CLOSED, Kind.UNFIT}
_REFUSED_STATES = {DocumentState.FAILED, DocumentState.SKIPPED}


@dataclass
class Findings:
    """What a refresh came to. `missed` are pages, with the reason, that were read before and
    could not be had again.
    """

    added: int = 0
    changed: int = 0
    gone: int = 0
    unchanged: int = 0
    missed: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def summary(self) -> ChangeSummary:
        """The numbers."""
        return ChangeSummary(self.added, self.changed, 0, self.gone, self.unchanged)


@dataclass(frozen=True, slots=True)
class Stores:
    """Where pages go: their rows, what servers said of them, the queue of what is to be read."""

    documents: DocumentStore
    pages: WebPageStore
    indexer: Indexer
    changed: Callable[[Sequence[Document]], None]


class SourcePages:
    """The pages of one source during one refresh."""

    def __init__(self, source: Source, stores: Stores, now: Callable[[], float]) -> None:
        self.findings = Findings()
        self._source = source
        self._stores = stores
        self._now = now
        rows = stores.documents.documents(source.source_id)
        self._known = {d.url: d for d in rows if not d.parent_id}
        self._said = stores.pages.get([d.document_id for d in self._known.values()])
        self._settled: set[str] = set()

    @property
    def unsettled(self) -> list[str]:
        """The addresses of known pages that nothing was heard of yet."""
        return [url for url in self._known if url not in self._settled]

    def is_settled(self, url: str) -> bool:
        """Whether this page was dealt with."""
        return url in self._settled

    def was_read(self, url: str) -> bool:
        """Whether the page is searchable, or a copy of it was read or is about to be."""
        row = self._known.get(url)
        if row is None:
            return False
        is_waiting = row.state is DocumentState.WAITING
        has_copy = stat_of(row.path) is not None
        return row.chunk_count > 0 or (has_copy and (is_waiting or bool(row.content_hash)))

    def stamp_of(self, url: str) -> Stamp | None:
        """What to ask the server with, if the state it speaks of is the one that is kept."""
        row = self._known.get(url)
        if row is None or stat_of(row.path) != row.stat:
            return None
        said = self._said.get(row.document_id)
        return Stamp(said.etag, said.last_modified) if said else None

    def take(self, url: str, page: FetchedPage | None) -> None:
        """Store a page as it came; None for one that is still as it was. AppError when it fails."""
        self._settled.add(url)
        row = self._known.get(url)
        if page is None or (row and is_kept(row.path, row.stat, page.body)):
            self.findings.unchanged += 1
        else:
            row = self._store(url, page, row)
        if page is not None and row is not None:
            self._remember(row.document_id, page.stamp)

    def refuse(self, url: str, refused: PageRefused, *, is_link: bool = False) -> None:
        """Note that a page can't be had. A link that the person gave stays listed with it."""
        self._settled.add(url)
        if self.was_read(url) and refused.kind in _KEPT:
            self.findings.missed[url] = refused.reason
            self.findings.unchanged += 1
            return
        row = self._known.get(url)
        if row and refused.kind is Kind.UNREACHABLE and row.state in _REFUSED_STATES:
            # Perhaps it is this computer that is offline: the reason that is known says more.
            self.findings.unchanged += 1
            return
        is_gone = refused.kind is Kind.GONE
        if row and is_gone and (self.was_read(url) or not is_link):
            self._remove([row])
            row = None
        if is_link or not is_gone:
            self._list(url, refused, row)

    def remove_unsettled(self) -> None:
        """Forget known pages that nothing was heard of: no list names them any more."""
        self._remove([self._known[url] for url in self.unsettled])

    # --- rows and copies -----------------------------------------------------------------------

    def _store(self, url: str, page: FetchedPage, row: Document | None) -> Document:
        path = page_path(self._source.path, url, page.suffix)
        stat = save(path, page.body)
        if row is None:
            self.findings.added += 1
            waiting = _row(self._source, url, page.suffix)
            fresh = replace(waiting, stat=stat)
            self._apply(added=[fresh])
            return fresh
        self.findings.changed += 1
        self._apply(
            changed={
                row.document_id: lambda now: replace(
                    now, path=path, stat=stat, state=DocumentState.WAITING, reason=""
                )
            }
        )
        if row.path != path:
            drop(row.path)
        return row

    def _list(self, url: str, refused: PageRefused, row: Document | None) -> None:
        """A row without a text that says why there is none."""
        state = DocumentState.SKIPPED if refused.kind in _SKIPPED else DocumentState.FAILED
        if row is None:
            self.findings.added += 1
            listed = _row(self._source, url)
            self._apply(added=[replace(listed, state=state, reason=refused.reason)])
        elif (row.state, row.reason, row.content_hash) == (state, refused.reason, ""):
            self.findings.unchanged += 1
        else:
            self.findings.changed += 1
            self._apply(
                changed={
                    row.document_id: lambda now: replace(
                        now, stat=_NO_FILE, state=state, reason=refused.reason, content_hash="",
                        chunk_count=0,
                    )
                }
            )  # fmt: skip
            drop(row.path)

    def _remove(self, rows: Sequence[Document]) -> None:
        if not rows:
            return
        self.findings.gone += len(rows)
        ids = [row.document_id for row in rows]
        self._stores.documents.apply_changes(self._source.source_id, [], {}, ids)
        self._stores.indexer.withdraw(ids)
        for row in rows:
            drop(row.path)
            del self._known[row.url]
        self._stores.changed([replace(row, state=DocumentState.GONE) for row in rows])

    def _apply(
        self,
        added: Sequence[Document] = (),
        changed: Mapping[str, Callable[[Document], Document]] | None = None,
    ) -> None:
        stores = self._stores
        stored = stores.documents.apply_changes(self._source.source_id, added, changed or {}, [])
        waiting = [d.document_id for d in stored if d.state is DocumentState.WAITING]
        stores.indexer.withdraw(d.document_id for d in stored if d.document_id not in waiting)
        stores.indexer.submit(waiting)
        if stored:
            stores.changed(stored)

    def _remember(self, document_id: str, stamp: Stamp) -> None:
        before = self._said.get(document_id)
        if before and (before.etag, before.last_modified) == (stamp.etag, stamp.last_modified):
            return
        page = WebPage(stamp.etag, stamp.last_modified, self._now())
        self._stores.pages.put(document_id, page)


def _row(source: Source, url: str, suffix: str = "") -> Document:
    path = page_path(source.path, url, suffix) if suffix else page_path(source.path, url)
    return Document(
        document_id=uuid.uuid4().hex,
        source_id=source.source_id,
        path=path,
        title=url,
        format=suffix.removeprefix("."),
        stat=_NO_FILE,
        content_hash="",
        state=DocumentState.WAITING,
        url=url,
    )
