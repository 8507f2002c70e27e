"""What came of fetching the pages of a source: counts, and what was refused. Values only."""

from dataclasses import dataclass, field
from enum import StrEnum

# Of more refusals only the number is kept.
MOST_REFUSALS = 500


class CrawlState(StrEnum):
    """Where the fetching of a source stands."""

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

    `pages` were read, of them `fresh` are new or changed; `waiting` were found and not asked for
    yet. `copies` are addresses of pages that were read under another one. `refused` holds the first
    MOST_REFUSALS of `refused_count`. With `is_cut_off` a limit left pages out. Times are seconds
    since the epoch.
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
