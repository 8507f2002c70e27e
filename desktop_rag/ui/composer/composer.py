"""The composer: a growing question field, attachments, collection, Send and Stop. Qt thread."""

from collections.abc import Sequence
from math import ceil

from PySide6.QtCore import QEvent, QMimeData, QSizeF, Qt, Signal, Slot
from PySide6.QtGui import (
    QDragEnterEvent,
    QFontMetricsF,
    QGuiApplication,
    QIcon,
    QImage,
    QKeyEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QComboBox, QPlainTextEdit, QSizePolicy, QWidget

from desktop_rag.core.conversation import Attachment, Message
from desktop_rag.core.domain import Collection
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.question import Question
from desktop_rag.core.question_scope import (
    ALL_DOCUMENTS,
    WITHOUT_DOCUMENTS,
    QuestionScope,
    names_of,
)
from desktop_rag.core.shared_library import is_shared
from desktop_rag.ui.composer.attached_files import AttachedFile
from desktop_rag.ui.composer.attachment_strip import AttachmentStrip
from desktop_rag.ui.composer.field_completion import SlashPrompts
from desktop_rag.ui.composer.name_completion import NameCompletion, NamedChoice
from desktop_rag.ui.composer.scope_bar import ScopeBar
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import collection_name, is_right_to_left, one_line
from desktop_rag.ui.widgets.controls import (
    Card,
    IconButton,
    PlainLabel,
    TextButton,
    set_property,
    set_tip,
)
from desktop_rag.ui.widgets.file_drop import local_files
from desktop_rag.ui.widgets.form_fields import DropDown
from desktop_rag.ui.widgets.layouts import horizontal, vertical

_MAX_LINES = 6
_ENTER_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_PLACEHOLDER = tr("Ask about your documents…")
_WITHOUT = tr("Ask the model, without your documents…")


class QuestionField(QPlainTextEdit):
    """Plain text that grows to six lines; Enter sends, Shift+Enter starts a new line."""

    entered = Signal()
    files_added = Signal(object)
    image_pasted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("questionField")
        self.setAccessibleName(tr("Question"))
        self._placeholder = _PLACEHOLDER
        self.setPlaceholderText(_PLACEHOLDER)
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self.textChanged.connect(self._align)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        # The style sheet sets the font once the field is in a window.
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def show_scope(self, scope: QuestionScope) -> None:
        """Say what the next question is about, for eyes and screen readers."""
        words = _PLACEHOLDER
        if scope.is_without_documents:
            words = _WITHOUT
        elif scope.is_limited:
            words = tr("Ask about {one_line}…", one_line=one_line(names_of(scope.items)))
        self._placeholder = words
        self._show_placeholder()
        self.setAccessibleDescription(one_line(scope.in_words()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_placeholder()
        # Text that is wrapped anew takes more lines, or fewer.
        self._fit()

    def _show_placeholder(self) -> None:
        """Elide the placeholder to the one line of the empty field."""
        room = self.viewport().width() - 2 * round(self.document().documentMargin()) - 2
        elide = Qt.TextElideMode.ElideRight
        self.setPlaceholderText(self.fontMetrics().elidedText(self._placeholder, elide, room))

    @Slot()
    def _align(self) -> None:
        """Align the text to the side where its script begins; Qt always uses the left."""
        text = self.toPlainText()
        is_reverse = is_right_to_left(text) if text else self.isRightToLeft()
        side = Qt.AlignmentFlag.AlignRight if is_reverse else Qt.AlignmentFlag.AlignLeft
        option = self.document().defaultTextOption()
        if option.alignment() != side:
            option.setAlignment(side)
            self.document().setDefaultTextOption(option)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        is_enter = event.key() in _ENTER_KEYS
        if is_enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            event.accept()
            # What an input method holds is being written yet.
            if self.textCursor().block().layout().preeditAreaText():
                QGuiApplication.inputMethod().commit()
            else:
                self.entered.emit()
            return
        super().keyPressEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return (
            bool(local_files(source)) or source.hasImage() or super().canInsertFromMimeData(source)
        )

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        # The page accepts dropped files, and never moves them.
        if local_files(event.mimeData()):
            event.ignore()
        else:
            super().dragEnterEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert pasted text; attach pasted files and images."""
        if paths := local_files(source):
            self.files_added.emit(paths)
        elif source.hasImage() and not source.hasText():
            self.image_pasted.emit(QImage(source.imageData()))
        else:
            super().insertFromMimeData(source)

    @Slot(QSizeF)
    def _fit(self, _size: QSizeF | None = None) -> None:
        # A plain text document's height is in lines, including wrapped ones.
        lines = max(1, min(_MAX_LINES, round(self.document().size().height())))
        margin = 2 * self.document().documentMargin()
        # Each line is laid out with a whole number of pixels.
        line_px = ceil(QFontMetricsF(self.font()).lineSpacing())
        self.setFixedHeight(round(lines * line_px + margin) + 2)


ALL = tr("All documents")
WITHOUT = tr("Without documents")
ASSISTANT_COLLECTIONS = tr("The assistant's collections")
SOME = tr("A folder or file…")
# No id begins with a space.
_WITHOUT_KEY, _SOME_KEY = " without", " some"
_MOST_PX = 240


class DocumentsChoice(DropDown):
    """Offers all documents, the collections if there are several, no documents at all, or some;
    `some_wanted` follows the choice of the last.
    """

    some_wanted = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._collections: Sequence[Collection] = ()
        self._allowed_ids: Sequence[str] = ()
        self.setObjectName("collectionPicker")
        self.setAccessibleName(tr("Documents"))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMaximumWidth(_MOST_PX)
        self._fill()
        self.activated.connect(self._on_activated)

    @property
    def collection_id(self) -> str:
        """The chosen collection; "" for all documents, and for none."""
        chosen = self.currentData() or ""
        return "" if chosen in (_WITHOUT_KEY, _SOME_KEY) else chosen

    @property
    def is_without_documents(self) -> bool:
        """True if the model is to answer without any document."""
        return self.currentData() == _WITHOUT_KEY

    def set_collections(self, collections: Sequence[Collection]) -> None:
        """Offer these collections; the choice is kept if it still exists."""
        self._collections = collections
        self._fill()

    def restrict(self, collection_ids: Sequence[str]) -> None:
        """Offer only the collections of an assistant; empty offers all."""
        self._allowed_ids = collection_ids
        self._fill()

    def choose(self, collection_id: str, *, is_without_documents: bool = False) -> None:
        """Select a collection, or no documents; an unknown collection selects all documents."""
        key = _WITHOUT_KEY if is_without_documents else collection_id
        self.setCurrentIndex(max(0, self.findData(key)))

    def _fill(self) -> None:
        chosen = self.currentData() or ""
        self.blockSignals(True)
        self.clear()
        self.addItem(ASSISTANT_COLLECTIONS if self._allowed_ids else ALL, "")
        allowed = self._allowed_ids or [each.collection_id for each in self._collections]
        offered = [each for each in self._collections if each.collection_id in allowed]
        # One alone has the same documents as all.
        for collection in offered if len(offered) > 1 else ():
            key = collection.collection_id
            icon = self._theme.icon("server:muted") if is_shared(key) else QIcon()
            self.addItem(icon, collection_name(collection), key)
        self.insertSeparator(self.count())
        self.addItem(WITHOUT, _WITHOUT_KEY)
        self.addItem(SOME, _SOME_KEY)
        self.setCurrentIndex(max(0, self.findData(chosen)))
        self.blockSignals(False)
        self.currentIndexChanged.emit(self.currentIndex())

    @Slot()
    def _on_activated(self) -> None:
        if self.currentData() == _SOME_KEY:
            self.choose("")
            self.some_wanted.emit()


_EDITING = tr("Editing an earlier question. It will be asked in a copy of this chat.")
_PENDING = tr("Will be sent when the files are ready")


class QuestionCard(Card):
    """A field for a question with what completes it, and the buttons that send it and stop.

    `prompts` completes saved prompts after a slash, `names` parts of the library after an @;
    `scope_bar` shows what the question is about. `submitted` carries a Question.
    """

    submitted = Signal(object)
    stop_requested = Signal()

    def __init__(self, theme: Theme, send: str, stop: str) -> None:
        """`send` and `stop` name the buttons."""
        super().__init__(kind="composer")
        self._theme = theme
        self._is_busy = False
        self._field = QuestionField()
        self.prompts = SlashPrompts(self._field)
        self.names = NameCompletion(self._field)
        self.scope_bar = ScopeBar(theme)
        self.scope_bar.serve(self._field)
        self.setFocusProxy(self._field)
        self._send = IconButton(theme, "send:accent_text", send, then=self._submit)
        self._send.setObjectName("sendButton")
        self._stop = IconButton(theme, "stop:accent_text", stop, then=self.stop_requested)
        self._stop.setObjectName("stopButton")

    @property
    def text(self) -> str:
        """The typed text."""
        return self._field.toPlainText()

    def set_text(self, text: str) -> None:
        """Replace the typed text; the cursor goes after it."""
        self._field.setPlainText(text)
        self._field.moveCursor(self._field.textCursor().MoveOperation.End)

    def set_busy(self, is_busy: bool) -> None:
        """Show the button that stops while an answer is being written, else the one that sends."""
        self._is_busy = is_busy
        self._send.setVisible(not is_busy)
        self._stop.setVisible(is_busy)

    def _submit(self) -> None:
        raise NotImplementedError


class Composer(QuestionCard):
    """Sends questions and stops answers; nothing is sent while an answer is being written.

    Without a scope, the collection beside the field applies. `edit_submitted` carries the earlier
    question's message and the Question that replaces it, `scope_changed` the scope,
    `assistant_chosen` an id.
    """

    edit_submitted = Signal(object, object)
    attach_requested = Signal()
    files_added = Signal(object)
    image_pasted = Signal(object)
    removal_requested = Signal(int)
    scope_changed = Signal(object)
    assistant_chosen = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Send"), tr("Stop (Esc)"))
        set_tip(self._send, tr("Send (Enter); Shift+Enter begins a new line"))
        self._is_pending = self._sends_when_ready = False
        self._refusal: AppError | None = None
        self._attachments: tuple[Attachment, ...] = ()
        self._edited_message: Message | None = None
        self._told_scope = ALL_DOCUMENTS
        self._build()
        self._connect()
        self.set_busy(False)

    def _build(self) -> None:
        self.documents = DocumentsChoice(self._theme)
        self._pending = PlainLabel(tone="muted", scale="small", wrap=True)
        self._attach = IconButton(
            self._theme, "attach:muted", tr("Attach files or images"), then=self.attach_requested
        )
        self._attach.setObjectName("attachButton")
        self._below = horizontal(
            self._attach, self.documents, (self._pending, 1), self._send, self._stop, spacing=8
        )
        self._strip = AttachmentStrip(self._theme)
        self._column = vertical(
            self._build_editing(),
            self.scope_bar,
            self._strip,
            self._field,
            self._below,
            on=self,
            margins=(12, 8, 8, 8),
            spacing=4,
        )

    def _build_editing(self) -> QWidget:
        self._editing = QWidget()
        words = PlainLabel(_EDITING, tone="muted", scale="small", wrap=True)
        cancel = TextButton(tr("Cancel"), kind="quiet", then=self.end_editing)
        cancel.setObjectName("cancelEditing")
        horizontal((words, 1), cancel, on=self._editing, margins=0)
        self._editing.hide()
        return self._editing

    def _connect(self) -> None:
        self._field.entered.connect(self._submit)
        self._field.textChanged.connect(self._on_text_changed)
        self._field.files_added.connect(self.files_added)
        self._field.image_pasted.connect(self.image_pasted)
        self._strip.remove_requested.connect(self.removal_requested)
        self.scope_bar.changed.connect(self._on_scope_changed)
        self.documents.currentIndexChanged.connect(self._on_scope_changed)
        self.documents.some_wanted.connect(lambda: self._insert("@"))
        self.names.chosen.connect(self._on_name_chosen)

    @property
    def collection_id(self) -> str:
        """The chosen collection; "" for all documents, and beside a scope."""
        return "" if self.scope.is_limited else self.documents.collection_id

    @property
    def scope(self) -> QuestionScope:
        """What the next question is about."""
        if self.scope_bar.scope.is_limited:
            return self.scope_bar.scope
        return WITHOUT_DOCUMENTS if self.documents.is_without_documents else ALL_DOCUMENTS

    def edit(self, message: Message) -> None:
        """Let the person edit an earlier question."""
        self._edited_message = message
        self._editing.show()
        self.choose_documents(self.documents.collection_id, message.scope)
        self.set_text(message.text)
        self._field.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def end_editing(self) -> None:
        """Stop editing an earlier question and clear the field."""
        if self._edited_message:
            self._edited_message = None
            self._editing.hide()
            self._field.clear()

    def set_busy(self, is_busy: bool) -> None:
        """Show Stop while an answer is being written, else Send."""
        super().set_busy(is_busy)
        set_property(self, "busy", is_busy)
        self._update_buttons()

    def send(self, text: str) -> None:
        """Send this text with the chosen collection and the attachments, once those are read."""
        if self._is_pending:
            self.set_text(text)
            self._submit()
        else:
            self.submitted.emit(self._question(text))

    def _question(self, text: str) -> Question:
        return Question(text, self.collection_id, attachments=self._attachments, scope=self.scope)

    def show_attachments(
        self, files: Sequence[AttachedFile], ready: tuple[Attachment, ...]
    ) -> None:
        """Show the attached files; those in `ready` go with the next question."""
        self._strip.show_files(files)
        self._attachments = ready

    def set_attachments_pending(self, *, is_pending: bool) -> None:
        """Delay sending while attachments are being read; a delayed question is sent then."""
        self._is_pending = is_pending
        self._update_buttons()
        if self._sends_when_ready and not is_pending:
            self._submit()

    def cancel_delayed_send(self) -> None:
        """Keep a question that was waiting for attachments in the field."""
        self._sends_when_ready = False
        self._pending.clear()

    def show_refusal(self, error: AppError | None) -> None:
        """Show why the attachments can't be sent, and block sending; None when they can."""
        self._refusal = error
        self._strip.show_refusal(error)
        self._update_buttons()

    def choose_documents(self, collection_id: str, scope: QuestionScope = ALL_DOCUMENTS) -> None:
        """Choose this scope, or else this collection; an unknown one selects all documents."""
        without = scope.is_without_documents
        self.documents.choose(collection_id, is_without_documents=without)
        self.scope_bar.set_scope(ALL_DOCUMENTS if without else scope)

    @Slot()
    def _submit(self) -> None:
        question = self._question(self.text.strip())
        self._sends_when_ready = self._is_pending and bool(question.text)
        self._pending.setText(_PENDING if self._sends_when_ready else "")
        is_blocked = self._is_busy or self._is_pending or self._refusal is not None
        if is_blocked or not question.text:
            return
        self._field.clear()
        if message := self._edited_message:
            self.end_editing()
            self.edit_submitted.emit(message, question)
        else:
            self.submitted.emit(question)

    @Slot()
    def _on_text_changed(self) -> None:
        # A person who keeps typing will press Enter again.
        self.cancel_delayed_send()
        self._update_buttons()

    @Slot()
    def _on_scope_changed(self) -> None:
        scope = self.scope
        # The chips show the scope, which the collection would contradict.
        self.documents.setVisible(not scope.is_limited)
        self._field.show_scope(scope)
        if scope != self._told_scope:
            self._told_scope = scope
            self.scope_changed.emit(scope)

    @Slot(object)
    def _on_name_chosen(self, choice: NamedChoice) -> None:
        if choice.item:
            self.scope_bar.add(choice.item)
        elif choice.assistant_id:
            self.assistant_chosen.emit(choice.assistant_id)
        else:
            self.choose_documents("", choice.scope)

    def _insert(self, words: str) -> None:
        # Completions are offered to who types.
        self._field.setFocus(Qt.FocusReason.OtherFocusReason)
        cursor = self._field.textCursor()
        before = self.text[cursor.selectionStart() - 1 : cursor.selectionStart()]
        gap = " " if before.strip() else ""
        cursor.insertText(f"{gap}{words}")
        self._field.setTextCursor(cursor)

    @Slot()
    def _update_buttons(self) -> None:
        self._send.setEnabled(bool(self.text.strip()) and self._refusal is None)
