"""All stores of one library, opened together. What every engine promises stands here."""

from dataclasses import dataclass
from typing import Protocol

from desktop_rag.store.contract.assistant_store import AssistantStore
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.interaction_store import InteractionStore
from desktop_rag.store.contract.records import (
    AttachmentStore,
    ConversationStore,
    EvaluationStore,
)
from desktop_rag.store.contract.search import LexicalStore, NameStore, Upkeep
from desktop_rag.store.contract.sources import SourceStore, WebPageStore
from desktop_rag.store.contract.tables import TableQueries
from desktop_rag.store.contract.vectors import ModelStore


class Storage(Protocol):
    """What the stores of an engine stand on: an open file, the connections to a server."""

    def close(self) -> None:
        """Finish the writes under way, then close. Idempotent, from any thread."""
        ...


@dataclass(frozen=True, slots=True)
class Engine:
    """The stores of one library. For all their methods the following holds.

    Threads: any thread may call any method at any time; a result is whole and the caller's own.

    Writes: each method that changes something is one transaction, taken in some order one after
    the other, so that what one looks at no other changes meanwhile. Once it returns, it is on disk
    and every read that begins then sees it. When it raises, nothing has changed. Killed at any
    moment, the next opening finds every finished write whole and of others nothing.

    Reads: they see finished writes only and wait for none. A method that looks at several things
    may see a write that was finished in between, and then leaves out what is gone.

    Values: frozen values of `core` and of the contract, lists and dicts of them. What is stored
    comes back equal. Texts hold no NUL and no halves of surrogate pairs; all other characters stay
    as they are, in texts, names and paths alike. Order and equality of texts are those of their
    code points unless something else is said. Times are seconds since the epoch.

    Errors: AppError for the world's fault: the disk is full or damaged, another process holds the
    library, the server can't be reached, or a method was called after `close`. A refusal that a
    method speaks of is an AppError too. Anything else is a bug and is raised as it is.
    """

    documents: DocumentStore
    sources: SourceStore
    web_pages: WebPageStore
    lexical: LexicalStore
    names: NameStore
    models: ModelStore
    conversations: ConversationStore
    assistants: AssistantStore
    interactions: InteractionStore
    attachments: AttachmentStore
    evaluations: EvaluationStore
    tables: TableQueries
    upkeep: Upkeep
    storage: Storage

    def close(self) -> None:
        """Close all of it; from then on every method raises AppError."""
        self.storage.close()
