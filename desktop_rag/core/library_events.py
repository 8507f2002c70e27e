"""What the library tells: progress, changes and notices. Frozen values."""

from dataclasses import dataclass, field
from enum import StrEnum

from desktop_rag.core.domain import Document, DocumentState, Source


class Stage(StrEnum):
    """What the indexer is doing now."""

    IDLE = "idle"
    SCANNING = "scanning"
    READING = "reading"
    EMBEDDING = "embedding"
    REFINING = "refining"
    PAUSED = "paused"


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """A snapshot of indexing. Fractions are 0..1; `seconds_left` is None while unknown."""

    stage: Stage = Stage.IDLE
    files_total: int = 0
    files_read: int = 0
    chunks_total: int = 0
    chunks_embedded: int = 0
    current_file: str = ""
    fraction: float = 1.0
    seconds_left: float | None = None


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """How many documents of a source (or of all) are in each state."""

    by_state: dict[DocumentState, int] = field(default_factory=dict[DocumentState, int])

    @property
    def total(self) -> int:
        """All known files but those that are gone."""
        return sum(n for state, n in self.by_state.items() if state is not DocumentState.GONE)

    @property
    def searchable(self) -> int:
        """Those that can be found, by words at least."""
        return sum(n for state, n in self.by_state.items() if state.is_searchable)

    @property
    def unread(self) -> int:
        """Those whose turn to be read is still to come."""
        return self.of(DocumentState.WAITING) + self.of(DocumentState.READING)

    def of(self, state: DocumentState) -> int:
        """How many are in this state."""
        return self.by_state.get(state, 0)


@dataclass(frozen=True, slots=True)
class ChangeSummary:
    """What one look at a source found, in numbers of files."""

    added: int = 0
    changed: int = 0
    moved: int = 0
    gone: int = 0
    unchanged: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing had changed."""
        return not (self.added or self.changed or self.moved or self.gone)

    def label(self) -> str:
        """One line: `+3, ~1, −2, 1,198 unchanged`; moved files are named only if there are any."""
        moved = f", {self.moved:,} moved" if self.moved else ""
        counts = f"+{self.added:,}, ~{self.changed:,}, −{self.gone:,}"
        return f"{counts}{moved}, {self.unchanged:,} unchanged"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Files of a folder that would not be read, and why; a few of their paths as examples."""

    reason: str
    files: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FolderPreview:
    """What adding a folder would mean.

    `seconds` is a rough estimate of the time until all of it is searchable by meaning. With
    `is_complete` False the counting was stopped on the way.
    """

    files: int
    size_bytes: int
    seconds: float
    by_format: dict[str, int]
    left_out: tuple[LeftOut, ...]
    is_complete: bool = True


@dataclass(frozen=True, slots=True)
class SourceScanned:
    """A source was compared with the disk (or with the web), and this is what was found."""

    source_id: str
    summary: ChangeSummary


@dataclass(frozen=True, slots=True)
class ProgressChanged:
    """Indexing moved on. Sent a few times a second at most."""

    progress: IndexProgress


@dataclass(frozen=True, slots=True)
class DocumentsChanged:
    """The state of these documents changed (or they are new, or gone: then state is GONE)."""

    documents: tuple[Document, ...]


@dataclass(frozen=True, slots=True)
class SourcesChanged:
    """A source was added, removed, or went offline or came back."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know that stops nothing: shown until dismissed."""

    title: str
    hint: str = ""


LibraryEvent = ProgressChanged | DocumentsChanged | SourcesChanged | SourceScanned | Notice
