"""What a backup says of itself: version, day, counts, and the size and hash of each file. Pure."""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, ClassVar

from desktop_rag.core.assistant import plain_name
from desktop_rag.core.errors import AppError
from desktop_rag.core.records import (
    LONGEST_LABEL,
    LONGEST_PATH,
    MOST_NUMBER,
    Matching,
    Moment,
    Record,
    Within,
    WrongValueError,
    checked,
)
from desktop_rag.core.settings import Settings
from desktop_rag.store.contract.precious import SCHEMA_BEFORE, backup_rules, nouns_of_features

FORMAT, VERSION = "desktop-rag backup", 1
ENDING = ".desktop-rag-backup"
MANIFEST, ENTRIES, IMAGES = "manifest.json", "entries.jsonl", "images.jsonl"
SENT = "sent.jsonl"
SETTINGS, INDEX = "settings.toml", "library.index"
PROMPTS, REWRITES = "prompts/", "rewrites/"
# Bounds of what is unpacked, in bytes.
MOST_MANIFEST = 8 << 20
MOST_FILES = 20_000
_MOST_BYTES: Mapping[str, int] = {
    ENTRIES: 1 << 29,
    IMAGES: 1 << 33,
    SENT: 1 << 36,
    SETTINGS: 1 << 20,
    INDEX: 1 << 40,
}
_MOST_TEXT_FILE, _MOST_TEXT = 1 << 22, 1 << 28
# No path, no hidden file, nothing that another system can't name.
_TEXT_FILE = re.compile(
    r"[^\x00-\x1f/\\:*?\"<>|.\ud800-\udfff][^\x00-\x1f/\\:*?\"<>|\ud800-\udfff]{0,199}"
)
# The names of kinds and files that absent features may have.
_Kind = Annotated[str, Matching("[a-z_]{1,40}")]
_FILE_OF_FEATURE = re.compile(r"[a-z_]{1,40}\.jsonl?")


_Number = Annotated[int, Within(0, MOST_NUMBER)]


@dataclass(frozen=True, slots=True)
class FileFacts:
    """A file in the archive: unpacked size, SHA-256, and when it was last changed (or 0)."""

    size: _Number
    sha256: Annotated[str, Matching("[0-9a-f]{64}")]
    changed_at: Moment = 0.0


@dataclass(frozen=True, slots=True)
class Manifest(Record):
    """The first file of the archive. `day` is local; `collection` is empty for everything.

    `home` is the folder it was made from: sources below it lie below the home that takes it in.
    `counts` has the number of things of each kind, `change_number` the store's at that moment.
    """

    needed: ClassVar = frozenset(
        {"format", "version", "collection", "change_number", "counts", "files"}
    )
    schema: _Number
    app: Annotated[str, Within(0, 100)]
    made_at: Moment
    day: str
    home: Annotated[str, Within(0, LONGEST_PATH)]
    collection: Annotated[str, Within(0, LONGEST_LABEL)] = ""
    change_number: _Number = 0
    counts: Mapping[_Kind, _Number] = field(default_factory=dict[str, int])
    files: Mapping[str, FileFacts] = field(default_factory=dict[str, FileFacts])
    format: str = FORMAT
    version: int = VERSION

    @property
    def has_index(self) -> bool:
        """True when texts, passages and vectors are in it."""
        return INDEX in self.files

    def names(self, folder: str) -> list[str]:
        """The files in a folder of the archive."""
        return [name for name in self.files if name.startswith(folder)]


def manifest_from(content: object, schema: int) -> Manifest:
    """The inverse of `to_json`. AppError for another version, WrongValueError for a bad value."""
    place = "the manifest"
    known = {field.name for field in dataclasses.fields(Manifest)}
    given = checked(dict[str, Any], content, place)
    if not given.keys() <= known or given.get("format") != FORMAT:
        raise WrongValueError(place)
    if checked(int, given.get("version"), place) != VERSION:
        raise _other_version(f"Its format is version {given['version']}, this app has {VERSION}.")
    found = checked(Manifest, given, place)
    if found.schema not in range(1, schema + 1) and found.schema != SCHEMA_BEFORE:
        raise _other_version(f"Its library is version {found.schema}, this app has {schema}.")
    if not _is_day(found.day):
        raise WrongValueError(f"{place}, day")
    for name, facts in found.files.items():
        if not is_known(name) or facts.size > most_bytes(name):
            raise WrongValueError(f"{place}, {name}")
    texts = [facts.size for name, facts in found.files.items() if name not in _MOST_BYTES]
    if ENTRIES not in found.files or len(found.files) > MOST_FILES or sum(texts) > _MOST_TEXT:
        raise WrongValueError(f"{place}, files")
    return found


def most_bytes(name: str) -> int:
    """The largest size of a file of this name."""
    of_features = {rules.file.name: rules.file.most_bytes for rules in backup_rules() if rules.file}
    return {**of_features, **_MOST_BYTES}.get(name, _MOST_TEXT_FILE)


def is_known(name: str) -> bool:
    """True for a file that a backup may hold, also of an absent feature; none leaves its folder."""
    if name in _MOST_BYTES or _FILE_OF_FEATURE.fullmatch(name):
        return True
    folder, _, file = name.partition("/")
    stem, dot, ending = file.rpartition(".")
    is_text = f"{folder}/" in {PROMPTS, REWRITES} and f"{dot}{ending}" == ".md"
    return is_text and bool(_TEXT_FILE.fullmatch(stem)) and bool(plain_name(stem))


def _is_day(written: str) -> bool:
    try:
        return bool(date.fromisoformat(written))
    except ValueError:
        return False


def _other_version(reason: str) -> AppError:
    title = "The backup was written by another version of the app."
    return AppError(title, f"{reason} Update the app.")


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


def in_words(counts: Mapping[str, int]) -> str:
    """The counts as a list: `12 chats, 140 messages, 3 collections`; "nothing" for none."""
    parts = [
        f"{counts[kind]:,} {nouns[counts[kind] != 1]}"
        for kind, nouns in {**_NOUNS, **nouns_of_features()}.items()
        if counts.get(kind)
    ]
    return ", ".join(parts) or "nothing"


def day_in_words(day: str) -> str:
    """A day for people: `23 November 2026`."""
    when = date.fromisoformat(day)
    return f"{when.day} {when:%B} {when.year}"
