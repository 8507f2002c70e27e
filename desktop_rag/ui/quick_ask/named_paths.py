"""Files and folders that a file manager named, as the library knows them. Any thread but Qt's."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING

from desktop_rag.core.domain import DocumentState
from desktop_rag.core.language.translation import told, tr
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.ui.foundation.wording import one_line

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

_NAMES_SHOWN = 2


class Known(Enum):
    """How the library knows a path."""

    SEARCHABLE = auto()
    UNREAD = auto()
    NOT_IN_LIBRARY = auto()
    MISSING = auto()


@dataclass(frozen=True, slots=True)
class NamedPath:
    """A path with what the library has of it: the item to ask about, or why it is unread."""

    path: Path
    known: Known
    is_folder: bool = False
    reason: str = ""
    item: ScopeItem | None = None

    @property
    def notice(self) -> str:
        """One sentence for people about a path that can't be searched; "" for one that can."""
        name = f"“{one_line(self.path.name or str(self.path))}”"
        match self.known:
            case Known.SEARCHABLE:
                return ""
            case Known.UNREAD:
                return tr(
                    "{name} is in your library, but can’t be searched. {one_line}",
                    name=name,
                    one_line=one_line(told(self.reason)),
                )
            case Known.NOT_IN_LIBRARY:
                return tr("{name} is not in your library.", name=name)
            case Known.MISSING:
                return tr("{name} was not found.", name=name)


def look_up(library: "Library", paths: Iterable[Path]) -> tuple[NamedPath, ...]:
    """Each path once, in their order."""
    return tuple(_named(library, path) for path in dict.fromkeys(map(_resolved, paths)))


def scope_of(named: Sequence[NamedPath]) -> QuestionScope:
    """What a question about those that can be searched is limited to."""
    return QuestionScope.of(*(each.item for each in named if each.item))


def names_of(named: Sequence[NamedPath]) -> str:
    """`lease.pdf, letters and 3 more`; "" for none."""
    names = [one_line(each.path.name or str(each.path)) for each in named]
    more = len(names) - _NAMES_SHOWN
    shown = ", ".join(names[:_NAMES_SHOWN])
    return tr("{shown} and {more:,} more", shown=shown, more=more) if more > 0 else shown


def _named(library: "Library", path: Path) -> NamedPath:
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except OSError:
        is_folder = exists = False
    below = library.documents.below(path)
    documents = [d for d in below if d.state is not DocumentState.GONE]
    if searchable := [d for d in documents if d.state.is_searchable]:
        whole = next((d for d in searchable if not d.part), searchable[0])
        item = ScopeItem.of_folder(path) if is_folder else ScopeItem.of_document(whole)
        return NamedPath(path, Known.SEARCHABLE, is_folder, item=item)
    if documents:
        reason = next((d.reason for d in documents if d.reason), tr("It is still being read."))
        return NamedPath(path, Known.UNREAD, is_folder, reason)
    if is_folder and any(path.is_relative_to(source.path) for source in library.sources.all()):
        return NamedPath(path, Known.UNREAD, is_folder, tr("It has no file that can be read."))
    return NamedPath(path, Known.NOT_IN_LIBRARY if exists else Known.MISSING, is_folder)


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a link that leads to itself
        return path
