"""Exports and imports all precious rows, and optionally the index, atomically. Any thread."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path

import duckdb

from desktop_rag.core.domain import DocumentState
from desktop_rag.core.errors import AppError
from desktop_rag.store.contract.database import Entity
from desktop_rag.store.contract.precious import SCHEMA, Entry, Plan, PreciousStore
from desktop_rag.store.contract.precious_rows import (
    IMAGE,
    entries_of,
    has_documents,
    images_of,
    keys_of,
    put_entries,
)
from desktop_rag.store.duckdb.database.connections import REFUSALS, Connection, insert_rows
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.database.schema import tables_in, version_of
from desktop_rag.store.duckdb.search.chunk_cache import VectorTable, create

# A file with the index also holds collections, with the model that answers for each, and sources,
# with the paths above the documents; no other precious rows.
OUTGOING, INCOMING = "outgoing", "incoming"
_DERIVED = (
    "chunks", "crawl_reports", "dead_chunks", "document_texts", "documents", "file_changes",
    "models", "posting_runs", "postings", "recent_postings", "terms", "unfinished_content",
    "web_pages",
)  # fmt: skip
_ANCHORS = ("collections", "sources")
_MOST_DIMENSIONS = 65_536
# Rows that an index made by the app does not have.
_FAULTS = {
    "a document of no source": "documents WHERE source_id NOT IN (SELECT source_id FROM sources)",
    "a document in no known state": "documents WHERE state NOT IN ({states})",
    "a document outside its source": (
        "documents d JOIN sources s USING (source_id)"
        " WHERE d.path <> s.path AND NOT starts_with(d.path, rtrim(s.path, '/\\') || '/')"
        " AND NOT starts_with(d.path, rtrim(s.path, '/\\') || '\\')"
        " OR contains(d.path, '/../') OR contains(d.path, '\\..\\')"
    ),
    "a document twice": "(FROM documents SELECT document_id GROUP BY ALL HAVING count(*) > 1)",
    "a passage of no document": (
        "chunks WHERE document_id NOT IN (SELECT document_id FROM documents)"
    ),
    "a text of no document": (
        "document_texts WHERE document_id NOT IN (SELECT document_id FROM documents)"
    ),
    "a passage twice": "(FROM chunks SELECT chunk_id GROUP BY ALL HAVING count(*) > 1)",
    "a missing value": (
        "documents WHERE document_id IS NULL OR path IS NULL OR title IS NULL OR format IS NULL"
        " OR key IS NULL OR chunk_count IS NULL OR chunk_count < 0"
    ),
    "places that are no JSON": "document_texts WHERE places <> '' AND NOT json_valid(places)",
    "a place that is no JSON": "chunks WHERE anchor <> '' AND NOT json_valid(anchor)",
}


def copy_out(con: Connection) -> None:
    """Copy the index into the attached, empty file, in a transaction."""
    con.execute(f"COPY FROM DATABASE {_name(con)} TO {OUTGOING} (SCHEMA)")
    for table in ("library_version", *_ANCHORS, *_derived(con)):
        con.execute(f"INSERT INTO {OUTGOING}.{table} BY NAME SELECT * FROM {table}")


def take_over(con: Connection) -> None:
    """Import the attached file's index into a library that has none; AppError if it can't be."""
    if has_documents(con):
        raise AppError(
            "The library has an index already.",
            "An index can only be taken into an empty library; chats and settings into any.",
        )
    _refuse_other_schema(con)
    for table in _derived(con):
        if table.startswith("vectors_"):
            con.execute(f"DROP TABLE {table}")
        else:
            con.execute(f"DELETE FROM {table}")
            con.execute(f"INSERT INTO {table} BY NAME SELECT * FROM {INCOMING}.{table}")
    for number, dimensions in con.execute("SELECT model_id, dimensions FROM models").fetchall():
        if not 0 < dimensions <= _MOST_DIMENSIONS:
            raise _unfit(f"Model {number} has {dimensions} dimensions.")
        table = VectorTable(number, dimensions)
        create(con, table)
        if _columns(con, INCOMING, table.name) != _columns(con, _name(con), table.name):
            raise _unfit(f"The vectors of model {number} have other columns.")
        con.execute(f"INSERT INTO {table.name} BY NAME SELECT * FROM {INCOMING}.{table.name}")
    con.execute(
        "UPDATE collections SET answering = coalesce((SELECT min(i.answering) FROM"
        f" {INCOMING}.collections i JOIN models m ON m.model_id = i.answering"
        " WHERE lower(i.name) = lower(collections.name)), 0)"
    )
    _rebase_documents(con)
    _refuse_faults(con)


def _rebase_documents(con: Connection) -> None:
    """Move the documents of sources that have another path here."""
    moved = con.execute(
        "SELECT i.source_id, i.path, s.path FROM sources s"
        f" JOIN {INCOMING}.sources i USING (source_id) WHERE i.path <> s.path"
    ).fetchall()
    for source_id, before, now in moved:
        con.execute(
            "UPDATE documents SET path = $now || substr(path, $length + 1)"
            " WHERE source_id = $id AND starts_with(path, $before)",
            {"id": source_id, "before": before, "now": now, "length": len(before)},
        )


def _refuse_other_schema(con: Connection) -> None:
    version = version_of(con, INCOMING)
    if not version:
        raise _unfit("It is no library.")
    if version != SCHEMA:
        raise _unfit(f"Its version is {version}, this app has {SCHEMA}.")
    for table in (*_ANCHORS, *_derived(con)):
        is_vectors = table.startswith("vectors_")
        if not is_vectors and _columns(con, INCOMING, table) != _columns(con, _name(con), table):
            raise _unfit(f"Its table {table} has other columns.")


def _refuse_faults(con: Connection) -> None:
    states = ", ".join(f"'{state.value}'" for state in DocumentState)
    for fault, rows in _FAULTS.items():
        [(count,)] = con.execute(f"SELECT count(*) FROM {rows.format(states=states)}").fetchall()
        if count:
            raise _unfit(f"It has {fault}.")


def _unfit(reason: str) -> AppError:
    hint = f"{reason} The window of the app imports chats and settings without the index."
    return AppError("The index in the backup does not fit this library.", hint)


def _name(con: Connection) -> str:
    [(name,)] = con.execute("SELECT current_database()").fetchall()
    return f'"{name}"'


def _derived(con: Connection) -> list[str]:
    tables = tables_in(con)
    return sorted(name for name in tables if name in _DERIVED or name.startswith("vectors_"))


def _columns(con: Connection, database: str, table: str) -> Mapping[str, str]:
    rows = con.execute(
        "SELECT column_name, data_type FROM duckdb_columns()"
        " WHERE database_name = ? AND table_name = ?",
        [database.strip('"'), table],
    ).fetchall()
    return dict(rows)


# The size of the images that one transaction puts, as text.
_IMAGE_CHARS = 4_000_000
_ATTEMPTS = 4


class DuckdbPreciousStore(PreciousStore):
    """Reads and merges entries; the lines of the journal are written as with any change."""

    counting = "journal_state"

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._database = database

    def read(self, take: Callable[[Entry], None], *, index: Path | None = None) -> None:
        with self._database.read() as con, _attached(con, index, OUTGOING):
            con.begin()
            try:
                for entry in chain(entries_of(con), images_of(con)):
                    take(entry)
                if index:
                    copy_out(con)
                con.commit()
            except BaseException:
                con.rollback()
                raise

    def merge(
        self, plan: Plan, images: Callable[[], Iterable[Entry]], index: Path | None = None
    ) -> int:
        """Put images first, as no message shows them yet, then all else in one transaction.

        Entries are planned on a snapshot while others write, again after a change, and in the last
        attempt on the lane.
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
        """Put missing images, a few at a time, and add them to `put`."""
        with self._database.read() as con:
            known = set(keys_of(con, IMAGE))
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
                _put(con, plan(list(entries_of(con))), changes)
            elif _number(con) != number:
                return False
            else:
                _put(con, planned, changes)
            if has_index:
                take_over(con)
            return True

        if not is_last:
            with self._database.read() as con:
                con.begin()
                number, present = _number(con), list(entries_of(con))
                con.rollback()
            planned = plan(present)
        return self._database.write(work, changes=changes)


def _number(con: Connection) -> int:
    [(number,)] = con.execute("SELECT generation FROM journal_state").fetchall()
    return int(number)


def _few(images: Iterable[Entry]) -> Iterator[list[Entry]]:
    """The images in groups that are quick to write, unless it is one large image."""
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
    put_entries(con, entries, insert_rows, REFUSALS, changes)


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
