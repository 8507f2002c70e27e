"""The contract of a remote: a place on a server whose files are read as those of a folder are.

A remote lists its items in parts, such as folders, mailboxes or projects, and fetches one. What is
kept, moved, deleted and resumed is the business of the round (`remote_round.py`), the same for all.
A package adds a kind by the entry point `desktop_rag.remotes`, which names a `RemoteKind`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from threading import Event
from types import MappingProxyType
from typing import BinaryIO

from desktop_rag.core.domain import WebLinks
from desktop_rag.core.errors import AppError


@dataclass(frozen=True, slots=True)
class Item:
    """A file of a remote, as it is listed.

    `item_id` stays as long as the item lives, wherever it is moved to; where the server has no such
    ids it is the path. `path` is shown: folders and name with slashes, unique in the source.
    Another content has another `version`. `size` is in bytes, -1 when the server does not say,
    `modified` in seconds since the epoch. `place` is what the remote itself needs to fetch it,
    `page` the address of its page for people. `readers` are the users and groups that may read it
    there, none where the server does not say.
    """

    item_id: str
    path: str
    version: str
    size: int = -1
    modified: float = 0.0
    place: str = ""
    page: str = ""
    readers: tuple[str, ...] = ()

    @property
    def content_key(self) -> tuple[str, int]:
        """What two items share that have the same content; only for a version that is known."""
        return self.version, self.size


class Told(Enum):
    """What a listing says of a part."""

    ALL = auto()
    """The items given are all of it: others that were there are gone."""
    CHANGES = auto()
    """The items given are new or changed, those of `gone` are gone; others are as they were."""
    SAME = auto()
    """Nothing changed in it, nor in any part whose key begins with its key."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a listing says of a part. A part that a whole listing does not name is gone.

    The `token` is handed to the next listing, once all that this one named is fetched. `gone` holds
    paths, of items or of folders with all in them. With a `problem` nothing is known of the part:
    it is told, and what is kept of it stays.
    """

    key: str
    told: Told = Told.ALL
    items: tuple[Item, ...] = ()
    gone: tuple[str, ...] = ()
    token: str = ""
    problem: str = ""


class Trouble(Enum):
    """The consequence of a refusal."""

    OFFLINE = auto()
    """The server does not answer, or says to come later. The round is tried again soon."""
    REFUSED = auto()
    """The password or the place is wrong. The round ends; only the person can change that."""
    FAILED = auto()
    """This item could not be had now. What is known of it stays; the next round asks again."""
    LEFT_OUT = auto()
    """This item is not for us as it is, such as too large. It is asked for when it changes."""


class RemoteRefused(AppError):  # noqa: N818  the server's failure, not the program's
    """A remote can't be listed, or an item not fetched. `wait_s` is what the server asks for."""

    def __init__(
        self, trouble: Trouble, title: str, hint: str = "", wait_s: float | None = None
    ) -> None:
        super().__init__(title, hint)
        self.trouble = trouble
        self.wait_s = wait_s

    @property
    def reason(self) -> str:
        """Title and hint, as the reason shown for a document."""
        return f"{self.title} {self.hint}".strip()


class Remote(ABC):
    """An open connection to a place. For one thread; RemoteRefused for what the server refuses."""

    @property
    def requests(self) -> int:
        """How many requests were made."""
        return 0

    kept: Mapping[str, Sequence[Item]] = MappingProxyType({})
    """Before a listing, what is kept of each part by its key, for remotes that tell CHANGES without
    a token. An item without a version has to be named again."""

    @abstractmethod
    def parts(self, tokens: Mapping[str, str]) -> Iterator[Part]:
        """List the place, given the tokens of its parts from the last whole round.

        Whatever can't be listed raises: an incomplete listing must not end as if it were whole.
        """

    @abstractmethod
    def fetch(self, item: Item, target: BinaryIO, most_bytes: int) -> Item:
        """Write the content of an item as it comes; returns the item as it is now.

        What is longer than `most_bytes` is LEFT_OUT.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""


@dataclass(frozen=True, slots=True)
class RemoteKind:
    """A kind of remote: its name, which is that of its sources, and what people call it.

    `checked` gives the links as they are kept, AppError for what is no place of this kind. `open`
    gets the links, the password and an Event that ends a running request with Cancelled.

    The rest says what is asked for when one is added, in the window and in a terminal: `example` of
    an address, the `address` at first, the names of the fields for the user, the `secret` and the
    folders to choose from, none where there are none, and a `note` for whoever fills them in. What
    the window shows is `marked` for translation. `log_in` makes of the secret that was entered the
    one that is kept, perhaps in the browser of the person.
    """

    name: str
    words: str
    checked: Callable[[WebLinks], WebLinks]
    open: Callable[[WebLinks, str, Event], Remote]
    example: str = ""
    address: str = ""
    user: str = ""
    needs_user: bool = True
    secret: str = ""
    folders: str = ""
    takes_since: bool = False
    note: str = ""
    log_in: Callable[[WebLinks, str, Event], str] | None = None

    def takes_secret(self, user: str) -> bool:
        """True where a secret is asked for: not of one who logs in nowhere."""
        return bool(self.secret) and bool(user or not self.user or not self.needs_user)
