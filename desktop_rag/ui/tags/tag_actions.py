"""Lets the person change the tags of files. Qt thread, through the bridge."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QWidget

from desktop_rag.core.domain import Document
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.tags.tag_dialog import TagDialog

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library


class TagActions(QObject):
    """Opens the dialog over a page and applies its result; `changed` follows a change."""

    changed = Signal()

    def __init__(self, bridge: Bridge, library: "Library", page: QWidget) -> None:
        super().__init__(page)
        self._bridge = bridge
        self._library = library
        self._page = page

    @Slot(object)
    def edit(self, documents: Sequence[Document]) -> None:
        """Let the person change the tags of these documents, as they are stored now."""
        library, ids = self._library, [document.document_id for document in documents]

        def look_up() -> tuple[list[Document], list[str]]:
            return library.documents.of_ids(ids), [tag.name for tag in library.tags.counts()]

        self._bridge.run(self, look_up, lambda found: self._open(*found))

    def _open(self, documents: Sequence[Document], names: Sequence[str]) -> None:
        if not documents:
            return
        dialog = TagDialog(documents, names, self._page)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        ids, tags = [document.document_id for document in documents], self._library.tags

        def finish(count: int) -> None:
            dialog.accept()
            if count:
                self.changed.emit()

        def submit(added: tuple[str, ...], removed: tuple[str, ...]) -> None:
            self._bridge.run(
                dialog,
                lambda: tags.change(ids, add=added, remove=removed),
                finish,
                dialog.show_error,
            )

        dialog.submitted.connect(submit)
        dialog.open()
