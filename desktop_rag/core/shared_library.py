"""A library on a server beside the own one: ids of what is in it, its state, and a test's report.

Frozen values, pure. An id from there begins with a mark, so that every part of the app can tell.
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
    """The id of what has this id in the shared library itself; "" stays empty."""
    return _MARK + key if key else ""


def id_there(key: str) -> str:
    """The inverse of `shared_id`."""
    return key.removeprefix(_MARK)


def is_shared_item(item: ScopeItem) -> bool:
    """True for a document, source or collection of the shared library; folders are of both."""
    return item.kind is not ScopeKind.FOLDER and is_shared(item.key)


def can_open(document: Document) -> bool:
    """False for a file on another computer: one with its path here would be another file."""
    return bool(document.address) or not is_shared(document.document_id)


class SharedState(StrEnum):
    """Whether the shared library can be asked."""

    NOT_SET = "not set"
    CONNECTING = "connecting"
    ONLINE = "online"
    OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class SharedLibraryStatus:
    """The state since a time in seconds, and what was last seen there.

    `title` and `hint` say why it is offline.
    """

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
    """A shared library that can be read: versions, size and the names of its collections.

    `slow` are the statements that took longest on average, with their milliseconds and calls;
    None where the server does not record them.
    """

    server_version: str
    vector_version: str
    size_bytes: int
    passages: int
    collections: tuple[str, ...]
    is_encrypted: bool
    has_vector_index: bool = False
    slow: tuple[tuple[str, float, int], ...] | None = None
