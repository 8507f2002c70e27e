"""The page "Notes" with its dialogs for a new note and for changes. Qt thread."""

import html
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidgetItem, QWidget

from desktop_rag.core.domain import Document
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.language.translation import tr
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope, ScopeItem
from desktop_rag.features.schedules.ui.schedule_dialog import cost_in_words, scope_field
from desktop_rag.features.schedules.values.note_page import ProposedSection, SectionChange
from desktop_rag.features.schedules.values.note_sources import note_citations
from desktop_rag.ui.documents.document_beside import DialogReading
from desktop_rag.ui.documents.document_opener import DocumentOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.messages.cited_text import CitedText
from desktop_rag.ui.viewers.viewer import DocumentSpan
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import SettingsSection, note
from desktop_rag.ui.widgets.forms import FormDialog, choose_folder, open_once
from desktop_rag.ui.widgets.item_list import ItemList
from desktop_rag.ui.widgets.layouts import Stretch, fill, horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.features.schedules.notes.notes import NoteDraft, Notes
    from desktop_rag.ingest.library import Library

_NOTE_WIDTH_PX = 560
_FOLDER = tr(
    "A Markdown file of yours is written there. The folder becomes a part of the library, so that"
    " later questions find the note as yours."
)


class NoteDialog(FormDialog):
    """The form for a new note; `submitted` carries the topic, the folder and the scope."""

    def __init__(
        self, folder: Path, scopes: Sequence[QuestionScope], cost: str, parent: QWidget
    ) -> None:
        """`folder` is suggested, `scopes` can be chosen, `cost` says what each question uses."""
        self._topic = QLineEdit(placeholderText=tr("A topic, a person, a project"))
        self._folder = QLineEdit(str(folder))
        self._choose = TextButton(tr("Choose…"))
        self._about = scope_field(ALL_DOCUMENTS, scopes)
        title = tr("Write a note about…")
        section = SettingsSection(title)
        section.add_row(tr("Topic"), self._topic, is_wide=True)
        section.add_row(tr("From"), self._about, is_wide=True)
        section.add_note(note(cost))
        section.add_row(tr("Folder"), self._folder, self._choose, is_wide=True)
        section.add_note(note(_FOLDER))
        super().__init__(title, section, _NOTE_WIDTH_PX, parent, send=tr("Write"))
        self._topic.textChanged.connect(self._on_edited)
        self._folder.textChanged.connect(self._on_edited)
        self._choose.clicked.connect(self._on_choose_clicked)
        self.submitted.connect(self.accept)
        self._on_edited()

    def value(self) -> tuple[str, Path, QuestionScope]:
        """The note as wished for."""
        folder = Path(self._folder.text().strip()).expanduser()
        return self._topic.text(), folder, self._about.currentData()

    @Slot()
    def _on_edited(self) -> None:
        texts = (self._topic.text().strip(), self._folder.text().strip())
        self._send.setEnabled(all(texts))

    @Slot()
    def _on_choose_clicked(self) -> None:
        title = tr("Folder of the note")
        choose_folder(self, title, self._folder.setText, start=self._folder.text())


_WIDTH_PX, _HEIGHT_PX = 820, 560
_LIST_PX = 230
_WORDS = {
    SectionChange.NEW: tr("New"),
    SectionChange.CHANGED: tr("Changed"),
    SectionChange.GONE: tr("Gone"),
}
_CHANGE_INTRO = tr(
    "Nothing is written yet. Check what is to be written: at first all but what you wrote yourself"
    " and what would be removed."
)


class ChangeDialog(QDialog):
    """Shows the changes of a note, to be accepted section by section.

    `accepted_changes` carries the headings of the checked sections, `read_requested` the SourceRef
    of a link that was clicked.
    """

    accepted_changes = Signal(object)
    read_requested = Signal(object)

    def __init__(
        self, topic: str, changes: Sequence[ProposedSection], theme: Theme, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setObjectName("changeDialog")
        self.setWindowTitle(tr("Note: {topic}", topic=one_line(topic)))
        self._theme = theme
        self._changes = changes
        self._list = ItemList(tr("Sections"))
        self._list.setMaximumWidth(_LIST_PX)
        for change in changes:
            item = QListWidgetItem(_row_in_words(change), self._list)
            state = Qt.CheckState.Unchecked if change.is_asked_for else Qt.CheckState.Checked
            item.setCheckState(state)
        self._text = CitedText(theme, tr("Change"))
        self._write = TextButton(
            tr("Write the checked"), kind="primary", then=self._on_write_clicked
        )
        self._cancel = TextButton(tr("Cancel"), then=self.reject)
        self._build()
        self._list.currentRowChanged.connect(self._on_row_changed)
        self._list.itemChanged.connect(self._on_checked)
        self._text.read_requested.connect(self.read_requested)
        self._list.setCurrentRow(0)

    def _build(self) -> None:
        vertical(
            PlainLabel(self.windowTitle(), scale="heading"),
            note(_CHANGE_INTRO),
            (horizontal(self._list, (self._text, 1)), 1),
            horizontal(Stretch(), self._cancel, self._write),
            on=self,
            margins=(20, 18, 20, 16),
            spacing=10,
        )
        self.resize(_WIDTH_PX, _HEIGHT_PX)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Rows that were laid out before there was a style are too low for it.
        self._list.doItemsLayout()

    @property
    def _checked(self) -> list[str]:
        rows = range(self._list.count())
        items = [self._list.item(row) for row in rows]
        pairs = zip(items, self._changes, strict=True)
        return [c.heading for item, c in pairs if item.checkState() is Qt.CheckState.Checked]

    @Slot(int)
    def _on_row_changed(self, row: int) -> None:
        if not 0 <= row < len(self._changes):
            self._text.clear()
            return
        change = self._changes[row]
        # A file has one number in a note, whichever of its places is cited.
        self._text.link([replace(source, n=n) for n, source in enumerate(change.cited, 1)])
        # Where the links of the note as it is now lead is not known.
        now = self._part(tr("Now:"), note_citations(change.before).in_words, {}, "danger_soft")
        after = note_citations(change.after)
        shown = after.numbered if change.cited else after.in_words
        then = self._part(tr("Then:"), shown, after.labels, "success_soft")
        self._text.show_html(now + then)

    def _part(self, word: str, text: str, labels: Mapping[int, int], role: str) -> str:
        """The HTML of a text on a coloured ground, below a word; "" without a text."""
        if not text:
            return ""
        ground, ink = self._theme.colours[role], self._theme.colours[f"{role}_text"]
        return (
            f'<p style="margin-bottom:4px;">{html.escape(word)}</p>'
            f'<table width="100%" cellpadding="8" bgcolor="{ground}"><tr>'
            f'<td style="color:{ink};">{self._text.written(text, labels)}</td></tr></table>'
        )

    @Slot()
    def _on_checked(self) -> None:
        self._write.setEnabled(bool(self._checked))

    @Slot()
    def _on_write_clicked(self) -> None:
        self.accepted_changes.emit(self._checked)
        self.accept()


def _row_in_words(change: ProposedSection) -> str:
    words = f"{one_line(change.heading)} · {_WORDS[change.change]}"
    return tr("{words} · yours", words=words) if change.is_yours else words


_INTRO = tr(
    "The app writes a page about a topic, a person or a project from your documents, with links to"
    " its sources, as a Markdown file of yours. Change it as you like: what you wrote stays when"
    " the note is refreshed. Answers in your own words stand here too."
)
_BY_APP, _YOURS = tr("written by the app"), tr("your wording of an answer")
_TICK_MS = 150
# Makes a draft; called with a function for the heading of each section, and a cancel event.
_Draft = Callable[[Callable[[str], None], Event], "NoteDraft"]


@dataclass(frozen=True, slots=True)
class _Listed:
    title: str
    path: Path
    author: str


class NotesPage(ScrolledPage):
    """The list of notes and of the person's wordings of answers, read whenever it is shown.

    One note is written at a time.
    """

    def __init__(
        self, bridge: Bridge, notes: "Notes", library: "Library", chat: "Chat", theme: Theme
    ) -> None:
        super().__init__(tr("My notes"), fills_height=True)
        self._bridge = bridge
        self._notes = notes
        self._library = library
        self._chat = chat
        self._theme = theme
        self._listed: Sequence[_Listed] = ()
        self._cancel = Event()
        self._told: deque[str] = deque(maxlen=1)
        self._ticks = QTimer(self, interval=_TICK_MS)
        self._ticks.timeout.connect(self._on_tick)
        self._opener = DocumentOpener(bridge, library, theme, self)
        self._new = TextButton(
            tr("Write a note about…"),
            kind="primary",
            icon="plus:accent_text",
            theme=theme,
            then=self.write,
        )
        self.header.addWidget(self._new)
        self._list = ItemList(tr("My notes"), tr("No notes yet."))
        self._refresh = TextButton(
            tr("Refresh…"), icon="refresh", theme=theme, then=self._on_refresh_clicked
        )
        self._read = TextButton(tr("Read"), then=self._on_read_clicked)
        self._read.setAccessibleDescription(tr("Read the note, with links to its sources"))
        self._open = TextButton(tr("Open"), then=self._on_open_clicked)
        self._said = PlainLabel(tone="muted", wrap=True, selectable=True)
        self._stop = TextButton(tr("Stop"), then=self._on_stop_clicked)
        self._build()
        self._connect()
        self._show_busy("")

    def _build(self) -> None:
        fill(
            self.column,
            PlainLabel(_INTRO, tone="muted", wrap=True),
            (self._list, 1),
            horizontal(self._refresh, self._read, self._open, (self._said, 1), self._stop),
        )

    def _connect(self) -> None:
        self._list.itemActivated.connect(self._on_open_clicked)
        self._list.currentRowChanged.connect(self._on_chosen)

    # --- the list ----------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._load()

    def _load(self) -> None:
        self._bridge.run(self, self._look, self._show)

    def _look(self) -> list[_Listed]:
        """On a worker thread: the disk is read."""
        yours = self._chat.history.rewritten()
        return [
            *(_Listed(note.topic, note.path, _BY_APP) for note in self._notes.all()),
            *(_Listed(question, path, _YOURS) for question, path in yours),
        ]

    def _show(self, listed: Sequence[_Listed]) -> None:
        row = max(0, self._list.currentRow())
        self._listed = listed
        self._list.clear()
        self._list.addItems(
            [f"{one_line(n.title)} · {n.author} · {one_line(str(n.path))}" for n in listed]
        )
        self._list.setCurrentRow(min(row, len(listed) - 1))
        self._on_chosen()

    @property
    def _chosen(self) -> _Listed | None:
        row = self._list.currentRow()
        return self._listed[row] if 0 <= row < len(self._listed) else None

    @Slot()
    def _on_chosen(self) -> None:
        is_note = self._chosen is not None and self._chosen.author == _BY_APP
        self._refresh.setEnabled(is_note and self._new.isEnabled())
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
            cost = cost_in_words(self._chat.set_up().settings.endpoint)
            return self._notes.suggested_folder(), [QuestionScope.of(i) for i in items], cost

        def show(loaded: tuple[Path, list[QuestionScope], str]) -> None:
            dialog = NoteDialog(*loaded, self.window())
            dialog.submitted.connect(self._on_submitted)
            dialog.open()

        self._bridge.run(self, load, show)

    @Slot(object)
    def _on_submitted(self, wish: tuple[str, Path, QuestionScope]) -> None:
        self._draft(lambda tell, cancel: self._notes.write(*wish, tell=tell, cancel=cancel))

    @Slot()
    def _on_refresh_clicked(self) -> None:
        if note := self._chosen:
            path = note.path
            self._draft(lambda tell, cancel: self._notes.refresh(path, tell=tell, cancel=cancel))

    def _draft(self, draft: _Draft) -> None:
        """Write a draft, showing which section is being written, then show its changes."""
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
            dialog.accepted_changes.connect(lambda headings: self._save(draft, headings))
            reading = DialogReading(self._bridge, self._library, self._theme, dialog)
            dialog.read_requested.connect(reading.read)
            open_once(dialog)

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
