"""Documents: rows, texts and chunks; claims on them, and their tags. Protocols; any thread."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from desktop_rag.core.domain import Document, DocumentState, FileStat, TagCount
from desktop_rag.core.library_events import DocumentCounts, FileChange, LibraryFacets
from desktop_rag.core.parsed import Chunk
from desktop_rag.core.question import Readable


class DocumentClaims(Protocol):
    """Which process reads a document, where several share a queue; claims end with the process."""

    def take(self, document_ids: Sequence[str]) -> list[str]:
        """Claim documents; returns those that no other process has claimed, own claims included."""
        ...

    def release(self, document_ids: Iterable[str]) -> None:
        """Give claims back. Never fails: without the server there are none."""
        ...


class OnlyProcess:
    """Claims where no other process has the library open: everything is granted."""

    def take(self, document_ids: Sequence[str]) -> list[str]:
        """All of them."""
        return list(document_ids)

    def release(self, document_ids: Iterable[str]) -> None:
        """Nothing to give back."""


# document_id, path, size_bytes, mtime_ns, inode, why the scan skipped it, gone_at
KnownRow = tuple[str, str, int, int, int, str, float]
# source_id, content_hash, and the row
ReadRow = tuple[str, str, KnownRow]


@dataclass(frozen=True, slots=True)
class IndexingOutcome:
    """The result of reading a document: its row, and the content that replaces the old one.

    A refused document has no content and loses the old one, unless `keeps_content`. `term_counts`
    has an item per chunk, computed lazily if there are many; the chunks can be made again from the
    text and `places`. `taken_stat` is the stat in the row when reading began: if the row has
    another one by now, the file has changed again. `parts` are the documents inside this one.
    """

    document: Document
    text: str = ""
    chunks: tuple[Chunk, ...] = ()
    term_counts: Sequence[Counter[str]] = ()
    places: str = ""
    keeps_content: bool = False
    taken_stat: FileStat | None = None
    parts: "tuple[IndexingOutcome, ...]" = ()


class DocumentStore(Protocol):
    """Documents with their texts, chunks and postings, stored and removed in one transaction.

    A document inside another one (an attachment) has a `parent_id`; it is added, moved, hidden and
    removed with its parent, in the same transaction. A document that is GONE is listed, but not
    searchable. Files attached to chats are listed only by their source or id.

    Chunk ids are assigned when chunks are stored, from 1 up: those of a document in reading order
    without gaps, so that neighbours differ by one. Replacing a document assigns new ids. Numbers
    are at most 2^63 − 1, also `mtime_ns`; `inode` at most 2^64 − 1.
    """

    @property
    def claims(self) -> DocumentClaims:
        """Who reads which document, where several processes do."""
        ...

    # --- reading -----------------------------------------------------------------------------

    def documents(
        self,
        source_id: str = "",
        state: DocumentState | None = None,
        readable: Readable | None = None,
    ) -> list[Document]:
        """All documents, or those of one source, in one state or readable; by path, then part."""
        ...

    def of_sources(self, source_ids: Sequence[str]) -> list[Document]:
        """All documents of these sources, in the order of `documents`; one read for all."""
        ...

    def counts(self, source_id: str = "", readable: Readable | None = None) -> DocumentCounts:
        """The number of (readable) files and web pages of the source, or of all, in each state.

        Documents inside others are not counted.
        """
        ...

    def counts_by_source(self) -> dict[str, DocumentCounts]:
        """As `counts`, for each source that has files or web pages."""
        ...

    def facets(self) -> LibraryFacets:
        """The formats and folders of the documents that searches may find, with their numbers.

        Files and documents inside files are counted apart. Without files attached to chats; pages
        of the web are in no folder.
        """
        ...

    def known_files(self, source_id: str) -> list[KnownRow]:
        """The rows that a scan compares with the disk; plain tuples, as there may be 50,000.

        Without documents inside others, in any order. Only files that the scan skipped, and never
        opened, have a reason here.
        """
        ...

    def read_files(self, sizes_bytes: Collection[int]) -> list[ReadRow]:
        """Files of all sources that were read (have a hash) and have one of these sizes.

        Without web pages and documents inside others, in any order; the reason is empty.
        """
        ...

    def get(self, document_ids: Sequence[str]) -> list[Document]:
        """The rows of these documents, in any order; unknown ids are ignored."""
        ...

    def with_sites(self, documents: Sequence[Document]) -> list[Document]:
        """The documents with their addresses on mirrored sites; reading methods add them, too."""
        ...

    def parts(self, document_id: str) -> list[Document]:
        """The rows of the documents inside this one, in order of their parts."""
        ...

    def text(self, document_id: str) -> str | None:
        """The whole extracted text; None for a document without text, or an unknown one."""
        ...

    def content(self, document_id: str) -> tuple[str | None, str]:
        """The whole extracted text as in `text`, and its places as stored."""
        ...

    def chunks(self, document_id: str) -> list[Chunk]:
        """The chunks of a document in reading order."""
        ...

    def outdated(self, collection_id: str, chunking: str, limit: int) -> list[Document]:
        """Up to `limit` searchable documents of a collection chunked with other settings, by id."""
        ...

    def with_reason(self, words: str) -> list[Document]:
        """Files of the library whose reason, or that of a part, contains these words; as LIKE."""
        ...

    def content_hashes(self) -> set[str]:
        """The hashes of the content of all documents."""
        ...

    def changes_since(self, at: float) -> list[FileChange]:
        """The changes by scans, and the failures, from this time on, the newest first.

        Kept for a week at least, without documents inside others, attached files and removed
        sources.
        """
        ...

    # --- writing -----------------------------------------------------------------------------

    def apply_changes(
        self,
        source_id: str,
        added: Sequence[Document],
        changed: Mapping[str, Callable[[Document], Document]],
        gone: Sequence[str],
    ) -> list[Document]:
        """Store the result of a scan in one transaction; returns the new and the changed rows.

        `changed` maps an id to a function from its current row to the new one. It is called inside
        the transaction and may not use the store; an exception rolls everything back and is raised
        here. Unknown ids are ignored. A row that becomes skipped loses its content; `gone`
        documents are removed with theirs. Documents inside a changed one follow it and are among
        the rows returned. Tags given to a file follow it to its new path. No effect when the source
        was removed meanwhile.
        """
        ...

    def settle(self, outcomes: Sequence[IndexingOutcome]) -> list[Document]:
        """Store the outcomes of reading in one transaction, in place of the old content.

        Documents are searchable by words once this returns. Skipped are documents that no longer
        wait, because they were deleted or excluded, and those that changed again; one that moved
        keeps its new path and source. A part with a known name keeps its id. Returns the rows as
        stored, with the parts. Ids must be distinct (AssertionError).
        """
        ...

    def recut(self, outcome: IndexingOutcome) -> Document | None:
        """Replace the chunks of a searchable document whose text stays; its row as stored.

        `outcome.document` is its row as it was when chunking began, with the new count and
        settings. None, without effect, when its content hash has changed or it is no longer
        searchable. It becomes searchable by words.
        """
        ...

    def requeue_failed(self) -> list[Document]:
        """Queue the failed files, except unfetched pages, for reading again; returns their rows."""
        ...

    def requeue_older_than(self, readers: int) -> list[Document]:
        """Queue files again that older readers read or refused; returns their rows."""
        ...

    def requeue(self, document_ids: Sequence[str]) -> list[Document]:
        """Queue these files (no parts) to be read anew, even if unchanged; returns their rows."""
        ...

    # --- checks ------------------------------------------------------------------------------

    def count_orphans(self) -> int:
        """The number of chunks without a document: 0 unless the store was damaged."""
        ...

    def count_inconsistent(self) -> int:
        """The number of documents with two rows, or with other chunks than their row says."""
        ...

    def purge_orphans(self) -> int:
        """Remove content without a document; returns the number of chunks removed."""
        ...


class TagStore(Protocol):
    """The tags given to files by their paths, so that they outlive rows, index and sources.

    They hold for the documents inside the file, too. `DocumentStore.apply_changes` takes them along
    when a file moves; where the new path has tags already, both are kept. `Document.tags`, which
    the file states about itself, are not among them; filters by tag find both.
    """

    def given(self, paths: Sequence[Path] | None = None) -> Mapping[Path, tuple[str, ...]]:
        """The tags of each tagged file, in the order they were given; of these paths, or of all."""
        ...

    def counts(self) -> list[TagCount]:
        """All tags in use, given or stated, with the number of files that searches may find.

        By name, regardless of case; of several spellings one is named.
        """
        ...

    def change(self, document_ids: Sequence[str], add: Sequence[str], remove: Sequence[str]) -> int:
        """Add tags to the files of these documents and remove others; unknown ids are ignored.

        Letter case does not tell tags apart. Returns the number of files whose tags changed.
        AppError when a file would have more than MOST_TAGS; then nothing is changed.
        """
        ...
