"""Reports of fetching, links of pages, addresses of mirrored sites, and documents sent. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePath
from typing import Annotated, ClassVar
from urllib.parse import quote

from desktop_rag.core.records import Matching

# Of more refusals only the number is kept.
MOST_REFUSALS = 500


class CrawlState(StrEnum):
    """The state of fetching a source."""

    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    STOPPED = "stopped"
    OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class CrawlRefusal:
    """An address that was not read, and why."""

    url: str
    reason: str


@dataclass(frozen=True, slots=True)
class CrawlReport:
    """The last fetching of a source of links, or the one under way.

    `pages` were read, `fresh` of them new or changed; `waiting` were found but not requested yet.
    `copies` are addresses of pages read under another one. `refused` holds the first MOST_REFUSALS
    of `refused_count`. With `is_cut_off` a limit left pages out. Times are seconds since the epoch.
    """

    state: CrawlState = CrawlState.RUNNING
    began_at: float = 0.0
    ended_at: float = 0.0
    requests: int = 0
    pages: int = 0
    fresh: int = 0
    copies: int = 0
    waiting: int = 0
    refused_count: int = 0
    is_cut_off: bool = False
    refused: tuple[CrawlRefusal, ...] = field(default=())


# Of one page; a longer list is cut.
MOST_LINKS = 10_000
MOST_LINK_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class PageLinks:
    """The links of a page as written, and what it states about itself.

    `robots` is its robots directive (`noindex, nofollow`). `digest` identifies its visible words,
    "" without any: pages that differ only in their markup share it.
    """

    hrefs: tuple[str, ...] = ()
    base: str = ""
    canonical: str = ""
    robots: str = ""
    digest: str = ""


# What may stand in a path as it is; everything else, `?` and `#` included, is a part of a name.
_PATH_CHARACTERS = "/~!$&'()*+,;=:@-._"
# Servers show these for the folder they are in.
_INDEX_NAMES = frozenset({"index.html", "index.htm", "index.xhtml"})


def site_address(base: str, root: PurePath, path: PurePath) -> str:
    """The address of the file `path` below the folder `root`, which mirrors `base`.

    A folder's index page has the address of the folder, a source that is a file the base. ""
    without a base, or for a file outside the folder.
    """
    if not base or not path.is_relative_to(root):
        return ""
    if path == root:
        return base
    below = path.relative_to(root).as_posix()
    folder, slash, name = below.rpartition("/")
    if name.lower() in _INDEX_NAMES:
        below = folder + slash
    encoded = quote(below, safe=_PATH_CHARACTERS, errors="surrogateescape")
    return f"{base.rstrip('/')}/{encoded}"


Metadata = Mapping[str, str | int | float | bool]


@dataclass(frozen=True, slots=True)
class SentDocument:
    """A program's description of a document that it sent, without the content.

    `own_id` is the program's id, `document_id` the library's. `round` is the last round of sending
    that named it.
    """

    needed: ClassVar = frozenset({"file_name", "metadata"})
    own_id: str
    document_id: str
    name: str
    title: str = ""
    language: str = ""
    url: str = ""
    metadata: Metadata = field(default_factory=dict[str, str | int | float | bool])
    content_hash: str = ""
    file_name: Annotated[str, Matching(r"[\w-]{1,80}\.[a-z0-9]{1,10}")] = ""
    sent_at: float = 0.0
    round: int = 0


@dataclass(frozen=True, slots=True)
class Sending:
    """A document as a program sends it. The suffix of `name` tells its format."""

    own_id: str
    content: bytes
    name: str
    title: str = ""
    language: str = ""
    url: str = ""
    metadata: Metadata = field(default_factory=dict[str, str | int | float | bool])


class SentOutcome(StrEnum):
    """The effect of sending a document."""

    NEW = "new"
    CHANGED = "changed"
    DESCRIBED = "described anew"
    SAME = "unchanged"


@dataclass(frozen=True, slots=True)
class Taken:
    """A document that was accepted, and the effect."""

    document: SentDocument
    outcome: SentOutcome
