"""What the app knows of files: rows, texts and chunks. A protocol and its values; any thread."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from desktop_rag.core.domain import Document, DocumentState, FileStat
from desktop_rag.core.library_events import DocumentCounts
from desktop_rag.core.parsed import Chunk

# document_id, path, size_bytes, mtime_ns, inode, why the scan skipped it, gone_at
KnownRow = tuple[str, str, int, int, int, str, float]
# source_id, content_hash, and the row
ReadRow = tuple[str, str, KnownRow]


@dataclass(frozen=True, slots=True)
class IndexingOutcome:
    """How reading a document ended: its row, and the content that replaces what it had.

    A document that was refused has none and loses what it had, unless `keeps_content`.
    `term_counts` has one item a chunk; `places` is what chunks are cut from again beside the text.
    `taken_stat` is what the row said of the file when its reading began: a row that says otherwise
    by now was found changed again. `parts` are the documents inside this one.
    """

    document: Document
    text: str = ""
    chunks: tuple[Chunk, ...] = ()
    term_counts: tuple[Counter[str], ...] = ()
    places: str = ""
    keeps_content: bool = False
    taken_stat: FileStat | None = None
    parts: "tuple[IndexingOutcome, ...]" = ()


class DocumentStore(Protocol):
    """Documents with their texts, chunks and postings, which come and go in one transaction.

    A document inside another one (an attachment) has a `parent_id`; it comes, moves, hides and
    goes with its parent, in the same transaction. A document that is GONE is listed here and found
    by no search. What is attached to chats is listed only where its source or id is asked for.

    Chunks are numbered when they are stored, from 1 up: those of a document in reading order
    without a gap, so that neighbours differ by one. Replacing a document gives it new numbers.
    Numbers may be up to 2^63 − 1, also `mtime_ns`; `inode` up to 2^64 − 1.
    """

    # --- reading -----------------------------------------------------------------------------

    def documents(self, source_id: str = "", state: DocumentState | None = None) -> list[Document]:
        """Known documents, optionally of one source or in one state.

        By path, then part, in the order of code points.
        """
        ...

    def counts(self, source_id: str = "") -> DocumentCounts:
        """How many files and web pages of the source (or of all) are in each state.

        Documents inside others are not counted.
        """
        ...

    def known_files(self, source_id: str) -> list[KnownRow]:
        """What a scan compares with the disk, as plain rows: there may be 50,000 of them.

        Without documents inside others, in any order. The reason is that of a file the scan
        skipped: it was never opened, so it has no hash; one that a parser refused has.
        """
        ...

    def read_files(self, sizes_bytes: Collection[int]) -> list[ReadRow]:
        """Files of all sources that were read (have a hash) and have one of these sizes.

        Without web pages and documents inside others, in any order; the reason is empty.
        """
        ...

    def get(self, document_ids: Sequence[str]) -> list[Document]:
        """The rows of these documents, in any order; unknown ids are left out."""
        ...

    def text(self, document_id: str) -> str | None:
        """The whole extracted text; None when there is none, or no such document (any more)."""
        ...

    def content(self, document_id: str) -> tuple[str | None, str]:
        """The same text, and its places as they were stored."""
        ...

    def chunks(self, document_id: str) -> list[Chunk]:
        """The chunks of a document in reading order."""
        ...

    def outdated(self, collection_id: str, chunking: str, limit: int) -> list[Document]:
        """Documents of a collection, up to `limit`, whose chunks were cut in another way.

        Those that are searchable and have chunks, by id.
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
        """Store what a scan found, in one transaction; returns the new and the changed rows.

        `changed` maps an id to what becomes of its row as it is now; it is asked inside the
        transaction, may not use the store, and what it raises undoes everything and is raised
        here. Ids that are not known are left out. A row that becomes skipped loses its content,
        `gone` documents go with theirs. What is inside a document follows it, and is among the
        rows returned. Nothing is done when the source was removed meanwhile.
        """
        ...

    def settle(self, outcomes: Sequence[IndexingOutcome]) -> list[Document]:
        """Store how reading ended, in one transaction: old content out, new in.

        Documents are searchable by words once this returns. Left out is one that no longer waits,
        because it was deleted or is to be skipped now, and one that was found changed again; one
        that was moved keeps its new path and source. A part known by its name keeps its id.
        Returns the rows as stored, with the parts. Ids must be distinct (AssertionError).
        """
        ...

    def recut(self, outcome: IndexingOutcome) -> Document | None:
        """Replace the chunks of a searchable document whose text stays; its row as stored.

        `outcome.document` is its row as it was when the cutting began, with the new count and way
        of cutting. None, and nothing is done, when its content hash is another one by now or it
        is no longer searchable. It becomes searchable by words.
        """
        ...

    def requeue_failed(self) -> list[Document]:
        """Make the failed files wait again; returns their rows.

        Not pages that were never fetched: there is nothing to read.
        """
        ...

    def requeue_older_than(self, readers: int) -> list[Document]:
        """Make files wait again that older readers read or refused; returns their rows."""
        ...

    # --- checks ------------------------------------------------------------------------------

    def count_orphans(self) -> int:
        """How many chunks belong to no document: always none unless the store was damaged."""
        ...

    def count_inconsistent(self) -> int:
        """How many documents stand twice, or have another number of chunks than their row says."""
        ...

    def purge_orphans(self) -> int:
        """Remove content that belongs to no document; returns how many chunks it was."""
        ...
