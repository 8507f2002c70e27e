"""Changes of the index as events: one for a scan, one when its files were read."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from desktop_rag.activity.event_files import EventFiles, EventLog
from desktop_rag.activity.event_wording import detail_of, title_of
from desktop_rag.activity.recorder import LibraryRecorder, Recorder
from desktop_rag.core.changes import Changes
from desktop_rag.core.domain import DocumentState
from desktop_rag.core.library_events import (
    ChangeSummary,
    DocumentsChanged,
    RequestRefused,
    SourceScanned,
)
from tests.unit.ui.rooms import make_document

WAITING, FAILED = DocumentState.WAITING, DocumentState.FAILED


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with closing(EventLog(EventFiles(tmp_path))) as log:
        yield log


@pytest.fixture
def library(log: EventLog) -> Changes:
    """What a library publishes to."""
    LibraryRecorder(Recorder(log), changes := Changes(), lambda: {"papers": "Papers"})
    return changes


def lines(log: EventLog) -> list[str]:
    log.flush()
    return [f"{title_of(event)}: {detail_of(event)}" for event in log.newest_first()][::-1]


def changed(library: Changes, **states: DocumentState) -> None:
    documents = [make_document(name, state) for name, state in states.items()]
    library.publish(DocumentsChanged(tuple(documents)))


def test_a_scan_with_changes(library: Changes, log: EventLog) -> None:
    library.publish(SourceScanned("papers", ChangeSummary(unchanged=9)))
    library.publish(SourceScanned("papers", ChangeSummary(3, 1, 0, 2, 9)))
    library.publish(SourceScanned("removed", ChangeSummary(added=1)))
    assert lines(log) == [
        "Papers was scanned: 3 added, 1 changed, 2 removed", "A source was scanned: 1 added",
    ]  # fmt: skip


def test_the_end_of_reading(library: Changes, log: EventLog) -> None:
    changed(library, a=WAITING, b=WAITING, c=WAITING, d=WAITING)
    changed(library, a=DocumentState.READING)
    changed(library, a=DocumentState.SEARCHABLE_BY_WORDS, b=FAILED)
    changed(library, a=DocumentState.SEARCHABLE, c=DocumentState.SKIPPED)
    assert lines(log) == []
    changed(library, d=DocumentState.GONE)
    assert lines(log) == ["Papers was read: 1 read, 1 failed, 1 skipped"]
    changed(library, a=DocumentState.SEARCHABLE, b=DocumentState.OFFLINE)
    assert len(lines(log)) == 1


def test_a_forbidden_page(library: Changes, log: EventLog) -> None:
    url = "http://127.0.0.1:8080/admin?token=secret"
    library.publish(RequestRefused(url, "It is on this computer."))
    assert lines(log) == ["A web page was not fetched.: 127.0.0.1:8080 · It is on this computer."]
