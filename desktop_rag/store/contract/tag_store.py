"""The tags that a person gives to files. A protocol; any thread."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from desktop_rag.core.tags import TagCount


class TagStore(Protocol):
    """Tags by the path of their file, so that they outlive its row: a file that is read again,
    whose index is lost, or whose folder is removed and added again still has them.

    They hold for the documents inside the file, too. `DocumentStore.apply_changes` takes them along
    when a file moves; where the new path has tags already, both are kept. `Document.tags`, which
    the file states about itself, are not among them; filters by tag find both.
    """

    def given(self, paths: Sequence[Path] | None = None) -> Mapping[Path, tuple[str, ...]]:
        """The tags of each file that has any, in the order in which they were given.

        Of these paths only; None means all.
        """
        ...

    def counts(self) -> list[TagCount]:
        """All tags in use, given or stated, with the number of files that searches may find.

        By name, whatever its letter case; of several spellings one is named.
        """
        ...

    def change(self, document_ids: Sequence[str], add: Sequence[str], remove: Sequence[str]) -> int:
        """Add tags to the files of these documents and remove others; unknown ids are ignored.

        Letter case does not tell tags apart. Returns the number of files whose tags changed.
        AppError when a file would have more than MOST_TAGS; then nothing is changed.
        """
        ...
