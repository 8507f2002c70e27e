"""What a backup holds and what an import changed, as values for people. Frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from desktop_rag.core.records import Record
from desktop_rag.core.settings import Settings
from desktop_rag.store.contract.kinds import nouns_of_features

# The singular and plural of each kind, in the order of lists.
_NOUNS = {
    "conversation": ("chat", "chats"),
    "message": ("message", "messages"),
    "feedback": ("opinion of an answer", "opinions of answers"),
    "assistant": ("assistant", "assistants"),
    "prompt": ("saved prompt", "saved prompts"),
    "rewrite": ("answer of yours", "answers of yours"),
    "collection": ("collection", "collections"),
    "source": ("folder, file or link", "folders, files and links"),
    "tagging": ("file with tags of yours", "files with tags of yours"),
    "image": ("image", "images"),
    "answer": ("remembered answer", "remembered answers"),
}


@dataclass(frozen=True, slots=True)
class BackupContents(Record):
    """A checked backup. `day` is the local day it was made on; `counts` has things by kind.

    `missing` are paths of sources that this computer does not have, `addresses` those of the
    endpoints that settings, assistants and collections name.
    """

    day: str
    made_at: float
    app: str
    collection: str
    counts: Mapping[str, int]
    has_index: bool
    has_settings: bool
    missing: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Imported(Record):
    """The result of an import: what was added or changed, by kind.

    `overlapping` are sources left out because a part of them is in the library already. `has_index`
    is true when the index was taken, `no_index` says why one was not.
    """

    contents: BackupContents
    added: Mapping[str, int] = field(default_factory=dict[str, int])
    overlapping: tuple[str, ...] = ()
    has_index: bool = False
    no_index: str = ""
    takes_settings: bool = False


@dataclass(frozen=True, slots=True)
class Snapshot(Record):
    """A daily snapshot: its number, which only grows, its local day, and its file."""

    number: int
    day: str
    file: Path
    size: int


@dataclass(frozen=True, slots=True)
class BackupMerged:
    """A backup was taken into the library, with its `settings` where the home had none."""

    settings: Settings | None = None


def in_words(counts: Mapping[str, int], *, most: int = 20) -> str:
    """The counts as a list: `12 chats, 140 messages, 3 collections`; "nothing" for none."""
    parts = [
        f"{counts[kind]:,} {nouns[counts[kind] != 1]}"
        for kind, nouns in {**_NOUNS, **nouns_of_features()}.items()
        if counts.get(kind)
    ]
    return ", ".join(parts[:most]) or "nothing"


def day_in_words(day: str) -> str:
    """A day for people: `23 November 2026`."""
    when = date.fromisoformat(day)
    return f"{when.day} {when:%B} {when.year}"
