"""All precious rows out of the library and into it, each in one transaction. Any thread."""

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

import duckdb

from desktop_rag.core.errors import AppError
from desktop_rag.store.contract.precious import Entry, Plan
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


class PreciousStore:
    """Reads and merges entries; the lines of the journal are written as with any change."""

    schema = LATEST

    def __init__(self, database: Database) -> None:
        self._database = database

    def change_number(self) -> int:
        """The number of the last change in the journal."""
        with self._database.read() as con:
            [(number,)] = con.execute("SELECT generation FROM journal_state").fetchall()
        return int(number)

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

    def merge(self, plan: Plan, images: Iterable[Entry], index: Path | None = None) -> int:
        """Put the entries of `plan` and the missing images, in one transaction."""
        changes: list[Entity] = []

        def work(con: Connection) -> int:
            present = [
                Entry(entity.kind, entity.key, rows, entity.conversation_id)
                for entity, rows in all_rows(con, but=[_IMAGE])
            ]
            _put(con, plan(present), changes)
            known, count = set(keys_of(con, _IMAGE)), 0
            for image in images:
                if image.key not in known:
                    _put(con, [image], changes)
                    count += 1
            if index:
                take_over(con)
            return count

        with self._database.read() as con, _attached(con, index, INCOMING):
            return self._database.write(work, changes=changes)

    def has_index(self) -> bool:
        """True when the library knows any document."""
        with self._database.read() as con:
            return has_documents(con)


def _put(con: Connection, entries: Iterable[Entry], changes: list[Entity]) -> None:
    rows = [(Entity(e.kind, e.key, e.conversation_id), e.rows) for e in entries]
    put_rows(con, rows, REFUSALS)
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
