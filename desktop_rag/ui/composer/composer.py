"""Where questions are written: a growing field, the collection to ask, Send or Stop. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QMimeData, QSizeF, Qt, Signal, Slot
from PySide6.QtGui import QAction, QDragEnterEvent, QImage, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QMenu,
    QPlainTextEdit,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.attachment import Attachment
from desktop_rag.core.conversation import Message
from desktop_rag.core.domain import Collection
from desktop_rag.core.errors import AppError
from desktop_rag.core.question import Question
from desktop_rag.core.search_syntax import SEARCH_SYNTAX
from desktop_rag.ui.composer.attached_files import Chip
from desktop_rag.ui.composer.attachment_strip import AttachmentStrip
from desktop_rag.ui.composer.slash_prompts import SlashPrompts
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import Card, IconButton, PlainLabel, TextButton, set_property
from desktop_rag.ui.widgets.file_drop import local_files

ALL_DOCUMENTS = "All documents"
ITS_COLLECTIONS = "Its collections"
_EDITING = "An earlier question, anew: it is asked in a copy of this chat, which stays as it is."
_KEYS = "Enter sends, Shift+Enter starts a new line"
_LATER = "Sent once the files are read"
_MOST_LINES = 6
_HINT_FROM_PX = 520
_ENTER_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_NEWLINE_MODIFIERS = Qt.KeyboardModifier.ShiftModifier


class QuestionField(QPlainTextEdit):
    """Plain text, as high as it is up to six lines; Enter sends, Shift+Enter starts a new line."""

    entered = Signal()
    files_given = Signal(object)
    picture_given = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("questionField")
        self.setAccessibleName("Question")
        self.setPlaceholderText("Ask about your documents…")
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        # The style sheet sets the font once the field is in a window.
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in _ENTER_KEYS
        if is_enter and not event.modifiers() & _NEWLINE_MODIFIERS:
            event.accept()
            self.entered.emit()
            return
        super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return (
            bool(local_files(source)) or source.hasImage() or super().canInsertFromMimeData(source)
        )

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        # Files are for the page around: it never takes them away from where they lie.
        if local_files(event.mimeData()):
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """What is pasted: text is written, files and pictures are attached."""
        if paths := local_files(source):
            self.files_given.emit(paths)
        elif source.hasImage() and not source.hasText():
            self.picture_given.emit(QImage(source.imageData()))
        else:
            super().insertFromMimeData(source)

    @Slot(QSizeF)
    def _fit(self, _size: QSizeF | None = None) -> None:
        # A plain text document measures its height in lines, wrapped ones counted.
        lines = max(1, min(_MOST_LINES, round(self.document().size().height())))
        margin = 2 * self.document().documentMargin()
        self.setFixedHeight(round(lines * self.fontMetrics().lineSpacing() + margin) + 2)


class Composer(Card):
    """Tells what to ask and when to stop; while an answer is on its way nothing can be sent.

    `prompts` are those it offers behind a slash.
    `submitted` carries a Question, `edited` an earlier question's message before it. What is to be
    attached is given as paths or a QImage.
    """

    submitted = Signal(object)
    edited = Signal(object, object)
    stop_requested = Signal()
    attach_requested = Signal()
    files_given = Signal(object)
    picture_given = Signal(object)
    removal_requested = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent, kind="composer")
        self._theme = theme
        self._is_busy = False
        self._known: Sequence[Collection] = ()
        self._allowed: Sequence[str] = ()
        self._is_held = self._is_sent_later = False
        self._refusal: AppError | None = None
        self._attachments: tuple[Attachment, ...] = ()
        self._instead_of: Message | None = None
        self._build()
        self._connect()
        self._update_buttons()

    def _build(self) -> None:
        self._field = QuestionField()
        self.prompts = SlashPrompts(self._field)
        self.setFocusProxy(self._field)
        self._collections = QComboBox()
        self._collections.setObjectName("collectionPicker")
        self._collections.setAccessibleName("Documents to ask")
        self._collections.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._collections.setMaximumWidth(240)
        self._collections.addItem(ALL_DOCUMENTS, "")
        self._hint = PlainLabel(_KEYS, tone="muted", scale="small")
        self._send = IconButton(self._theme, "send:accent_text", "Send the question")
        self._send.setObjectName("sendButton")
        self._stop = IconButton(self._theme, "stop:accent_text", "Stop the answer (Esc)")
        self._stop.setObjectName("stopButton")
        below = QHBoxLayout()
        below.setSpacing(8)
        self._attach = IconButton(self._theme, "attach:muted", "Attach files or images")
        self._attach.setObjectName("attachButton")
        below.addWidget(self._attach)
        below.addWidget(self._collections)
        below.addWidget(self._build_syntax())
        below.addStretch(1)
        below.addWidget(self._hint)
        below.addWidget(self._send)
        below.addWidget(self._stop)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 8, 8)
        column.setSpacing(4)
        self._strip = AttachmentStrip(self._theme)
        column.addWidget(self._build_editing())
        column.addWidget(self._strip)
        column.addWidget(self._field)
        column.addLayout(below)

    def _build_editing(self) -> QWidget:
        self._editing = QWidget()
        row = QHBoxLayout(self._editing)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(PlainLabel(_EDITING, tone="muted", scale="small", wrap=True), 1)
        cancel = TextButton("Cancel", kind="quiet")
        cancel.setObjectName("cancelEditing")
        cancel.clicked.connect(self.end_editing)
        row.addWidget(cancel)
        self._editing.hide()
        return self._editing

    def _build_syntax(self) -> IconButton:
        """Tells what can be written to search more exactly, and begins it."""
        button = IconButton(self._theme, "help:muted", "Search more exactly")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        for example in SEARCH_SYNTAX:
            # What follows the tab has a column of its own.
            menu.addAction(f"{example.written}\t{example.meaning}").setData(example.beginning)
        menu.triggered.connect(self._on_syntax_chosen)
        button.setMenu(menu)
        return button

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._hint.setVisible(event.size().width() >= _HINT_FROM_PX)

    def _connect(self) -> None:
        self._field.entered.connect(self._submit)
        self._field.textChanged.connect(self._on_text_changed)
        self._send.clicked.connect(self._submit)
        self._stop.clicked.connect(self.stop_requested)
        self._attach.clicked.connect(self.attach_requested)
        self._field.files_given.connect(self.files_given)
        self._field.picture_given.connect(self.picture_given)
        self._strip.remove_requested.connect(self.removal_requested)

    @property
    def text(self) -> str:
        """What is written now."""
        return self._field.toPlainText()

    @property
    def collection_id(self) -> str:
        """What will be asked; empty for all documents."""
        return self._collections.currentData() or ""

    def set_text(self, text: str) -> None:
        """Put a question into the field, the cursor behind it."""
        self._field.setPlainText(text)
        self._field.moveCursor(self._field.textCursor().MoveOperation.End)

    def edit(self, message: Message) -> None:
        """Let the person write an earlier question anew."""
        self._instead_of = message
        self._editing.show()
        self.set_text(message.text)
        self._field.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def end_editing(self) -> None:
        """Write a new question again; what was written of the other one goes."""
        if self._instead_of:
            self._instead_of = None
            self._editing.hide()
            self._field.clear()

    def set_busy(self, is_busy: bool) -> None:
        """Show Stop instead of Send, or Send again."""
        self._is_busy = is_busy
        self._update_buttons()

    def send(self, text: str) -> None:
        """Ask this with everything that is chosen beside it, once that is read."""
        if self._is_held:
            self.set_text(text)
            self._submit()
        else:
            self.submitted.emit(self._question(text))

    def _question(self, text: str) -> Question:
        return Question(text, self.collection_id, attachments=self._attachments)

    def show_attachments(self, chips: Sequence[Chip], ready: tuple[Attachment, ...]) -> None:
        """Show what is attached; what is `ready` goes with the next question."""
        self._strip.show_chips(chips)
        self._attachments = ready

    def hold(self, *, is_held: bool) -> None:
        """Send nothing while something attached is being read; what was sent goes then."""
        self._is_held = is_held
        self._update_buttons()
        if self._is_sent_later and not is_held:
            self._submit()

    def keep(self) -> None:
        """Do not send what is written once all is read, if it was to be."""
        self._is_sent_later = False
        self._hint.setText(_KEYS)

    def show_refusal(self, error: AppError | None) -> None:
        """Send nothing with what is attached, and say why; None when it can be sent."""
        self._refusal = error
        self._strip.show_refusal(error)
        self._update_buttons()

    def set_collections(self, collections: Sequence[Collection]) -> None:
        """Offer these; the one that is chosen stays chosen if it is still there."""
        self._known = collections
        self._offer()

    def offer_only(self, collection_ids: Sequence[str]) -> None:
        """Offer only these of the collections, as an assistant has them; none is every one."""
        self._allowed = collection_ids
        self._offer()

    def _offer(self) -> None:
        chosen = self.collection_id
        self._collections.clear()
        self._collections.addItem(ITS_COLLECTIONS if self._allowed else ALL_DOCUMENTS, "")
        for collection in self._known:
            if not self._allowed or collection.collection_id in self._allowed:
                self._collections.addItem(one_line(collection.name), collection.collection_id)
        self.choose_collection(chosen)

    def choose_collection(self, collection_id: str) -> None:
        """Choose what will be asked; an unknown collection chooses all documents."""
        self._collections.setCurrentIndex(max(0, self._collections.findData(collection_id)))
        self._collections.setVisible(self._collections.count() > 1)

    @Slot()
    def _submit(self) -> None:
        question = self._question(self.text.strip())
        self._is_sent_later = self._is_held and bool(question.text)
        self._hint.setText(_LATER if self._is_sent_later else _KEYS)
        if self._is_busy or not self._can_send:
            return
        self._field.clear()
        if message := self._instead_of:
            self.end_editing()
            self.edited.emit(message, question)
        else:
            self.submitted.emit(question)

    @Slot()
    def _on_text_changed(self) -> None:
        # Whoever writes on will send it again.
        self.keep()
        self._update_buttons()

    @Slot(QAction)
    def _on_syntax_chosen(self, action: QAction) -> None:
        """Begin it where the cursor is; the person writes on."""
        cursor = self._field.textCursor()
        before = self.text[cursor.selectionStart() - 1 : cursor.selectionStart()]
        gap = " " if before.strip() else ""
        cursor.insertText(f"{gap}{action.data()}")
        self._field.setTextCursor(cursor)
        self._field.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def _can_send(self) -> bool:
        return bool(self.text.strip()) and not self._is_held and self._refusal is None

    @Slot()
    def _update_buttons(self) -> None:
        self._send.setEnabled(bool(self.text.strip()) and self._refusal is None)
        self._send.setVisible(not self._is_busy)
        self._stop.setVisible(self._is_busy)
        set_property(self, "busy", self._is_busy)
