"""What exists only in the library, for backups: out as entries and back. A protocol; any thread."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from desktop_rag.core.changes import Changes

Row = Mapping[str, Any]
Rows = Mapping[str, Sequence[Row]]


@dataclass(frozen=True, slots=True)
class Kind:
    """The tables of a kind with the column that holds the key; the first has a row for each.

    `derived` columns are left out: the app fills them again.
    """

    tables: Mapping[str, str]
    derived: frozenset[str] = field(default_factory=frozenset[str])


KINDS: Mapping[str, Kind] = {
    "collection": Kind({"collections": "collection_id"}, frozenset({"answering"})),
    "source": Kind({"sources": "source_id"}),
    "tagging": Kind({"file_tags": "tagging_id"}),
    "assistant": Kind({"assistants": "assistant_id"}),
    "conversation": Kind({"conversations": "conversation_id"}),
    "message": Kind({"messages": "message_id", "citations": "message_id"}),
    "feedback": Kind({"feedback": "message_id"}),
    "answer": Kind({"interactions": "interaction_id"}, frozenset({"embedder", "vector"})),
    "image": Kind({"attached_images": "attachment_id"}),
    "standing": Kind({"standing_questions": "question_id"}),
    "standing_run": Kind({"standing_runs": "run_id"}),
    "experiment": Kind({"experiments": "record_id"}),
    "evaluation": Kind({"evaluations": "evaluation_id"}),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One precious thing: its kind, its key, and its rows by table as JSON values.

    A message also names its conversation.
    """

    kind: str
    key: str
    rows: Rows
    conversation_id: str = ""

    @property
    def row(self) -> Row:
        """Its first row, which every kind has."""
        return next(rows[0] for rows in self.rows.values() if rows)


# From what the library holds to the entries to put into it; AppError refuses all of them. Called
# again when the library changed meanwhile.
Plan = Callable[[Sequence[Entry]], Sequence[Entry]]


@dataclass(frozen=True, slots=True)
class PreciousChanged:
    """Something changed that can't be made again."""


class PreciousStore(Protocol):
    """Everything that can't be made again, as one value; with it, on request, what can be."""

    @property
    def schema(self) -> int:
        """The version of the tables whose columns the rows have."""
        ...

    def change_number(self) -> int:
        """A number that grows with each change to what is precious; 0 when there never was one."""
        ...

    @property
    def changes(self) -> Changes:
        """Where a PreciousChanged is published after each, on the thread that writes."""
        ...

    def read(self, take: Callable[[Entry], None], *, index: Path | None = None) -> None:
        """Pass all entries to `take`, images last, as they are at one moment.

        With `index`, a new file in the folder for backups gets what is derived as of the same
        moment: texts, passages, vectors. What `take` raises ends it.
        """
        ...

    def merge(
        self, plan: Plan, images: Callable[[], Iterable[Entry]], index: Path | None = None
    ) -> int:
        """Put the entries of `plan` and the images that are missing: all, or none of them.

        Returns the number of images put. Other changes of the library go on meanwhile; they wait
        only while the entries, planned before, are put.

        `plan` gets all entries but images; those it returns replace those with their keys. With
        `index`, a file made by `read`, that becomes the index. AppError, with nothing changed, when
        the library has an index already or the file does not fit.
        """
        ...

    def has_index(self) -> bool:
        """True when the library knows any document."""
        ...
