"""Sources, collections, documents and passages: the words everything else is written in.

Frozen values and pure functions only, so they can cross threads freely. Times are seconds since
the epoch.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal

from desktop_rag.core.anchors import HEADING_SEPARATOR, Anchor
from desktop_rag.core.parsed import ChunkSettings

SearchMode = Literal["hybrid", "lexical", "dense"]
# What a person is told wherever an endpoint can be chosen to embed documents.
EMBEDDED_ELSEWHERE = (
    "The text of all documents is sent to an endpoint; its key is the one entered for its address"
    " as the chat's endpoint."
)


class DocumentState(StrEnum):
    """Every known file is in exactly one of these."""

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
        """Whether its text is there: to be found by words at least."""
        return self in (DocumentState.SEARCHABLE_BY_WORDS, DocumentState.SEARCHABLE)


@dataclass(frozen=True, slots=True)
class Collection:
    """A named set of sources that is asked as one, and how its documents are cut.

    `embedder` is the model that embeds them: a folder, or the address of an endpoint with # and the
    model's name. Empty is the one of the settings.
    """

    collection_id: str
    name: str
    chunking: ChunkSettings = field(default_factory=ChunkSettings)
    embedder: str = ""


class SourceState(StrEnum):
    """Whether a source can be read just now."""

    WATCHED = "watched"
    POLLED = "polled"
    OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class SourceRules:
    """What the person leaves out of a folder, beside what is never taken.

    `excluded` are patterns as in a .gitignore file, relative to the folder. `max_file_mb` 0 is the
    limit of the settings.
    """

    uses_gitignore: bool = False
    includes_hidden: bool = False
    excluded: tuple[str, ...] = ()
    max_file_mb: int = 0


@dataclass(frozen=True, slots=True)
class WebLinks:
    """Pages of the web as a source. A URL that is a sitemap stands for the pages it lists.

    At most `page_limit` pages are fetched, again every `refresh_hours` (0: when asked to).
    """

    urls: tuple[str, ...]
    page_limit: int = 100
    refresh_hours: float = 24.0


@dataclass(frozen=True, slots=True)
class Source:
    """Something the person chose to be searchable: a folder, a single file, or web links.

    The `path` of web links is the folder where the app keeps the fetched pages.
    """

    source_id: str
    collection_id: str
    path: Path
    added_at: float
    state: SourceState = SourceState.WATCHED
    rules: SourceRules = field(default_factory=SourceRules)
    links: WebLinks | None = None
    refreshed_at: float = 0.0

    @property
    def name(self) -> str:
        """What to call it: the name of the folder or file, or the first link."""
        if self.links is None:
            return self.path.name or str(self.path)
        more = len(self.links.urls) - 1
        return self.links.urls[0] + (f" and {more} more" if more else "")


@dataclass(frozen=True, slots=True)
class FileStat:
    """What tells one state of a file from another without reading it."""

    size_bytes: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Document:
    """A known file without its text, as the library page shows it.

    A document inside another one, such as an attachment, has a `parent_id` and the `part` that
    leads to it; its path is the file of the parent. A page of the web has its `url`; its path is
    the copy that was read. `chunking` tells how it was cut, `readers` which generation of readers
    read it.
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

    @property
    def is_forgotten(self) -> bool:
        """Whether the library no longer knows it, unlike one that is gone but kept for a while."""
        return self.state is DocumentState.GONE and not self.gone_at

    @property
    def name(self) -> str:
        """What to call it in a list: the file's name with the part, or the address of a page."""
        if self.url:
            return self.url
        return f"{self.path.name}{HEADING_SEPARATOR}{self.part}" if self.part else self.path.name


@dataclass(frozen=True, slots=True)
class Passage:
    """A search result: a piece of a document with its place and score (higher is better).

    `relevance` is the calibrated probability that it is about the question at all. `also_in` says
    where else the same text stands, as paths or addresses.
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
class EndpointReport:
    """What testing an endpoint found: `models` it offers and whether the chosen one answered."""

    title: str
    hint: str
    is_ok: bool
    models: tuple[str, ...] = ()
    seconds: float = 0.0
