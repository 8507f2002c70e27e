"""Records what the app does in the event log. Any thread, the Qt thread too.

Services get the recorder from their constructors. It strips keys from each text and shortens it.
"""

import dataclasses
import re
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from desktop_rag.activity.activity_event import (
    ActivityEvent,
    EventKind,
    IndexChange,
    Outcome,
    Purpose,
)
from desktop_rag.activity.event_files import EventLog
from desktop_rag.core.changes import Changes
from desktop_rag.core.conversation import Message, MessageState
from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.errors import AppError, Cancelled, without_quotation
from desktop_rag.core.library_events import DocumentsChanged, Notice, RequestRefused, SourceScanned
from desktop_rag.core.log import redact
from desktop_rag.core.settings import EndpointSettings, Settings

_LONGEST_CHARS = 400
# The part of an address that may hold a secret.
_QUERY = re.compile(r"(?i)(\bhttps?://[^\s?#”\"]+)[?#][^\s”\"]*")
_OUTCOMES = {
    MessageState.DONE: Outcome.DONE, MessageState.STOPPED: Outcome.STOPPED,
    MessageState.FAILED: Outcome.FAILED,
}  # fmt: skip


@dataclass
class OpenCall:
    """A request under way, with its tokens."""

    tokens_in: int = 0
    tokens_out: int = 0
    is_estimate: bool = False

    def count(self, tokens_in: int, tokens_out: int, *, is_estimate: bool) -> None:
        """Set the tokens: those that the server counted, or an estimate."""
        self.tokens_in, self.tokens_out, self.is_estimate = tokens_in, tokens_out, is_estimate


class Recorder:
    """Turns what happens into events. Recording never fails and never waits."""

    def __init__(self, log: EventLog | None = None, *, is_on: bool = True) -> None:
        """Without a log nothing is recorded."""
        self._log = log
        self._is_on = is_on

    @property
    def is_on(self) -> bool:
        """True while events are recorded."""
        return self._is_on

    def set_on(self, is_on: bool) -> None:
        """Record from now on, or no longer."""
        self._is_on = is_on

    def close(self) -> None:
        """Write the events so far; later ones are dropped. Idempotent."""
        if self._log:
            self._log.close()

    def question(self, answer: Message) -> None:
        """A question was answered, or its answer stopped or failed."""
        event = self._event(EventKind.QUESTION, detail=answer.error_title)
        done = replace(
            event, outcome=_OUTCOMES[answer.state], chat_id=answer.conversation_id,
            model=answer.model, seconds=round(answer.seconds, 3),
            counts=(("sources", len(answer.sources)),),
        )  # fmt: skip
        self._record(done)

    @contextmanager
    def call(self, purpose: Purpose, endpoint: EndpointSettings) -> Generator[OpenCall]:
        """Record a request to an endpoint when the block ends, however it ends."""
        began_at, opened = time.monotonic(), OpenCall()
        outcome, detail = Outcome.FAILED, ""
        try:
            yield opened
            outcome = Outcome.DONE
        except (Cancelled, GeneratorExit):
            outcome = Outcome.STOPPED
            raise
        except AppError as error:
            detail = error.title
            raise
        finally:
            event = self._event(EventKind.CALL, purpose, detail)
            ended = replace(
                event, outcome=outcome, model=endpoint.model, host=_host_of(endpoint.base_url),
                tokens_in=opened.tokens_in, tokens_out=opened.tokens_out,
                is_estimate=opened.is_estimate, seconds=round(time.monotonic() - began_at, 3),
            )  # fmt: skip
            self._record(ended)

    def refused(self, subject: str, reason: str, *, url: str = "") -> None:
        """A request was not sent or not answered; of `url` only the host is recorded."""
        host = _host_of(url) if url else ""
        self._record(replace(self._event(EventKind.REFUSED, subject, reason), host=host))

    def index_change(self, source: str, change: str, counts: Sequence[tuple[str, int]]) -> None:
        """A source was scanned or read: an IndexChange with the numbers of files."""
        event = self._event(EventKind.INDEX, source, change)
        self._record(replace(event, counts=tuple(pair for pair in counts if pair[1])))

    def notice(self, notice: Notice, *, is_error: bool = False) -> None:
        """A notice or an error was shown."""
        event = self._event(EventKind.NOTICE, notice.title, without_quotation(notice.hint))
        self._record(replace(event, outcome=Outcome.FAILED) if is_error else event)

    def repair(self, title: str, hint: str = "") -> None:
        """The library was repaired, or lost entries were restored."""
        self._record(self._event(EventKind.REPAIR, title, hint))

    def settings_change(self, before: Settings, after: Settings) -> None:
        """Settings were changed: their names are recorded, not their values."""
        if names := changed_names(before, after):
            self.setting(", ".join(names))

    def setting(self, name: str) -> None:
        """A setting of this name was changed."""
        self._record(self._event(EventKind.SETTINGS, detail=name))

    def _event(self, kind: EventKind, subject: str = "", detail: str = "") -> ActivityEvent:
        return ActivityEvent(round(time.time(), 3), kind, _cleaned(subject), _cleaned(detail))

    def _record(self, event: ActivityEvent) -> None:
        if self._log and self._is_on:
            self._log.append(replace(event, model=_cleaned(event.model), host=_cleaned(event.host)))


def changed_names(before: Settings, after: Settings) -> list[str]:
    """The names of the settings that differ, such as `answers.checks_claims`."""
    names: list[str] = []
    for section in dataclasses.fields(Settings):
        old, new = getattr(before, section.name), getattr(after, section.name)
        if isinstance(new, tuple):
            names += [section.name] if old != new else []
            continue
        names += [
            f"{section.name}.{field.name}"
            for field in dataclasses.fields(new)
            if getattr(old, field.name) != getattr(new, field.name)
        ]
    return names


def _cleaned(text: str) -> str:
    line = " ".join(_QUERY.sub(r"\1", redact(text)).split())
    return line if len(line) <= _LONGEST_CHARS else line[: _LONGEST_CHARS - 1] + "…"


def _host_of(url: str) -> str:
    """Host and port, without a name, password or query that may be secret."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    return f"{parts.hostname or ''}{port}"


_UNREAD = {DocumentState.WAITING, DocumentState.READING}


@dataclass
class _Reading:
    """The files of one source still to be read, and the numbers of those done."""

    waiting: set[str] = field(default_factory=set[str])
    read: int = 0
    failed: int = 0
    skipped: int = 0


class LibraryRecorder:
    """Records scans with changes, and when a source has been read. The library's threads."""

    def __init__(
        self, recorder: Recorder, changes: Changes, source_names: Callable[[], Mapping[str, str]]
    ) -> None:
        """Subscribe to `changes`. `source_names` returns the names of all sources by id."""
        self._recorder = recorder
        self._source_names = source_names
        self._lock = threading.Lock()
        self._readings: dict[str, _Reading] = {}
        changes.hear(SourceScanned, self._on_scanned)
        changes.hear(DocumentsChanged, self._on_documents_changed)
        changes.hear(RequestRefused, self._on_refused)

    def _on_refused(self, event: RequestRefused) -> None:
        self._recorder.refused("A web page was not fetched.", event.reason, url=event.url)

    def _on_scanned(self, event: SourceScanned) -> None:
        summary = event.summary
        if summary.is_empty:
            return
        counts = (
            ("added", summary.added), ("changed", summary.changed),
            ("moved", summary.moved), ("removed", summary.gone),
        )  # fmt: skip
        self._recorder.index_change(self._name_of(event.source_id), IndexChange.SCANNED, counts)

    def _on_documents_changed(self, event: DocumentsChanged) -> None:
        finished: dict[str, _Reading] = {}
        with self._lock:
            for document in event.documents:
                reading = self._readings.setdefault(document.source_id, _Reading())
                _follow(reading, document)
            for source_id, reading in list(self._readings.items()):
                if not reading.waiting:
                    finished[source_id] = self._readings.pop(source_id)
        for source_id, done in finished.items():
            counts = (("read", done.read), ("failed", done.failed), ("skipped", done.skipped))
            if any(number for _, number in counts):
                self._recorder.index_change(self._name_of(source_id), IndexChange.READ, counts)

    def _name_of(self, source_id: str) -> str:
        return self._source_names().get(source_id, "")


def _follow(reading: _Reading, document: Document) -> None:
    if document.state in _UNREAD:
        reading.waiting.add(document.document_id)
        return
    # Others change for other reasons, such as a vector.
    if document.document_id not in reading.waiting:
        return
    reading.waiting.discard(document.document_id)
    reading.read += document.state.is_searchable
    reading.failed += document.state is DocumentState.FAILED
    reading.skipped += document.state is DocumentState.SKIPPED
