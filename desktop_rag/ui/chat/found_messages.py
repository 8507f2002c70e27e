"""The messages of a chat with a bar above them that finds words in them. Qt thread."""

import re
from bisect import bisect_left
from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from shiboken6 import isValid

from desktop_rag.core.conversation import Role
from desktop_rag.core.language.translation import tr
from desktop_rag.core.markup.formulas import without_formulas
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.shortcuts import INSIDE, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.word_search import MAX_HITS, found_spans
from desktop_rag.ui.messages.message_model import MessageModel
from desktop_rag.ui.messages.message_view import MessageView
from desktop_rag.ui.widgets.find_bar import FindBar

# Finds words in all messages of the open chat. Qt thread, through the bridge.
#
# All messages are searched, also those of a long chat that are not on show. Their Markdown is taken
# as the words it shows, so the count may differ from the marks where a message is written oddly.

# A message and which of its hits.
Place = tuple[int, int]
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_LINE_MARKS = re.compile(
    r"^[ \t>]*(?:#{1,6}[ \t]+|[-*+][ \t]+|\d+[.)][ \t]+|`{3,}|~{3,})", re.MULTILINE
)
_MARKS = re.compile(r"\\([!-/:-@\[-`{-~])|\*+|`+|~~|(?<!\w)_+|_+(?!\w)")


def shown_words(markdown: str) -> str:
    """Roughly the words that a Markdown text shows."""
    text = without_formulas(markdown, lambda _: "\ufffc")
    return _MARKS.sub(r"\1", _LINE_MARKS.sub("", _LINK.sub(r"\1", text)))


def found_places(texts: Sequence[tuple[str, bool]], words: str) -> tuple[Place, ...]:
    """The places of words in messages, given by their text and True for Markdown."""
    places: list[Place] = []
    first = words.split(maxsplit=1)[0].casefold() if words.strip() else ""
    for row, (text, is_markdown) in enumerate(texts):
        if first and len(places) < MAX_HITS and _may_hold(text, first):
            spans = found_spans(shown_words(text) if is_markdown else text, words)
            places += [(row, n) for n in range(len(spans))]
    return tuple(places[:MAX_HITS])


def _may_hold(text: str, word: str) -> bool:
    """False for most messages without the word, whose Markdown need not be taken apart."""
    return word in text.casefold() or any(mark in text for mark in "*_`~\\")


class ChatFind(QObject):
    """The words that are searched for, and where they are."""

    changed = Signal()

    def __init__(self, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._model = MessageModel(self)
        self._job: Job | None = None
        self._count = 0
        self.words = ""
        self.places: tuple[Place, ...] = ()
        self.current = -1

    @property
    def place(self) -> Place | None:
        """The place the person is at."""
        return self.places[self.current] if self.places else None

    def set_model(self, model: MessageModel) -> None:
        """Search in another chat from now on; its words are not asked for yet."""
        self._model = model
        self.find("")

    def find(self, words: str, near: int = 0) -> None:
        """Find words; the first hit from the message `near` on becomes the current one."""
        if self._job:
            self._job.cancel()
        self._count = self._model.rowCount()
        messages = [self._model.turn(row).message for row in range(self._count)]

        def show(places: tuple[Place, ...]) -> None:
            self._job = None
            at = bisect_left(places, (near, 0))
            self.words, self.places = words, places
            self.current = (at if at < len(places) else 0) if places else -1
            self.changed.emit()

        if not words.strip():
            show(())
            return
        self._job = self._bridge.run(
            self,
            lambda: found_places([(m.text, m.role is Role.ASSISTANT) for m in messages], words),
            show,
        )

    @Slot(int)
    def step(self, by: int) -> None:
        """Go to the next hit (1) or the previous one (-1), around the ends."""
        if self._model.rowCount() != self._count:
            # The chat has gone on.
            self.find(self.words, self.place[0] if self.place else 0)
        elif self.places:
            self.current = (self.current + by) % len(self.places)
            self.changed.emit()


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
