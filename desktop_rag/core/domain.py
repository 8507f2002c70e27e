"""Sources, collections, documents, tags and passages: the vocabulary of the app.

Only frozen values and pure functions, so they can cross threads freely. Times are seconds since the
epoch.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path, PurePath
from typing import Annotated, ClassVar, Literal
from urllib.parse import unquote, urlsplit

from desktop_rag.core.parsed import HEADING_SEPARATOR, Anchor, ChunkSettings, Heading, Mark
from desktop_rag.core.pictures import waiting_in
from desktop_rag.core.places import places_from_json
from desktop_rag.core.records import Address, Record, Within

LONGEST_TAG = 100
MOST_TAGS = 50
# What can't be stored, and invisible characters that would make two of one tag.
_UNSEEN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\u200b-\u200f\u2060\ufeff\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TagCount:
    """A tag and the number of files that have it."""

    name: str
    files: int


def clean_tag(written: str) -> str:
    """A tag as it is stored: one line, no leading #, not too long; "" when nothing is left."""
    line = " ".join(_UNSEEN.sub("", written).split())
    return line.lstrip("#").strip()[:LONGEST_TAG].strip()


def distinct_tags(written: Iterable[str]) -> tuple[str, ...]:
    """Each tag once, in order; of those that differ in letter case only the first."""
    cleaned = [tag for tag in map(clean_tag, written) if tag]
    return tuple({tag.casefold(): tag for tag in reversed(cleaned)}[key] for key in _keys(cleaned))


def typed_tags(text: str) -> tuple[str, ...]:
    """The tags in a line that a person typed, separated by commas."""
    return distinct_tags(re.split(r"[,;\n]", text))


def with_changes(
    tags: Iterable[str], added: Iterable[str], removed: Iterable[str]
) -> tuple[str, ...]:
    """The tags with some added at the end and others removed."""
    gone = set(_keys(distinct_tags(removed)))
    return tuple(t for t in distinct_tags([*tags, *added]) if t.casefold() not in gone)


def _keys(tags: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(tag.casefold() for tag in tags))


SearchMode = Literal["hybrid", "lexical", "dense"]
# The warning shown wherever an embedding endpoint can be chosen.
EMBEDDED_ELSEWHERE = (
    "The text of all documents is sent to an endpoint; its key is the one entered for its address"
    " as the chat's endpoint."
)

# The reasons of a file that a password would open, and of one that a password opened.
NEEDS_PASSWORD = "Encrypted: a password is needed"
WRONG_PASSWORD = "Encrypted: the password does not open it"
OPENED_BY_PASSWORD = "Opened with a password."
# Formats whose files need not name their encoding, and the reason of a file that may be in one that
# is not found.
_TEXTS = {
    "text", "CSV", "e-mail", "mailbox", "Markdown", "HTML", "subtitles", "BibTeX", "JSON", "LaTeX",
    "Org", "AsciiDoc", "reStructuredText", "calendar", "contacts",
}  # fmt: skip
_NO_TEXT = "Not a text file"
# The reason of a file that the person excluded, by itself and not by a pattern.
EXCLUDED = "Excluded by you"


class DocumentState(StrEnum):
    """The state of a known file: exactly one of these."""

    WAITING = "waiting"
    READING = "reading"
    SEARCHABLE_BY_WORDS = "searchable by words"
    SEARCHABLE = "searchable"
    SKIPPED = "skipped"
    FAILED = "failed"
    OFFLINE = "offline"
    GONE = "gone"

    @property
    def is_searchable(self) -> bool:
        """True when the text can be found, at least by its words."""
        return self in (DocumentState.SEARCHABLE_BY_WORDS, DocumentState.SEARCHABLE)


@dataclass(frozen=True, slots=True)
class Collection:
    """A named set of sources, searched as one, with its chunk settings.

    `embedder` is a folder, or an endpoint address followed by # and a model name; empty means the
    model from the settings. `intranet_hosts`, as typed, may be linked to although they aren't
    public.
    """

    collection_id: str
    name: str
    chunking: ChunkSettings = field(default_factory=ChunkSettings)
    embedder: str = ""
    intranet_hosts: tuple[str, ...] = ()


class SourceState(StrEnum):
    """The availability of a source."""

    WATCHED = "watched"
    POLLED = "polled"
    OFFLINE = "offline"


WHOLE_FOLDER = "."


@dataclass(frozen=True, slots=True)
class SourceRules:
    """Exclusions a person adds for a folder, on top of the built-in ones.

    `excluded` holds .gitignore patterns relative to the folder, `excluded_files` paths of single
    files in it, with slashes; `.` is a source that is a file itself. `max_file_mb` 0 means the
    limit from the settings. `encodings` of texts by such paths are the person's choice; that of
    `WHOLE_FOLDER` is for all others.
    """

    uses_gitignore: bool = False
    includes_hidden: bool = False
    excluded: tuple[str, ...] = ()
    max_file_mb: Annotated[int, Within(0, 1_000_000)] = 0
    excluded_files: tuple[str, ...] = ()
    encodings: Mapping[str, str] = field(default_factory=dict[str, str])

    def encoding_of(self, name: str) -> str:
        """The encoding chosen for a file by its path in the folder; "" if there is none."""
        return self.encodings.get(name) or self.encodings.get(WHOLE_FOLDER, "")

    def with_encoding(self, encoding: str, *names: str) -> "SourceRules":
        """With this encoding for files by their paths, or for `WHOLE_FOLDER`; "" forgets theirs."""
        others = {n: e for n, e in self.encodings.items() if n not in names}
        chosen = dict.fromkeys(sorted(names), encoding) if encoding else {}
        return replace(self, encodings=others | chosen)


@dataclass(frozen=True, slots=True)
class WebLinks:
    """Web pages as a source. The URL of a sitemap or feed stands for the pages it lists.

    At most `page_limit` pages are fetched, and again every `refresh_hours` (0: only on request).
    Links are followed for `follow_depth` steps, on the host of the link and below `path_limit`, by
    default below the folder of the link.

    With a `remote`, the name of a kind of remote source, the one URL is a place on a server of that
    kind, read as `user` with a password from the keyring, and the pages are its files: all or those
    in the `chosen` folders, and none older than `since` (ISO).
    """

    urls: tuple[Address, ...]
    page_limit: Annotated[int, Within(1, 1_000_000)] = 100
    refresh_hours: Annotated[float, Within(0, 1e6)] = 24.0
    follow_depth: Annotated[int, Within(0, 1_000)] = 0
    path_limit: str = ""
    remote: str = ""
    user: str = ""
    chosen: tuple[str, ...] = ()
    since: str = ""


# Kinds of sources; those of remotes have their names.
ON_DISK, PROGRAM, LINKS = "disk", "program", "links"


@dataclass(frozen=True, slots=True)
class Source:
    """A folder, a single file, web links, or the documents that a program sends.

    For web links `path` is the folder with the fetched pages; with a `program`, its name, the app's
    folder with the content it sent. A folder that mirrors a site has a `base_address`, below which
    its files are on the web.
    """

    source_id: str
    collection_id: str
    path: Path
    added_at: float
    state: SourceState = SourceState.WATCHED
    rules: SourceRules = field(default_factory=SourceRules)
    links: WebLinks | None = None
    refreshed_at: float = 0.0
    base_address: str = ""
    program: str = ""

    @property
    def kind(self) -> str:
        """What keeps its documents up to date: ON_DISK, PROGRAM, LINKS or the name of a remote."""
        if self.links:
            return self.links.remote or LINKS
        return PROGRAM if self.program else ON_DISK

    @property
    def is_on_disk(self) -> bool:
        """True for a folder or file of the person's."""
        return self.kind == ON_DISK

    @property
    def name(self) -> str:
        """The display name: of a folder with its host, the file, the program, or the first link."""
        if self.program:
            return self.program
        if self.links is None:
            return self.path.name or str(self.path)
        if self.links.remote:
            place = urlsplit(self.links.urls[0])
            folder = unquote(place.path.rstrip("/").rpartition("/")[2])
            return f"{folder or self.links.remote} ({place.hostname})"
        more = len(self.links.urls) - 1
        return self.links.urls[0] + (f" and {more} more" if more else "")


@dataclass(frozen=True, slots=True)
class FileStat:
    """File metadata that reveals a change without reading the file."""

    size_bytes: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Document:
    """A known file without its text, as the library page shows it.

    A document inside another, such as an attachment, has a `parent_id` and the `part` that leads to
    it; its path is the parent's file. A web page has a `url`; its path is the stored copy.
    `chunking` is the signature of the chunk settings used, `readers` the version of the readers.
    `dated` (ISO or empty) and `tags` are the file's own; `given_tags`, the person's, are known only
    when it comes from the library. `site_url` is the address of a file on the site that its folder
    mirrors.
    """

    document_id: str
    source_id: str
    path: Path
    title: str
    format: str
    stat: FileStat
    content_hash: str
    state: DocumentState
    reason: str = ""
    chunk_count: int = 0
    indexed_at: float = 0.0
    parent_id: str = ""
    part: str = ""
    url: str = ""
    language: str = ""
    chunking: str = ""
    gone_at: float = 0.0
    readers: int = 0
    dated: str = ""
    tags: tuple[str, ...] = ()
    given_tags: tuple[str, ...] = ()
    site_url: str = ""

    @property
    def address(self) -> str:
        """Its web address: of a fetched page, or on the site that its folder mirrors."""
        return self.url or self.site_url

    @property
    def all_tags(self) -> tuple[str, ...]:
        """The tags of both kinds, the person's first."""
        return distinct_tags((*self.given_tags, *self.tags)) if self.given_tags else self.tags

    @property
    def is_forgotten(self) -> bool:
        """True when the library dropped it; a gone document is kept for a while first."""
        return self.state is DocumentState.GONE and not self.gone_at

    @property
    def needs_password(self) -> bool:
        """True when it was not read because it, or a file inside it, needs a password."""
        is_encrypted = self.reason.startswith((NEEDS_PASSWORD, WRONG_PASSWORD))
        return is_encrypted and self.state is DocumentState.SKIPPED

    @property
    def pictures_waiting(self) -> int:
        """The number of its pictures and scanned pages that wait to be read."""
        return waiting_in(self.reason)

    @property
    def is_to_be_read(self) -> bool:
        """True when it waits for the indexer, not just for its pictures to be read."""
        return self.state is DocumentState.WAITING and not self.pictures_waiting

    @property
    def is_excluded(self) -> bool:
        """True when the person excluded this file by itself."""
        return self.reason == EXCLUDED and self.state is DocumentState.SKIPPED

    @property
    def can_be_read_again(self) -> bool:
        """False while it is being read, or is out of reach, or a rule leaves it out."""
        is_left_out = self.state is DocumentState.SKIPPED and not self.content_hash
        busy = (DocumentState.WAITING, DocumentState.READING)
        away = (DocumentState.OFFLINE, DocumentState.GONE)
        return not is_left_out and self.state not in (*busy, *away)

    @property
    def may_lack_encoding(self) -> bool:
        """True for a file on the disk whose encoding a person may have to choose."""
        return not self.url and (self.format in _TEXTS or self.reason.startswith(_NO_TEXT))

    @property
    def is_unlocked(self) -> bool:
        """True when a password opened it."""
        return OPENED_BY_PASSWORD in self.reason

    @property
    def name(self) -> str:
        """The name in a list: the file name with the part, or the address of a page."""
        if self.url:
            return self.url
        name = shown_name(self.path)
        return f"{name}{HEADING_SEPARATOR}{self.part}" if self.part else name


_OF_PROGRAM = re.compile(r"[/\\]sent[/\\][0-9a-f]{32}[/\\]([^/\\]+)-[0-9a-f]{16}(\.\w+)$")


def shown_name(path: PurePath | str) -> str:
    """The name of a file; of one that a program sent, without what keeps its contents apart."""
    sent = _OF_PROGRAM.search(str(path))
    return f"{sent[1]}{sent[2]}" if sent else PurePath(path).name


class FileCondition(StrEnum):
    """The state of a document's file now, compared with its stored text."""

    SAME = "same"
    CHANGED = "changed"
    MISSING = "missing"
    OUT_OF_REACH = "out of reach"
    ELSEWHERE = "on another computer"


@dataclass(frozen=True)
class StoredText:
    """A document with its stored content, to be read by a person.

    `places` are its marks and headings in their stored form, decoded on first use. `parts` are the
    documents inside it, such as attachments.
    """

    document: Document
    text: str
    places: str = ""
    parts: tuple[Document, ...] = ()

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The places of the text."""
        return self._decoded[0]

    @property
    def headings(self) -> tuple[Heading, ...]:
        """The headings of the text."""
        return self._decoded[1]

    @cached_property
    def _decoded(self) -> tuple[tuple[Mark, ...], tuple[Heading, ...]]:
        return places_from_json(self.places)[:2]


@dataclass(frozen=True, slots=True)
class Passage:
    """A search result: a piece of a document with its location and score (higher is better).

    `relevance` is the calibrated probability that it concerns the question. `also_in` lists other
    places with the same text, as paths or addresses. `url` is the document's web address.
    """

    chunk_id: int
    document_id: str
    path: str
    title: str
    text: str
    anchor: Anchor
    start: int
    end: int
    score: float
    part: str = ""
    url: str = ""
    relevance: float = 1.0
    also_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListedModel(Record):
    """A model as an endpoint's list describes it.

    `context_tokens` is 0 and the prices, in US dollars per million tokens, are None where the list
    doesn't state them.
    """

    # A price of 0 says that it is free.
    is_brief: ClassVar = True
    needed: ClassVar = frozenset({"name", "context_tokens"})
    name: str
    context_tokens: int = 0
    price_in: float | None = None
    price_out: float | None = None


@dataclass(frozen=True, slots=True)
class EndpointReport:
    """The result of testing an endpoint: its models, and `is_ok` if the chosen one answered.

    `is_reached` means that it answers but no model is chosen yet, `wants_key` that it asks for
    another key.
    """

    title: str
    hint: str
    is_ok: bool
    is_reached: bool = False
    wants_key: bool = False
    listed: tuple[ListedModel, ...] = ()
    seconds: float = 0.0

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models, in the endpoint's order."""
        return tuple(model.name for model in self.listed)

    @property
    def is_endpoint(self) -> bool:
        """False if it may be any other web server at this address."""
        return self.is_ok or self.wants_key or bool(self.listed)


@dataclass(frozen=True, slots=True)
class Unlocked:
    """The number of files read with a password, and whether the keyring keeps it."""

    files: int
    is_kept: bool


@dataclass(frozen=True, slots=True)
class RepairReport:
    """The result of a repair: where the damaged library is kept, and what was lost.

    Lost rows of chats and settings come back from the journal when the library is opened, if there
    is one.
    """

    kept: Path
    lost_rows: int
    has_index: bool
