"""Adds and edits folders, files and collections, and sources of the wings. Qt thread.

It opens the dialogs and applies their results to the library through the bridge.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QWidget

from desktop_rag.core.domain import WHOLE_FOLDER, Collection, Source, SourceRules
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.library_events import FolderPreview, Notice
from desktop_rag.ingest.library import Library
from desktop_rag.ui.foundation.ask_request import UndoOffer
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.delayed_change import DelayedChange
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.library.dialogs.collections_dialog import CollectionsDialog
from desktop_rag.ui.library.dialogs.folder_dialog import FolderDialog
from desktop_rag.ui.widgets.forms import choose_file, choose_files, choose_folder, open_once

log = logging.getLogger(__name__)

# A first folder is added unasked when it has few files, counted within this time.
_FEW_FILES = 1_000
_COUNTED_MS = 1_500


@dataclass(frozen=True, slots=True)
class FurtherKind:
    """A kind of source of a wing: `words` are those of the button that adds one, or of an entry of
    the menu “Add from…”.

    `add` gets the collections to choose from, `edit` a source; both get the page, which their
    dialog opens over, and what to call after a change.
    """

    kind: str
    words: str
    add: Callable[[QWidget, Sequence[Collection], Callable[[], None]], None]
    edit: Callable[[QWidget, Source, Callable[[], None]], None]
    is_in_menu: bool = False


def id_of(library: Library, collection: str) -> str:
    """The id of the named collection, created if missing; "" for the default one."""
    return library.collections.find_or_add(collection).collection_id if collection else ""


class SourceActions(QObject):
    """Adds, edits and removes sources and collections; `changed` follows an applied change.

    `put_away` carries the id of a source to hide, `brought_back` that of one whose removal failed
    or was undone.
    """

    changed = Signal()
    put_away = Signal(str)
    brought_back = Signal(str)

    def __init__(
        self, bridge: Bridge, library: Library, page: QWidget, kinds: Sequence[FurtherKind] = ()
    ) -> None:
        """Dialogs open over `page`."""
        super().__init__(page)
        self._bridge = bridge
        self._library = library
        self._page = page
        self._kinds = {each.kind: each for each in kinds}
        self._collections: Sequence[Collection] = ()
        self._sources: Sequence[Source] = ()
        # By source id, until the source is gone or back.
        self._removals: dict[str, DelayedChange] = {}

    def set_places(self, sources: Sequence[Source], collections: Sequence[Collection]) -> None:
        """Set the sources and collections that the dialogs offer."""
        self._sources = sources
        self._collections = collections

    # --- dialogs ---------------------------------------------------------------------------------

    @Slot()
    def choose_folder(self) -> None:
        """Let the person choose a folder and set its rules."""
        self._ask_for_folder(lambda name: self.add([Path(name)]))

    def choose_first_folder(self) -> None:
        """As `choose_folder`; one with few files is added without being asked about."""
        self._ask_for_folder(lambda name: self._add_if_small(Path(name)))

    def _ask_for_folder(self, chosen: Callable[[str], object]) -> None:
        self._end_offers()
        choose_folder(self._page, tr("Add a folder to the library"), chosen, start=str(Path.home()))

    def _add_if_small(self, folder: Path) -> None:
        library, cancel = self._library, threading.Event()

        def add_or_ask(preview: FolderPreview) -> None:
            if preview.is_complete and 0 < preview.files <= _FEW_FILES:
                self._run(lambda: library.sources.add(folder))
            else:
                self._on_folder_checked(folder, [])

        QTimer.singleShot(_COUNTED_MS, cancel.set)
        self._bridge.run(
            self,
            lambda: library.sources.preview(folder, SourceRules(), cancel=cancel),
            add_or_ask,
            lambda _error: self._on_folder_checked(folder, []),
        )

    @Slot()
    def choose_files(self) -> None:
        """Let the person choose and add single files."""
        self._end_offers()
        choose_files(
            self._page, tr("Add files to the library"), lambda names: self.add(map(Path, names))
        )

    def ways(self, *, in_menu: bool) -> Mapping[str, Callable[[], None]]:
        """What adds a source of each further kind, by the words of its button or entry."""
        kinds = [each for each in self._kinds.values() if each.is_in_menu == in_menu]
        return {each.words: partial(self._add_further, each) for each in kinds}

    def _add_further(self, kind: FurtherKind) -> None:
        kind.add(self._page, self._collections, self.changed.emit)

    @Slot()
    def edit_collections(self) -> None:
        """Let the person make, fill, edit and remove collections."""
        if not self._collections:
            return
        self._end_offers()
        dialog = CollectionsDialog(self._collections, self._sources, self._page)
        dialog.saved.connect(self._on_collection_saved)
        dialog.removed.connect(
            lambda collection_id: self._run(lambda: self._library.collections.remove(collection_id))
        )
        open_once(dialog)

    def locate(self, source: Source) -> None:
        """Let the person say where a moved folder or file is."""
        documents = self._library.documents
        self._bridge.run(
            self,
            lambda: any(d.path == source.path for d in documents.all(source_id=source.source_id)),
            lambda is_file: self._open_locator(source, is_file=is_file),
        )

    def _open_locator(self, source: Source, *, is_file: bool) -> None:
        title = tr("Where is {one_line} now?", one_line=one_line(source.name))
        sources, source_id = self._library.sources, source.source_id

        def apply(name: str) -> None:
            self._run(lambda: sources.locate(source_id, Path(name)))

        choose = choose_file if is_file else choose_folder
        choose(self._page, title, apply, start=str(Path.home()))

    def edit(self, source: Source) -> None:
        """Let the person edit the rules of a folder, or a source of a further kind."""
        if not source.is_on_disk:
            if kind := self._kinds.get(source.kind):
                kind.edit(self._page, source, self.changed.emit)
            return
        dialog = FolderDialog(
            self._bridge, self._library, source.path, self._collections, source, self._page
        )
        library, source_id = self._library, source.source_id

        def save(_collection: str, rules: SourceRules, base: str) -> None:
            def apply() -> None:
                if base != source.base_address:
                    library.sources.set_base_address(source_id, base)
                if rules != source.rules:
                    library.sources.set_rules(source_id, rules)
                encoding = rules.encodings.get(WHOLE_FOLDER, "")
                if encoding != source.rules.encodings.get(WHOLE_FOLDER, ""):
                    library.exclusions.choose_folder_encoding(source_id, encoding)

            self._run(apply)

        dialog.submitted.connect(save)
        open_once(dialog)

    def add(self, paths: Iterable[Path]) -> None:
        """Add folders and files. For a single folder, a dialog with a preview opens first."""
        self._end_offers()
        wanted = list(paths)
        self._bridge.run(
            self,
            lambda: wanted[0] if len(wanted) == 1 and wanted[0].is_dir() else None,
            lambda folder: self._on_folder_checked(folder, wanted),
        )

    # --- removal ---------------------------------------------------------------------------------

    def remove(self, source: Source) -> None:
        """Put a source away, and remove it once the time to undo that is over.

        Until then everything about it is kept (text, rules, tags, exclusions), so that undo
        restores it unchanged.
        """
        sources, source_id = self._library.sources, source.source_id
        is_away = threading.Event()

        def finish(_nothing: None) -> None:
            self._removals.pop(source_id, None)
            self.changed.emit()

        def put_away() -> None:
            try:
                sources.put_away(source_id)
            finally:
                is_away.set()

        def fail(error: AppError) -> None:
            self._bridge.post(error)
            bring_back()

        def fail_at_once(error: AppError) -> None:
            self._bridge.post(error)
            change.undo()

        def make() -> None:
            self._bridge.run(self, lambda: sources.remove(source_id), finish, fail)

        def bring_back() -> None:
            self._removals.pop(source_id, None)

            def have_back() -> None:
                # `put_away` runs on another thread, and must not finish last.
                is_away.wait()
                sources.bring_back(source_id)

            self._bridge.run(
                self, have_back, lambda _: self.brought_back.emit(source_id), self._bridge.post
            )

        change = DelayedChange(_removed_in_words(source), make, bring_back, self)
        change.ended.connect(change.deleteLater)
        self._removals[source_id] = change
        self.put_away.emit(source_id)
        self._bridge.run(self, put_away, lambda _: self.changed.emit(), fail_at_once)
        self._bridge.post(change)

    def make_removals(self) -> None:
        """Make the pending removals at once, on this thread, because the app ends."""
        for source_id in list(self._removals):
            try:
                self._library.sources.remove(source_id)
            except AppError as error:
                log.info("a source stays, as it can't be removed: %s", error.title)
        self._removals.clear()

    def _end_offers(self) -> None:
        """Make the pending removals, so that folders added anew stay in their collections."""
        for change in list(self._removals.values()):
            change.make()

    # --- changes ---------------------------------------------------------------------------------

    def _on_folder_checked(self, folder: Path | None, paths: list[Path]) -> None:
        library = self._library
        if folder is None:
            self._bridge.run(self, lambda: _add_each(library, paths), self._on_added)
            return
        dialog = FolderDialog(self._bridge, library, folder, self._collections, None, self._page)

        def save(collection: str, rules: SourceRules, _base: str) -> None:
            self._run(lambda: library.sources.add(folder, id_of(library, collection), rules))

        dialog.submitted.connect(save)
        open_once(dialog)

    @Slot(object, object)
    def _on_collection_saved(self, edited: Collection, members: frozenset[str]) -> None:
        collections = self._library.collections
        known = {c.collection_id: c for c in self._collections}
        before = known.get(edited.collection_id)

        def save() -> dict[str, str]:
            if before is None:
                made = collections.add(edited.name)
                collection_id, chunking, embedder = made.collection_id, made.chunking, made.embedder
            else:
                collection_id, chunking, embedder = edited.collection_id, None, before.embedder
                collections.rename(collection_id, edited.name)
            if chunking != edited.chunking:
                collections.set_chunking(collection_id, edited.chunking)
            if embedder != edited.embedder:
                collections.set_embedder(collection_id, edited.embedder)
            if edited.intranet_hosts != (before.intranet_hosts if before else ()):
                collections.set_intranet_hosts(collection_id, edited.intranet_hosts)
            return collections.set_members(collection_id, members)

        def finish(former: dict[str, str]) -> None:
            self.changed.emit()
            if former:
                moved = (
                    count_of(len(former), tr("folder or link"), tr("folder or links"))
                    if len(former) == 1
                    else (tr("{count:,} folders or links", count=len(former)))
                )
                notice = Notice(
                    tr("{moved} moved to another collection.", moved=moved), edited.name
                )
                undo = partial(self._run, lambda: collections.move_back(former))
                self._bridge.post(UndoOffer(notice, undo))

        self._bridge.run(self, save, finish, self._on_save_failed)

    def _on_save_failed(self, error: AppError) -> None:
        # A part may have been done.
        self.changed.emit()
        self._bridge.post(error)

    def _run(self, work: Callable[[], object]) -> None:
        self._bridge.run(self, work, lambda _: self.changed.emit())

    def _on_added(self, errors: list[AppError]) -> None:
        for error in errors:
            self._bridge.post(error)
        self.changed.emit()


def _removed_in_words(source: Source) -> Notice:
    title = tr("“{name}” is removed from the library.", name=one_line(source.name))
    return Notice(title, tr("Its files stay where they are.") if source.is_on_disk else "")


def _add_each(library: Library, paths: Iterable[Path]) -> list[AppError]:
    """Add each path; returns the errors of those that failed. Worker thread."""
    errors: list[AppError] = []
    for path in paths:
        try:
            library.sources.add(path)
        except AppError as error:
            errors.append(error)
    return errors
