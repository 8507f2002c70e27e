"""The bar that finds words in a document or a chat. Qt thread."""

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from desktop_rag.core.language.translation import number_in_words, tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.word_search import MAX_HITS
from desktop_rag.ui.widgets.controls import IconButton, PlainLabel, add_clear_button
from desktop_rag.ui.widgets.layouts import horizontal

_SETTLE_MS = 150


class FindBar(QWidget):
    """A field with a count. `words_changed` carries the words, `stepped` 1 or -1."""

    words_changed = Signal(str)
    stepped = Signal(int)
    closed = Signal()

    def __init__(self, theme: Theme, name: str) -> None:
        """`name` says what the field does, such as `Find in the document`."""
        super().__init__()
        self._words = ""
        self.field = QLineEdit(placeholderText=name)
        self.field.setAccessibleName(name)
        add_clear_button(self.field)
        self._count = PlainLabel("", tone="muted")
        self._count.setAccessibleName(tr("Number of hits"))
        previous = IconButton(theme, "chevron-up:text", tr("Previous hit"))
        following = IconButton(theme, "chevron-down:text", tr("Next hit"))
        close = IconButton(theme, "close:muted", tr("Close the search"), then=self.closed)
        horizontal(
            (self.field, 1),
            self._count,
            previous,
            following,
            close,
            on=self,
            margins=(10, 4, 6, 4),
            spacing=4,
        )
        self._timer = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._timer.timeout.connect(self._on_settled)
        self.field.textChanged.connect(lambda _: self._timer.start())
        self.field.installEventFilter(self)
        previous.clicked.connect(lambda: self._step(-1))
        following.clicked.connect(lambda: self._step(1))

    def begin(self) -> None:
        """Let the person type; earlier words are selected."""
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def show_words(self, words: str) -> None:
        """Show words that are already being searched for."""
        self._words = words
        with QSignalBlocker(self.field):
            self.field.setText(words)

    def show_count(self, words: str, current: int, count: int) -> None:
        """Show the number of hits for these words, and which is the current one, from 0."""
        self._words = words
        total = number_in_words(count) + ("+" if count >= MAX_HITS else "")
        if count:
            self._count.setText(tr("{value:,} of {total}", value=current + 1, total=total))
        else:
            self._count.setText(tr("Not found") if words.strip() else "")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and isinstance(event, QKeyEvent):
            is_press = event.type() == QEvent.Type.KeyPress
            if is_press and event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
                is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
                self._step(-1 if is_back else 1)
                return True
        return super().eventFilter(watched, event)

    def _step(self, by: int) -> None:
        if self._timer.isActive() or self.field.text() != self._words:
            self._on_settled()
        else:
            self.stepped.emit(by)

    @Slot()
    def _on_settled(self) -> None:
        self._timer.stop()
        self.words_changed.emit(self.field.text())
