"""What exists only in the library: kinds and entries, backup rules, and the store of them all.

A library or a backup may hold kinds of an absent feature; they stay as they are. Values are frozen;
the store may be used on any thread.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from desktop_rag.core.changes import Changes
from desktop_rag.core.paths import Home
from desktop_rag.registry import hooks
from desktop_rag.store.contract.database import Database, fetched

# The version of the tables whose columns entries have; the last unreleased one was 25, with the
# same columns.
SCHEMA, SCHEMA_BEFORE = 1, 25

Row = Mapping[str, Any]
Rows = Mapping[str, Sequence[Row]]


@dataclass(frozen=True, slots=True)
class Kind:
    """The tables of a kind with the column that holds the key; the first has a row for each.

    `owner` is the column with the key of what a thing belongs to, and the kind of that; things may
    be without one where that is their own kind. `derived` columns are left out: the app fills them
    again.
    """

    tables: Mapping[str, str]
    owner: tuple[str, str] | None = None
    derived: frozenset[str] = field(default_factory=frozenset[str])


@dataclass(frozen=True, slots=True)
class Entry:
    """One precious thing: its kind, its key, and its rows by table as JSON values."""

    kind: str
    key: str
    rows: Rows
    conversation_id: str = ""  # of a message

    @property
    def row(self) -> Row:
        """Its first row, which every kind has."""
        return next(rows[0] for rows in self.rows.values() if rows)


# Of each kind, entries by key, and those to add to them.
Present = Mapping[str, Mapping[str, Entry]]
Incoming = Mapping[str, Sequence[Entry]]


@dataclass(frozen=True, slots=True)
class Json:
    """The type of a column whose text is a JSON value of this `kind`.

    One that `is_open` may have fields of another version.
    """

    kind: Any
    takes_nan: bool = False
    may_be_empty: bool = False
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file of a feature in a backup of everything: its name there, and the most bytes it has.

    `kind` is what it holds, for counting. `text_of` reads it from a home, empty when there is
    nothing to keep. `count` checks a text from a backup and says how many things it holds;
    WrongValueError for what the app does not write. `take` adds a checked text to a home that
    nothing else uses and says how many things were new; AppError when the disk refuses.
    """

    name: str
    kind: str
    most_bytes: int
    text_of: Callable[[Home], str]
    count: Callable[[str], int]
    take: Callable[[Home, str], int]


def _nothing(_here: Present, _new: Incoming, _ids: Mapping[str, str]) -> list[Entry]:
    return []


@dataclass(frozen=True, slots=True)
class BackupRules:
    """How backups treat what a feature keeps.

    `columns` has the type of each column of each table, `entries` a check for whole entries of a
    kind and their place: WrongValueError unless the app could have written it. `merged` gives the
    entries to put into a library; the last of its values has the collections here by the ids of
    those in the backup. WrongValueError when an entry belongs to nothing.
    """

    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    entries: Mapping[str, Callable[[Entry, str], None]] = field(
        default_factory=dict[str, Callable[[Entry, str], None]]
    )
    merged: Callable[[Present, Incoming, Mapping[str, str]], list[Entry]] = _nothing
    file: KeptFile | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """What a feature keeps in the library and in backups.

    `tables` is a file of statements that make its tables, in the SQL of the schema. They are run at
    each opening, so they say IF NOT EXISTS, of a column that is added later too. `nouns` has a word
    for one and for several of each kind, and of what its file holds. `backups` is called when a
    backup is written or read, and not before.
    """

    nouns: Mapping[str, tuple[str, str]]
    backups: Callable[[], BackupRules]
    kinds: Mapping[str, Kind] = field(default_factory=dict[str, Kind])
    tables: Path | None = None


# From the library's entries to those to put into it; AppError refuses all. Called again when the
# library changed meanwhile.
Plan = Callable[[Sequence[Entry]], Sequence[Entry]]


@dataclass(frozen=True, slots=True)
class PreciousChanged:
    """Something changed that can't be made again."""


class PreciousStore(ABC):
    """Everything that can't be made again, as one value; with it, on request, what can be."""

    # The version of the tables whose columns the rows have.
    schema: int = SCHEMA
    # The table that counts the changes.
    counting: str

    def __init__(self, database: Database) -> None:
        self.database = database

    def change_number(self) -> int:
        """A number that grows with each change to what is precious; 0 when there never was one."""
        [(number,)] = fetched(self.database, f"SELECT generation FROM {self.counting}")
        return int(number)

    @property
    def changes(self) -> Changes:
        """Publishes a PreciousChanged after each change, on the thread that writes."""
        return self.database.changes

    @abstractmethod
    def read(self, take: Callable[[Entry], None], *, index: Path | None = None) -> None:
        """Pass all entries of one moment to `take`, images last; what it raises ends that.

        With `index`, a new file in the folder for backups gets texts, passages and vectors, too.
        """

    @abstractmethod
    def merge(
        self, plan: Plan, images: Callable[[], Iterable[Entry]], index: Path | None = None
    ) -> int:
        """Put the entries of `plan` and the missing images, all or none; the number of images put.

        `plan` gets all entries but images; those it returns replace those with their keys. Other
        changes of the library wait only while the entries are put. With `index`, a file made by
        `read`, that becomes the index. AppError, with nothing changed, when the library has an
        index already or the file does not fit.
        """

    def has_index(self) -> bool:
        """True when the library knows any document."""
        return bool(fetched(self.database, "SELECT 1 FROM documents LIMIT 1"))


_OF_CORE: Mapping[str, Kind] = {
    "collection": Kind({"collections": "collection_id"}, derived=frozenset({"answering"})),
    "source": Kind({"sources": "source_id"}, ("collection_id", "collection")),
    "tagging": Kind({"file_tags": "tagging_id"}),
    "assistant": Kind({"assistants": "assistant_id"}),
    "conversation": Kind({"conversations": "conversation_id"}),
    "message": Kind(
        {"messages": "message_id", "citations": "message_id"}, ("conversation_id", "conversation")
    ),
    "feedback": Kind({"feedback": "message_id"}),
    "answer": Kind(
        {"interactions": "interaction_id"},
        ("conversation_id", "conversation"),
        frozenset({"embedder", "vector"}),
    ),
    "image": Kind({"attached_images": "attachment_id"}),
}


@cache
def kept() -> tuple[Kept, ...]:
    """What the features keep in the library and in backups."""
    return tuple(hook() for hook in hooks("kept").values())


@cache
def kinds() -> Mapping[str, Kind]:
    """Every kind by its name."""
    return {**_OF_CORE, **kinds_of_features()}


@cache
def kinds_of_features() -> Mapping[str, Kind]:
    """The kinds that features keep."""
    return {name: kind for each in kept() for name, kind in each.kinds.items()}


def precious_tables() -> list[str]:
    """The tables of all kinds."""
    return [table for kind in kinds().values() for table in kind.tables]


def tables_of_features() -> list[str]:
    """The statements that create the tables of each feature."""
    return [each.tables.read_text("utf-8") for each in kept() if each.tables]


@cache
def nouns_of_features() -> Mapping[str, tuple[str, str]]:
    """Singular and plural nouns for what features keep, by kind."""
    return {kind: nouns for each in kept() for kind, nouns in each.nouns.items()}


@cache
def backup_rules() -> list[BackupRules]:
    """How backups treat what each feature keeps."""
    return [each.backups() for each in kept()]
