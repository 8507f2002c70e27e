"""Events of the library: progress, changes and notices. Frozen values."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from desktop_rag.core.domain import Document, DocumentState, Source
from desktop_rag.core.pictures import WaitingPictures


class Stage(StrEnum):
    """What the indexer is doing. STARTING is the time before the library is known."""

    STARTING = "starting"
    IDLE = "idle"
    SCANNING = "scanning"
    READING = "reading"
    EMBEDDING = "embedding"
    REFINING = "refining"
    PICTURES = "pictures"
    PAUSED = "paused"


@dataclass(frozen=True, slots=True)
class StepProgress:
    """One step of a run: READING, EMBEDDING, REFINING or PICTURES.

    `files_done` of `files_total` counts files, or pictures in PICTURES; both are 0 where files are
    no measure. `seconds_left` is an estimate, None while there is none.
    """

    stage: Stage
    is_done: bool = False
    files_total: int = 0
    files_done: int = 0
    seconds_left: float | None = None


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """A snapshot of indexing.

    `files_total` and `files_done` are those of the current step, at rest those of the library.
    `fraction` (0..1) is the share of the whole run: it never falls during a run, and is 1 only when
    nothing is left. `seconds_left` covers all steps, None while unknown. `steps` are in order, none
    at rest. `pictures` counts those waiting, even if held. `files_unread`, at rest, failed or were
    skipped.
    """

    stage: Stage = Stage.IDLE
    files_total: int = 0
    files_done: int = 0
    current_file: str = ""
    fraction: float = 1.0
    seconds_left: float | None = None
    steps: tuple[StepProgress, ...] = ()
    pictures: WaitingPictures = field(default_factory=WaitingPictures)
    files_unread: int = 0

    @property
    def step(self) -> StepProgress | None:
        """The step under way, or held up; None at rest."""
        return next((step for step in self.steps if not step.is_done), None)


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """The number of documents in each state, of one source or of all."""

    by_state: dict[DocumentState, int] = field(default_factory=dict[DocumentState, int])

    @classmethod
    def sum_of(cls, counts: Iterable["DocumentCounts"]) -> "DocumentCounts":
        """The numbers of several sources together."""
        total = Counter[DocumentState]()
        for each in counts:
            total.update(each.by_state)
        return cls(dict(total))

    @property
    def total(self) -> int:
        """All known files except those that are gone."""
        return sum(n for state, n in self.by_state.items() if state is not DocumentState.GONE)

    @property
    def searchable(self) -> int:
        """Documents that can be found, at least by their words."""
        return sum(n for state, n in self.by_state.items() if state.is_searchable)

    @property
    def unread(self) -> int:
        """Documents still to be read."""
        return self.of(DocumentState.WAITING) + self.of(DocumentState.READING)

    def of(self, state: DocumentState) -> int:
        """The number of documents in a state."""
        return self.by_state.get(state, 0)


@dataclass(frozen=True, slots=True)
class LibraryFacets:
    """The number of files by the name of their format, and by the path of their folder.

    `formats_inside` and `folders_inside` are those of the documents inside files.
    """

    formats: Mapping[str, int] = field(default_factory=dict[str, int])
    folders: Mapping[str, int] = field(default_factory=dict[str, int])
    formats_inside: Mapping[str, int] = field(default_factory=dict[str, int])
    folders_inside: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True, slots=True)
class ChangeSummary:
    """The result of one scan of a source, in numbers of files."""

    added: int = 0
    changed: int = 0
    moved: int = 0
    gone: int = 0
    unchanged: int = 0

    @property
    def is_empty(self) -> bool:
        """True when nothing changed."""
        return not (self.added or self.changed or self.moved or self.gone)

    def label(self) -> str:
        """One line: `+3, ~1, −2, 1,198 unchanged`; moved files appear only if there are any."""
        moved = f", {self.moved:,} moved" if self.moved else ""
        counts = f"+{self.added:,}, ~{self.changed:,}, −{self.gone:,}"
        return f"{counts}{moved}, {self.unchanged:,} unchanged"


class FileChangeKind(StrEnum):
    """What happened to a file."""

    ADDED = "added"
    CHANGED = "changed"
    MOVED = "moved"
    REMOVED = "removed"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file or web page was added, changed, moved or removed, or could not be read.

    `name` is its path or address as it was then; the document may be gone by now.
    """

    at: float
    kind: FileChangeKind
    document_id: str
    source_id: str
    name: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Files of a folder that would be skipped, with the reason and a few example paths."""

    reason: str
    files: int
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FolderPreview:
    """What adding a folder would index. Without `is_complete` counting was stopped early.

    Of a place on a server, `folders` are those directly below, where one may be chosen, and
    `fetch_seconds` a rough estimate.
    """

    files: int
    size_bytes: int
    by_format: dict[str, int]
    left_out: tuple[LeftOut, ...]
    is_complete: bool = True
    folders: tuple[str, ...] = ()
    fetch_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class SourceScanned:
    """A source was compared with the disk or the web, with this result."""

    source_id: str
    summary: ChangeSummary


@dataclass(frozen=True, slots=True)
class ProgressChanged:
    """Indexing progressed. Sent a few times a second at most."""

    progress: IndexProgress


@dataclass(frozen=True, slots=True)
class DocumentsChanged:
    """The state of these documents changed; new ones are included, removed ones have state GONE."""

    documents: tuple[Document, ...]


@dataclass(frozen=True, slots=True)
class SourcesChanged:
    """A source was added, removed, went offline or came back."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """A message that interrupts nothing and stays until dismissed."""

    title: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class ServerSwitched:
    """The local server was turned on or off, or could not be turned on."""


@dataclass(frozen=True, slots=True)
class NothingUsed:
    """Nothing was used for a while: free what can be loaded again."""


@dataclass(frozen=True, slots=True)
class RequestRefused:
    """An address was not fetched because the app, or its site, forbids that."""

    url: str
    reason: str


LibraryEvent = (
    ProgressChanged | DocumentsChanged | SourcesChanged | SourceScanned | Notice | RequestRefused
)
