"""The engine that keeps a library on a PostgreSQL server with pgvector. Any thread."""

from desktop_rag.core.domain import RepairReport
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.tables import TableQueries
from desktop_rag.store.joined.shared_connection import OpenedShared
from desktop_rag.store.postgres.database.read_replica import Replica
from desktop_rag.store.postgres.database.server_database import ServerDatabase
from desktop_rag.store.postgres.documents.server_chunk_store import ServerChunkStore
from desktop_rag.store.postgres.documents.server_claims import ServerClaims
from desktop_rag.store.postgres.documents.server_content import ServerContent
from desktop_rag.store.postgres.postgres_watch import PostgresWatch
from desktop_rag.store.postgres.search.server_lexical_store import ServerLexicalStore
from desktop_rag.store.postgres.search.server_models import ServerModelStore
from desktop_rag.store.postgres.search.server_name_store import ServerNameStore
from desktop_rag.store.postgres.search.server_upkeep import ServerUpkeep
from desktop_rag.store.postgres.server_inspection import ServerInspection
from desktop_rag.store.postgres.server_precious_store import ServerPreciousStore
from desktop_rag.store.sql.documents.document_store import DocumentStore
from desktop_rag.store.sql.documents.source_store import SourceStore
from desktop_rag.store.sql.documents.tag_store import TagStore
from desktop_rag.store.sql.documents.web_page_store import WebPageStore
from desktop_rag.store.sql.personal.assistant_store import AssistantStore
from desktop_rag.store.sql.personal.attachment_store import AttachmentStore
from desktop_rag.store.sql.personal.conversation_store import ConversationStore
from desktop_rag.store.sql.personal.evaluation_store import EvaluationStore
from desktop_rag.store.sql.personal.experiment_store import ExperimentStore
from desktop_rag.store.sql.personal.interaction_store import InteractionStore
from desktop_rag.store.sql.personal.kept_conversation_store import KeptConversationStore
from desktop_rag.store.sql.personal.standing_store import StandingStore
from desktop_rag.store.sql.personal.unfinished_store import UnfinishedAnswerStore


class PostgresOpener:
    """Opens one library of a server; `library` is the name of its schema."""

    def __init__(
        self, address: str, library: str, tables: TableQueries, replica: Replica | None = None
    ) -> None:
        """`address` is a connection string of libpq; passwords belong into its password file.

        Searches read from the `replica`, if there is one, while it follows closely.
        """
        self._address = address
        self._library = library
        self._tables = tables
        self._replica = replica

    def open(self, home: Home, memory_mb: int) -> Engine:
        """Open or create the library and bring its schema up to date."""
        return self._engine(home, self._database(), memory_mb)

    def open_to_read(self, home: Home, memory_mb: int) -> Engine:
        """Open an existing library so that nothing in it changes."""
        return self._engine(home, self._database(is_read_only=True), memory_mb)

    def open_shared(self, home: Home, memory_mb: int, connect_s: int) -> OpenedShared:
        """Open an existing library that is searched beside the own one; nothing in it changes."""
        database = ServerDatabase(
            self._address, self._library, is_read_only=True, connect_s=connect_s
        )
        try:
            engine = self._engine(home, database, memory_mb)
            return OpenedShared(engine, database.is_limited, database.break_off)
        except BaseException:
            database.close()
            raise

    def restore(self, home: Home) -> None:
        """There is no journal beside the library: the server has its own."""
        raise AppError(
            "A library on a server has no journal beside it.",
            "Whoever runs the server restores it from a backup of the server.",
        )

    def size_bytes(self, home: Home) -> int:
        """The space that the library takes on the server."""
        database = ServerDatabase(self._address, self._library, is_read_only=True)
        try:
            return database.size_bytes()
        finally:
            database.close()

    def repair(self, home: Home, error: AppError) -> RepairReport | None:
        """None: a damaged server is for whoever runs it."""
        return None

    def _database(self, *, is_read_only: bool = False) -> ServerDatabase:
        return ServerDatabase(
            self._address, self._library, is_read_only=is_read_only, replica=self._replica
        )

    def _engine(self, home: Home, database: ServerDatabase, memory_mb: int) -> Engine:
        content = ServerContent()
        return Engine(
            documents=DocumentStore(database, content, ServerClaims(database)),
            chunks=ServerChunkStore(database),
            sources=SourceStore(database, content),
            web_pages=WebPageStore(database),
            tags=TagStore(database),
            lexical=ServerLexicalStore(database, memory_mb),
            names=ServerNameStore(database),
            models=ServerModelStore(database),
            conversations=ConversationStore(database),
            kept_conversations=KeptConversationStore(database),
            unfinished=UnfinishedAnswerStore(home.root / "unfinished"),
            assistants=AssistantStore(database),
            interactions=InteractionStore(database),
            attachments=AttachmentStore(database, content),
            standing=StandingStore(database),
            experiments=ExperimentStore(database),
            evaluations=EvaluationStore(database),
            precious=ServerPreciousStore(database),
            tables=self._tables,
            upkeep=ServerUpkeep(database),
            inspection=ServerInspection(database, content),
            storage=database,
            server=PostgresWatch(database),
        )
