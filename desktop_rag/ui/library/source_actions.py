"""Adds folders, files and web links to the library, and changes what was chosen. Qt thread.

Opens the dialogs and hands what they decide to the library, through the bridge.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QFileDialog, QWidget

from desktop_rag.core.domain import Collection, Source, SourceRules, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.library.collections_dialog import CollectionsDialog
from desktop_rag.ui.library.folder_dialog import FolderDialog
from desktop_rag.ui.library.links_dialog import LinksDialog

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library


class SourceActions(QObject):
    """`changed` comes when the library has taken over what the person decided."""

    changed = Signal()

    def __init__(self, bridge: Bridge, library: "Library", page: QWidget) -> None:
        """Dialogs open over `page`."""
        super().__init__(page)
        self._bridge = bridge
        self._library = library
        self._page = page
        self._collections: Sequence[Collection] = ()

    def set_collections(self, collections: Sequence[Collection]) -> None:
        """The collections there are now, for the dialogs to offer."""
        self._collections = collections

    # --- choosing --------------------------------------------------------------------------------

    @Slot()
    def choose_folder(self) -> None:
        """Let the person choose a folder, then say how it is to be read."""
        dialog = QFileDialog(self._page, "Add a folder to the library", str(Path.home()))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        self._open(dialog)

    @Slot()
    def choose_files(self) -> None:
        """Let the person choose single files, and add them."""
        dialog = QFileDialog(self._page, "Add files to the library")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        self._open(dialog)

    @Slot()
    def choose_links(self) -> None:
        """Ask for pages of the web, and add them."""
        dialog = LinksDialog(self._collections, self._page)
        library = self._library

        def finish(_source: Source) -> None:
            dialog.accept()
            self.changed.emit()

        def add(collection: str, links: WebLinks) -> None:
            self._bridge.run(
                dialog,
                lambda: library.add_links(links, _id_of(library, collection)),
                finish,
                dialog.show_error,
            )

        dialog.decided.connect(add)
        _show(dialog)

    @Slot()
    def arrange_collections(self) -> None:
        """Let the person name, cut, embed and remove collections."""
        if not self._collections:
            return
        dialog = CollectionsDialog(self._collections, self._page)
        dialog.saved.connect(self._on_collection_saved)
        dialog.removed.connect(self._on_collection_removed)
        _show(dialog)

    def change_options(self, source: Source) -> None:
        """Let the person change what is left out of a folder."""
        dialog = FolderDialog(
            self._bridge, self._library, source.path, self._collections, source, self._page
        )
        library, source_id = self._library, source.source_id

        def save(_collection: str, rules: SourceRules) -> None:
            self._run(lambda: library.set_rules(source_id, rules))

        dialog.decided.connect(save)
        _show(dialog)

    def add(self, paths: Iterable[Path]) -> None:
        """Add folders and files. A single folder is shown first, with what would be read."""
        wanted = list(paths)
        self._bridge.run(
            self, lambda: _only_folder(wanted), lambda folder: self._on_looked(folder, wanted)
        )

    # --- what was decided ------------------------------------------------------------------------

    def _on_looked(self, folder: Path | None, paths: list[Path]) -> None:
        library = self._library
        if folder is None:
            self._bridge.run(self, lambda: _add_each(library, paths), self._on_added)
            return
        dialog = FolderDialog(self._bridge, library, folder, self._collections, None, self._page)

        def save(collection: str, rules: SourceRules) -> None:
            self._run(lambda: library.add_source(folder, _id_of(library, collection), rules))

        dialog.decided.connect(save)
        _show(dialog)

    @Slot(object)
    def _on_collection_saved(self, collection: Collection) -> None:
        library, collection_id = self._library, collection.collection_id
        before = next((c for c in self._collections if c.collection_id == collection_id), None)

        def save() -> None:
            library.rename_collection(collection_id, collection.name)
            library.set_chunking(collection_id, collection.chunking)
            if before is None or before.embedder != collection.embedder:
                library.set_embedder(collection_id, collection.embedder)

        self._run(save)

    @Slot(str)
    def _on_collection_removed(self, collection_id: str) -> None:
        self._run(lambda: self._library.remove_collection(collection_id))

    def _run(self, work: Callable[[], object]) -> None:
        self._bridge.run(self, work, lambda _: self.changed.emit())

    def _on_added(self, errors: list[AppError]) -> None:
        for error in errors:
            self._bridge.post(error)
        self.changed.emit()

    def _open(self, dialog: QFileDialog) -> None:
        dialog.filesSelected.connect(self._on_files_selected)
        _show(dialog)

    @Slot("QStringList")
    def _on_files_selected(self, names: list[str]) -> None:
        self.add(Path(name) for name in names)


def _show(dialog: QDialog) -> None:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()


def _only_folder(paths: Sequence[Path]) -> Path | None:
    """The one folder that was chosen; None for files or several. Worker thread."""
    return paths[0] if len(paths) == 1 and paths[0].is_dir() else None


def _id_of(library: "Library", collection: str) -> str:
    """The id of the named collection, made if there is none; empty for the usual one."""
    return library.find_or_add_collection(collection).collection_id if collection else ""


def _add_each(library: "Library", paths: Iterable[Path]) -> list[AppError]:
    """Add all that can be added; what was wrong with the others. Worker thread."""
    errors: list[AppError] = []
    for path in paths:
        try:
            library.add_source(path)
        except AppError as error:
            errors.append(error)
    return errors
