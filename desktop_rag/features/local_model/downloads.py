"""Downloads of models in the background, one thread `model-download` each. Any thread."""

import logging
import threading
import time
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from threading import Event, Lock, Thread
from urllib.parse import urlsplit

from desktop_rag.core.changes import Changes
from desktop_rag.core.errors import AppError, Cancelled, os_error_as
from desktop_rag.features.local_model import fetcher
from desktop_rag.features.local_model.catalogue import OfferedModel, offered_models

log = logging.getLogger(__name__)

_TOLD_EVERY_S = 0.5


class DownloadState(StrEnum):
    """What a download does. One that was paused or failed goes on where it stopped."""

    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Download:
    """A download of an offered model, in bytes; title and hint say why it failed."""

    model: OfferedModel
    state: DownloadState
    done_bytes: int
    total_bytes: int
    title: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class DownloadChanged:
    """A download began, went on, paused, failed or ended; told twice a second at most."""

    download: Download


@dataclass(slots=True)
class _Running:
    """A download of this run of the app."""

    download: Download
    cancel: Event = field(default_factory=Event)
    thread: Thread | None = None


class Downloads:
    """Fetches offered models into a folder. Nothing is sent before `fetch`."""

    def __init__(self, folder: Path, changes: Changes) -> None:
        """A DownloadChanged is published for each change, on the thread of the download."""
        self.folder = folder
        self._changes = changes
        self._lock = Lock()
        self._begun: dict[str, _Running] = {}
        self._is_closed = False

    @property
    def host(self) -> str:
        """The name of the host that is asked."""
        return urlsplit(fetcher.host()).netloc

    def all(self) -> tuple[Download, ...]:
        """The downloads of this run, and those that an earlier run left, which are paused."""
        with self._lock:
            begun = {name: running.download for name, running in self._begun.items()}
        for model in offered_models():
            if model.name not in begun and (parts := self._parts(model)):
                done = max(part.stat().st_size for part in parts)
                total = max(done, model.size_bytes)
                begun[model.name] = Download(model, DownloadState.PAUSED, done, total)
        return tuple(begun.values())

    def fetch(self, model: OfferedModel) -> None:
        """Begin to fetch a model, or go on; no effect while it is fetched. Returns at once.

        Call it only when the person has agreed to host, size and folder.
        """
        with self._lock:
            running = self._begun.get(model.name)
            is_running = running and running.download.state is DownloadState.RUNNING
            if self._is_closed or is_running:
                return
            before = running.download if running else None
            done, total = (before.done_bytes, before.total_bytes) if before else (0, 0)
            begun = Download(model, DownloadState.RUNNING, done, total or model.size_bytes)
            running = self._begun[model.name] = _Running(begun)
            running.thread = Thread(
                target=self._fetch, args=(running,), name="model-download", daemon=True
            )
            running.thread.start()

    def pause(self, name: str) -> None:
        """Stop a download; what was fetched is kept. Waits for its thread."""
        with self._lock:
            running = self._begun.get(name)
        if running and running.thread:
            running.cancel.set()
            if running.thread is not threading.current_thread():
                running.thread.join()

    def wait(self, name: str) -> Download:
        """The download once it has ended, failed or was paused."""
        with self._lock:
            running = self._begun[name]
        if running.thread:
            running.thread.join()
        return running.download

    def discard(self, model: OfferedModel) -> None:
        """Stop a download and delete what was fetched of it. AppError when that fails."""
        self.pause(model.name)
        with self._lock:
            self._begun.pop(model.name, None)
        with os_error_as(f"“{model.file}” could not be deleted."):
            for part in self._parts(model):
                part.unlink(missing_ok=True)

    def close(self) -> None:
        """Pause everything. Idempotent."""
        with self._lock:
            self._is_closed = True
            names = list(self._begun)
        for name in names:
            self.pause(name)

    def _parts(self, model: OfferedModel) -> list[Path]:
        return sorted(self.folder.glob(f"{model.file}.*.part"))

    def _fetch(self, running: _Running) -> None:
        model, told_at = running.download.model, 0.0

        def tell(done: int, total: int) -> None:
            nonlocal told_at
            running.download = replace(running.download, done_bytes=done, total_bytes=total)
            if time.monotonic() - told_at > _TOLD_EVERY_S:
                told_at = time.monotonic()
                self._changes.publish(DownloadChanged(running.download))

        self._changes.publish(DownloadChanged(running.download))
        state, title, hint = DownloadState.DONE, "", ""
        try:
            fetcher.fetch(model.repository, model.file, self.folder, running.cancel, tell)
        except Cancelled:
            state = DownloadState.PAUSED
        except AppError as error:
            log.info("a model is not fetched: %s", error.title)
            state, title, hint = DownloadState.FAILED, error.title, error.hint
            if not self._parts(model):
                running.download = replace(running.download, done_bytes=0)
        running.download = replace(running.download, state=state, title=title, hint=hint)
        self._changes.publish(DownloadChanged(running.download))
