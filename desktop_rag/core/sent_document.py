"""Documents that other programs send to the library. Frozen values, pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, ClassVar

from desktop_rag.core.records import Matching

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
