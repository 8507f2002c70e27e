"""Reads the next files on a thread of its own while the one before is cut and stored.

The parser process would otherwise stand still meanwhile, and the indexer while it reads.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

from desktop_rag.core.domain import Document

# As many small files; of large ones so many bytes, as their texts wait in memory.
_MOST_FILES = 16
_MOST_BYTES = 4_000_000

T = TypeVar("T")


class ReadAhead(Generic[T]):
    """Calls `read` for documents ahead of their turn, one after the other, on one thread.

    A context manager: what was not begun when it ends is not read.
    """

    def __init__(self, read: Callable[[Document], T]) -> None:
        self._read = read
        self._pool = ThreadPoolExecutor(1, "reader")

    def __enter__(self) -> "ReadAhead[T]":
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def over(self, documents: Iterable[Document]) -> Iterator[tuple[Document, Future[T]]]:
        """The documents in their order, each with what reading it gives, or raises."""
        pending = deque[tuple[Document, Future[T]]]()
        for document in documents:
            pending.append((document, self._pool.submit(self._read, document)))
            while len(pending) > _MOST_FILES or _bytes_of(pending) > _MOST_BYTES:
                yield pending.popleft()
        yield from pending


def _bytes_of(pending: Iterable[tuple[Document, object]]) -> int:
    return sum(document.stat.size_bytes for document, _ in pending)
