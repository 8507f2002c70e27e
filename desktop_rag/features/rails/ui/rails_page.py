"""The page "Rails": topics with examples and what happens, written without any language. Qt thread.

Unsaved changes are kept over a restart.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QFontDatabase, QHideEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QInputDialog, QLineEdit, QMessageBox, QPlainTextEdit, QWidget

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.features.rails.assistants.own_rails import OpenedRails, RailsDraft
from desktop_rag.features.rails.topics.rail_topic import RailTopic, TopicEdits, problems
from desktop_rag.features.rails.ui.topic_form import TopicForm, topic_in_words
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import failure_in_words, one_line
from desktop_rag.ui.widgets.controls import (
    Card,
    IconButton,
    PlainLabel,
    TextButton,
    plain_question,
    set_tip,
)
from desktop_rag.ui.widgets.form_fields import DropDown
from desktop_rag.ui.widgets.forms import choose_folder
from desktop_rag.ui.widgets.item_list import ItemList
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage

if TYPE_CHECKING:
    from desktop_rag.features.rails.assistants.own_rails import OwnRails

_UNUSED = tr("No assistant has these rails yet. Its form has them under Rails.")


def _used_in_words(folder: Path | None, assistants: Sequence[Assistant]) -> str:
    names = [assistant.name for assistant in assistants if assistant.rails == str(folder)]
    return tr("Used by {names}.", names=", ".join(names)) if names else _UNUSED


_EVENTS_PX = 190


class TryingCard(Card):
    """Tries a sentence: `requested` carries it to an answer by `show_tried` or `show_error`."""

    requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Try a sentence"))
        self._sentence = QLineEdit(placeholderText=tr("A sentence as somebody would say it"))
        self._sentence.setAccessibleName(tr("Sentence to try"))
        self._try = TextButton(tr("Try"), then=self._on_try)
        self._result = PlainLabel(wrap=True, selectable=True)
        self._events_name = PlainLabel(tr("Events"), tone="muted", scale="small")
        self._events = QPlainTextEdit(
            readOnly=True, tabChangesFocus=True, lineWrapMode=QPlainTextEdit.LineWrapMode.NoWrap
        )
        self._events.setAccessibleName(tr("Events"))
        self._events.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._events.setFixedHeight(_EVENTS_PX)
        column = vertical(
            PlainLabel(tr("Try a sentence"), scale="heading"),
            horizontal((self._sentence, 1), self._try),
            on=self,
            margins=(18, 16, 18, 18),
            spacing=8,
        )
        for widget in (self._result, self._events_name, self._events):
            column.addWidget(widget)
            widget.hide()
        self._sentence.returnPressed.connect(self._on_try)
        self._sentence.textChanged.connect(self._on_typed)
        self._on_typed()

    def show_tried(self, words: str, events: Sequence[str]) -> None:
        """Show what would be done with the sentence, in words and as events."""
        self._result.set_tone("")
        self._result.setText(words)
        self._events.setPlainText("\n".join(events))
        self._done(has_events=True)

    def show_error(self, error: AppError) -> None:
        """Show why the sentence can't be tried."""
        self._result.set_tone("danger")
        self._result.setText(failure_in_words(error))
        self._done(has_events=False)

    def clear(self) -> None:
        """Hide the last result."""
        self._result.hide()
        self._events.hide()
        self._events_name.hide()

    def _done(self, *, has_events: bool) -> None:
        self._result.show()
        self._events.setVisible(has_events)
        self._events_name.setVisible(has_events)
        self._on_typed()

    @Slot()
    def _on_typed(self) -> None:
        self._try.setEnabled(bool(self._sentence.text().strip()))

    @Slot()
    def _on_try(self) -> None:
        sentence = self._sentence.text().strip()
        if sentence and self._try.isEnabled():
            self._try.setEnabled(False)
            self._result.say(tr("Trying…"), "muted")
            self.requested.emit(sentence)


_HEIGHT_PX = 150


class TopicList(QWidget):
    """The topics in their order, with buttons to add, remove and move them.

    `chosen` and `removed` carry a place from zero, `moved` the old and the new place.
    """

    chosen = Signal(int)
    added = Signal()
    removed = Signal(int)
    moved = Signal(int, int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._list = ItemList(tr("Topics"))
        self._list.setFixedHeight(_HEIGHT_PX)
        self._add = TextButton(tr("Add topic"), icon="plus:text", theme=theme, then=self.added)
        self._remove = TextButton(tr("Remove topic"), kind="danger")
        self._up = TextButton(tr("Move up"))
        self._down = TextButton(tr("Move down"))
        alt = Qt.Modifier.ALT
        keys = (
            (self._remove, QKeySequence(Qt.Key.Key_Delete)),
            (self._up, QKeySequence(alt | Qt.Key.Key_Up)),
            (self._down, QKeySequence(alt | Qt.Key.Key_Down)),
        )
        for button, key in keys:
            shown = key.toString(QKeySequence.SequenceFormat.NativeText)
            set_tip(button, tr("{name} ({key})", name=button.text(), key=shown))
            action = QAction(self._list, shortcut=key)
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            action.triggered.connect(button.click)
            self._list.addAction(action)
        vertical(
            self._list,
            horizontal(self._add, self._remove, self._up, self._down, Stretch()),
            on=self,
            margins=0,
            spacing=8,
        )
        self._list.currentRowChanged.connect(self._on_chosen)
        self._remove.clicked.connect(lambda: self.removed.emit(self.place))
        self._up.clicked.connect(lambda: self.moved.emit(self.place, self.place - 1))
        self._down.clicked.connect(lambda: self.moved.emit(self.place, self.place + 1))

    @property
    def place(self) -> int:
        """The place of the chosen topic, -1 for none."""
        return self._list.currentRow()

    def show_topics(self, topics: Sequence[RailTopic], place: int) -> None:
        """Show topics and choose the one at `place`; emits nothing."""
        words = [topic_in_words(topic) for topic in topics]
        with QSignalBlocker(self._list):
            if len(words) == self._list.count():
                for row, text in enumerate(words):
                    self._list.item(row).setText(text)
            else:
                self._list.clear()
                self._list.addItems(words)
            self._list.setCurrentRow(max(0, min(place, len(words) - 1)) if words else -1)
        self._list.setVisible(bool(words))
        self._show_buttons()

    def _show_buttons(self) -> None:
        place, count = self.place, self._list.count()
        self._remove.setEnabled(place >= 0)
        self._up.setEnabled(place > 0)
        self._down.setEnabled(0 <= place < count - 1)
        for button in (self._remove, self._up, self._down):
            button.setVisible(count > 0)

    @Slot(int)
    def _on_chosen(self, place: int) -> None:
        self._show_buttons()
        self.chosen.emit(place)


class RailsChooser(QWidget):
    """Chooses a folder of rails or makes a new one, and says where it is.

    `chosen` carries the Path of a folder, `named` the name for a new one.
    """

    chosen = Signal(object)
    named = Signal(str)
    reload_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._folder: Path | None = None
        self._choice = DropDown()
        self._choice.setMinimumContentsLength(16)
        self._choice.setAccessibleName(tr("Your rails"))
        self._new = TextButton(
            tr("New rails…"), icon="plus:text", theme=theme, then=self.ask_for_name
        )
        self._open = TextButton(tr("Open a folder…"), then=self._on_open)
        self._reload = IconButton(
            theme, "refresh:muted", tr("Read the folder again"), then=self.reload_requested
        )
        self._where = PlainLabel(tone="muted", scale="small", wrap=True, selectable=True)
        row = horizontal(
            (self._choice, 1), self._reload, self._new, self._open, Stretch(0), spacing=8
        )
        vertical(row, self._where, on=self, margins=0, spacing=4)
        self._choice.activated.connect(self._on_activated)
        self.show_folders((), None, "")

    def show_folders(self, folders: Sequence[Path], chosen: Path | None, used: str) -> None:
        """Show the folders by name, and who uses the chosen one."""
        self._folder = chosen
        every = [*folders, *([chosen] if chosen and chosen not in folders else [])]
        self._choice.clear()
        for folder in every:
            self._choice.addItem(one_line(folder.name or str(folder)), folder)
        self._choice.setCurrentIndex(every.index(chosen) if chosen else -1)
        self._where.setText(f"{chosen}\n{used}" if chosen else "")
        for widget in (self._choice, self._reload, self._where):
            widget.setVisible(chosen is not None)

    @Slot()
    def ask_for_name(self) -> None:
        """Ask for the name of new rails."""
        dialog = QInputDialog(self)
        dialog.setWindowTitle(tr("New rails"))
        dialog.setLabelText(tr("A name for them, such as Museum"))
        dialog.textValueSelected.connect(self.named)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @Slot(int)
    def _on_activated(self, place: int) -> None:
        folder = self._choice.itemData(place)
        # Shown once it is open: unsaved changes may keep the one before.
        self._choice.setCurrentIndex(self._choice.findData(self._folder))
        if folder != self._folder:
            self.chosen.emit(folder)

    @Slot()
    def _on_open(self) -> None:
        def take(path: str) -> None:
            self.chosen.emit(Path(path))

        choose_folder(self, tr("Choose a folder of rails"), take, start=str(Path.home()))


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
    """Edits the topics of a folder; reads the folders whenever it is shown."""

    def __init__(
        self,
        bridge: Bridge,
        own: "Callable[[], OwnRails]",
        assistants: Callable[[], Sequence[Assistant]],
        theme: Theme,
    ) -> None:
        """`own` opens the folders when first called. Both are called on worker threads."""
        super().__init__(tr("Rails"))
        self._bridge = bridge
        self._own = own
        self._assistants = assistants
        self._opened: OpenedRails | None = None
        self._edits = TopicEdits()
        self._is_saving = False
        self._undo = TextButton(tr("Undo"), kind="quiet", then=self._on_undo)
        self._redo = TextButton(tr("Redo"), kind="quiet", then=self._on_redo)
        self._save = TextButton(tr("Save"), kind="primary", then=self.save)
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
        vertical(
            PlainLabel(tr("Topics"), scale="heading"),
            self._empty,
            self._list,
            self._form,
            self._others,
            on=self._topics,
            margins=(18, 16, 18, 18),
            spacing=10,
        )
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
        """Read the folders and open the `wanted` one, else that of unsaved topics, or the first."""

        def read() -> tuple[list[Path], Path | None, str, RailsDraft | None]:
            own, assistants = self._own(), self._assistants()
            folders, draft = own.folders([each.rails for each in assistants]), own.draft()
            if draft and draft.folder not in folders and not draft.folder.is_dir():
                draft = None
            chosen = wanted or (draft.folder if draft else next(iter(folders), None))
            draft = draft if draft and draft.folder == chosen else None
            return folders, chosen, _used_in_words(chosen, assistants), draft

        self._bridge.run(self, read, lambda found: self._on_folders(*found))

    def _on_folders(
        self, folders: Sequence[Path], chosen: Path | None, used: str, draft: RailsDraft | None
    ) -> None:
        before = self._opened.folder if self._opened else None
        self._chooser.show_folders(folders, chosen, used)
        if chosen and chosen != before:
            self._open(chosen, draft)
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
        """Open a folder, after unsaved changes were saved or discarded."""
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
        """Go on once unsaved changes were saved or discarded; the person may stay."""
        if not self._edits.is_changed:
            go()
            return
        box = plain_question(self, tr("Rails"), tr("The changes of these rails are not saved."))
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
        self._others.say(_OTHERS.format(files=others) if others else "")
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
        self._state.say(words, tone)
        self._save.setEnabled(edits.is_changed and not problem and not self._is_saving)
        self._undo.setEnabled(bool(edits.before))
        self._redo.setEnabled(bool(edits.after))
        for button in (self._undo, self._redo, self._save):
            button.setVisible(opened is not None and not fault)

    def _show_error(self, error: AppError) -> None:
        self._is_saving = False
        self._show_state()
        self._state.say(failure_in_words(error), "danger")

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
            lambda: self._own().try_sentence(opened, topics, sentence),
            lambda tried: self._trying.show_tried(tried.in_words(), tried.events),
            self._trying.show_error,
        )

    @Slot()
    def _keep_draft(self) -> None:
        opened, edits = self._opened, self._edits
        draft = None
        if opened and edits.is_changed:
            draft = RailsDraft(opened.folder, opened.text, edits.topics)
        self._bridge.run(self, lambda: self._own().keep_draft(draft))

    def _with_own(
        self, work: "Callable[[OwnRails], OpenedRails]", done: Callable[[OpenedRails], None]
    ) -> None:
        self._bridge.run(self, lambda: work(self._own()), done, self._show_error)
