"""Excludes files, includes them again, and reads them again. Qt thread, through the bridge."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from desktop_rag.core.domain import Document
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.library_events import Notice
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import cut_line

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

_LONGEST_NAME = 60


class FileActions(QObject):
    """`undo_offered` carries a Notice and the undo function, `notified` a Notice."""

    undo_offered = Signal(object, object)
    notified = Signal(object)

    def __init__(self, bridge: Bridge, library: "Library", page: QObject) -> None:
        super().__init__(page)
        self._bridge = bridge
        self._library = library

    @Slot(object)
    def exclude(self, documents: Sequence[Document]) -> None:
        """Never read these files again, unless the person undoes that."""
        ids, exclusions = _ids(documents), self._library.exclusions

        def offer(rows: Sequence[Document]) -> None:
            if rows:
                notice = Notice(
                    tr("{named} excluded.", named=_named(rows)),
                    tr("Answers no longer use it, and it isn't read until you include it again.")
                    if len(rows) == 1
                    else tr(
                        "Answers no longer use them, and they aren't read until you include them"
                        " again."
                    ),
                )
                self.undo_offered.emit(notice, lambda: self.include(rows))

        self._bridge.run(self, lambda: exclusions.exclude(ids), offer)

    @Slot(object)
    def include(self, documents: Sequence[Document]) -> None:
        """Read these files again, and from now on."""
        ids, exclusions = _ids(documents), self._library.exclusions
        self._bridge.run(self, lambda: exclusions.include(ids))

    @Slot(object)
    def read_again(self, documents: Sequence[Document]) -> None:
        """Read these files again, even if nothing changed."""
        ids, library = _ids(documents), self._library.documents

        def tell(count: int) -> None:
            if not count:
                self.notified.emit(
                    Notice(tr("Nothing was read again."), tr("A rule leaves these files out."))
                )

        self._bridge.run(self, lambda: library.read_again(ids), tell)


def _ids(documents: Sequence[Document]) -> list[str]:
    return [document.document_id for document in documents]


def _named(documents: Sequence[Document]) -> str:
    if len(documents) == 1:
        return tr("“{cut_line}” is", cut_line=cut_line(documents[0].path.name, _LONGEST_NAME))
    return tr("{count_of} are", count_of=count_of(len(documents), tr("file"), tr("files")))
