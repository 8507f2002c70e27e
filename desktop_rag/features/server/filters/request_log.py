"""The log of requests to the local server: who asked what, when, and how it ended.

Questions and answers are in it only where the settings want it; keys and tokens never are. Any
thread; processes with the same home append to the same files.
"""

import json
import logging
import threading
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, cast

from desktop_rag.activity.event_files import EventFiles, LogLimits
from desktop_rag.core.errors import AppError
from desktop_rag.features.server.programs.request_record import RequestRecord

log = logging.getLogger(__name__)

_LIMITS = LogLimits(file_bytes=2_000_000, total_bytes=16_000_000, days=90)
_LONGEST_TEXT = 20_000
_LONGEST_NAME = 300


class RequestLog:
    """Keeps the latest records in a folder, bounded in bytes and days."""

    def __init__(self, folder: Path) -> None:
        """The folder is created with the first record."""
        self._files = EventFiles(folder, _LIMITS)
        self._lock = threading.Lock()

    def write(self, record: RequestRecord) -> None:
        """Append a record. One that can't be written is dropped: nobody waits for it."""
        line = json.dumps(_stored(record), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            with self._lock:
                self._files.append(line)
        except OSError as exc:
            log.warning("a request was not logged: %s", exc.strerror)

    def newest_first(self) -> Iterator[RequestRecord]:
        """The records, read as they are taken; lines that are none are passed over."""
        for line in self._files.newest_first():
            if record := _record_in(line):
                yield record

    def delete_all(self) -> None:
        """Forget all of them. AppError when a file can't be removed."""
        try:
            with self._lock:
                self._files.delete_all()
        except OSError as exc:
            raise AppError("The log of requests can't be deleted.", f"{exc.strerror}.") from exc


def _stored(record: RequestRecord) -> dict[str, Any]:
    """The fields that say something, none of them too long."""
    longest = {"question": _LONGEST_TEXT, "answer": _LONGEST_TEXT}
    return {
        name: value[: longest.get(name, _LONGEST_NAME)] if isinstance(value, str) else value
        for name, value in asdict(record).items()
        if value
    }


def _record_in(line: bytes) -> RequestRecord | None:
    """The record of a line; None for anything else: others may edit the file."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("at"), int | float):  # pyright: ignore[reportUnknownMemberType]
        return None
    given = cast("dict[str, Any]", found)
    kept: dict[str, Any] = {}
    for field in fields(RequestRecord):
        wanted = str if isinstance(field.default, str) else int
        value = given.get(field.name)
        if isinstance(value, wanted) and not isinstance(value, bool) and field.name != "at":
            kept[field.name] = value
    return RequestRecord(float(given["at"]), **kept)
