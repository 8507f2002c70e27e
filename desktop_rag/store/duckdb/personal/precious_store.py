"""All precious rows out of the library and into it, whole or not at all. Any thread."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import duckdb

from desktop_rag.core.errors import AppError
from desktop_rag.store.contract.precious import Entry, Plan
from desktop_rag.store.duckdb.database.bulk_rows import insert_rows
from desktop_rag.store.duckdb.database.connections import REFUSALS
from desktop_rag.store.duckdb.database.database import Connection, Database
from desktop_rag.store.duckdb.database.migrations import LATEST
from desktop_rag.store.duckdb.personal.index_copy import (
    INCOMING,
    OUTGOING,
    copy_out,
    has_documents,
    take_over,
)
from desktop_rag.store.sql.precious_rows import (
    Entity,
    all_rows,
    keys_of,
    put_rows,
    rows_of,
)

_IMAGE = "image"
# The text of images that one transaction puts.
_IMAGE_CHARS = 4_000_000
_ATTEMPTS = 4


class PreciousStore:
    """Reads and merges entries; the lines of the journal are written as with any change."""

    schema = LATEST

    def __init__(self, database: Database) -> None:
        self._database = database

    def change_number(self) -> int:
        """The number of the last change in the journal."""
        with self._database.read() as con:
            return _number(con)

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` on the lane after each change of a precious row."""
        self._database.subscribe(listener)

    def read(self, take: Callable[[Entry], None], *, index: Path | None = None) -> None:
        """Pass all entries to `take`, images last and one at a time: they may be large."""
        with self._database.build_cursor() as con, _attached(con, index, OUTGOING):
            con.begin()
            try:
                for entity, rows in all_rows(con, but=[_IMAGE]):
                    take(Entry(entity.kind, entity.key, rows, entity.conversation_id))
                for key in keys_of(con, _IMAGE):
                    for entity, rows in rows_of(con, [Entity(_IMAGE, key)]):
                        take(Entry(entity.kind, entity.key, rows))
                if index:
                    copy_out(con)
                con.commit()
            except BaseException:
                con.rollback()
                raise

    def merge(
        self, plan: Plan, images: Callable[[], Iterable[Entry]], index: Path | None = None
    ) -> int:
        """Images go first, as no message shows them yet; then all else in one transaction.

        It is planned on a snapshot, while others write. What they changed meanwhile has it planned
        again, in the end on the lane.
        """
        put: list[Entity] = []
        try:
            with self._database.read() as con, _attached(con, index, INCOMING):
                for attempt in range(_ATTEMPTS):
                    self._put_images(images(), put)
                    is_last = attempt == _ATTEMPTS - 1
                    if self._put_planned(plan, has_index=bool(index), is_last=is_last):
                        break
        except BaseException:
            self._remove_images(put)
            raise
        return len({image.key for image in put})

    def _put_images(self, images: Iterable[Entry], put: list[Entity]) -> None:
        """Put those that are missing, a few at a time; they are added to `put`."""
        with self._database.read() as con:
            known = set(keys_of(con, _IMAGE))
        for few in _few(image for image in images if image.key not in known):
            changes: list[Entity] = []
            self._database.write(partial(_put, entries=few, changes=changes), changes=changes)
            put.extend(changes)

    def _remove_images(self, put: Sequence[Entity]) -> None:
        if put:
            nothing = [Entry(image.kind, image.key, {}) for image in put]
            changes: list[Entity] = []
            self._database.write(partial(_put, entries=nothing, changes=changes), changes=changes)

    def _put_planned(self, plan: Plan, *, has_index: bool, is_last: bool) -> bool:
        """False, with nothing put, when the library changed while this was planned."""
        changes: list[Entity] = []

        def work(con: Connection) -> bool:
            if is_last:
                _put(con, plan(_present(con)), changes)
            elif _number(con) != number:
                return False
            else:
                _put(con, planned, changes)
            if has_index:
                take_over(con)
            return True

        if not is_last:
            with self._database.build_cursor() as con:
                con.begin()
                number, present = _number(con), _present(con)
                con.rollback()
            planned = plan(present)
        return self._database.write(work, changes=changes)

    def has_index(self) -> bool:
        """True when the library knows any document."""
        with self._database.read() as con:
            return has_documents(con)


def _number(con: Connection) -> int:
    [(number,)] = con.execute("SELECT generation FROM journal_state").fetchall()
    return int(number)


def _present(con: Connection) -> list[Entry]:
    return [
        Entry(entity.kind, entity.key, rows, entity.conversation_id)
        for entity, rows in all_rows(con, but=[_IMAGE])
    ]


def _few(images: Iterable[Entry]) -> Iterator[list[Entry]]:
    """The images in groups whose writing nobody notices, unless it is one large image."""
    group: list[Entry] = []
    size = 0
    for image in images:
        group.append(image)
        size += len(image.row["data"]["base64"])
        if size >= _IMAGE_CHARS:
            yield group
            group, size = [], 0
    if group:
        yield group


def _put(con: Connection, entries: Iterable[Entry], changes: list[Entity]) -> None:
    rows = [(Entity(e.kind, e.key, e.conversation_id), e.rows) for e in entries]
    put_rows(con, rows, insert_rows, REFUSALS)
    changes.extend(entity for entity, _ in rows)


@contextmanager
def _attached(con: Connection, file: Path | None, name: str) -> Generator[None]:
    """Attach the file under a name that all cursors see; it must be in the folder for backups."""
    if file is None:
        yield
        return
    quoted = "'" + str(file).replace("'", "''") + "'"
    try:
        con.execute(f"ATTACH {quoted} AS {name}{' (READ_ONLY)' if name == INCOMING else ''}")
    except duckdb.Error as exc:
        raise AppError("The index in the backup cannot be read.", str(exc)) from exc
    try:
        yield
    finally:
        con.execute(f"DETACH {name}")
