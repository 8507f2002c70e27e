"""The services that the local server answers with. A frozen value."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from desktop_rag.activity.activity import Activity
from desktop_rag.answer.chat import Chat
from desktop_rag.core.paths import Home
from desktop_rag.ingest.library import Library
from desktop_rag.models.ports import Embedder


@dataclass(frozen=True, slots=True)
class Served:
    """The two faces, the embedding model if there is one, what the app did, and its folder.

    `verb_of` gives a verb that a running app answers by its name, None for one that is not there.
    """

    home: Home
    chat: Chat
    library: Library
    embedder: Embedder | None
    activity: Activity
    verb_of: Callable[[str], Callable[[dict[str, Any]], Any] | None]
