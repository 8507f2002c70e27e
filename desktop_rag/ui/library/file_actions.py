"""Excludes files, includes them again, and reads them again. Qt thread, through the bridge."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from desktop_rag.core.domain import Document, DocumentState
from desktop_rag.core.language.translation import count_of, tr
from desktop_rag.core.library_events import DocumentsChanged, Notice
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import cut_line

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

_LONGEST_NAME = 60
_UNDER_WAY = (DocumentState.WAITING, DocumentState.READING)


class FileActions(QObject):
    """`undo_offered` carries a Notice and the undo function, `notified` a Notice."""

    undo_offered = Signal(object, object)
    notified = Signal(object)

    def __init__(self, bridge: Bridge, library: "Library", page: QObject) -> None:
        super().__init__(page)
        self._bridge = bridge
        self._library = library
        # Files that failed and are read again, and their states. None while they are not known.
        self._retried: list[str] | None = []
        self._states: dict[str, DocumentState] = {}

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

    @Slot()
    def retry_failed(self) -> None:
        """Read all files that failed again, and tell what became of them."""
        library, self._retried = self._library, None
        self._states.clear()

        def tell(ids: list[str]) -> None:
            self._retried = ids
            if ids:
                self.notified.emit(_retry_in_words(len(ids), library.indexing.is_paused))
            self._tell_retried()

        self._bridge.run(self, library.documents.retry_failed, tell)

    def on_library_event(self, event: object) -> None:
        """Follow the files that are read again; other events are ignored."""
        if isinstance(event, DocumentsChanged):
            # Before their ids are known one of them may already be read.
            wanted = self._retried
            for document in event.documents:
                if wanted is None or document.document_id in wanted:
                    self._states[document.document_id] = document.state
            self._tell_retried()

    def _tell_retried(self) -> None:
        states = [self._states.get(each) for each in self._retried or ()]
        if not states or any(state is None or state in _UNDER_WAY for state in states):
            return
        failed = states.count(DocumentState.FAILED)
        title = tr(
            "{read:,} of {files} could be read.",
            read=len(states) - failed,
            files=count_of(len(states), tr("file"), tr("files")),
        )
        hint = tr("The column Reason says what is wrong with the others.") if failed else ""
        self.notified.emit(Notice(title, hint))
        self._retried = []
        self._states.clear()


def _retry_in_words(count: int, is_paused: bool) -> Notice:
    title = tr("{count:,} files are read again.", count=count)
    hint = tr("Indexing is paused. They are read when it goes on.") if is_paused else ""
    return Notice(tr("1 file is read again.") if count == 1 else title, hint)


def _ids(documents: Sequence[Document]) -> list[str]:
    return [document.document_id for document in documents]


def _named(documents: Sequence[Document]) -> str:
    if len(documents) == 1:
        return tr("“{cut_line}” is", cut_line=cut_line(documents[0].path.name, _LONGEST_NAME))
    return tr("{count_of} are", count_of=count_of(len(documents), tr("file"), tr("files")))
