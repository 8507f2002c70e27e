"""Checks and repairs the integrity of a library. A protocol and its values; any thread."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from desktop_rag.core.errors import AppError


class NoLibraryError(AppError):
    """The home holds no library: it is new, or the file is gone. `has_journal` tells which."""

    def __init__(self, *, has_journal: bool) -> None:
        super().__init__("There is no library yet.", "The app creates it when it starts.")
        self.has_journal = has_journal


class NotReadableNowError(AppError):
    """Nothing is wrong with the library, but it can't be read now: it is in use, or older."""


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """A rule that `count` things break; `what` names them in the plural.

    `is_precious` is True for chats, folders and the like, which the journal holds too, and False
    for the index, which can be made again from the files.
    """

    what: str
    count: int
    is_precious: bool = False

    def __str__(self) -> str:
        return f"{self.what}: {self.count:,}"


@dataclass(frozen=True, slots=True)
class JournalState:
    """The number of the last change in the library and in the journal beside it."""

    stored: int
    written: int | None  # None without a journal
    unreadable: int = 0  # damaged lines of the journal


@dataclass(frozen=True, slots=True)
class IndexRepair:
    """The result of a repair: the numbers of orphans removed and of documents to be read again."""

    removed: int
    read_again: int


class Inspection(Protocol):
    """Reads the whole library without changing it, except for `repair`."""

    def discrepancies(self, may_go_on: Callable[[], bool]) -> list[Discrepancy]:
        """The rules that are broken, all of the same moment; none in a healthy library.

        Ends early when `may_go_on` returns False.
        """
        ...

    def waiting_contents(self) -> int:
        """The number of distinct chunk contents that have no vector of any model."""
        ...

    def waiting_pictures(self) -> int:
        """The number of pictures and scanned pages that wait to be read."""
        ...

    def journal(self) -> JournalState:
        """The last change in the library and in its journal. Reads the whole journal."""
        ...

    def repair(self) -> IndexRepair:
        """Remove orphans from the index and queue inconsistent documents, in one transaction.

        A journal with damaged lines is then written anew from the library.
        """
        ...
