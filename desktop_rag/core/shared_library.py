"""A library on a server beside the own one: its ids, its state, and the report of a test.

Frozen values, pure. Its ids begin with a mark, so that every part of the app can tell them.
"""

from dataclasses import dataclass
from enum import StrEnum

from desktop_rag.core.domain import Collection, Document, Source
from desktop_rag.core.question_scope import ScopeItem, ScopeKind

_MARK = "shared:"


def is_shared(key: str) -> bool:
    """True for the id of a document, source or collection of the shared library."""
    return key.startswith(_MARK)


def shared_id(key: str) -> str:
    """The marked form of an id of the shared library; "" stays empty."""
    return _MARK + key if key else ""


def id_there(key: str) -> str:
    """The inverse of `shared_id`."""
    return key.removeprefix(_MARK)


def is_shared_item(item: ScopeItem) -> bool:
    """True for a document, source or collection of the shared library; folders are of both."""
    return item.kind is not ScopeKind.FOLDER and is_shared(item.key)


def can_open(document: Document) -> bool:
    """False for a file on another computer: the same path here would be another file."""
    return bool(document.address) or not is_shared(document.document_id)


class SharedState(StrEnum):
    """Whether the shared library can be asked."""

    NOT_SET = "not set"
    CONNECTING = "connecting"
    ONLINE = "online"
    OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class SharedLibraryStatus:
    """The state since a time, why it is offline (`title`, `hint`), and what was last seen there."""

    state: SharedState = SharedState.NOT_SET
    since: float = 0.0
    title: str = ""
    hint: str = ""
    collections: tuple[Collection, ...] = ()
    sources: tuple[Source, ...] = ()

    @property
    def is_away(self) -> bool:
        """True while there is one that can't be asked."""
        return self.state in (SharedState.CONNECTING, SharedState.OFFLINE)


@dataclass(frozen=True, slots=True)
class SharedLibraryChanged:
    """The shared library came, went, or has other collections."""

    status: SharedLibraryStatus


@dataclass(frozen=True, slots=True)
class SharedLibraryReport:
    """A readable shared library: versions, size and the names of its collections.

    `slow` are the slowest statements on average, with milliseconds and calls; None if unrecorded.
    """

    server_version: str
    vector_version: str
    size_bytes: int
    passages: int
    collections: tuple[str, ...]
    is_encrypted: bool
    has_vector_index: bool = False
    slow: tuple[tuple[str, float, int], ...] | None = None
