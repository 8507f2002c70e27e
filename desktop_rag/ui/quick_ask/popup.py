"""The quick ask: a field over everything, passages while typing, an answer on Enter. Qt thread."""

import math
import time
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QObject, QRect, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QCursor,
    QGuiApplication,
    QHideEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QRegion,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QListView, QSizeGrip, QWidget

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import Conversation, Feedback, Message, SourceRef
from desktop_rag.core.domain import Passage
from desktop_rag.core.language.translation import tr
from desktop_rag.core.question import Question, SearchScope
from desktop_rag.core.question_scope import ALL_DOCUMENTS, WITHOUT_DOCUMENTS, QuestionScope
from desktop_rag.ingest.library import Library
from desktop_rag.ui.chat.chat_session import ChatSession
from desktop_rag.ui.chat.chat_sessions import ChatSessions
from desktop_rag.ui.composer.composer import QuestionCard
from desktop_rag.ui.composer.name_completion import NamedChoice
from desktop_rag.ui.documents.document_opener import DocumentOpener, confirm_and_open
from desktop_rag.ui.foundation.ask_request import Wanted
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.library_state import LibraryFacts
from desktop_rag.ui.foundation.shortcuts import PLACE, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.markdown.formula_drawing import FormulaDrawer
from desktop_rag.ui.messages.message_view import MessageView
from desktop_rag.ui.passages.library_hint import LibraryHint
from desktop_rag.ui.passages.passage_painter import FoundPassage, PassagePainter, copied
from desktop_rag.ui.passages.passage_search import PassageSearch
from desktop_rag.ui.reading.reading_pane import ReadingWindow
from desktop_rag.ui.viewers.viewer import DocumentSpan, span_of
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton, set_tip
from desktop_rag.ui.widgets.flow_row import FlowRow
from desktop_rag.ui.widgets.item_list import Column, RowsModel
from desktop_rag.ui.widgets.layouts import clear, horizontal, vertical
from desktop_rag.ui.widgets.removable_chip import RemovableChip

_MAX_SELECTION = 4_000
_PLACEHOLDER = tr("Ask your documents, or search as you type")
_FOLLOW_UP = tr("Ask a follow-up")
_NOBODY = NamedChoice("")


class AskField(QuestionCard):
    """`typed` carries the text, `stepped` 1 or -1 for the arrow keys.

    `copy_requested` is Ctrl+C with nothing selected in the field.
    """

    typed = Signal(str)
    scope_changed = Signal()
    stepped = Signal(int)
    copy_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Ask"), tr("Stop"))
        self._assistant = _NOBODY
        self._is_without_documents = False
        self._selection = ""
        self._is_held = self._is_follow_up = False
        self._field.setPlaceholderText(_PLACEHOLDER)
        self._build()
        self._connect()
        self._show_chips()
        self.set_busy(False)

    def _build(self) -> None:
        self._limits = QWidget()
        self._flow = FlowRow(self._limits)
        row = horizontal((self._field, 1), self._send, self._stop, spacing=8)
        vertical(self.scope_bar, row, self._limits, on=self, margins=(12, 8, 8, 8), spacing=6)

    def _connect(self) -> None:
        self._field.entered.connect(self._submit)
        self._field.textChanged.connect(lambda: self.typed.emit(self.text))
        self._field.installEventFilter(self)
        self.names.chosen.connect(self._on_name_chosen)
        self.scope_bar.changed.connect(self._on_about_changed)

    @property
    def scope(self) -> QuestionScope:
        """The scope of the question."""
        if self.scope_bar.scope.is_limited:
            return self.scope_bar.scope
        return WITHOUT_DOCUMENTS if self._is_without_documents else ALL_DOCUMENTS

    @property
    def is_completing(self) -> bool:
        """True while a list of completions is open."""
        return self.prompts.is_open or self.names.is_open

    def select_all(self) -> None:
        """Select the question, so that typing replaces it."""
        self._field.selectAll()

    def set_follow_up(self, is_follow_up: bool) -> None:
        """Show that the next question continues the same chat."""
        self._is_follow_up = is_follow_up
        self._show_placeholder()

    def _show_placeholder(self) -> None:
        # The field itself says what a question is about.
        if self._is_follow_up:
            self._field.setPlaceholderText(_FOLLOW_UP)
        elif self.scope == ALL_DOCUMENTS:
            self._field.setPlaceholderText(_PLACEHOLDER)

    def show_selection(self, text: str) -> None:
        """Send this text from another program with the next question; "" for none."""
        self._selection = text.strip()[:_MAX_SELECTION]
        self._show_chips()

    @Slot(object)
    def _on_name_chosen(self, choice: NamedChoice) -> None:
        if choice.assistant_id:
            self._assistant = choice
        else:
            self._is_without_documents = choice.scope.is_without_documents
            if choice.item:
                self.scope_bar.add(choice.item)
            elif self.scope_bar.scope.is_limited:
                self.scope_bar.clear()
        self._show_chips()
        self.scope_changed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            # In a question of several lines the arrows move the cursor.
            is_one_line = self._field.document().blockCount() == 1 and not self.is_completing
            if is_one_line and event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
                self.stepped.emit(1 if event.key() == Qt.Key.Key_Down else -1)
                return True
            has_selection = self._field.textCursor().hasSelection()
            if event.matches(QKeySequence.StandardKey.Copy) and not has_selection:
                self.copy_requested.emit()
                return True
        return super().eventFilter(watched, event)

    def question(self) -> Question:
        """The typed question with the selected text and the scope."""
        text = self.text.strip()
        if self._selection:
            text = f"{text}\n\n“{self._selection}”" if text else self._selection
        return self.question_of(text)

    def question_of(self, text: str) -> Question:
        """This text as a question to the field's assistant and scope."""
        return Question(
            text,
            assistant_id=self._assistant.assistant_id,
            attachments=tuple(f.attachment for f in self.scope_bar.attached if f.attachment),
            scope=self.scope,
        )

    def begin_anew(self) -> None:
        """Empty the field and clear the files it is limited to."""
        self.clear()
        self.scope_bar.clear()

    def clear(self) -> None:
        """Empty the field; the scope stays."""
        self._is_held = False
        self._field.clear()
        self.show_selection("")

    @Slot()
    def _submit(self) -> None:
        # A question about a file that is being read is sent once it is there.
        self._is_held = self.scope_bar.is_reading
        if not self._is_busy and not self._is_held:
            self.submitted.emit(self.question())

    @Slot()
    def _on_about_changed(self) -> None:
        self._field.show_scope(self.scope)
        self._show_placeholder()
        if self._is_held and not self.scope_bar.is_reading:
            self._submit()

    @Slot()
    def _on_assistant_removed(self) -> None:
        self._assistant = _NOBODY
        self._show_chips()
        self.scope_changed.emit()

    @Slot()
    def _on_all_wanted(self) -> None:
        self._is_without_documents = False
        self._show_chips()
        self.scope_changed.emit()

    def _show_chips(self) -> None:
        """Show what goes with the question, each with a way to leave it out."""
        clear(self._flow)
        name, text = self._assistant.name, " ".join(self._selection.split())
        without = tr("Without documents: the model answers from what it knows")
        for is_wanted, words, removal, removed in (
            (text, tr("Selected text: “{shown}”", shown=one_line(text)),
             tr("Remove the selected text"), partial(self.show_selection, "")),
            (name, tr("Assistant: {one_line}", one_line=one_line(name)),
             tr("Ask without this assistant"), self._on_assistant_removed),
            (self._is_without_documents, without,
             tr("Ask about all documents"), self._on_all_wanted),
        ):  # fmt: skip
            if is_wanted:
                chip = RemovableChip(self._theme, words, removal, self._limits)
                chip.removed.connect(removed)
                self._flow.addWidget(chip)
                chip.show()
        self._limits.setVisible(self._flow.count() > 0)


_COLUMN = Column[FoundPassage](
    tr("Passages"),
    lambda found: found.heading,
    spoken=lambda found: f"{found.heading}, {found.file}: {found.piece}",
)


class PassageList(QListView):
    """The passages found while typing; the field keeps the focus. `opened` carries a Passage."""

    opened = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._model = RowsModel([_COLUMN], self)
        self.setModel(self._model)
        self.setItemDelegate(PassagePainter(theme, self))
        self.setObjectName("passageList")
        self.setAccessibleName(tr("Passages"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.clicked.connect(
            lambda index: self.opened.emit(self._model.row_at(index.row()).passage)
        )
        theme.changed.connect(self.viewport().update)

    @property
    def chosen(self) -> Passage | None:
        """The passage chosen with the arrow keys."""
        index = self.currentIndex()
        return self._model.row_at(index.row()).passage if index.isValid() else None

    @property
    def rows(self) -> int:
        """The number of passages."""
        return self._model.rowCount()

    def show_passages(self, query: str, passages: Sequence[Passage]) -> None:
        """Replace the passages; the chosen one stays chosen if it is still there."""
        chosen = self.chosen
        self._model.show([FoundPassage.of(passage, query) for passage in passages])
        for number, passage in enumerate(passages):
            if chosen and passage.chunk_id == chosen.chunk_id:
                self.setCurrentIndex(self._model.index(number, 0))
        heights = sum(self.sizeHintForRow(row) for row in range(self.rows))
        self.setFixedHeight(heights + 2 * self.frameWidth())

    def step(self, by: int) -> None:
        """Choose the next or the previous passage; before the first, none."""
        row = min(self.currentIndex().row() + by, self.rows - 1)
        self.setCurrentIndex(self._model.index(row, 0) if row >= 0 else QModelIndex())


_MARGIN_PX = 16
# Of the screen's height.
_HIGHEST_PART = 0.75


def rounded_region(size: QSize, radius_px: int) -> QRegion:
    """The region without its corners, but with the pixels that the curves cross.

    Without a compositor, desktops draw transparent parts black unless they are cut off.
    """
    region = QRegion(0, radius_px, size.width(), size.height() - 2 * radius_px)
    for row in range(radius_px):
        height = radius_px - row - 1
        inset = radius_px - math.ceil(math.sqrt(radius_px**2 - height**2))
        width = size.width() - 2 * inset
        region += QRegion(inset, row, width, 1)
        region += QRegion(inset, size.height() - row - 1, width, 1)
    return region


def fitting(size: QSize, area: QRect) -> QSize:
    """The size, shrunk to fit a screen with this area."""
    most = QSize(area.width() - 2 * _MARGIN_PX, int(area.height() * _HIGHEST_PART))
    return size.boundedTo(most)


def area_with_pointer() -> QRect:
    """The available area of the screen with the pointer."""
    screen = QGuiApplication.screenAt(QCursor.pos()) or QGuiApplication.primaryScreen()
    return screen.availableGeometry()


_WIDTH_PX, _ANSWER_HEIGHT_PX = 720, 480
_MINIMUM = QSize(420, 64)
# As in the style of the frame.
_RADIUS_PX = 14
# From the top of the screen, as a part of its height.
_HEIGHT_PART = 0.2
# A chat closed this long ago isn't continued here; it is in the window's list.
_FORGET_S, _MAX_PASSAGES = 600.0, 6
_HINT = tr("Enter to ask · ↑ ↓ to choose a passage · Esc to close")
_CHOSEN_HINT = tr("Enter to open it at its place · Ctrl+C to copy it with its source")
_ANSWER_HINT = tr("Ctrl+Enter goes on in the window · Esc to close")
_NOTHING = tr("No passage has these words. Enter asks all the same.")


class QuickAsk(QWidget):
    """A frameless window that takes the focus only on the person's request.

    `continued` carries a Conversation to continue in the window, or None; then the text of an
    unasked question and its scope.
    """

    continued = Signal(object, str, object)
    shown = Signal()

    def __init__(
        self, bridge: Bridge, library: Library, chat: Chat, theme: Theme, sessions: ChatSessions
    ) -> None:
        super().__init__(
            None, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint
            | Qt.WindowType.WindowStaysOnTopHint
        )  # fmt: skip
        self.setWindowTitle(tr("Quick ask"))
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self._theme = theme
        self._bridge = bridge
        self._sessions = sessions
        self._session: ChatSession | None = None
        self._hidden_at = 0.0
        self._was_active = self._is_left = False
        self._leaving = QTimer(self, singleShot=True, interval=0)
        self._leaving.timeout.connect(self._hide_when_left)
        self._answer_size = self._fitted = QSize(_WIDTH_PX, _ANSWER_HEIGHT_PX)
        self._area = area_with_pointer()
        self._search = PassageSearch(bridge, chat, _MAX_PASSAGES, self)
        self._opener = DocumentOpener(bridge, library, theme, self)
        self._build()
        self._connect()
        self._fit()

    def _build(self) -> None:
        self.field = AskField(self._theme)
        self.passages = PassageList(self._theme)
        # Keeps room for the list of completions, which is outside the layout.
        self._room = QWidget()
        self._room.hide()
        self.answer = MessageView(self._theme, FormulaDrawer(self._bridge, self))
        self.hint = LibraryHint()
        self._hint = PlainLabel(_HINT, tone="muted", scale="small")
        self._new = TextButton(tr("New question"), kind="quiet", then=self.begin_anew)
        set_tip(self._new, "Ctrl+N")
        self._continue = TextButton(tr("Go on in the window"), kind="quiet", then=self._go_on)
        set_tip(self._continue, "Ctrl+Enter")
        foot = horizontal(
            (self._hint, 1),
            self._new,
            self._continue,
            (QSizeGrip(self), 0, Qt.AlignmentFlag.AlignBottom),
            margins=(14, 0, 4, 4),
        )
        frame = Card(kind="popup")
        vertical(
            self.field,
            self._room,
            self.passages,
            (self.answer, 1),
            self.hint,
            foot,
            on=frame,
            margins=(10, 10, 10, 4),
            spacing=6,
        )
        self._outer = vertical(frame, on=self, margins=0)
        self.setFocusProxy(self.field)

    def _connect(self) -> None:
        self.field.typed.connect(self._on_typed)
        for completion in (self.field.prompts, self.field.names):
            completion.room_needed.connect(self._on_room_needed)
        self.field.scope_changed.connect(lambda: self._on_typed(self.field.text))
        self.field.scope_bar.changed.connect(self._on_about_changed)
        self.field.submitted.connect(self._on_submitted)
        self.field.stop_requested.connect(self._on_stop)
        self.field.stepped.connect(self._on_stepped)
        self.field.copy_requested.connect(self._on_copy_requested)
        self._search.found.connect(self._on_found)
        self.passages.opened.connect(self.open_passage)
        asked = self.answer.asked
        asked.citation_clicked.connect(lambda _, source: self._on_view_requested(source))
        asked.view_requested.connect(self._on_view_requested)
        asked.follow_up_chosen.connect(self._on_follow_up)
        asked.query_change_requested.connect(self.field.set_text)
        asked.retry_requested.connect(self._on_retry)
        asked.address_clicked.connect(lambda address: confirm_and_open(address, self))
        asked.settings_requested.connect(lambda: self._bridge.post(Wanted.MODELS))
        # What needs the window's room goes on there.
        a = asked
        for signal in (a.sources_requested, a.rewrite_requested, a.edit_requested, a.fork_requested,
                       a.past_answers_requested, a.offered_requested, a.offer_pressed):  # fmt: skip
            signal.connect(lambda *_messages: self._go_on())
        asked.feedback_given.connect(self._on_feedback)
        self.setProperty(PLACE, tr("Quick ask"))
        bind(self, "Esc", tr("Close"), self.close)
        bind(self, "Ctrl+N", tr("New question"), self.begin_anew)
        bind(self, "Ctrl+Return Ctrl+Enter", tr("Go on in the window"), self._go_on)

    # --- opening and closing -----------------------------------------------------------------

    def pop_up(self, question: str = "", selection: str = "") -> None:
        """Show the popup in the middle of the screen with the pointer, ready to type."""
        is_old = not self.isVisible() and time.monotonic() - self._hidden_at > _FORGET_S
        if question or (is_old and self._session and not self._session.is_busy):
            self.begin_anew()
        if question:
            self.field.set_text(question)
        self.field.show_selection(selection)
        if not self.isVisible():
            self._area = area_with_pointer()
            self._fit()
            self._centre()
        # Until it is active, what happens to other windows says nothing about it.
        self._was_active = self._is_left = False
        self.show()
        self.raise_()
        self.activateWindow()
        self.field.setFocus(Qt.FocusReason.ActiveWindowFocusReason)
        self.field.select_all()
        self.shown.emit()

    @Slot()
    def begin_anew(self) -> None:
        """Leave the chat, which stays in the window's list, and show an empty field."""
        self._leave_session()
        self._search.clear()
        self.field.begin_anew()
        self.field.set_busy(False)
        self._show_passages("", ())
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def is_answering(self) -> bool:
        """True while an answer is being written here."""
        return self._session is not None and self._session.is_busy

    def remembered_size(self) -> QSize:
        """The size of the popup with an answer, for the next start."""
        return self._answer_size

    def set_remembered_size(self, size: QSize) -> None:
        """Use the size of an earlier run."""
        self._answer_size = size.expandedTo(_MINIMUM)
        self._fit()

    @Slot(object)
    def show_library(self, facts: LibraryFacts) -> None:
        """Show what a search can't find in the present state of the library."""
        self.hint.show_facts(facts)
        if self._session is None:
            self._fit()

    def hideEvent(self, event: QHideEvent) -> None:
        self._hidden_at = time.monotonic()
        self._remember_size()
        super().hideEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() != QEvent.Type.ActivationChange:
            return
        self._is_left = self._was_active and not self.isActiveWindow()
        self._was_active = self.isActiveWindow()
        if self._is_left and self.isVisible() and not self.is_answering:
            self._leaving.start()

    @Slot()
    def _hide_when_left(self) -> None:
        active = QGuiApplication.focusWindow()
        # A question that opened over the popup is part of it.
        if self._is_left and not (active and self._is_over(active)):
            self.hide()

    def _is_over(self, window: object) -> bool:
        children = (child for child in self.findChildren(QWidget) if child.isWindow())
        over = (child for child in children if not isinstance(child, ReadingWindow))
        return any(child.windowHandle() is window for child in over)

    def _centre(self) -> None:
        # A Wayland desktop chooses the place itself.
        area = self._area
        left = area.x() + (area.width() - self.width()) // 2
        self.move(left, area.y() + int(area.height() * _HEIGHT_PART))

    def _fit(self) -> None:
        """Fit the height to the contents; with an answer, use the person's size."""
        has_answer = self._session is not None
        self.answer.setVisible(has_answer)
        has_room = self._room.isVisibleTo(self)
        self.passages.setVisible(not has_answer and not has_room and self.passages.rows > 0)
        self._new.setVisible(has_answer)
        self._continue.setVisible(has_answer or bool(self.field.text.strip()))
        self.hint.setVisible(not has_answer and self.hint.has_words)
        size = self._answer_size
        if not has_answer:
            self._outer.activate()
            size = QSize(size.width(), self.sizeHint().height())
        self._fitted = fitting(size, self._area)
        self.resize(self._fitted)

    def _remember_size(self) -> None:
        if self._session and self.size() != self._fitted:
            self._answer_size = self._fitted = self.size()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if QGuiApplication.platformName() == "xcb":
            self.setMask(rounded_region(self.size(), _RADIUS_PX))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if handle := self.windowHandle():
            handle.startSystemMove()

    # --- passages ----------------------------------------------------------------------------

    @Slot(str)
    def _on_typed(self, text: str) -> None:
        self._continue.setVisible(self._session is not None or bool(text.strip()))
        if self._session is None and not self.field.is_completing:
            is_searched = bool(text.strip()) and not self.field.scope.is_without_documents
            about = SearchScope(about=self.field.scope.items if is_searched else ())
            self._search.search(text if is_searched else "", about)

    @Slot(int)
    def _on_room_needed(self, height_px: int) -> None:
        self._room.setFixedHeight(height_px)
        self._room.setVisible(height_px > 0)
        self._fit()

    @Slot()
    def _on_about_changed(self) -> None:
        self._on_typed(self.field.text)
        self._fit()

    @Slot(str, object)
    def _on_found(self, _written: str, passages: tuple[Passage, ...]) -> None:
        if self._session is None:
            self._show_passages(self.field.text.strip(), passages)

    def _show_passages(self, text: str, passages: tuple[Passage, ...]) -> None:
        self.passages.show_passages(text, passages)
        self._hint.setText(_NOTHING if text and not passages else _HINT)
        self.field.set_follow_up(False)
        self._fit()

    @Slot(int)
    def _on_stepped(self, by: int) -> None:
        if self._session is None:
            self.passages.step(by)
            self._hint.setText(_CHOSEN_HINT if self.passages.chosen else _HINT)

    @Slot(object)
    def open_passage(self, passage: Passage) -> None:
        """Show the passage at its place in the text of its document."""
        self._read(DocumentSpan(passage.document_id, passage.start, passage.end))

    def _read(self, place: DocumentSpan) -> None:
        # The popup stays on top and would cover the document. Its key brings it back as it was.
        self._opener.read(place)
        self.hide()

    @Slot()
    def _on_copy_requested(self) -> None:
        if chosen := self.passages.chosen:
            QGuiApplication.clipboard().setText(copied(chosen))
            self._hint.setText(tr("Copied"))

    # --- the answer --------------------------------------------------------------------------

    @Slot(object)
    def _on_submitted(self, question: Question) -> None:
        chosen = self.passages.chosen if self._session is None else None
        if chosen:
            self.open_passage(chosen)
        elif question.text:
            self._ask(question)

    def _ask(self, question: Question) -> None:
        session = self._session or self._begin_session()
        self._search.clear()
        self.field.clear()
        session.ask(question)
        self._hint.setText(_ANSWER_HINT)
        self.field.set_follow_up(True)
        self._fit()
        self.answer.scroll_to_end()

    def _begin_session(self) -> ChatSession:
        self._session = session = self._sessions.open_apart()
        session.busy_changed.connect(self.field.set_busy)
        self.answer.set_model(session.model)
        return session

    def _leave_session(self) -> None:
        if session := self._session:
            self._remember_size()
            self._session = None
            session.busy_changed.disconnect(self.field.set_busy)
            self._sessions.release(session)

    @Slot(str)
    def _on_follow_up(self, question: str) -> None:
        if self._session and not self._session.is_busy:
            self._ask(self.field.question_of(question))

    @Slot()
    def _on_stop(self) -> None:
        if self._session:
            self._session.stop()

    @Slot(bool)
    def _on_retry(self, as_excerpts: bool) -> None:
        if self._session:
            self._session.retry(as_excerpts=as_excerpts)

    @Slot(object, object)
    def _on_feedback(self, message: Message, feedback: Feedback) -> None:
        if self._session:
            self._session.give_feedback(message, feedback)

    @Slot(object)
    def _on_view_requested(self, source: SourceRef) -> None:
        if source.is_in_library:
            self._read(span_of(source))

    @Slot()
    def _go_on(self) -> None:
        """Hand the chat, or the unasked question, to the window."""
        conversation: Conversation | None = self._session.conversation if self._session else None
        text = "" if conversation else self.field.text.strip()
        self.continued.emit(conversation, text, self.field.scope)
        self.begin_anew()
        self.hide()
