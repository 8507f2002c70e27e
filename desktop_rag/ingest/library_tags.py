"""The tags that the person gives to files. Any worker thread."""

from collections.abc import Callable, Sequence

from desktop_rag.core.domain import Document
from desktop_rag.core.tags import TagCount
from desktop_rag.store.contract.documents import DocumentStore
from desktop_rag.store.contract.tag_store import TagStore


class LibraryTags:
    """Tags by file: `library.tags`."""

    def __init__(
        self,
        store: TagStore,
        documents: DocumentStore,
        *,
        changed: Callable[[Sequence[Document]], None],
    ) -> None:
        self._store = store
        self._documents = documents
        self._changed = changed

    def counts(self) -> list[TagCount]:
        """All tags in use, given or stated by files, with the number of their files, by name."""
        return self._store.counts()

    def change(
        self, document_ids: Sequence[str], *, add: Sequence[str] = (), remove: Sequence[str] = ()
    ) -> int:
        """Add tags to the files of these documents and remove others.

        Returns the number of files whose tags changed. AppError when a file would have too many.
        """
        count = self._store.change(document_ids, add, remove)
        if count:
            self._changed(self._documents.get(document_ids))
        return count
