"""What a backup says of itself: version, day, counts, and the size and hash of each file. Pure."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any, cast

from desktop_rag.backup.value_rules import (
    MOST_NUMBER,
    WrongValueError,
    any_json,
    exactly,
    fields,
    moment,
    text,
    whole,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.saved_prompts import plain_name
from desktop_rag.store.contract.kinds import backup_rules
from desktop_rag.store.contract.precious import SCHEMA_BEFORE, Check

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
_HASH = re.compile(r"[0-9a-f]{64}")
# The names of kinds and files that absent features may have.
_KIND = re.compile(r"[a-z_]{1,40}")
_FILE_OF_FEATURE = re.compile(r"[a-z_]{1,40}\.jsonl?")


@dataclass(frozen=True, slots=True)
class FileFacts:
    """A file in the archive: unpacked size, SHA-256, and when it was last changed (or 0)."""

    size: int
    sha256: str
    changed_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Manifest:
    """The first file of the archive. `day` is local; `collection` is empty for everything.

    `home` is the folder it was made from: sources below it lie below the home that takes it in.
    `counts` has the number of things of each kind, `change_number` the store's at that moment.
    """

    schema: int
    app: str
    made_at: float
    day: str
    home: str
    collection: str = ""
    change_number: int = 0
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    files: Mapping[str, FileFacts] = field(default_factory=dict[str, FileFacts])

    @property
    def has_index(self) -> bool:
        """True when texts, passages and vectors are in it."""
        return INDEX in self.files

    def names(self, folder: str) -> list[str]:
        """The files in a folder of the archive."""
        return [name for name in self.files if name.startswith(folder)]

    def to_json(self) -> dict[str, Any]:
        """The content of the file."""
        return {"format": FORMAT, "version": VERSION, **asdict(self)}


def manifest_from(content: object, schema: int) -> Manifest:
    """The inverse of `to_json`. AppError for another version, WrongValueError for a bad value."""
    fields(
        {"format": exactly(FORMAT), "version": whole(), **dict.fromkeys(_FIELDS, any_json)},
        ("format", "version"),
    )(content, "the manifest")
    assert isinstance(content, dict)
    if content["version"] != VERSION:
        raise _other_version(f"Its format is version {content['version']}, this app has {VERSION}.")
    fields({"format": exactly(FORMAT), "version": whole(), **_FIELDS})(content, "the manifest")
    if content["schema"] not in range(1, schema + 1) and content["schema"] != SCHEMA_BEFORE:
        raise _other_version(f"Its library is version {content['schema']}, this app has {schema}.")
    files = {name: _facts(name, facts) for name, facts in content["files"].items()}
    texts = [facts.size for name, facts in files.items() if name not in _MOST_BYTES]
    if ENTRIES not in files or len(files) > MOST_FILES or sum(texts) > _MOST_TEXT:
        raise WrongValueError("the manifest, files")
    values: dict[str, Any] = {name: content[name] for name in _FIELDS} | {"files": files}
    return Manifest(**values)


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


def _facts(name: str, facts: dict[str, Any]) -> FileFacts:
    place = f"the manifest, {name}"
    if not is_known(name):
        raise WrongValueError(place)
    fields({"size": whole(0, most_bytes(name)), "sha256": text(64), "changed_at": moment()})(
        facts, place
    )
    if not _HASH.fullmatch(facts["sha256"]):
        raise WrongValueError(place)
    return FileFacts(**facts)


def _day(value: object, place: str) -> None:
    text(10)(value, place)
    try:
        date.fromisoformat(str(value))
    except ValueError:
        raise WrongValueError(place) from None


def _counts(value: object, place: str) -> None:
    _object(value, place)
    for kind, count in cast("dict[str, object]", value).items():
        if not _KIND.fullmatch(kind):
            raise WrongValueError(place)
        whole(0, MOST_NUMBER)(count, place)


def _object(value: object, place: str) -> None:
    if not isinstance(value, dict):
        raise WrongValueError(place)


_FIELDS: Mapping[str, Check] = {
    "schema": whole(1),
    "app": text(100),
    "made_at": moment(),
    "day": _day,
    "home": text(4_096),
    "collection": text(1_000),
    "change_number": whole(0, MOST_NUMBER),
    "counts": _counts,
    "files": _object,
}


def _other_version(reason: str) -> AppError:
    title = "The backup was written by another version of the app."
    return AppError(title, f"{reason} Update the app.")
