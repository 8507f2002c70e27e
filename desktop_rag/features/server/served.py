"""The services that the local server answers with. A frozen value."""

from dataclasses import dataclass

from desktop_rag.activity.activity import Activity
from desktop_rag.answer.chat import Chat
from desktop_rag.core.paths import Home
from desktop_rag.ingest.library import Library
from desktop_rag.models.ports import Embedder


@dataclass(frozen=True, slots=True)
class Served:
    """The two faces, the embedding model if there is one, what the app did, and its folder."""

    home: Home
    chat: Chat
    library: Library
    embedder: Embedder | None
    activity: Activity
