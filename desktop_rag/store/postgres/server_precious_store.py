"""All rows that can't be made again, out of a library on a server and into it. Any thread."""

from collections.abc import Callable, Iterable
from pathlib import Path

import psycopg

from desktop_rag.core.errors import AppError
from desktop_rag.store.contract.precious import Entry, Plan
from desktop_rag.store.postgres.database.server_connection import ServerConnection
from desktop_rag.store.postgres.database.server_database import ServerDatabase
from desktop_rag.store.postgres.documents.moved_content import misplaced, move_content
from desktop_rag.store.sql.precious_rows import (
    Entity,
    all_rows,
    insert_rows,
    keys_of,
    put_rows,
    rows_of,
)

_IMAGE = "image"
_REFUSALS = (psycopg.DataError, psycopg.errors.DatatypeMismatch)


class ServerPreciousStore:
    """Reads and merges entries. Backups of the index are the server's own, as by pg_dump."""

    # Rows have the columns of this version of the embedded engine's tables.
    schema = 25

    def __init__(self, database: ServerDatabase) -> None:
        self._database = database

    def change_number(self) -> int:
        """A number that grows with each change to what is precious."""
        with self._database.read() as con:
            [(number,)] = con.execute("SELECT generation FROM library_state").fetchall()
        return int(number)

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` after each change of a precious row by this process."""
        self._database.subscribe(listener)

    def read(self, take: Callable[[Entry], None], *, index: Path | None = None) -> None:
        """Pass all entries to `take`, images last and one at a time: they may be large."""
        if index:
            raise _no_index()
        with self._database.snapshot(of_primary=True) as snapshot:
            con = snapshot.con
            for entity, rows in all_rows(con, but=[_IMAGE]):
                take(Entry(entity.kind, entity.key, rows, entity.conversation_id))
            for key in keys_of(con, _IMAGE):
                for entity, rows in rows_of(con, [Entity(_IMAGE, key)]):
                    take(Entry(entity.kind, entity.key, rows))

    def merge(
        self, plan: Plan, images: Callable[[], Iterable[Entry]], index: Path | None = None
    ) -> int:
        """Put the entries of `plan` and the missing images, in one transaction."""
        if index:
            raise _no_index()
        changes: list[Entity] = []

        def work(con: ServerConnection) -> int:
            present = [
                Entry(entity.kind, entity.key, rows, entity.conversation_id)
                for entity, rows in all_rows(con, but=[_IMAGE])
            ]
            _put(con, plan(present), changes)
            # A source may have come back in another collection.
            move_content(con, misplaced(con))
            known, count = set(keys_of(con, _IMAGE)), 0
            for image in images():
                if image.key not in known:
                    _put(con, [image], changes)
                    count += 1
            return count

        return self._database.write(work, changes=changes)

    def has_index(self) -> bool:
        """True when the library knows any document."""
        with self._database.read() as con:
            return con.execute("SELECT 1 FROM documents LIMIT 1").fetchone() is not None


def _put(con: ServerConnection, entries: Iterable[Entry], changes: list[Entity]) -> None:
    rows = [(Entity(e.kind, e.key, e.conversation_id), e.rows) for e in entries]
    put_rows(con, rows, insert_rows, _REFUSALS)
    changes.extend(entity for entity, _ in rows)


def _no_index() -> AppError:
    return AppError(
        "The index of a library on a server can't be part of a backup.",
        "Back up the server itself, as with pg_dump; chats and settings can be backed up here.",
    )
