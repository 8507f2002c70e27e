"""The engine that keeps a library in one DuckDB file. Any thread; opened once per process."""

from pathlib import Path

from desktop_rag.core.domain import RepairReport
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.store.contract.engine import Engine, EngineOpener, assembled
from desktop_rag.store.duckdb.database.connections import DamagedStoreError, mapping_open_errors
from desktop_rag.store.duckdb.database.database import Database
from desktop_rag.store.duckdb.database.schema import repair, replay_journal
from desktop_rag.store.duckdb.documents.staged_content import StagedContent
from desktop_rag.store.duckdb.inspection.library_inspection import LibraryInspection
from desktop_rag.store.duckdb.personal.precious_store import DuckdbPreciousStore
from desktop_rag.store.duckdb.search.index_cache import IndexCache
from desktop_rag.store.duckdb.search.lexical_store import DuckdbLexicalStore, DuckdbNameStore
from desktop_rag.store.duckdb.search.postings import PostingsMerge
from desktop_rag.store.duckdb.search.vector_store import DuckdbChunkStore, DuckdbModelStore
from desktop_rag.store.duckdb.tables.table_queries import TableQueries


class DuckdbOpener(EngineOpener):
    """Opens the library file of a home folder."""

    def open(self, home: Home, memory_mb: int) -> Engine:
        """Open or create the file and bring its schema up to date; AppError as in the contract.

        `memory_mb` limits DuckDB. `IndexCache` takes up to a sixteenth of that for postings, as
        much for the sign bits of each model, and 25 bytes per chunk, twelve per vector and twelve
        per term.
        """
        return engine_over(_opened(home, memory_mb, is_read_only=False))

    def open_to_read(self, home: Home, memory_mb: int) -> Engine:
        return engine_over(_opened(home, memory_mb, is_read_only=True))

    def restore(self, home: Home) -> None:
        with mapping_open_errors(library_file(home)):
            replay_journal(library_file(home))

    def size_bytes(self, home: Home) -> int:
        return library_file(home).stat().st_size

    def repair(self, home: Home, error: AppError) -> RepairReport | None:
        """Build a new file from the readable parts of a damaged one, which is kept beside it."""
        if not isinstance(error, DamagedStoreError):
            return None
        with mapping_open_errors(library_file(home)):
            return repair(library_file(home))


def _opened(home: Home, memory_mb: int, *, is_read_only: bool) -> Database:
    return Database(
        library_file(home), memory_mb=memory_mb, backups=home.backups, is_read_only=is_read_only
    )


def library_file(home: Home) -> Path:
    """The library file of a home folder."""
    return home.root / "library.duckdb"


def engine_over(database: Database) -> Engine:
    """The stores over an open file."""
    cache, content = IndexCache(database), StagedContent(database)
    return assembled(
        database,
        content,
        database.path.parent,
        chunks=DuckdbChunkStore(database, cache),
        lexical=DuckdbLexicalStore(database, cache),
        names=DuckdbNameStore(database, cache),
        models=DuckdbModelStore(database, cache),
        precious=DuckdbPreciousStore(database),
        tables=TableQueries(),
        upkeep=PostingsMerge(database),
        inspection=LibraryInspection(database, cache),
        restored=database.restored,
        fault=database.fault,
    )


def database_of(engine: Engine) -> Database:
    """The file under an engine, for tests and benchmarks that look inside."""
    assert isinstance(engine.storage, Database), "another engine"
    return engine.storage
