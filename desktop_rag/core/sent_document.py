"""Documents that other programs send to the library. Frozen values, pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

Metadata = Mapping[str, str | int | float | bool]


@dataclass(frozen=True, slots=True)
class SentDocument:
    """A program's description of a document that it sent, without the content.

    `own_id` is the program's id, `document_id` the library's. `round` is the last round of sending
    that named it.
    """

    own_id: str
    document_id: str
    name: str
    title: str = ""
    language: str = ""
    url: str = ""
    metadata: Metadata = field(default_factory=dict[str, str | int | float | bool])
    content_hash: str = ""
    file_name: str = ""
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
