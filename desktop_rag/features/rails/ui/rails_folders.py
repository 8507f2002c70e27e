"""The folders of rails that the page offers, and the assistants that have them. Worker threads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.language.translation import tr
from desktop_rag.features.rails.assistants.opened_rails import RailsDraft

if TYPE_CHECKING:
    from desktop_rag.features.rails.assistants.own_rails import OwnRails

_UNUSED = tr("No assistant has these rails yet. Its form has them under Rails.")


@dataclass(frozen=True, slots=True)
class ShownFolders:
    """The folders, the one to show, who uses it, and its unsaved topics."""

    folders: tuple[Path, ...]
    chosen: Path | None
    used: str
    draft: RailsDraft | None


class RailsFolders:
    """Reads the folders. `own` is first imported when it is first called."""

    def __init__(
        self, own: "Callable[[], OwnRails]", assistants: Callable[[], Sequence[Assistant]]
    ) -> None:
        self.own = own
        self._assistants = assistants

    def read(self, wanted: Path | None) -> ShownFolders:
        """The folders, with `wanted` chosen, else the one with unsaved topics, else the first."""
        own, assistants = self.own(), self._assistants()
        folders = own.folders([assistant.rails for assistant in assistants])
        draft = own.draft()
        if draft and draft.folder not in folders and not draft.folder.is_dir():
            draft = None
        chosen = wanted or (draft.folder if draft else next(iter(folders), None))
        if draft and draft.folder != chosen:
            draft = None
        return ShownFolders(tuple(folders), chosen, _used_in_words(chosen, assistants), draft)


def _used_in_words(folder: Path | None, assistants: Sequence[Assistant]) -> str:
    names = [assistant.name for assistant in assistants if assistant.rails == str(folder)]
    return tr("Used by {names}.", names=", ".join(names)) if names else _UNUSED
