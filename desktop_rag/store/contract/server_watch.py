"""What whoever runs a database server wants to know of a library on it. A protocol; any thread."""

from typing import Protocol

from desktop_rag.features.shared_library.state.server_state import ServerState


class ServerWatch(Protocol):
    """Looks at the server of a library; an engine without a server has none."""

    def state(self) -> ServerState:
        """Sizes, indexes, connections, the replica and what is slow, as they are now."""
        ...
