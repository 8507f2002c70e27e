"""The question field: plain text that grows with its lines. Qt thread."""

from PySide6.QtCore import QEvent, QMimeData, QSizeF, Qt, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QImage, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.question_scope import QuestionScope, names_of
from desktop_rag.ui.foundation.wording import is_right_to_left, one_line
from desktop_rag.ui.widgets.file_drop import local_files

_MAX_LINES = 6
_ENTER_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_NEWLINE_MODIFIERS = Qt.KeyboardModifier.ShiftModifier
_PLACEHOLDER = tr("Ask about your documents…")
_WITHOUT = tr("Ask the model, without your documents…")


class QuestionField(QPlainTextEdit):
    """Plain text that grows to six lines; Enter sends, Shift+Enter starts a new line."""

    entered = Signal()
    files_added = Signal(object)
    image_pasted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        """Say what questions are about, to eyes and to screen readers."""
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

    def _show_placeholder(self) -> None:
        """On one line, as the empty field has only that."""
        room = self.viewport().width() - 2 * round(self.document().documentMargin()) - 2
        elide = Qt.TextElideMode.ElideRight
        self.setPlaceholderText(self.fontMetrics().elidedText(self._placeholder, elide, room))

    @Slot()
    def _align(self) -> None:
        """Begin the lines where their writing begins, which Qt leaves on the left."""
        text = self.toPlainText()
        is_reverse = is_right_to_left(text) if text else self.isRightToLeft()
        side = Qt.AlignmentFlag.AlignRight if is_reverse else Qt.AlignmentFlag.AlignLeft
        option = self.document().defaultTextOption()
        if option.alignment() != side:
            option.setAlignment(side)
            self.document().setDefaultTextOption(option)

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
        self.setFixedHeight(round(lines * self.fontMetrics().lineSpacing() + margin) + 2)
