"""The list of conversations: new, search, pin, rename, delete. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import (
    QModelIndex,
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
    QHBoxLayout,
    QLineEdit,
    QListView,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.conversation import Conversation
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.chat.conversation_model import ConversationFilter, ConversationModel
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import IconButton, TextButton, add_clear_button, set_tip

# Draws a chat of the list, with the heading of its group above the first one. Qt thread.

_SMALL = 0.88
_ABOVE_PX, _BELOW_PX, _SIDE_PX = 12, 4, 8
_Index = QModelIndex | QPersistentModelIndex


class ConversationDelegate(QStyledItemDelegate):
    """The heading is part of the row of the first chat, so that the keyboard walks chats only."""

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
            painter.drawText(place, flags, index.data(ConversationModel.GroupRole))
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
        group = index.data(ConversationModel.GroupRole)
        if before.isValid() and before.data(ConversationModel.GroupRole) == group:
            return 0
        above = _ABOVE_PX if before.isValid() else 0
        return round(self._view.fontMetrics().height() * _SMALL) + above + _BELOW_PX + _BELOW_PX


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
    text to search messages for.
    """

    new_requested = Signal()
    import_requested = Signal()
    opened = Signal(object)
    renamed = Signal(str, str)
    pinned = Signal(str, bool)
    search_requested = Signal(str)
    delete_requested = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._current_id = ""
        self._found_ids: frozenset[str] = frozenset()
        self._model = ConversationModel(theme, self)
        self._filtered = ConversationFilter(self)
        self._filtered.setSourceModel(self._model)
        self._build()
        self._connect()

    def _build(self) -> None:
        self.setProperty("kind", "sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._new = TextButton(tr("New chat"), icon="plus", theme=self._theme)
        self._new.setObjectName("newChatButton")
        set_tip(self._new, tr("New chat (Ctrl+N)"))
        self._import = IconButton(self._theme, "import:muted", tr("Import chat…"))
        self._search = QLineEdit()
        self._search.setObjectName("conversationFilter")
        self._search.setPlaceholderText(tr("Search chats"))
        self._search.setAccessibleName(tr("Search chats"))
        add_clear_button(self._search)
        self._view = QListView()
        self._view.setObjectName("conversations")
        self._view.setAccessibleName(tr("Chats"))
        self._view.setModel(self._filtered)
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
        top = QHBoxLayout()
        top.addWidget(self._new, 1)
        top.addWidget(self._import)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 12, 10, 8)
        column.setSpacing(8)
        column.addLayout(top)
        column.addWidget(self._search)
        column.addWidget(self._view, 1)

    def _connect(self) -> None:
        self._new.clicked.connect(self.new_requested)
        self._import.clicked.connect(self.import_requested)
        self._search.textChanged.connect(self._on_search_changed)
        self._view.clicked.connect(self._on_activated)
        self._view.activated.connect(self._on_activated)
        self._view.selectionModel().currentChanged.connect(self._on_current_changed)
        self._view.customContextMenuRequested.connect(self._on_menu_requested)
        self._model.title_edited.connect(self.renamed)
        self._rename.triggered.connect(self.rename_current)
        self._pin.triggered.connect(self.pin_current)
        self._delete.triggered.connect(self.delete_current)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        # Rows that were laid out before have heights without the style.
        self._view.scheduleDelayedItemsLayout()

    def show_conversations(self, conversations: Sequence[Conversation]) -> None:
        """Show these conversations; the selection is kept."""
        self._model.show(conversations)
        self.choose(self._current_id)

    def choose(self, conversation_id: str) -> None:
        """Select the open conversation; "" selects none."""
        self._current_id = conversation_id
        row = self._model.row_of(conversation_id)
        if row < 0:
            self._view.clearSelection()
            self._view.setCurrentIndex(QModelIndex())
            return
        self._view.setCurrentIndex(self._filtered.mapFromSource(self._model.index(row)))

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
            self._filtered.set_search(text, ids)
            self.choose(self._current_id)

    @Slot()
    def delete_current(self) -> None:
        """Emit `delete_requested` for the selected conversation."""
        conversation = self._conversation_at(self._view.currentIndex())
        if conversation:
            self.delete_requested.emit(conversation)

    def _conversation_at(self, index: QModelIndex) -> Conversation | None:
        return index.data(ConversationModel.ConversationRole)

    @Slot(str)
    def _on_search_changed(self, text: str) -> None:
        # Titles match at once, messages once they were searched.
        self._found_ids = frozenset()
        self._filtered.set_search(text)
        if wanted := text.strip():
            self.search_requested.emit(wanted)

    @Slot(QModelIndex, QModelIndex)
    def _on_current_changed(self, index: QModelIndex, _before: QModelIndex) -> None:
        # The arrow keys open chats too; otherwise Delete would remove one that is not on show.
        if self._view.hasFocus():
            self._on_activated(index)

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        conversation = self._conversation_at(index)
        is_new = conversation and conversation.conversation_id != self._current_id
        if conversation and (is_new or self.words_found_in(conversation)):
            self.opened.emit(conversation)

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
