"""Looks up files that a file manager passed, and attaches those not in the library. Qt thread."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from desktop_rag.answer.chat import Chat
from desktop_rag.core.domain import DocumentState
from desktop_rag.core.language.translation import told, tr
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.ingest.library import Library
from desktop_rag.ui.composer.attached_files import AttachedFiles
from desktop_rag.ui.composer.scope_bar import ScopeBar
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.wording import failure_in_words, one_line

_NAMES_SHOWN = 2


class Known(Enum):
    """What the library knows of a path."""

    SEARCHABLE = auto()
    UNREAD = auto()
    NOT_IN_LIBRARY = auto()
    MISSING = auto()


@dataclass(frozen=True, slots=True)
class NamedPath:
    """A path with the item to ask about, or the reason why it can't be searched."""

    path: Path
    known: Known
    is_folder: bool = False
    reason: str = ""
    item: ScopeItem | None = None

    @property
    def notice(self) -> str:
        """A sentence about a path that can't be searched; "" for others."""
        name = f"“{one_line(self.path.name or str(self.path))}”"
        match self.known:
            case Known.SEARCHABLE:
                return ""
            case Known.UNREAD:
                words = {"name": name, "one_line": one_line(told(self.reason))}
                return tr("{name} is in your library, but can’t be searched. {one_line}", **words)
            case Known.NOT_IN_LIBRARY:
                return tr("{name} is not in your library.", name=name)
            case Known.MISSING:
                return tr("{name} was not found.", name=name)


def look_up(library: Library, paths: Iterable[Path]) -> tuple[NamedPath, ...]:
    """Look up each path once, in order. Worker threads only."""
    return tuple(_named(library, path) for path in dict.fromkeys(map(_resolved, paths)))


def scope_of(named: Sequence[NamedPath]) -> QuestionScope:
    """The scope of a question about those that can be searched."""
    return QuestionScope.of(*(each.item for each in named if each.item))


def names_of(named: Sequence[NamedPath]) -> str:
    """`lease.pdf, letters and 3 more`; "" for none."""
    names = [one_line(each.path.name or str(each.path)) for each in named]
    more = len(names) - _NAMES_SHOWN
    shown = ", ".join(names[:_NAMES_SHOWN])
    return tr("{shown} and {more:,} more", shown=shown, more=more) if more > 0 else shown


def _named(library: Library, path: Path) -> NamedPath:
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


class AboutFiles(QObject):
    """Fills the scope bar. `folder_requested` carries a folder to add to the library."""

    folder_requested = Signal(object)

    def __init__(self, bridge: Bridge, library: Library, chat: Chat, bar: ScopeBar) -> None:
        super().__init__(bar)
        self._bridge = bridge
        self._library = library
        self._bar = bar
        self._named: Sequence[NamedPath] = ()
        self._job = Job()
        self._attached = AttachedFiles(bridge, library, chat, self)
        self._attached.changed.connect(self._show)
        bar.cleared.connect(self._on_cleared)
        bar.attachment_removed.connect(self._attached.remove)

    def show(self, paths: Sequence[Path]) -> None:
        """Limit questions to these paths from now on."""
        self.clear()
        library = self._library
        self._job = self._bridge.run(self, lambda: look_up(library, paths), self._on_found)

    def clear(self) -> None:
        """Ask about all documents again."""
        self._bar.clear()

    @Slot()
    def _on_cleared(self) -> None:
        self._job.cancel()
        for file in self._attached.files:
            self._attached.remove(file.key)
        self._named = ()
        self._show()

    def _on_found(self, named: tuple[NamedPath, ...]) -> None:
        self._named = named
        self._bar.set_scope(scope_of(named))
        self._show()

    @property
    def _unknown(self) -> list[NamedPath]:
        attached = {file.path for file in self._attached.files}
        unknown = [each for each in self._named if each.known is Known.NOT_IN_LIBRARY]
        return [each for each in unknown if each.path not in attached]

    @Slot()
    def _show(self) -> None:
        self._bar.show_attached([file for file in self._attached.files if not file.error])
        self._show_notice()

    def _show_notice(self) -> None:
        unknown, files = self._unknown, [e for e in self._unknown if not e.is_folder]
        said = [each.notice for each in self._named if each.known is not Known.NOT_IN_LIBRARY]
        if len(unknown) > 1:
            said.append(tr("{names_of} are not in your library.", names_of=names_of(unknown)))
        else:
            said += [each.notice for each in unknown]
        failed = [file.error for file in self._attached.files if file.error]
        said += [failure_in_words(error) for error in failed]
        if self._attached.is_reading:
            said.append(tr("The file is being read …"))
        offers: list[tuple[str, Callable[[], None]]] = []
        if files:
            words = tr("Attach them") if len(files) > 1 else tr("Attach it")
            offers.append((words, self._on_attach_requested))
        if offer := self._folder_offer(unknown):
            offers.append((offer, self._on_folder_requested))
        self._bar.show_notice(" ".join(filter(None, said)), *offers)

    def _folder_offer(self, unknown: Sequence[NamedPath]) -> str:
        folders = {_folder_of(each) for each in unknown}
        if len(folders) != 1:
            return ""
        return tr("Add the folder") if unknown[0].is_folder else tr("Add its folder")

    @Slot()
    def _on_attach_requested(self) -> None:
        self._attached.add_files(each.path for each in self._unknown if not each.is_folder)

    @Slot()
    def _on_folder_requested(self) -> None:
        if unknown := self._unknown:
            self.folder_requested.emit(_folder_of(unknown[0]))


def _folder_of(named: NamedPath) -> Path:
    return named.path if named.is_folder else named.path.parent
