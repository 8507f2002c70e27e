"""Remote sources with everything they need: the real store, indexer and parser process."""

import threading
from dataclasses import replace
from typing import Any

from desktop_rag.core.domain import Document, Source, WebLinks
from desktop_rag.core.library_events import ChangeSummary
from desktop_rag.core.paths import Home
from desktop_rag.features.remote_sources.http_place import PlaceLimits
from desktop_rag.features.remote_sources.journal import Journal
from desktop_rag.features.remote_sources.remote import Remote, RemoteKind
from desktop_rag.features.remote_sources.remote_sources import RemoteSources
from desktop_rag.features.remote_sources.webdav import WEBDAV
from desktop_rag.models.system_keyring import KeptSecrets
from tests.keyrings import MemoryKeyring
from tests.waiting import until
from tests.web_room import Room, loopback_access

QUICK = PlaceLimits(seconds=2.0, waits_s=(0.01, 0.02), most_wait_s=1.0)


class RemoteRoom(Room):
    """The remotes over one home; can be closed and built again. `kind` replaces WebDAV."""

    def __init__(self, home: Home, limits: PlaceLimits = QUICK, kind: RemoteKind = WEBDAV) -> None:
        super().__init__(home, loopback_access())
        self.opened: list[Any] = []
        self.kind = kind

        def open_quickly(links: WebLinks, password: str, cancel: threading.Event) -> Remote:
            opening: Any = self.kind.open
            self.opened.append(opening(links, password, cancel, limits))
            return self.opened[-1]

        self.secrets = KeptSecrets("test", MemoryKeyring)
        self.quick = replace(kind, open=open_quickly)
        self.remotes = RemoteSources(self.kit, self.quick, self.secrets, lambda: self.now)
        self.journal = Journal(self.database)

    def start(self) -> None:
        self.indexer.start()
        self.remotes.start()

    def close(self) -> None:
        self.remotes.close()
        super().close()

    def add_remote(
        self, url: str, password: str = "secret", limit: int = 10_000, since: str = ""
    ) -> Source:
        links = WebLinks((url,), limit, 24.0, remote=self.kind.name, user="ann", since=since)
        links = self.remotes.checked(links)
        self.remotes.keep_password(links, password)
        source = self.sources.add_links(links, self.pages, "c")
        self.remotes.request(source)
        return source

    def settle_remote(self) -> ChangeSummary:
        """Wait until everything is fetched and read; the counts of the last round."""
        until(lambda: self.remotes.is_idle and self.indexer.is_idle)
        assert not self.heard.stopped
        return self.heard.scanned[-1]

    def again(self) -> ChangeSummary:
        self.remotes.request(self.sources.sources()[0])
        return self.settle_remote()

    def rows(self) -> dict[str, Document]:
        """The documents by their paths below the source."""
        [source] = self.sources.sources()
        rows = self.documents.documents()
        return {r.path.relative_to(source.path).as_posix(): r for r in rows if not r.parent_id}

    def texts(self) -> dict[str, str]:
        return {
            path: (self.documents.text(row.document_id) or "").strip()
            for path, row in self.rows().items()
        }
