"""Opens the engine a library is kept in: today a DuckDB file. Any thread; once a process."""

from pathlib import Path

from desktop_rag.core.errors import AppError
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.duckdb.database.database import DamagedStoreError, Database, set_aside
from desktop_rag.store.duckdb.documents.document_store import DocumentStore
from desktop_rag.store.duckdb.documents.source_store import SourceStore
from desktop_rag.store.duckdb.documents.web_page_store import WebPageStore
from desktop_rag.store.duckdb.personal.assistant_store import AssistantStore
from desktop_rag.store.duckdb.personal.attachment_store import AttachmentStore
from desktop_rag.store.duckdb.personal.conversation_store import ConversationStore
from desktop_rag.store.duckdb.personal.evaluation_store import EvaluationStore
from desktop_rag.store.duckdb.personal.interaction_store import InteractionStore
from desktop_rag.store.duckdb.search.chunk_cache import ChunkCache
from desktop_rag.store.duckdb.search.lexical_store import LexicalStore
from desktop_rag.store.duckdb.search.model_store import ModelStore
from desktop_rag.store.duckdb.search.name_store import NameStore
from desktop_rag.store.duckdb.search.postings_merge import PostingsMerge
from desktop_rag.store.duckdb.tables.table_queries import TableQueries


def open_duckdb(path: Path, *, memory_mb: int, backups: Path) -> Engine:
    """Open or create the file and bring its schema up to date.

    `memory_mb` bounds what DuckDB takes. Beside it are held up to a 16th of that for postings, one
    for the signs of each model's vectors, 25 bytes a chunk, twelve a vector and twelve a term.
    `backups` is the only folder it may write to beside.
    AppError, with the file left as it was, when it is of a newer version, of another program,
    damaged, or held by another process.
    """
    return duckdb_engine(Database(path, memory_mb=memory_mb, backups=backups))


def duckdb_engine(database: Database) -> Engine:
    """The stores over an open file."""
    chunks = ChunkCache()
    return Engine(
        documents=DocumentStore(database),
        sources=SourceStore(database),
        web_pages=WebPageStore(database),
        lexical=LexicalStore(database, chunks),
        names=NameStore(database),
        models=ModelStore(database, chunks),
        conversations=ConversationStore(database),
        assistants=AssistantStore(database),
        interactions=InteractionStore(database),
        attachments=AttachmentStore(database),
        evaluations=EvaluationStore(database),
        tables=TableQueries(),
        upkeep=PostingsMerge(database),
        storage=database,
    )


def duckdb_of(engine: Engine) -> Database:
    """The file below an engine, for tests and benchmarks that look inside."""
    assert isinstance(engine.storage, Database), "another engine"
    return engine.storage


def set_damaged_aside(path: Path, error: AppError) -> Path | None:
    """Move a library file out of the way that could not be opened because it is damaged.

    Returns where it is now, or None: `error` was not about damage. Nobody may have it open.
    """
    return set_aside(path) if isinstance(error, DamagedStoreError) else None
