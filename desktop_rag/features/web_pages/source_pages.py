"""Stores the pages of a source, and the reasons for pages that are not available.

Runs on the thread of the link refresher. Each page is stored as soon as it arrives.
"""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from desktop_rag.core.domain import Document, DocumentState, Source
from desktop_rag.core.library_events import RequestRefused
from desktop_rag.features.web_pages.crawler import CacheValidators, FetchedPage
from desktop_rag.features.web_pages.page_address import PageRefused, RefusalKind
from desktop_rag.features.web_pages.page_type import drop, is_kept, page_path, save
from desktop_rag.ingest.sources.fetch_rounds import FetchRun
from desktop_rag.ingest.sources.fetched_documents import NO_FILE, FetchedRows, refused_row, stat_of
from desktop_rag.ingest.sources.source_kinds import SourceKit
from desktop_rag.store.contract.database import Connection, Database, fetched


@dataclass(frozen=True, slots=True)
class WebPage:
    """What the server said last of a page, and for an entry the address of its feed."""

    validators: CacheValidators = field(default_factory=CacheValidators)
    listed_in: str = ""


class WebPageStore:
    """Cache validators of web documents, so that none is transferred twice."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, document_ids: Sequence[str]) -> dict[str, WebPage]:
        """The validators of these documents; absent for documents without any."""
        rows = fetched(
            self._database,
            "SELECT document_id, etag, last_modified, listed_in FROM web_pages"
            " WHERE document_id IN (SELECT unnest(?::VARCHAR[]))",
            [list(document_ids)],
        )
        return {key: WebPage(CacheValidators(*said), feed) for key, *said, feed in rows}

    def put(self, document_id: str, page: WebPage) -> None:
        """Store the validators of a document in place of earlier ones."""

        def work(con: Connection) -> None:
            con.execute("DELETE FROM web_pages WHERE document_id = ?", [document_id])
            con.execute(
                "INSERT INTO web_pages (document_id, etag, last_modified, listed_in)"
                " VALUES (?, ?, ?, ?)",
                [document_id, page.validators.etag, page.validators.last_modified, page.listed_in],
            )

        self._database.write(work)

    def purge(self) -> None:
        """Remove the rows of documents that no longer exist."""

        def work(con: Connection) -> None:
            con.execute(
                "DELETE FROM web_pages WHERE document_id NOT IN (SELECT document_id FROM documents)"
            )

        self._database.write(work)


# After these refusals a page read before is kept, because it may come back.
_KEPT = {RefusalKind.UNREACHABLE, RefusalKind.FAILING, RefusalKind.BLOCKED}
# Refusals that a retry is unlikely to change: listed as skipped, not as failed.
_SKIPPED = {RefusalKind.BLOCKED, RefusalKind.CLOSED, RefusalKind.UNFIT}
_FORBIDDEN = {RefusalKind.BLOCKED, RefusalKind.CLOSED}
_REFUSED_STATES = {DocumentState.FAILED, DocumentState.SKIPPED}


class SourcePages:
    """The pages of one source during one refresh."""

    def __init__(self, run: FetchRun, kit: SourceKit, stored: WebPageStore) -> None:
        self.findings = run.findings
        self.log = run.log
        source = run.source
        self._rows = FetchedRows(source, kit)
        self._source = source
        self._kit = kit
        self._stored = stored
        rows = kit.documents.documents(source.source_id)
        self._known = {d.url: d for d in rows if not d.parent_id}
        self._stored_validators = stored.get([d.document_id for d in self._known.values()])
        self._settled: set[str] = set()

    @property
    def unsettled(self) -> list[str]:
        """Known pages that this refresh has not processed yet."""
        return [url for url in self._known if url not in self._settled]

    def is_settled(self, url: str) -> bool:
        """True when this refresh has processed the page."""
        return url in self._settled

    def was_read(self, url: str) -> bool:
        """True when the page is searchable, or its copy was read or is about to be."""
        row = self._known.get(url)
        if row is None:
            return False
        is_waiting = row.state is DocumentState.WAITING
        has_copy = stat_of(row.path) is not None
        return row.chunk_count > 0 or (has_copy and (is_waiting or bool(row.content_hash)))

    def validators_of(self, url: str) -> CacheValidators | None:
        """The validators for a conditional request, if they describe the stored copy."""
        row = self._known.get(url)
        if row is None or stat_of(row.path) != row.stat:
            return None
        stored = self._stored_validators.get(row.document_id)
        return stored.validators if stored else None

    def copy_of(self, url: str) -> Path | None:
        """The stored copy of a page that was read before; None when there is none."""
        row = self._known.get(url)
        return row.path if row and stat_of(row.path) == row.stat else None

    def keep(self, url: str) -> None:
        """Leave a known page as it is, without a request."""
        self._settled.add(url)
        self.findings.unchanged += 1

    def keep_entries(self, feeds: Collection[str], limit: int) -> int:
        """Keep up to `limit` entries of these feeds, the newest: a feed drops its older ones.

        Returns the number of those that are kept.
        """
        entries = [
            self._known[url]
            for url in self.unsettled
            if (page := self._stored_validators.get(self._known[url].document_id))
            and page.listed_in in feeds
        ]
        kept = sorted(entries, key=lambda row: row.dated, reverse=True)[:limit]
        for row in kept:
            self.keep(row.url)
        return len(kept)

    def leave_out(self, url: str) -> None:
        """Keep no document of this address, whose page is another one's."""
        self._settled.add(url)
        if row := self._known.get(url):
            self._remove([row])

    def take(self, url: str, page: FetchedPage | None, *, listed_in: str = "") -> None:
        """Store a fetched page; None means unchanged. Raises AppError on failure.

        `listed_in` is the feed that an entry is from.
        """
        self._settled.add(url)
        row = self._known.get(url)
        if page is None or (row and is_kept(row.path, row.stat, page.body)):
            self.findings.unchanged += 1
        else:
            row = self._store(url, page, row)
        if page is not None and row is not None:
            self._remember(row.document_id, page.validators, listed_in)

    def refuse(
        self, url: str, refused: PageRefused, *, is_link: bool = False, is_listed: bool = True
    ) -> None:
        """Record that a page is not available.

        A person's own link stays listed with the reason; without `is_listed` another page has no
        document for it.
        """
        self._settled.add(url)
        self.report(url, refused)
        if self.was_read(url) and refused.kind in _KEPT:
            self.findings.missed[url] = refused.reason
            self.findings.unchanged += 1
            return
        row = self._known.get(url)
        if row and refused.kind is RefusalKind.UNREACHABLE and row.state in _REFUSED_STATES:
            # This computer may be offline: the known reason is more helpful.
            self.findings.unchanged += 1
            return
        is_gone = refused.kind is RefusalKind.GONE
        if row and is_gone and (self.was_read(url) or not is_link):
            self._remove([row])
            row = None
        if is_link or (is_listed and not is_gone):
            self._list(url, refused, row)
        elif row:
            self._remove([row])

    def report(self, url: str, refused: PageRefused) -> None:
        """Log a refusal, and publish it if the app or the site forbade the request."""
        self.log.refuse(url, refused.reason)
        if refused.kind in _FORBIDDEN:
            self._kit.callbacks.refused(RequestRefused(url, refused.reason))

    def remove_unsettled(self) -> None:
        """Remove known pages that no list names any more."""
        self._remove([self._known[url] for url in self.unsettled])

    # --- rows and copies -----------------------------------------------------------------------

    def _store(self, url: str, page: FetchedPage, row: Document | None) -> Document:
        path = page_path(self._source.path, url, page.suffix)
        stat = save(path, page.body)
        if row is None:
            self.findings.added += 1
            fresh = replace(_row(self._source, url, page.suffix), stat=stat)
            self._rows.apply(added=[fresh])
            return fresh
        self.findings.changed += 1
        self._rows.apply(
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
        """Add or update a row without text that states the reason."""
        state = DocumentState.SKIPPED if refused.kind in _SKIPPED else DocumentState.FAILED
        if row is None:
            self.findings.added += 1
            listed = _row(self._source, url)
            self._rows.apply(added=[replace(listed, state=state, reason=refused.reason)])
        elif (row.state, row.reason, row.content_hash) == (state, refused.reason, ""):
            self.findings.unchanged += 1
        else:
            self.findings.changed += 1
            self._rows.apply(
                changed={row.document_id: lambda now: refused_row(now, state, refused.reason)}
            )
            drop(row.path)

    def _remove(self, rows: Sequence[Document]) -> None:
        if not rows:
            return
        self.findings.gone += len(rows)
        self._rows.remove(rows)
        for row in rows:
            drop(row.path)
            del self._known[row.url]

    def _remember(self, document_id: str, validators: CacheValidators, listed_in: str) -> None:
        page = WebPage(validators, listed_in)
        if self._stored_validators.get(document_id) != page:
            self._stored.put(document_id, page)


def _row(source: Source, url: str, suffix: str = "") -> Document:
    path = page_path(source.path, url, suffix) if suffix else page_path(source.path, url)
    return Document(
        document_id=uuid.uuid4().hex,
        source_id=source.source_id,
        path=path,
        title=url,
        format=suffix.removeprefix("."),
        stat=NO_FILE,
        content_hash="",
        state=DocumentState.WAITING,
        url=url,
    )
