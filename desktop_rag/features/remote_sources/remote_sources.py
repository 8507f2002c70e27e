"""The kinds of remotes, and what keeps the sources of one kind up to date."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from importlib.metadata import entry_points
from pathlib import Path

from desktop_rag.core.domain import Source, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import FolderPreview, Notice
from desktop_rag.features.remote_sources.drive import DRIVE
from desktop_rag.features.remote_sources.imap import IMAP
from desktop_rag.features.remote_sources.journal import Journal
from desktop_rag.features.remote_sources.remote import Remote, RemoteKind
from desktop_rag.features.remote_sources.remote_round import RemoteRun, readable, reason_of
from desktop_rag.features.remote_sources.trackers import TRACKERS
from desktop_rag.features.remote_sources.webdav import WEBDAV
from desktop_rag.features.remote_sources.zotero import ZOTERO
from desktop_rag.features.web_pages.page_address import origin_of
from desktop_rag.ingest.scanning.disk_walk import FileCount, FoundFile
from desktop_rag.ingest.sources.fetch_rounds import FetchRounds, FetchRun
from desktop_rag.ingest.sources.source_kinds import SourceKit
from desktop_rag.models.system_keyring import KeptSecrets

REMOTES = "desktop_rag.remotes"
MOST_FILES = 100_000
_PASSWORDS = "desktop-rag, passwords of servers"
# A preview of more says that it is incomplete.
_PREVIEW_S = 30.0
_BYTES_A_SECOND = 2_000_000.0
# What paths are below, for counting.
_ROOT = Path("/remote")


def remote_kinds() -> Mapping[str, RemoteKind]:
    """The kinds of remotes by name, those of installed packages after the app's own."""
    kinds = {kind.name: kind for kind in (WEBDAV, IMAP, DRIVE, *TRACKERS, ZOTERO)}
    for entry in entry_points(group=REMOTES):
        kind: RemoteKind = entry.load()
        kinds.setdefault(kind.name, kind)
    return kinds


class RemoteSources(FetchRounds):
    """Keeps the sources of one kind of remote up to date."""

    def __init__(
        self,
        kit: SourceKit,
        remote: RemoteKind,
        secrets: KeptSecrets | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`clock` is the wall clock."""
        super().__init__(kit, remote.name, clock)
        self._remote = remote
        self._secrets = secrets or KeptSecrets(_PASSWORDS)
        self._journal = Journal(kit.storage)
        self._told: dict[str, str] = {}
        # By account, what was made of the secret that was entered.
        self._logins: dict[str, tuple[str, str]] = {}
        # By source, for when it is removed.
        self._accounts: dict[str, str] = {}

    def checked(self, links: WebLinks) -> WebLinks:
        """As `SourceKind.checked`."""
        try:
            since = date.fromisoformat(links.since).isoformat() if links.since else ""
        except ValueError:
            raise AppError(f"{links.since} is no day.", "It is like 2024-05-31.") from None
        return self._remote.checked(replace(links, since=since))

    def keep_password(self, links: WebLinks, password: str) -> bool:
        """As `SourceKind.keep_password`; all places of a user on a host share one."""
        login = self._login_of(links, password, threading.Event())
        is_kept = self._secrets.save(_account(links), login)
        if not is_kept:
            self._kit.callbacks.notify(
                Notice("The password is forgotten when the app ends.",
                       "This computer has no keyring that can be used.")
            )  # fmt: skip
        return is_kept

    def check_schedule(self) -> None:
        """As `FetchRounds.check_schedule`."""
        with suppress(AppError):  # told by the schedule
            remotes = [s for s in self._kit.sources.sources() if s.kind == self.kind]
            self._accounts.update({s.source_id: _account(s.links) for s in remotes if s.links})
        super().check_schedule()

    def forget(self, source_id: str) -> None:
        """As `FetchRounds.forget`, with the password that no other source needs."""
        account = self._accounts.pop(source_id, "")
        if account and account not in self._accounts.values():
            self._secrets.delete(account)
        super().forget(source_id)

    def preview(self, links: WebLinks, password: str, cancel: threading.Event) -> FolderPreview:
        """As `SourceKind.preview`."""
        began_at, count, is_complete = time.monotonic(), FileCount(_ROOT), True
        folders = set[str]()
        remote = self._open_remote(links, password, cancel)
        try:
            for part in remote.parts({}):
                for item in readable(part.items, self._kit.rules, links):
                    location = str(_ROOT / item.path)
                    count.add(FoundFile(location, max(item.size, 0), reason=reason_of(item)))
                paths = (part.key, *(item.path for item in part.items))
                folders |= {path.partition("/")[0] for path in paths if "/" in path}
                if part.problem:
                    count.leave_out(str(_ROOT / part.key), part.problem)
                if time.monotonic() - began_at > _PREVIEW_S:
                    is_complete = False
                    break
            requests = max(1, remote.requests)
        finally:
            remote.close()
        found = count.result(is_complete=is_complete)
        a_request_s = (time.monotonic() - began_at) / requests
        fetching_s = found.files * a_request_s + found.size_bytes / _BYTES_A_SECOND
        return replace(found, fetch_seconds=fetching_s, folders=tuple(sorted(folders)))

    def open_run(self, source: Source, may_go_on: Callable[[], bool]) -> RemoteRun:
        """As `FetchRounds.open_run`."""
        assert source.links, "a remote is a source of links"
        stop = threading.Event()
        self._accounts[source.source_id] = _account(source.links)
        remote = self._open_remote(source.links, "", stop)
        run = RemoteRun(source, self._kit, self._journal, remote, self._clock(), may_go_on)
        run.stop = stop
        return run

    def notices(self, run: FetchRun) -> Iterator[Notice]:
        """What ended a round early, and limits, each once until it is another."""
        assert isinstance(run, RemoteRun), "it was opened here"
        source, name = run.source, run.source.name
        if (refused := run.refused) and self._told.get(source.source_id) != refused.reason:
            yield Notice(f"{name} could not be read.", refused.reason)
        if run.is_cut_off and not source.refreshed_at:
            limit = f"{source.links.page_limit if source.links else MOST_FILES:,} files"
            yield Notice(f"Only {limit} of {name} are read.", "There are more.")
        self._told[source.source_id] = refused.reason if refused else ""

    def purge(self) -> None:
        """As `FetchRounds.purge`."""
        self._journal.purge()

    def pages(self, document_ids: Sequence[str]) -> Mapping[str, str]:
        """As `SourceKind.pages`."""
        return self._journal.pages(document_ids)

    def _open_remote(self, links: WebLinks, password: str, cancel: threading.Event) -> Remote:
        if password:
            password = self._login_of(links, password, cancel)
        elif self._remote.takes_secret(links.user):
            password = self._secrets.get(_account(links))
        return self._remote.open(links, password, cancel)

    def _login_of(self, links: WebLinks, entered: str, cancel: threading.Event) -> str:
        """What is kept of a secret that was entered; a person logs in once for it."""
        if self._remote.log_in is None:
            return entered
        before, login = self._logins.get(_account(links), ("", ""))
        if before != entered:
            login = self._remote.log_in(links, entered, cancel)
            self._logins[_account(links)] = entered, login
        return login


def _account(links: WebLinks) -> str:
    return f"{links.remote} {links.user} {origin_of(links.urls[0])}"
