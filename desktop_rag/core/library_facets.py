"""What documents have in common, to choose some of them by. A frozen value."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LibraryFacets:
    """The number of documents by the name of their format, and by the path of their folder."""

    formats: Mapping[str, int] = field(default_factory=dict[str, int])
    folders: Mapping[str, int] = field(default_factory=dict[str, int])
