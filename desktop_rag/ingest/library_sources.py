"""The sources of the library: folders, files and web links. Any worker thread."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from desktop_rag.core.crawling import CrawlReport
from desktop_rag.core.domain import Document, Source, SourceRules, WebLinks
from desktop_rag.core.library_events import (
    ChangeSummary,
    FolderPreview,
    LibraryEvent,
    SourceScanned,
    SourcesChanged,
)
from desktop_rag.ingest.scanning.disk_walk import preview
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.ingest.sources.catalogue import Catalogue, SourceWatch
from desktop_rag.ingest.sources.sent_check import SourceScans
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.sources import SourceStore


class LibrarySources:
    """Adds, removes and rescans sources: `library.sources`."""

    def __init__(
        self,
        store: SourceStore,
        documents: DocumentStore,
        catalogue: Catalogue,
        watch: SourceWatch,
        scans: SourceScans,
        rules: IgnoreRules,
        *,
        publish: Callable[[LibraryEvent], None],
        changed: Callable[[Sequence[Document]], None],
    ) -> None:
        self._store = store
        self._documents = documents
        self._changed = changed
        self._catalogue = catalogue
        self._watch = watch
        self._scans = scans
        self._rules = rules
        self._publish = publish
        self._last_scans: dict[str, ChangeSummary] = {}

    def all(self) -> list[Source]:
        """All sources, the oldest first, with their current state."""
        return self._catalogue.sources()

    @property
    def last_scans(self) -> dict[str, ChangeSummary]:
        """The result of the last scan of each source, by its id. Cheap."""
        return dict(self._last_scans)

    def preview(self, path: Path, rules: SourceRules, *, cancel: threading.Event) -> FolderPreview:
        """The files that adding a folder would index; reads none. Stops early when cancelled."""
        return preview(path, self._rules.of(rules), cancel)

    def add(self, path: Path, collection_id: str = "", rules: SourceRules | None = None) -> Source:
        """Index a folder or file from now on; AppError when it can't be added."""
        return self._begin(self._catalogue.add(path, collection_id, rules))

    def add_links(self, links: WebLinks, collection_id: str = "") -> Source:
        """Index web pages from now on; AppError when all of them are in the collection already."""
        return self._begin(self._catalogue.add_links(links, collection_id))

    def refused_links(
        self, links: WebLinks, collection_id: str = "", *, cancel: threading.Event
    ) -> list[tuple[str, str]]:
        """Addresses that can't be fetched now, with their reasons; tries the first five.

        The collection says which hosts of the local network may be named. Takes seconds. AppError
        for a text that is no address.
        """
        return self._scans.refused_links(links.urls, collection_id, cancel)

    def crawls(self) -> dict[str, CrawlReport]:
        """What came of fetching each source of links, or how far it is, by the source's id."""
        return self._scans.reports

    def stop_crawl(self, source_id: str) -> None:
        """End the fetching of a source of links; what was read stays."""
        self._scans.stop(source_id)
        self.publish_changed()

    def locate(self, source_id: str, path: Path) -> Source:
        """Say where a folder or file is after it was moved; what is known of its files is kept.

        Only files whose size or time differ are looked at again, and only those with another
        content are read and embedded anew. AppError when it can't be there.
        """
        source = next(s for s in self.all() if s.source_id == source_id)
        now = replace(source, path=self._catalogue.locate(source, path))
        self._unwatch_unless_shared(source)
        places = {
            d.document_id: partial(_moved_to, path=now.path / d.path.relative_to(source.path))
            for d in self._documents.documents(source_id)
            if not d.parent_id and d.path.is_relative_to(source.path)
        }
        moved = self._documents.apply_changes(source_id, [], places, [])
        self._store.set_path(source_id, now.path)
        self._changed(moved)
        return self._begin(now)

    def move(self, source_id: str, collection_id: str) -> None:
        """Move a source to another collection; AppError when that has a part of it already."""
        self._catalogue.move(source_id, collection_id)
        self.publish_changed()

    def set_rules(self, source_id: str, rules: SourceRules) -> None:
        """Change the rules that exclude files of a folder, and rescan it."""
        self._store.set_rules(source_id, rules)
        self.publish_changed()
        self.rescan(source_id)

    def set_links(self, source_id: str, links: WebLinks) -> None:
        """Change the web links of a source and their limits, and fetch them.

        AppError when a text is no address.
        """
        self._catalogue.set_links(source_id, links)
        self.publish_changed()
        self.rescan(source_id)

    def set_base_address(self, source_id: str, address: str) -> None:
        """Say which site a folder mirrors: its files have addresses below this one; "" for none.

        AppError for a text that is no address of a folder of the web.
        """
        self._catalogue.set_base_address(source_id, address)
        self.publish_changed()
        self._changed(self._documents.documents(source_id))

    def put_away(self, source_id: str) -> None:
        """Take a source out of lists, counts and searches, until `remove` or `bring_back`.

        All that is known of it stays. One that is put away when the app ends is removed.
        """
        self._unwatch(source_id)
        self._store.set_put_away(source_id, is_put_away=True)
        self._publish_other()

    def bring_back(self, source_id: str) -> None:
        """Have a source back that was put away; its files are read again where they changed."""
        self._store.set_put_away(source_id, is_put_away=False)
        for source in self.all():
            if source.source_id == source_id:
                self._watch.watch(source)
                # Web pages are fetched when they are due.
                if source.links is None:
                    self._scans.request(source)
        self._publish_other()

    def remove(self, source_id: str) -> None:
        """Remove the source and its documents from the library; its files are not touched."""
        self._unwatch(source_id)
        self._scans.forget(source_id)
        self.publish_changed()

    def look_again(self) -> None:
        """Look at folders that came with a backup. Pages are fetched when they are due."""
        self.publish_changed()
        for source in self.all():
            if source.links is None:
                self.rescan(source.source_id)

    def rescan(self, source_id: str = "") -> None:
        """Compare a source (or all) with the disk, or the web, now."""
        for source in self.all():
            if source_id in ("", source.source_id):
                self._watch.watch(source)
                self._scans.request(source)

    def note_scan(self, source: Source, summary: ChangeSummary) -> None:
        """Remember the result of a scan and publish it."""
        self._last_scans[source.source_id] = summary
        self._publish(SourceScanned(source.source_id, summary))

    def publish_changed(self) -> None:
        """Publish the current sources."""
        self._publish(SourcesChanged(tuple(self.all())))

    def _publish_other(self) -> None:
        """There are other sources than before, and so another number of files."""
        self.publish_changed()
        self._changed(())

    def _unwatch(self, source_id: str) -> None:
        for source in self.all():
            if source.source_id == source_id:
                self._unwatch_unless_shared(source)

    def _unwatch_unless_shared(self, source: Source) -> None:
        others = [s.path for s in self.all() if s.source_id != source.source_id]
        if source.path not in others:
            self._watch.unwatch(source.path)

    def _begin(self, source: Source) -> Source:
        self._watch.watch(source)
        self._scans.request(source)
        self.publish_changed()
        return source


def _moved_to(document: Document, path: Path) -> Document:
    # On another disk it has another inode; 0 is unknown, so size and time decide.
    return replace(document, path=path, stat=replace(document.stat, inode=0))
