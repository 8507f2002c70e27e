"""Assistants, which nothing else can restore. A protocol; any thread."""

from typing import Protocol

from desktop_rag.core.assistant import Assistant


class AssistantStore(Protocol):
    """Assistants by their id. Each method is one transaction; what is stored comes back equal."""

    def all(self) -> list[Assistant]:
        """Assistants that are not hidden, by name in lower case, then by id."""
        ...

    def put(self, assistant: Assistant) -> None:
        """Store the assistant in place of one with the same id."""
        ...

    def set_deleted(self, assistant_id: str, is_deleted: bool) -> None:
        """Hide the assistant, or undo that."""
        ...

    def purge_deleted(self) -> None:
        """Remove hidden assistants permanently; conversations may still refer to them."""
        ...
