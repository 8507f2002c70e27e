"""The page "Rails": topics with examples and what happens, written without any language. Qt thread.

What is edited is kept over a restart until it is saved or discarded.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QAction, QFontDatabase, QHideEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QMessageBox, QPlainTextEdit, QVBoxLayout, QWidget

from desktop_rag.assistant_rails.opened_rails import OpenedRails, RailsDraft
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.rails.topics.rail_topic import RailTopic, problems
from desktop_rag.rails.topics.topic_edits import TopicEdits
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.error_words import failure_in_words
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.rails.rails_chooser import RailsChooser
from desktop_rag.ui.rails.rails_folders import RailsFolders, ShownFolders
from desktop_rag.ui.rails.topic_form import TopicForm
from desktop_rag.ui.rails.topic_list import TopicList
from desktop_rag.ui.rails.trying_card import TryingCard
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage

if TYPE_CHECKING:
    from desktop_rag.assistant_rails.own_rails import OwnRails

_DRAFT_MS = 800
_SHOWN_PX = 480
_INTRO = tr(
    "Rails keep an assistant to what you write down. A topic is a few sentences as people say them,"
    " and what happens then: an answer from the documents, a text of yours, a polite refusal, or a"
    " question asked back. No model is asked to recognise them."
)
_FIRST = tr("Begin with “New rails…”, or open a folder of rails.")
_NO_TOPICS = tr("No topics yet. Without any, every question is answered from the documents.")
_UNSAVED = tr("Not saved yet.")
_RESTORED = tr("These changes were not saved last time.")
_OTHERS = tr("Other files of this folder stay as they are: {files}.")


class RailsPage(ScrolledPage):
    """Reads the folders whenever it is shown."""

    def __init__(
        self, bridge: Bridge, folders: RailsFolders, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(tr("Rails"), parent)
        self._bridge = bridge
        self._folders = folders
        self._opened: OpenedRails | None = None
        self._edits = TopicEdits()
        self._is_saving = False
        self._undo = TextButton(tr("Undo"), kind="quiet")
        self._redo = TextButton(tr("Redo"), kind="quiet")
        self._save = TextButton(tr("Save"), kind="primary")
        for button in (self._undo, self._redo, self._save):
            self.header.addWidget(button)
        self._chooser = RailsChooser(theme)
        self._intro = PlainLabel(_INTRO, tone="muted", wrap=True)
        self._state = PlainLabel(wrap=True, selectable=True)
        self._list = TopicList(theme)
        self._empty = PlainLabel(_NO_TOPICS, tone="muted", wrap=True)
        self._form = TopicForm()
        self._others = PlainLabel(tone="muted", scale="small", wrap=True)
        self._trying = TryingCard()
        self._shown = QPlainTextEdit()
        self._draft_timer = QTimer(self, singleShot=True, interval=_DRAFT_MS)
        self._build()
        self._connect()
        self._show()

    def _build(self) -> None:
        self._topics = Card()
        self._topics.setAccessibleName(tr("Topics"))
        inside = QVBoxLayout(self._topics)
        inside.setContentsMargins(18, 16, 18, 18)
        inside.setSpacing(10)
        inside.addWidget(PlainLabel(tr("Topics"), scale="heading"))
        for part in (self._empty, self._list, self._form, self._others):
            inside.addWidget(part)
        self._shown.setReadOnly(True)
        self._shown.setAccessibleName(tr("The files of these rails"))
        self._shown.setTabChangesFocus(True)
        self._shown.setFixedHeight(_SHOWN_PX)
        self._shown.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._shown.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        for part in (
            self._intro, self._chooser, self._state, self._topics, self._shown, self._trying
        ):  # fmt: skip
            self.column.addWidget(part)

    def _connect(self) -> None:
        self._chooser.chosen.connect(self.choose)
        self._chooser.named.connect(self._on_named)
        self._chooser.reload_requested.connect(self._on_reload)
        self._list.chosen.connect(self._on_chosen)
        self._list.added.connect(self._on_added)
        self._list.removed.connect(self._on_removed)
        self._list.moved.connect(self._on_moved)
        self._form.edited.connect(self._on_edited)
        self._trying.requested.connect(self._on_try)
        self._undo.clicked.connect(self._on_undo)
        self._redo.clicked.connect(self._on_redo)
        self._save.clicked.connect(self.save)
        self._draft_timer.timeout.connect(self._keep_draft)
        for button, key in (
            (self._save, QKeySequence.StandardKey.Save),
            (self._undo, QKeySequence.StandardKey.Undo),
            (self._redo, QKeySequence.StandardKey.Redo),
        ):
            action = QAction(self, shortcut=QKeySequence(key))
            action.triggered.connect(button.click)
            self.addAction(action)

    # --- the folder --------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh(self._opened.folder if self._opened else None)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self._draft_timer.isActive():
            self._draft_timer.stop()
            self._keep_draft()

    def _refresh(self, wanted: Path | None) -> None:
        """Read the folders; without a `wanted` one, that of the unsaved changes or the first."""
        self._bridge.run(self, lambda: self._folders.read(wanted), self._on_folders)

    def _on_folders(self, found: ShownFolders) -> None:
        before = self._opened.folder if self._opened else None
        self._chooser.show_folders(found.folders, found.chosen, found.used)
        if found.chosen and found.chosen != before:
            self._open(found.chosen, found.draft)
        elif self._opened and not self._edits.is_changed:
            # A sentence may have been taught meanwhile, or the file changed by hand.
            self._open(self._opened.folder, None)

    def _open(self, folder: Path, draft: RailsDraft | None) -> None:
        self._with_own(lambda own: own.open(folder), lambda opened: self._on_opened(opened, draft))

    def _on_opened(self, opened: OpenedRails, draft: RailsDraft | None) -> None:
        is_same = self._opened is not None and self._opened.folder == opened.folder
        if is_same and self._edits.is_changed:
            return  # edited while it was read
        place = self._list.place if is_same else 0
        if opened != self._opened:
            self._trying.clear()
        self._opened = opened
        topics = opened.topics or ()
        self._edits = TopicEdits(topics, topics)
        is_restored = draft is not None and draft.text == opened.text
        if draft is not None and is_restored and opened.topics is not None:
            self._edits = self._edits.changed(draft.topics)
        self._show(max(0, place), _RESTORED if is_restored and self._edits.is_changed else "")

    @Slot(object)
    def choose(self, folder: Path) -> None:
        """Open a folder, after what is unsaved was saved or discarded."""
        self._leave(lambda: self._refresh(folder))

    @Slot(str)
    def _on_named(self, name: str) -> None:
        def made(opened: OpenedRails) -> None:
            self._refresh(opened.folder)

        self._leave(lambda: self._with_own(lambda own: own.create(name), made))

    @Slot()
    def _on_reload(self) -> None:
        if opened := self._opened:
            self._leave(lambda: self._open(opened.folder, None))

    def _leave(self, go: Callable[[], None]) -> None:
        """Go on once nothing is unsaved; the person may stay."""
        if not self._edits.is_changed:
            go()
            return
        box = QMessageBox(self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setWindowTitle(tr("Rails"))
        box.setText(tr("The changes of these rails are not saved."))
        save = box.addButton(tr("Save"), QMessageBox.ButtonRole.AcceptRole)
        discard = box.addButton(tr("Discard"), QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(save)

        def drop() -> None:
            self._edits = TopicEdits(self._edits.saved, self._edits.saved)
            self._keep_draft()
            go()

        save.clicked.connect(lambda: self._save_then(go))
        discard.clicked.connect(drop)
        box.open()

    # --- editing -----------------------------------------------------------------------------

    @Slot(int)
    def _on_chosen(self, _place: int) -> None:
        self._show(self._list.place)

    @Slot()
    def _on_added(self) -> None:
        self._edit(self._edits.added(RailTopic()), len(self._edits.topics))
        self._form.write_name()

    @Slot(int)
    def _on_removed(self, place: int) -> None:
        self._edit(self._edits.removed(place), place)

    @Slot(int, int)
    def _on_moved(self, place: int, to: int) -> None:
        self._edit(self._edits.moved(place, to), to)

    @Slot(object, str)
    def _on_edited(self, topic: RailTopic, field: str) -> None:
        place = self._list.place
        if place >= 0:
            self._edit(self._edits.put(place, topic, f"{field} {place}" if field else ""), place)

    @Slot()
    def _on_undo(self) -> None:
        self._edit(self._edits.undone(), self._list.place)

    @Slot()
    def _on_redo(self) -> None:
        self._edit(self._edits.redone(), self._list.place)

    def _edit(self, edits: TopicEdits, place: int) -> None:
        self._edits = edits
        self._draft_timer.start()
        self._show(place)

    def _show(self, place: int = 0, told: str = "") -> None:
        opened, topics = self._opened, self._edits.topics
        is_open = opened is not None
        is_editable = opened is not None and opened.topics is not None
        self._list.show_topics(topics, place)
        self._empty.setVisible(not topics)
        self._form.setVisible(bool(topics))
        if topics:
            self._form.show_topic(topics[self._list.place])
        others = ", ".join(opened.others) if opened else ""
        self._others.setText(_OTHERS.format(files=others))
        self._others.setVisible(bool(others))
        self._topics.setVisible(is_editable)
        self._trying.setVisible(is_editable)
        self._shown.setVisible(is_open and not is_editable)
        if opened and not is_editable and self._shown.toPlainText() != opened.shown:
            self._shown.setPlainText(opened.shown)
        self._show_state(told)

    def _show_state(self, told: str = "") -> None:
        opened, edits = self._opened, self._edits
        fault = opened.fault if opened else None
        problem = next(problems(edits.topics), None)
        tone, words = "muted", _FIRST if opened is None else told
        if fault:
            tone, words = "warning", failure_in_words(fault)
        elif edits.is_changed and not told:
            words = f"{_UNSAVED} {problem.words}" if problem else _UNSAVED
            tone = "warning" if problem else "muted"
        self._state.set_tone(tone)
        self._state.setText(words)
        self._state.setVisible(bool(words))
        self._save.setEnabled(edits.is_changed and not problem and not self._is_saving)
        self._undo.setEnabled(bool(edits.before))
        self._redo.setEnabled(bool(edits.after))
        for button in (self._undo, self._redo, self._save):
            button.setVisible(opened is not None and not fault)

    def _show_error(self, error: AppError) -> None:
        self._is_saving = False
        self._show_state()
        self._state.set_tone("danger")
        self._state.setText(failure_in_words(error))
        self._state.show()

    # --- saving and trying -------------------------------------------------------------------

    @Slot()
    def save(self) -> None:
        """Write the topics."""
        self._save_then(lambda: None)

    def _save_then(self, go: Callable[[], None]) -> None:
        opened, topics = self._opened, self._edits.topics
        if opened is None or self._is_saving:
            return
        self._is_saving = True
        self._show_state()

        def saved(kept: OpenedRails) -> None:
            self._is_saving = False
            self._opened = kept
            self._edits = self._edits.kept(topics)
            self._keep_draft()
            self._show(self._list.place, "" if self._edits.is_changed else tr("Saved."))
            go()

        self._with_own(lambda own: own.save(opened, topics), saved)

    @Slot(str)
    def _on_try(self, sentence: str) -> None:
        opened, topics = self._opened, self._edits.topics
        if opened is None:
            return
        self._bridge.run(
            self,
            lambda: self._folders.own().try_sentence(opened, topics, sentence),
            lambda tried: self._trying.show_tried(tried.in_words(), tried.events),
            self._trying.show_error,
        )

    @Slot()
    def _keep_draft(self) -> None:
        opened, edits = self._opened, self._edits
        draft = None
        if opened and edits.is_changed:
            draft = RailsDraft(opened.folder, opened.text, edits.topics)
        self._bridge.run(self, lambda: self._folders.own().keep_draft(draft))

    def _with_own(
        self,
        work: "Callable[[OwnRails], OpenedRails]",
        done: Callable[[OpenedRails], None],
    ) -> None:
        self._bridge.run(self, lambda: work(self._folders.own()), done, self._show_error)
