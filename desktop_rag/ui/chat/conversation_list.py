"""The list of conversations, and the search for words in the open one. Qt thread."""

import re
from collections.abc import Sequence

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QAction, QFont, QKeySequence, QPainter, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QLineEdit,
    QListView,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)
from shiboken6 import isValid

from desktop_rag.core.conversation import Conversation, Role
from desktop_rag.core.language.translation import tr
from desktop_rag.core.markup.formulas import without_formulas
from desktop_rag.ui.chat.conversation_model import ConversationModel, group_of, title_of
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.shortcuts import INSIDE, bind
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.word_search import MAX_HITS, found_spans
from desktop_rag.ui.messages.message_model import MessageModel
from desktop_rag.ui.messages.message_view import MessageView
from desktop_rag.ui.reading.reading_pane import WordFinding, hits_from
from desktop_rag.ui.widgets.controls import TextButton, add_clear_button, set_tip
from desktop_rag.ui.widgets.find_bar import FindBar
from desktop_rag.ui.widgets.layouts import vertical

_SMALL = 0.88
_ABOVE_PX, _BELOW_PX, _SIDE_PX = 12, 4, 8
_Index = QModelIndex | QPersistentModelIndex


class ConversationDelegate(QStyledItemDelegate):
    """Draws chats; a group's heading is part of its first row, so that keys visit chats only."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._view = parent

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width(), size.height() + self._heading_px(index))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        heading_px = self._heading_px(index)
        if heading_px:
            painter.save()
            painter.setFont(_small(option.font))
            painter.setPen(self._theme.colour("muted"))
            place = QRect(option.rect.left(), option.rect.top(), option.rect.width(), heading_px)
            place.adjust(_SIDE_PX, 0, -_SIDE_PX, -_BELOW_PX)
            flags = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignBottom
            painter.drawText(place, flags, _group(index))
            painter.restore()
        super().paint(painter, self._below(option, heading_px), index)

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: _Index
    ) -> None:
        below = self._below(option, self._heading_px(index))
        super().updateEditorGeometry(editor, below, index)

    def _below(self, option: QStyleOptionViewItem, heading_px: int) -> QStyleOptionViewItem:
        below = QStyleOptionViewItem(option)
        below.rect = option.rect.adjusted(0, heading_px, 0, 0)
        return below

    def _heading_px(self, index: _Index) -> int:
        """The height of the heading above this row; 0 within a group."""
        before = index.sibling(index.row() - 1, 0)
        if before.isValid() and _group(before) == _group(index):
            return 0
        above = _ABOVE_PX if before.isValid() else 0
        return round(self._view.fontMetrics().height() * _SMALL) + above + _BELOW_PX + _BELOW_PX


def _group(index: _Index) -> str:
    return group_of(index.data(ConversationModel.RowRole))


def _small(font: QFont) -> QFont:
    small = QFont(font)
    if font.pointSizeF() > 0:
        small.setPointSizeF(font.pointSizeF() * _SMALL)
    else:
        small.setPixelSize(round(font.pixelSize() * _SMALL))
    return small


class ConversationList(QWidget):
    """The list with its New button and search field.

    `renamed` carries an id and a title, `pinned` an id and True or False, `search_requested` the
    text to search messages for. `chosen_again` follows when the open chat is clicked.
    """

    new_requested = Signal()
    opened = Signal(object)
    chosen_again = Signal()
    renamed = Signal(str, str)
    pinned = Signal(str, bool)
    search_requested = Signal(str)
    delete_requested = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._current_id = ""
        self._found_ids: frozenset[str] = frozenset()
        self._model = ConversationModel(theme, self)
        self._conversations: Sequence[Conversation] = ()
        self._build()
        self._connect()

    def _build(self) -> None:
        self.setProperty("kind", "sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._new = TextButton(
            tr("New chat"), icon="plus", theme=self._theme, then=self.new_requested
        )
        self._new.setObjectName("newChatButton")
        set_tip(self._new, tr("New chat (Ctrl+N)"))
        self._search = QLineEdit(placeholderText=tr("Search chats"))
        self._search.setObjectName("conversationFilter")
        self._search.setAccessibleName(tr("Search chats"))
        add_clear_button(self._search)
        self._view = QListView()
        self._view.setObjectName("conversations")
        self._view.setAccessibleName(tr("Chats"))
        self._view.setModel(self._model)
        self._view.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self._view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._view.setItemDelegate(ConversationDelegate(self._theme, self._view))
        self._rename = QAction(tr("Rename"), self._view, shortcut=QKeySequence(Qt.Key.Key_F2))
        self._pin = QAction(tr("Pin"), self._view)
        self._delete = QAction(tr("Delete"), self._view, shortcut=QKeySequence(Qt.Key.Key_Delete))
        for action in (self._rename, self._delete):
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            self._view.addAction(action)
        self.below = vertical()
        vertical(
            self._new,
            self._search,
            (self._view, 1),
            self.below,
            on=self,
            margins=(10, 12, 10, 8),
            spacing=8,
        )

    def _connect(self) -> None:
        self._search.textChanged.connect(self._on_search_changed)
        self._view.clicked.connect(self._on_activated)
        self._view.activated.connect(self._on_activated)
        self._view.selectionModel().currentChanged.connect(self._on_current_changed)
        self._view.customContextMenuRequested.connect(self._on_menu_requested)
        self._model.title_edited.connect(self.renamed)
        self._rename.triggered.connect(self.rename_current)
        self._pin.triggered.connect(self.pin_current)
        self._delete.triggered.connect(self.delete_current)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        # The menu of a row is about the current one.
        if not QApplication.activePopupWidget():
            self._show()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Rows that were laid out before have heights without the style.
        self._view.scheduleDelayedItemsLayout()

    def show_conversations(self, conversations: Sequence[Conversation]) -> None:
        """Show these conversations; the selection is kept."""
        self._conversations = conversations
        self._show()

    def _show(self) -> None:
        """Show those with the search text in their titles, or in one of their messages."""
        text = self._search.text().strip().casefold()
        shown = [
            each
            for each in self._conversations
            if text in title_of(each).casefold() or each.conversation_id in self._found_ids
        ]
        # A row that moved away from under the pointer would be missed.
        if not (self.underMouse() and self._model.has(shown)):
            self._model.show(shown)
        self.choose(self._current_id)

    def choose(self, conversation_id: str) -> None:
        """Select the open conversation; "" selects none."""
        self._current_id = conversation_id
        row = self._model.row_of(conversation_id)
        if row < 0:
            self._view.clearSelection()
            self._view.setCurrentIndex(QModelIndex())
            return
        self._view.setCurrentIndex(self._model.index(row, 0))

    def words_found_in(self, conversation: Conversation) -> str:
        """The words of the search, if they are in a message of this conversation; else ""."""
        is_found = conversation.conversation_id in self._found_ids
        return self._search.text().strip() if is_found else ""

    @Slot()
    def rename_current(self) -> None:
        """Edit the title of the selected conversation in place."""
        if self._view.currentIndex().isValid():
            self._view.edit(self._view.currentIndex())

    @Slot()
    def pin_current(self) -> None:
        """Pin or unpin the selected conversation."""
        if conversation := self._conversation_at(self._view.currentIndex()):
            self.pinned.emit(conversation.conversation_id, not conversation.is_pinned)

    def show_matches(self, text: str, ids: frozenset[str]) -> None:
        """Show the matches in messages too, unless the search text has changed since."""
        if text == self._search.text().strip():
            self._found_ids = ids
            self._show()

    @Slot()
    def delete_current(self) -> None:
        """Emit `delete_requested` for the selected conversation."""
        conversation = self._conversation_at(self._view.currentIndex())
        if conversation:
            self.delete_requested.emit(conversation)

    def _conversation_at(self, index: QModelIndex) -> Conversation | None:
        return index.data(ConversationModel.RowRole)

    @Slot(str)
    def _on_search_changed(self, text: str) -> None:
        # Titles match at once, messages once they were searched.
        self._found_ids = frozenset()
        self._show()
        if wanted := text.strip():
            self.search_requested.emit(wanted)

    @Slot(QModelIndex, QModelIndex)
    def _on_current_changed(self, index: QModelIndex, _before: QModelIndex) -> None:
        # The arrow keys open chats too; otherwise Delete would remove one that is not shown.
        if self._view.hasFocus():
            self._on_activated(index)

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        conversation = self._conversation_at(index)
        is_new = conversation and conversation.conversation_id != self._current_id
        if conversation and (is_new or self.words_found_in(conversation)):
            self.opened.emit(conversation)
        elif conversation:
            self.chosen_again.emit()

    @Slot(QPoint)
    def _on_menu_requested(self, position: QPoint) -> None:
        index = self._view.indexAt(position)
        if not index.isValid():
            return
        self._view.setCurrentIndex(index)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        conversation = self._conversation_at(index)
        self._pin.setText(tr("Unpin") if conversation and conversation.is_pinned else tr("Pin"))
        menu.addActions([self._pin, self._rename, self._delete])
        menu.popup(self._view.viewport().mapToGlobal(position))


# The row of a message, and the index of one of its hits.
Place = tuple[int, int]
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_LINE_MARKS = re.compile(
    r"^[ \t>]*(?:#{1,6}[ \t]+|[-*+][ \t]+|\d+[.)][ \t]+|`{3,}|~{3,})", re.MULTILINE
)
_MARKS = re.compile(r"\\([!-/:-@\[-`{-~])|\*+|`+|~~|(?<!\w)_+|_+(?!\w)")


def shown_words(markdown: str) -> str:
    """Approximately the words that a Markdown text shows."""
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
    """False for most messages without the word, to avoid parsing their Markdown."""
    return word in text.casefold() or any(mark in text for mark in "*_`~\\")


class ChatFind(WordFinding):
    """Finds words in all messages of the open chat, shown or not; a hit is a Place.

    Markdown is searched by the words it shows, so the count may differ from the marks where a
    message is written oddly.
    """

    def __init__(self, bridge: Bridge, parent: QObject) -> None:
        super().__init__(bridge, parent)
        self._model = MessageModel(self)
        self._count = 0

    @property
    def place(self) -> Place | None:
        """The current place."""
        return self.hits.spans[self.hits.current] if self.hits.spans else None

    def set_model(self, model: MessageModel) -> None:
        """Search in another chat, starting without words."""
        self._model = model
        self.find("")

    def find(self, words: str, near: int = 0) -> None:
        """Find words; the first hit from the message `near` on becomes the current one."""
        self._count = self._model.rows
        if not words.strip():
            self.end()
            return
        messages = [self._model.turn(row).message for row in range(self._count)]
        texts = [(m.text, m.role is Role.ASSISTANT) for m in messages]
        self.look(lambda: hits_from(words, found_places(texts, words), (near, 0)))

    @Slot(int)
    def step(self, by: int) -> None:
        """Go to the next hit (1) or the previous one (-1), around the ends."""
        if self._model.rows != self._count:
            # The chat has new messages.
            self.find(self.hits.words, self.place[0] if self.place else 0)
        else:
            super().step(by)


class FoundMessages(QWidget):
    """The messages of a chat, below a bar that finds words in them.

    Ctrl+F opens the bar, F3 and Shift+F3 step through the hits; the page lets Esc close it.
    """

    def __init__(self, bridge: Bridge, theme: Theme, view: MessageView) -> None:
        super().__init__()
        self._view = view
        self._model = MessageModel(self)
        self._before: QWidget | None = None
        self._wanted = ""
        self._find = ChatFind(bridge, self)
        self._model.loaded.connect(self._on_loaded)
        self._bar = FindBar(theme, tr("Find in the chat"))
        self._bar.hide()
        vertical(self._bar, (view, 1), on=self, margins=0, spacing=0)
        self._bar.words_changed.connect(
            lambda words: self._find.find(words, self._view.first_row_in_view())
        )
        self._bar.stepped.connect(self._find.step)
        self._bar.closed.connect(self.close_bar)
        self._find.changed.connect(self._on_changed)

    def add_keys(self, area: QWidget) -> None:
        """Bind the keys in this part of the window."""
        for keys, words, act in (
            ("Ctrl+F", tr("Find in the chat"), self.open_bar),
            ("F3", tr("Next place found"), lambda: self._step(1)),
            ("Shift+F3", tr("Place found before"), lambda: self._step(-1)),
        ):
            bind(area, keys, words, act, INSIDE)

    @property
    def is_open(self) -> bool:
        """True while the bar is shown."""
        return not self._bar.isHidden()

    def set_model(self, model: MessageModel) -> None:
        """Show another conversation; the bar is closed."""
        self._wanted = ""
        self._bar.hide()
        self._find.set_model(model)
        self._view.set_model(model)
        if isValid(self._model):
            self._model.loaded.disconnect(self._on_loaded)
        self._model = model
        model.loaded.connect(self._on_loaded)

    def find_when_loaded(self, words: str) -> None:
        """Open the bar with these words once the messages are loaded, at the first hit."""
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
        """Remove the marks, and give the focus back."""
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
        if not words or not self._model.rows:
            return
        self._wanted = ""
        self._bar.show()
        self._bar.show_words(words)
        self._find.find(words)

    @Slot()
    def _on_changed(self) -> None:
        hits = self._find.hits
        self._bar.show_count(hits.words, hits.current, len(hits.spans))
        self._view.show_found(hits.words, self._find.place)
