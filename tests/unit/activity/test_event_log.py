"""The event log: bounded in bytes and days, private, and readable after a crash."""

import os
import resource
import signal
import stat
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from desktop_rag.activity.activity_event import ActivityEvent, EventKind, Outcome
from desktop_rag.activity.event_files import EventFiles, EventLog, LogLimits
from desktop_rag.core.errors import AppError

NOW = time.time()
DAY_S = 86_400.0


def event(number: int, subject: str = "") -> ActivityEvent:
    return ActivityEvent(NOW + number, EventKind.NOTICE, subject or f"notice {number}")


@contextmanager
def log_in(folder: Path, limits: LogLimits | None = None) -> Iterator[EventLog]:
    with closing(EventLog(EventFiles(folder, limits))) as log:
        yield log


def subjects(log: EventLog) -> list[str]:
    log.flush()
    return [found.subject for found in log.newest_first()]


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("events-*.jsonl"))


def test_events_come_back_newest_first(tmp_path: Path) -> None:
    full = ActivityEvent(
        1_700_000_000.25, EventKind.CALL, "answer", "why", Outcome.FAILED, "chat", "model", "host",
        812, 41, True, 1.5, (("sources", 4),),
    )  # fmt: skip
    with log_in(tmp_path / "activity") as log:
        log.append(full)
        log.append(event(2))
        log.flush()
        assert list(log.newest_first()) == [event(2), full]
    with log_in(tmp_path / "activity") as log:
        assert list(log.newest_first()) == [event(2), full]


def test_closing_writes_what_is_pending(tmp_path: Path) -> None:
    with log_in(tmp_path) as log:
        for number in range(500):
            log.append(event(number))
    with log_in(tmp_path) as log:
        assert len(subjects(log)) == 500
    log.append(event(501))  # after the end, and it costs nothing
    assert len(subjects(log)) == 500


@pytest.mark.skipif(sys.platform == "win32", reason="modes are those of POSIX")
def test_only_this_user_can_read_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with log_in(tmp_path / "activity") as log:
            log.append(event(1))
    finally:
        os.umask(before)
    [file] = files_of(tmp_path / "activity")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_all_files_stay_within_the_bytes(tmp_path: Path) -> None:
    limits = LogLimits(file_bytes=2_000, total_bytes=8_000)
    with log_in(tmp_path, limits) as log:
        for number in range(400):
            log.append(event(number, f"{number:04} {'x' * 100}"))
        log.flush()
        sizes = [file.stat().st_size for file in files_of(tmp_path)]
        found = subjects(log)
    assert max(sizes) <= limits.file_bytes
    assert sum(sizes) <= limits.total_bytes
    assert len(sizes) >= 3
    newest = [subject[:4] for subject in found]
    assert newest == [f"{number:04}" for number in range(399, 399 - len(found), -1)]


def test_each_day_has_a_file_and_old_ones_go(tmp_path: Path) -> None:
    ages = (200, 91, 89, 1)
    for days in ages:
        with log_in(tmp_path) as log:
            log.append(event(-days))
        newest = files_of(tmp_path)[-1]
        then = time.time() - days * DAY_S
        os.utime(newest, (then, then))
    with log_in(tmp_path) as log:
        log.append(event(0))
        assert subjects(log) == ["notice 0", "notice -1", "notice -89"]
    assert len(files_of(tmp_path)) == 3


def test_a_clock_that_is_set_back_moves_nothing(tmp_path: Path) -> None:
    now = [NOW]
    log = EventLog(EventFiles(tmp_path, clock=lambda: now[0]))
    with closing(log):
        log.append(event(1))
        log.flush()
        now[0] -= 400 * DAY_S
        log.append(event(-9))
        assert subjects(log) == ["notice -9", "notice 1"]


@pytest.mark.parametrize(
    "rest",
    [
        b'{"at":1,"kind":"notice","subject":"half',
        b"\x00\xff\xfe",
        b"[" * 100_000,
        b'{"at":"x","kind":"notice"}',
        b'{"at":1,"kind":"unknown"}',
        b'{"at":NaN,"kind":"notice"}',
        b'{"at":1e400,"kind":"notice"}',
        b"[]",
        b"null",
    ],
)
def test_a_line_that_is_no_event_is_skipped(tmp_path: Path, rest: bytes) -> None:
    with log_in(tmp_path) as log:
        log.append(event(1))
    with files_of(tmp_path)[0].open("ab") as file:
        file.write(rest)
    with log_in(tmp_path) as log:
        log.append(event(2))
        assert subjects(log) == ["notice 2", "notice 1"]


def test_fields_of_the_wrong_type_are_empty(tmp_path: Path) -> None:
    line = (
        b'{"at":5,"kind":"call","subject":7,"model":["x"],"tokens_in":"9","tokens_out":-1,'
        b'"seconds":true,"outcome":"?","counts":{"sources":"4"}}\n'
    )
    (tmp_path / "events-000001.jsonl").write_bytes(line)
    with log_in(tmp_path) as log:
        assert list(log.newest_first()) == [ActivityEvent(5.0, EventKind.CALL)]


def test_names_that_are_no_text_are_written(tmp_path: Path) -> None:
    with log_in(tmp_path) as log:
        log.append(event(1, "scan of caf\udce9\n\u2028 and more"))
        assert subjects(log) == ["scan of caf\udce9\n\u2028 and more"]


@pytest.mark.skipif(sys.platform == "win32", reason="limits are those of POSIX")
def test_a_full_disk_loses_events_and_nothing_else(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with log_in(tmp_path) as log:
        log.append(event(1))
        log.flush()
        size = files_of(tmp_path)[0].stat().st_size
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, limits[1]))
            log.append(event(2))  # half of it fits
            log.append(event(3))
            log.flush()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            signal.signal(signal.SIGXFSZ, handler)
        log.append(event(4))
        assert subjects(log) == ["notice 4", "notice 1"]


def test_a_folder_that_cannot_be_made_loses_events(tmp_path: Path) -> None:
    (tmp_path / "activity").write_text("in the way")
    with log_in(tmp_path / "activity") as log:
        log.append(event(1))
        assert subjects(log) == []
        (tmp_path / "activity").unlink()
        log.append(event(2))
        assert subjects(log) == ["notice 2"]


def test_files_deleted_by_others_are_begun_again(tmp_path: Path) -> None:
    with log_in(tmp_path) as log:
        log.append(event(1))
        log.flush()
        files_of(tmp_path)[0].unlink()
        log.append(event(2))
        assert subjects(log) == ["notice 2"]


def test_delete_all_keeps_what_is_no_event_file(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with log_in(tmp_path) as log:
        log.append(event(1))
        log.flush()
        log.delete_all()
        assert subjects(log) == []
        log.append(event(2))
        assert subjects(log) == ["notice 2"]
    assert (tmp_path / "mine.txt").exists()


def test_delete_all_says_when_it_cannot(tmp_path: Path) -> None:
    (tmp_path / "events-000001.jsonl").mkdir()
    with log_in(tmp_path) as log, pytest.raises(AppError, match="could not be deleted"):
        log.delete_all()


def test_many_threads_lose_nothing(tmp_path: Path) -> None:
    heard: list[ActivityEvent] = []
    with log_in(tmp_path) as log:
        stop_hearing = log.changes.hear(ActivityEvent, heard.append)
        threads = [
            threading.Thread(target=lambda: [log.append(event(n)) for n in range(50)])
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(subjects(log)) == 400
        stop_hearing()
        log.append(event(0))
        log.flush()
    assert len(heard) == 400
