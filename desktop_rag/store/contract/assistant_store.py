"""Assistants, which nothing else can make again. A protocol; any thread."""

from typing import Protocol

from desktop_rag.core.assistant import Assistant


class AssistantStore(Protocol):
    """Assistants by their id. Each method is one transaction; what is stored comes back equal."""

    def all(self) -> list[Assistant]:
        """Those not hidden, by name in small letters, then by id."""
        ...

    def put(self, assistant: Assistant) -> None:
        """Keep the assistant, in place of the one of the same id if there is one."""
        ...

    def set_deleted(self, assistant_id: str, is_deleted: bool) -> None:
        """Hide the assistant, or undo that."""
        ...

    def purge_deleted(self) -> None:
        """Remove hidden assistants for good; conversations may still name them."""
        ...
