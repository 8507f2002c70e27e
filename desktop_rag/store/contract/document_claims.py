"""Which process reads a document, where several work on one queue. A protocol; any thread."""

from collections.abc import Iterable, Sequence
from typing import Protocol


class DocumentClaims(Protocol):
    """Claims on documents. Those of a process that ends, however it ends, are nobody's again."""

    def take(self, document_ids: Sequence[str]) -> list[str]:
        """Those of the documents that this process may read now: no other one has claimed them.

        A document that is claimed here already is among them.
        """
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
