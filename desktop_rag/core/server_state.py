"""The state of the database server that keeps a library, and its words. Frozen values, pure."""

from dataclasses import dataclass
from enum import StrEnum

STATEMENTS_TITLE = "The server does not record how long statements take."
STATEMENTS_HINT = (
    "Write shared_preload_libraries = 'pg_stat_statements' into postgresql.conf and restart the"
    " server. Then run in the library's database, as its administrator: CREATE EXTENSION"
    " pg_stat_statements; and GRANT pg_read_all_stats TO the library's role."
)


class IndexState(StrEnum):
    """The state of an index of vectors. Without one, every search compares all vectors."""

    READY = "ready"
    BUILDING = "being built"
    MISSING = "missing"
    STALE = "stale"
    NOT_NEEDED = "not needed"
    IMPOSSIBLE = "not possible"


INDEX_HINTS = {
    IndexState.READY: "Searches use it.",
    IndexState.BUILDING: "Searches compare all vectors until it is ready.",
    IndexState.MISSING: (
        "Searches compare all vectors. It is built when nothing else is to be done."
    ),
    IndexState.STALE: (
        "Its building was cut off, so searches compare all vectors. It is built anew when nothing"
        " else is to be done."
    ),
    IndexState.NOT_NEEDED: "There are so few vectors that comparing all of them is as fast.",
    IndexState.IMPOSSIBLE: (
        "Its vectors have more dimensions than pgvector indexes, so searches compare all of them."
    ),
}


@dataclass(frozen=True, slots=True)
class PartSize:
    """The size of a part of the library in bytes, with indexes apart; `rows` is an estimate."""

    name: str
    rows: int
    table_bytes: int
    index_bytes: int


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """The index of a model's vectors. `vectors` is an estimate, `share` the built part (0..1)."""

    model: str
    dimensions: int
    vectors: int
    state: IndexState
    share: float | None = None
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class PostingsState:
    """Merged and unmerged postings, and deleted passages still among them."""

    merged: int
    unmerged: int
    deleted_passages: int


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """A replica for searches: `bytes_behind` is None when it is away.

    `seconds_behind` is None while unknown, or when it lacks what this process wrote.
    """

    bytes_behind: int | None
    seconds_behind: float | None
    most_lag_s: float

    @property
    def is_used(self) -> bool:
        """True when it follows closely enough for searches."""
        return self.seconds_behind is not None and self.seconds_behind <= self.most_lag_s


@dataclass(frozen=True, slots=True)
class Connections:
    """Connections to the server: of the library's role, of everybody, and the maximum."""

    own: int
    all: int
    most: int


@dataclass(frozen=True, slots=True)
class SlowStatement:
    """A statement as the server records it, with `$1` for each value, and its milliseconds."""

    text: str
    mean_ms: float
    slowest_ms: float
    calls: int


@dataclass(frozen=True, slots=True)
class SlowSearch:
    """A search of this process: its time and kind, never the question."""

    at: float
    kind: str
    milliseconds: float


@dataclass(frozen=True, slots=True)
class ServerState:
    """A library on a server at one moment.

    `statements` are the slowest on average, None if the server records none. `searches` are the
    slowest of this process in the last hours, out of `searched`.
    """

    server_version: str
    vector_version: str
    parts: tuple[PartSize, ...]
    indexes: tuple[VectorIndex, ...]
    postings: PostingsState
    connections: Connections
    replica: ReplicaState | None
    statements: tuple[SlowStatement, ...] | None
    searches: tuple[SlowSearch, ...]
    searched: int

    @property
    def size_bytes(self) -> int:
        """The space of the whole library."""
        return sum(part.table_bytes + part.index_bytes for part in self.parts)


def size_in_words(size_bytes: int) -> str:
    """`812 bytes`, `3.4 MB`, `1.2 GB`, in steps of 1000."""
    size = float(size_bytes)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:  # noqa: PLR2004
            return f"{size:,.0f} bytes" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"


def replica_in_words(replica: ReplicaState) -> str:
    """One or two sentences about a replica."""
    if replica.bytes_behind is None:
        return "The replica is away: searches read from the primary."
    behind = f"The replica is {size_in_words(replica.bytes_behind)} behind."
    if replica.is_used:
        return f"{behind} Searches read from it."
    return (
        f"{behind} Searches read from the primary: it is more than {replica.most_lag_s:g} seconds"
        " behind, or lacks what this program wrote."
    )
