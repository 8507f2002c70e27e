"""The page "Notes": the list, writing a new one, refreshing and opening one. Qt thread."""

from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from desktop_rag.core.domain import Document
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.language.translation import tr
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.ui.documents.dialog_reading import DialogReading
from desktop_rag.ui.documents.document_opener import DocumentOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.notes.change_dialog import ChangeDialog
from desktop_rag.ui.notes.note_dialog import NoteDialog
from desktop_rag.ui.standing.standing_wording import cost_in_words
from desktop_rag.ui.viewers.document_span import DocumentSpan
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.item_list import ItemList
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.ingest.library import Library
    from desktop_rag.notes.note_files import Note
    from desktop_rag.notes.notes import NoteDraft, Notes

_INTRO = tr(
    "The app writes a page about a topic, a person or a project from your documents, with links to"
    " its sources, as a Markdown file of yours. Change it as you like: what you wrote stays when"
    " the note is refreshed."
)
_TICK_MS = 150
# Makes a draft, and tells the heading of each section before.
_Draft = Callable[[Callable[[str], None], Event], "NoteDraft"]


class NotesPage(ScrolledPage):
    """Reads the list whenever it is shown. One note is written at a time."""

    def __init__(
        self,
        bridge: Bridge,
        notes: "Notes",
        library: "Library",
        chat: "Chat",
        theme: Theme,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Notes"), parent, fills_height=True)
        self._bridge = bridge
        self._notes = notes
        self._library = library
        self._chat = chat
        self._theme = theme
        self._listed: Sequence[Note] = ()
        self._cancel = Event()
        self._told: deque[str] = deque(maxlen=1)
        self._ticks = QTimer(self)
        self._ticks.setInterval(_TICK_MS)
        self._ticks.timeout.connect(self._on_tick)
        self._opener = DocumentOpener(bridge, library, theme, self)
        self._new = TextButton(
            tr("Write a note about…"), kind="primary", icon="plus:accent_text", theme=theme
        )
        self.header.addWidget(self._new)
        self._list = ItemList(tr("Notes"), tr("No notes yet."))
        self._refresh = TextButton(tr("Refresh…"), icon="refresh", theme=theme)
        self._read = TextButton(tr("Read"))
        self._read.setAccessibleDescription(tr("Read the note, with links to its sources"))
        self._open = TextButton(tr("Open"))
        self._said = PlainLabel(tone="muted", wrap=True, selectable=True)
        self._stop = TextButton(tr("Stop"))
        self._build()
        self._connect()
        self._show_busy("")

    def _build(self) -> None:
        self.column.addWidget(PlainLabel(_INTRO, tone="muted", wrap=True))
        self.column.addWidget(self._list, 1)
        buttons = QHBoxLayout()
        buttons.addWidget(self._refresh)
        buttons.addWidget(self._read)
        buttons.addWidget(self._open)
        buttons.addWidget(self._said, 1)
        buttons.addWidget(self._stop)
        self.column.addLayout(buttons)

    def _connect(self) -> None:
        self._new.clicked.connect(self.write)
        self._refresh.clicked.connect(self._on_refresh_clicked)
        self._read.clicked.connect(self._on_read_clicked)
        self._open.clicked.connect(self._on_open_clicked)
        self._list.itemActivated.connect(self._on_open_clicked)
        self._list.currentRowChanged.connect(self._on_chosen)
        self._stop.clicked.connect(self._on_stop_clicked)

    # --- the list ----------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._load()

    def _load(self) -> None:
        self._bridge.run(self, self._notes.all, self._show)

    def _show(self, notes: "Sequence[Note]") -> None:
        row = max(0, self._list.currentRow())
        self._listed = notes
        self._list.clear()
        self._list.addItems([f"{one_line(n.topic)} · {one_line(str(n.path))}" for n in notes])
        self._list.setCurrentRow(min(row, len(notes) - 1))
        self._on_chosen()

    @property
    def _chosen(self) -> "Note | None":
        row = self._list.currentRow()
        return self._listed[row] if 0 <= row < len(self._listed) else None

    @Slot()
    def _on_chosen(self) -> None:
        self._refresh.setEnabled(self._chosen is not None and self._new.isEnabled())
        for button in (self._read, self._open):
            button.setEnabled(self._chosen is not None)

    @Slot()
    def _on_read_clicked(self) -> None:
        def show(documents: Sequence[Document]) -> None:
            if documents:
                self._opener.read(DocumentSpan(documents[0].document_id))
            else:
                self._said.setText(tr("The library has not read this note yet."))

        if note := self._chosen:
            path = note.path
            self._bridge.run(self, lambda: self._library.documents.below(path), show)

    @Slot()
    def _on_open_clicked(self) -> None:
        if note := self._chosen:
            self._opener.open(note.path)

    # --- writing -----------------------------------------------------------------------------

    @Slot()
    def write(self) -> None:
        """Let the person choose a topic, and write the note."""

        def load() -> tuple[Path, list[QuestionScope], str]:
            items = [
                *map(ScopeItem.of_collection, self._library.collections.searchable()),
                *map(ScopeItem.of_source, self._library.sources.all()),
            ]
            cost = cost_in_words(*self._chat.background.model_name(""))
            return self._notes.suggested_folder(), [QuestionScope.of(i) for i in items], cost

        def show(loaded: tuple[Path, list[QuestionScope], str]) -> None:
            dialog = NoteDialog(*loaded, self.window())
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.submitted.connect(self._on_submitted)
            dialog.open()

        self._bridge.run(self, load, show)

    @Slot(str, object, object)
    def _on_submitted(self, topic: str, folder: Path, scope: QuestionScope) -> None:
        self._draft(
            lambda tell, cancel: self._notes.write(topic, folder, scope, tell=tell, cancel=cancel)
        )

    @Slot()
    def _on_refresh_clicked(self) -> None:
        if note := self._chosen:
            path = note.path
            self._draft(lambda tell, cancel: self._notes.refresh(path, tell=tell, cancel=cancel))

    def _draft(self, draft: _Draft) -> None:
        """Write a draft, saying which section is being written, and show it."""
        cancel = self._cancel = Event()
        self._told.clear()

        def work() -> "NoteDraft | None":
            try:
                return draft(self._told.append, cancel)
            except Cancelled:
                return None

        def fail(error: AppError) -> None:
            self._show_busy("")
            self._bridge.post(error)

        self._show_busy(tr("Writing…"))
        self._bridge.run(self, work, self._show_draft, fail)

    def _show_draft(self, draft: "NoteDraft | None") -> None:
        self._show_busy("")
        if draft is None:
            self._said.setText(tr("Stopped. Nothing was written."))
        elif not draft.changes:
            self._said.setText(tr("The note says the same as before."))
        else:
            dialog = ChangeDialog(draft.page.topic, draft.changes, self._theme, self.window())
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.accepted_changes.connect(lambda headings: self._save(draft, headings))
            reading = DialogReading(self._bridge, self._library, self._theme, dialog)
            dialog.read_requested.connect(reading.read)
            dialog.open()

    def _save(self, draft: "NoteDraft", headings: Sequence[str]) -> None:
        def finish(path: Path) -> None:
            self._said.setText(tr("Written: {path}", path=one_line(str(path))))
            self._load()

        self._bridge.run(self, lambda: self._notes.save(draft, headings), finish)

    @Slot()
    def _on_stop_clicked(self) -> None:
        self._cancel.set()
        self._stop.setEnabled(False)

    @Slot()
    def _on_tick(self) -> None:
        if self._told:
            self._said.setText(tr("Writing: {heading}…", heading=self._told.popleft()))

    def _show_busy(self, said: str) -> None:
        self._said.setText(said)
        self._stop.setVisible(bool(said))
        self._stop.setEnabled(bool(said))
        self._new.setEnabled(not said)
        if said:
            self._ticks.start()
        else:
            self._ticks.stop()
        self._on_chosen()
