"""What the person chose to be searchable, and what servers said of pages. Protocols; any thread."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from desktop_rag.core.domain import Collection, Source, SourceRules, WebLinks
from desktop_rag.core.parsed import ChunkSettings


class SourceStore(Protocol):
    """Collections and their sources. Ids are made here and are different for ever."""

    # --- collections -------------------------------------------------------------------------

    def collections(self) -> list[Collection]:
        """All collections, the oldest first."""
        ...

    def add_collection(self, name: str) -> Collection:
        """A new collection; AppError when the name is empty or taken.

        Names stand without space around them and are compared without regard to case.
        """
        ...

    def default_collection(self, name: str) -> Collection:
        """The oldest collection, made with this name when there is none yet, and never twice."""
        ...

    def rename_collection(self, collection_id: str, name: str) -> Collection:
        """Give it another name; AppError when that is empty or taken, or the collection gone."""
        ...

    def set_chunking(self, collection_id: str, chunking: ChunkSettings) -> Collection:
        """How its documents are to be cut from now on; AppError when the collection is gone."""
        ...

    def set_embedder(self, collection_id: str, embedder: str) -> Collection:
        """Which model is to embed its documents; AppError when the collection is gone."""
        ...

    def remove_collection(self, collection_id: str) -> None:
        """Forget an empty collection; one that still has sources stays."""
        ...

    # --- sources -----------------------------------------------------------------------------

    def sources(self) -> list[Source]:
        """All sources but attached files, the oldest first. Their `state` is not stored."""
        ...

    def add_source(
        self, path: Path, collection_id: str, rules: SourceRules | None = None
    ) -> Source:
        """Record a folder or file as a source of a collection."""
        ...

    def add_links(self, links: WebLinks, pages: Path, collection_id: str) -> Source:
        """Record web links as a source that keeps what it fetches in a folder below `pages`.

        The folder is called by the id of the source.
        """
        ...

    def add_attached(self, path: Path, collection_id: str) -> Source:
        """Record a file that is attached to a chat: no other method but `remove_source` knows it.

        Of its documents `DocumentStore` lists those only that are asked for by source or id, and a
        search finds them only in a scope of its source. The model of the collection embeds them.
        """
        ...

    def attached_ids(self) -> frozenset[str]:
        """The ids of the sources that are attached files."""
        ...

    def set_rules(self, source_id: str, rules: SourceRules) -> None:
        """What is left out of the source from now on."""
        ...

    def set_refreshed(self, source_id: str, at: float) -> None:
        """When the pages of a source were fetched last, in seconds since the epoch."""
        ...

    def remove_source(self, source_id: str) -> None:
        """Forget the source with all its documents, texts, chunks and postings, all at once.

        The files themselves are not touched; vectors stay until `VectorStore.prune`.
        """
        ...


@dataclass(frozen=True, slots=True)
class WebPage:
    """The server's marks of one state of a page, empty if it gave none, and when that was.

    `fetched_at` is in seconds since the epoch.
    """

    etag: str = ""
    last_modified: str = ""
    fetched_at: float = 0.0


class WebPageStore(Protocol):
    """What servers said of documents that came from the web, so that none is sent twice."""

    def get(self, document_ids: Sequence[str]) -> dict[str, WebPage]:
        """What is known of these documents; those it is nothing known of are left out."""
        ...

    def put(self, document_id: str, page: WebPage) -> None:
        """Remember this instead of what was known of the document."""
        ...

    def purge(self) -> None:
        """Forget pages whose documents are no longer there."""
        ...
