"""The journal: files beside the library with every precious row as JSON lines, for recovery.

A line is on disk before its transaction is committed. Each has the number of its change, and the
library stores the number of its last one: a library that lost its latest changes, or all of them,
gets them back from the lines with higher numbers. A change of several lines is marked as begun
before the first and as done after the last: one that was cut off in between never happened. Used on
the write lane only, and at opening before the lane starts, unless stated otherwise.
"""

import json
import logging
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

from desktop_rag.core.files.own_files import set_aside_damaged, write_atomically
from desktop_rag.store.contract.database import Entity
from desktop_rag.store.contract.line_files import append_to_files
from desktop_rag.store.contract.precious import Rows, kinds
from desktop_rag.store.contract.precious_rows import all_rows, has_rows, put_rows, rows_of
from desktop_rag.store.duckdb.database.connections import (
    REFUSALS,
    Connection,
    insert_rows,
    roll_back,
)

log = logging.getLogger(__name__)

FOLDER = "journal"
_GENERATION = "generation"
_REMOVALS = "removed.jsonl"
_LINES = "*.jsonl"
# A kind names a file, even one of an absent feature.
_KIND = re.compile(r"[a-z_]{1,40}")
_NUMBER = re.compile(rb"(\d{1,20})(\?)?\s*")
# The column of the library that holds the number of the last change.
_MOST_NUMBER = 2**63 - 1
# This many lines are applied in one transaction.
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Line:
    """One change: the rows of an entity after it, none when it was removed."""

    number: int
    entity: Entity
    rows: Rows

    @property
    def is_removal(self) -> bool:
        """True when the entity was removed."""
        return not any(self.rows.values())

    def encoded(self) -> bytes:
        """The line as it is written."""
        e = self.entity
        content = {"n": self.number, "kind": e.kind, "key": e.key, "rows": self.rows}
        if e.conversation_id:
            content["conversation_id"] = e.conversation_id
        return json.dumps(content, ensure_ascii=False).encode() + b"\n"

    @classmethod
    def decoded(cls, content: bytes) -> "Line":
        """The inverse of `encoded`; ValueError for anything else."""
        try:
            found: Any = json.loads(content)
            entity = Entity(found["kind"], found["key"], found.get("conversation_id", ""))
            number, rows = found["n"], found["rows"]
            is_named = _KIND.fullmatch(entity.kind) and type(found["key"]) is str
            if (
                not is_named
                or type(number) is not int
                or not 0 <= number <= _MOST_NUMBER
                or not all(isinstance(row, dict) for row in chain(*rows.values()))
            ):
                raise ValueError("unknown fields")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
            raise ValueError("no line of a journal") from exc
        return cls(number, entity, rows)


class Journal:
    """The files of one library."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        # What changes were about of which the files may have some lines, but never happened.
        self._torn: set[Entity] = set()
        self._removed: set[Entity] = set()

    def catch_up(self, connection: Connection) -> int:
        """Bring library and journal to the same state; returns the number of things restored.

        Interrupted, it starts again at the next opening. OSError when the files can't be written.
        """
        [(stored,)] = connection.execute("SELECT generation FROM journal_state").fetchall()
        set_aside_damaged([self._folder / _GENERATION])
        written, is_torn = self._read_number()
        done = written - is_torn
        restored = self._restore(connection, stored, done) if done > stored else 0
        self._number = max(stored, written)
        if done < stored or not self._folder.exists():
            self._write_all(connection)
        elif is_torn:
            self.record(connection, [line.entity for line in self._lines() if line.number > done])
            self._torn.clear()
        if self._number != stored:
            _set_generation(connection, self._number)
        return restored

    def last_number(self) -> int | None:
        """The number of the last change that was written; None without files."""
        number, is_torn = self._read_number()
        return number - is_torn if self._folder.exists() else None

    def count_unreadable(self) -> int:
        """The number of lines that are damaged or were cut off by a crash. Any thread."""
        unreadable = 0
        for file in self._folder.rglob(_LINES):
            # What follows the last line break may just be being written.
            for content in file.read_bytes().split(b"\n")[:-1]:
                try:
                    Line.decoded(content)
                except ValueError:
                    unreadable += 1
        return unreadable

    def rewrite(self, connection: Connection) -> None:
        """Write everything anew from the library, inside a transaction of the caller."""
        self._write_all(connection)
        _set_generation(connection, self._number)

    def record(self, connection: Connection, entities: Iterable[Entity]) -> None:
        """Write the lines of a change, before it is committed. OSError when that fails."""
        self._number += 1
        _set_generation(connection, self._number)
        changed = list(dict.fromkeys([*entities, *self._torn]))
        lines = [Line(self._number, *entry) for entry in rows_of(connection, changed)]
        self._torn.update(changed)
        if len(lines) > 1:
            self._write_number(is_done=False)
        self._append(lines)
        self._write_number()
        self._removed |= {line.entity for line in lines if line.is_removal}

    def withdraw(self) -> None:
        """After a change that failed: no opening may restore its lines."""
        if self._torn:
            try:
                self._write_number(is_done=False)
            except OSError as exc:
                log.info("the journal keeps a change that failed: %s", exc.strerror)

    def settle(self) -> None:
        """After the commit: erase what was removed. After a failure, the next call tries again."""
        self._torn.clear()
        removed, self._removed = self._removed, set()
        for file in {self._file(entity) for entity in removed}:
            try:
                _erase(file, removed)
            except OSError as exc:
                self._removed |= {entity for entity in removed if self._file(entity) == file}
                log.info("%s could not be rewritten: %s", file.name, exc.strerror)

    def _restore(self, connection: Connection, after: int, last: int) -> int:
        """Apply the latest line of each entity between these numbers; returns how many."""
        latest: dict[Entity, Line] = {}
        for line in sorted(self._lines(), key=lambda line: line.number):
            if after < line.number <= last and line.entity.kind in kinds():
                latest[line.entity] = line
        lines = list(latest.values())
        batches = (lines[at : at + _BATCH] for at in range(0, len(lines), _BATCH))
        return sum(_applied(connection, batch) for batch in batches)

    def _lines(self) -> Iterator[Line]:
        for file in sorted(self._folder.rglob(_LINES)):
            for content in file.read_bytes().split(b"\n"):
                with suppress(ValueError):  # cut off by a crash, or damaged
                    yield Line.decoded(content)

    def _read_number(self) -> tuple[int, bool]:
        """The number of the last change, and True when its lines may not all be there."""
        try:
            found = _NUMBER.fullmatch((self._folder / _GENERATION).read_bytes())
        except (FileNotFoundError, IsADirectoryError):
            found = None
        if found and (number := int(found[1])) <= _MOST_NUMBER:
            return number, bool(found[2])
        return max((line.number for line in self._lines()), default=0), False

    def _write_all(self, connection: Connection) -> None:
        """Write everything anew: the files are missing, or older than the library."""
        if not self._folder.exists() and not has_rows(connection):
            return
        rows = list(all_rows(connection))
        # The entries of absent features.
        of_others = [line for line in self._lines() if line.entity.kind not in kinds()]
        # In a folder of its own: interrupted, it is not taken for complete.
        whole = Journal(self._folder.with_name(f"{self._folder.name}.new"))
        shutil.rmtree(whole._folder, ignore_errors=True)
        self._number = whole._number = self._number + 1
        whole._append([*of_others, *(Line(self._number, *entry) for entry in rows)])
        whole._write_number()
        outdated = self._folder.with_name(f"{self._folder.name}.old")
        shutil.rmtree(outdated, ignore_errors=True)
        if self._folder.exists():
            self._folder.rename(outdated)
        whole._folder.rename(self._folder)
        self._torn.clear()
        shutil.rmtree(outdated, ignore_errors=True)

    def _append(self, lines: Sequence[Line]) -> None:
        by_file: dict[Path, list[Line]] = {}
        for line in lines:
            by_file.setdefault(self._place(line), []).append(line)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        append_to_files(
            {file: b"".join(line.encoded() for line in own) for file, own in by_file.items()}
        )

    def _write_number(self, *, is_done: bool = True) -> None:
        self._folder.mkdir(mode=0o700, exist_ok=True)
        # In place, without a truncation in between: these few bytes are written at once.
        descriptor = os.open(self._folder / _GENERATION, os.O_WRONLY | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            mark = " " if is_done else "?"
            file.write(f"{self._number:020d}{mark}\n".encode("ascii"))
            file.flush()
            os.fsync(file.fileno())

    def _place(self, line: Line) -> Path:
        """The file of a line; removals are kept apart, for a library that still has the entity."""
        return self._folder / _REMOVALS if line.is_removal else self._file(line.entity)

    def _file(self, entity: Entity) -> Path:
        match entity.kind:
            case "conversation" | "message":
                name = quote(entity.conversation_id or entity.key, safe="")
                return self._folder / "conversations" / f"{name}.jsonl"
            case "image":
                return self._folder / "images" / f"{quote(entity.key, safe='')}.jsonl"
            case kind:
                return self._folder / f"{kind}s.jsonl"


def _applied(connection: Connection, lines: Sequence[Line]) -> int:
    """Apply the lines in one transaction, or one by one when one of them does not fit."""
    connection.begin()
    try:
        put_rows(connection, [(line.entity, line.rows) for line in lines], insert_rows, REFUSALS)
        connection.commit()
    except ValueError as exc:
        roll_back(connection)
        if len(lines) > 1:
            return sum(_applied(connection, [line]) for line in lines)
        log.info("a line of the journal was left out: %s", exc)
        return 0
    except BaseException:
        roll_back(connection)
        raise
    return len(lines)


def _set_generation(connection: Connection, number: int) -> None:
    connection.execute("UPDATE journal_state SET generation = ?", [number])


def _erase(file: Path, removed: set[Entity]) -> None:
    """Rewrite the file without the lines of these entities, and without outdated ones."""
    if not file.exists():
        return
    latest: dict[Entity, bytes] = {}
    for content in file.read_bytes().split(b"\n"):
        with suppress(ValueError):
            latest[Line.decoded(content).entity] = content
    left = [content for entity, content in latest.items() if entity not in removed]
    if left:
        write_atomically(file, b"\n".join([*left, b""]))
    else:
        file.unlink()
