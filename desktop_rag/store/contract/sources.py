"""Collections, their sources, and what is known of web pages. Protocols; any thread."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from desktop_rag.core.crawling import CrawlReport
from desktop_rag.core.domain import Collection, Source, SourceRules, WebLinks
from desktop_rag.core.parsed import ChunkSettings


class SourceStore(Protocol):
    """Collections and their sources. Ids are created here and never used again."""

    # --- collections -------------------------------------------------------------------------

    def collections(self) -> list[Collection]:
        """All collections, the oldest first."""
        ...

    def add_collection(self, name: str) -> Collection:
        """A new collection; AppError when the name, stripped, is empty or taken in any case."""
        ...

    def default_collection(self, name: str) -> Collection:
        """The oldest collection; created with this name when there is none, and never twice."""
        ...

    def rename_collection(self, collection_id: str, name: str) -> Collection:
        """Rename it; AppError when the name is empty or taken, or the collection gone."""
        ...

    def set_chunking(self, collection_id: str, chunking: ChunkSettings) -> Collection:
        """Set how its documents are chunked; AppError when the collection is gone."""
        ...

    def set_embedder(self, collection_id: str, embedder: str) -> Collection:
        """Set the model that embeds its documents; AppError when the collection is gone."""
        ...

    def set_intranet_hosts(self, collection_id: str, hosts: Sequence[str]) -> Collection:
        """Set the hosts of the local network that its links may name; AppError when it is gone."""
        ...

    def remove_collection(self, collection_id: str) -> None:
        """Remove an empty collection; one that has sources stays."""
        ...

    # --- sources -----------------------------------------------------------------------------

    def sources(self) -> list[Source]:
        """All sources but attached files, the oldest first. Their `state` is not stored."""
        ...

    def add_source(
        self, path: Path, collection_id: str, rules: SourceRules | None = None
    ) -> Source:
        """Add a folder or file as a source of a collection."""
        ...

    def add_links(self, links: WebLinks, pages: Path, collection_id: str) -> Source:
        """Add web links as a source; fetched pages are stored in the folder `pages` / its id."""
        ...

    def add_program(self, program: str, folder: Path, collection_id: str) -> Source:
        """Add the documents that a program sends; they are stored in `folder` / the source's id."""
        ...

    def add_attached(self, path: Path, collection_id: str) -> Source:
        """Add a file that is attached to a chat; of the other methods only `remove_source` sees it.

        `DocumentStore` lists its documents by source or id only, and a search finds them only in a
        scope of its source. The model of the collection embeds them.
        """
        ...

    def attached_ids(self) -> frozenset[str]:
        """The ids of the sources that are attached files."""
        ...

    def set_path(self, source_id: str, path: Path) -> None:
        """Point the source at another folder or file; its documents stay as they are."""
        ...

    def set_collection(self, source_id: str, collection_id: str) -> None:
        """Move the source, with its documents, to another collection."""
        ...

    def set_rules(self, source_id: str, rules: SourceRules) -> None:
        """Set what is excluded from the source from now on."""
        ...

    def set_links(self, source_id: str, links: WebLinks) -> None:
        """Set the web links of a source and their limits."""
        ...

    def set_base_address(self, source_id: str, address: str) -> None:
        """Set the address of the site that a folder mirrors; "" for none."""
        ...

    def set_refreshed(self, source_id: str, at: float) -> None:
        """Set when the pages of a source were last fetched, in seconds since the epoch."""
        ...

    def set_put_away(self, source_id: str, *, is_put_away: bool) -> None:
        """Keep the source out of the library as if it were removed, or bring it back as it was.

        Its documents are found no more than those of attached files. One that is put away when the
        library opens is removed with the attached files that no chat has.
        """
        ...

    def remove_source(self, source_id: str) -> None:
        """Remove the source with all its documents, texts, chunks and postings, all at once.

        The files themselves are not touched; vectors stay until `ChunkStore.prune_vectors`.
        """
        ...


@dataclass(frozen=True, slots=True)
class WebPage:
    """The cache validators of a page, empty if the server sent none, and when it was fetched."""

    etag: str = ""
    last_modified: str = ""
    fetched_at: float = 0.0  # in seconds since the epoch
    listed_in: str = ""  # the address of an entry's feed


class WebPageStore(Protocol):
    """Reports, and cache validators of web documents, so that none is transferred twice."""

    def get(self, document_ids: Sequence[str]) -> dict[str, WebPage]:
        """The validators of these documents; absent for documents without any."""
        ...

    def put(self, document_id: str, page: WebPage) -> None:
        """Store the validators of a document in place of earlier ones."""
        ...

    def purge(self) -> None:
        """Remove the rows of documents, and the reports of sources, that no longer exist."""
        ...

    def reports(self) -> dict[str, CrawlReport]:
        """What came of the last fetching of each source, by its id."""
        ...

    def put_report(self, source_id: str, report: CrawlReport) -> None:
        """Store what came of fetching a source in place of the last time."""
        ...
