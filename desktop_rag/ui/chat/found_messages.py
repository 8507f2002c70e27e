"""The messages of a chat with a bar above them that finds words in them. Qt thread."""

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from shiboken6 import isValid

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.chat.chat_find import ChatFind
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.shortcuts import INSIDE, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.messages.message_model import MessageModel
from desktop_rag.ui.messages.message_view import MessageView
from desktop_rag.ui.widgets.find_bar import FindBar


class FoundMessages(QWidget):
    """Ctrl+F opens the bar, F3 and Shift+F3 walk through the hits; the page has Esc close it."""

    def __init__(self, bridge: Bridge, theme: Theme, view: MessageView) -> None:
        super().__init__()
        self._view = view
        self._model = MessageModel(self)
        self._before: QWidget | None = None
        self._wanted = ""
        self._find = ChatFind(bridge, self)
        self._model.modelReset.connect(self._on_loaded)
        self._bar = FindBar(theme, tr("Find in the chat"))
        self._bar.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._bar)
        column.addWidget(view, 1)
        self._bar.words_changed.connect(self._on_words_changed)
        self._bar.stepped.connect(self._find.step)
        self._bar.closed.connect(self.close_bar)
        self._find.changed.connect(self._on_changed)

    def add_keys(self, area: QWidget) -> None:
        """Let the keys work in this part of the window."""
        for keys, words, act in (
            ("Ctrl+F", tr("Find in the chat"), self.open_bar),
            ("F3", tr("Next place found"), lambda: self._step(1)),
            ("Shift+F3", tr("Place found before"), lambda: self._step(-1)),
        ):
            bind(area, keys, words, act, INSIDE)

    @property
    def is_open(self) -> bool:
        """True while the bar is on show."""
        return not self._bar.isHidden()

    def set_model(self, model: MessageModel) -> None:
        """Show another conversation; the bar is closed."""
        self._wanted = ""
        self._bar.hide()
        self._find.set_model(model)
        self._view.set_model(model)
        if isValid(self._model):
            self._model.modelReset.disconnect(self._on_loaded)
        self._model = model
        model.modelReset.connect(self._on_loaded)

    def find_when_loaded(self, words: str) -> None:
        """Open the bar with these words once the messages are there, at their first hit."""
        self._wanted = words
        self._on_loaded()

    @Slot()
    def open_bar(self) -> None:
        """Let the person type the words to find."""
        if not self.isVisible():
            return
        if not self.is_open:
            self._before = QApplication.focusWidget()
            self._bar.show()
        self._bar.begin()

    @Slot()
    def close_bar(self) -> None:
        """Take the marks away, and give the focus back."""
        has_focus = self._bar.isAncestorOf(QApplication.focusWidget() or self)
        self._bar.hide()
        self._find.find("")
        if has_focus and self._before is not None and isValid(self._before):
            self._before.setFocus(Qt.FocusReason.OtherFocusReason)

    def _step(self, by: int) -> None:
        if self.is_open:
            self._find.step(by)
        else:
            self.open_bar()

    @Slot()
    def _on_loaded(self) -> None:
        words = self._wanted
        if not words or not self._model.rowCount():
            return
        self._wanted = ""
        self._bar.show()
        self._bar.show_words(words)
        self._find.find(words)

    @Slot(str)
    def _on_words_changed(self, words: str) -> None:
        self._find.find(words, self._view.first_row_in_view())

    @Slot()
    def _on_changed(self) -> None:
        find = self._find
        self._bar.show_count(find.words, find.current, len(find.places))
        self._view.show_found(find.words, find.place)
