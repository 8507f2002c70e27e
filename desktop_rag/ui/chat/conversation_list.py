"""The conversations, newest first: new, find, pin, rename, delete. Only tells; Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QSortFilterProxyModel,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QMenu,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.conversation import Conversation
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import moment_in_words, one_line
from desktop_rag.ui.widgets.controls import IconButton, TextButton, plain_tooltip

_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
UNTITLED = "New chat"


def title_of(conversation: Conversation) -> str:
    """The title for one line; a question that became a title may have had several."""
    return one_line(" ".join(conversation.title.split())) or UNTITLED


class ConversationModel(QAbstractListModel):
    """Conversations in the order they are given. Editing a title only tells, it stores nothing."""

    title_edited = Signal(str, str)
    ConversationRole = Qt.ItemDataRole.UserRole + 1

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._conversations: list[Conversation] = []

    def rowCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._conversations)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        conversation = self._conversations[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return title_of(conversation)
            case Qt.ItemDataRole.EditRole:
                return conversation.title
            case Qt.ItemDataRole.ToolTipRole:
                when = moment_in_words(conversation.updated_at)
                return plain_tooltip(f"{title_of(conversation)}\n{when}")
            case Qt.ItemDataRole.DecorationRole if conversation.is_pinned:
                return self._theme.icon("pin:muted")
            case Qt.ItemDataRole.AccessibleTextRole if conversation.is_pinned:
                return f"{title_of(conversation)}, pinned"
            case self.ConversationRole:
                return conversation
            case _:
                return None

    def setData(self, index: _Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        title = str(value).strip()
        if role != Qt.ItemDataRole.EditRole or not index.isValid() or not title:
            return False
        conversation = self._conversations[index.row()]
        if title != conversation.title:
            self.title_edited.emit(conversation.conversation_id, title)
        return True

    def flags(self, index: _Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.isValid() else flags

    def show(self, conversations: Sequence[Conversation]) -> None:
        """Show these instead; rows that are the same stay as they are."""
        if list(conversations) == self._conversations:
            return
        self.beginResetModel()
        self._conversations = list(conversations)
        self.endResetModel()

    def row_of(self, conversation_id: str) -> int:
        """Where it stands, or -1."""
        ids = [c.conversation_id for c in self._conversations]
        return ids.index(conversation_id) if conversation_id in ids else -1


class _Found(QSortFilterProxyModel):
    """Leaves those whose title holds the text, and those known to hold it in a message."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._text = ""
        self._ids: frozenset[str] = frozenset()

    def look_for(self, text: str, ids: frozenset[str] = frozenset()) -> None:
        """Show what holds this text."""
        self._text, self._ids = text.strip().casefold(), ids
        self.invalidate()

    def filterAcceptsRow(self, row: int, parent: _Index) -> bool:
        index = self.sourceModel().index(row, 0, parent)
        conversation: Conversation = index.data(ConversationModel.ConversationRole)
        is_titled = self._text in title_of(conversation).casefold()
        return is_titled or conversation.conversation_id in self._ids


class ConversationList(QWidget):
    """The list with its New button and filter. `renamed` carries id and title, `pinned` an id and
    whether; `find_requested` the text that messages are to be looked through for.
    """

    new_requested = Signal()
    import_requested = Signal()
    opened = Signal(object)
    renamed = Signal(str, str)
    pinned = Signal(str, bool)
    find_requested = Signal(str)
    delete_requested = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._current_id = ""
        self._model = ConversationModel(theme, self)
        self._filtered = _Found(self)
        self._filtered.setSourceModel(self._model)
        self._build()
        self._connect()

    def _build(self) -> None:
        self.setProperty("kind", "sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._new = TextButton("New chat", icon="plus", theme=self._theme)
        self._new.setObjectName("newChatButton")
        self._new.setToolTip(plain_tooltip("New chat (Ctrl+N)"))
        self._import = IconButton(self._theme, "import:muted", "Import a chat…")
        self._find = QLineEdit()
        self._find.setObjectName("conversationFilter")
        self._find.setPlaceholderText("Find a chat")
        self._find.setAccessibleName("Find a chat")
        self._find.setClearButtonEnabled(True)
        self._view = QListView()
        self._view.setObjectName("conversations")
        self._view.setAccessibleName("Chats")
        self._view.setModel(self._filtered)
        self._view.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self._view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._view.setUniformItemSizes(True)
        self._rename = QAction("Rename", self._view, shortcut=QKeySequence(Qt.Key.Key_F2))
        self._pin = QAction("Pin", self._view)
        self._delete = QAction("Delete", self._view, shortcut=QKeySequence(Qt.Key.Key_Delete))
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
        column.addWidget(self._find)
        column.addWidget(self._view, 1)

    def _connect(self) -> None:
        self._new.clicked.connect(self.new_requested)
        self._import.clicked.connect(self.import_requested)
        self._find.textChanged.connect(self._on_find_changed)
        self._view.clicked.connect(self._on_activated)
        self._view.activated.connect(self._on_activated)
        self._view.selectionModel().currentChanged.connect(self._on_current_changed)
        self._view.customContextMenuRequested.connect(self._on_menu_requested)
        self._model.title_edited.connect(self.renamed)
        self._rename.triggered.connect(self.rename_current)
        self._pin.triggered.connect(self.pin_current)
        self._delete.triggered.connect(self.delete_current)

    def show_conversations(self, conversations: Sequence[Conversation]) -> None:
        """Show these; the chosen one stays chosen."""
        self._model.show(conversations)
        self.choose(self._current_id)

    def choose(self, conversation_id: str) -> None:
        """Mark the conversation that is open; empty marks none."""
        self._current_id = conversation_id
        row = self._model.row_of(conversation_id)
        if row < 0:
            self._view.clearSelection()
            self._view.setCurrentIndex(QModelIndex())
            return
        self._view.setCurrentIndex(self._filtered.mapFromSource(self._model.index(row)))

    @Slot()
    def rename_current(self) -> None:
        """Edit the title of the marked conversation in its row."""
        if self._view.currentIndex().isValid():
            self._view.edit(self._view.currentIndex())

    @Slot()
    def pin_current(self) -> None:
        """Keep the marked conversation above the others, or no longer."""
        if conversation := self._conversation_at(self._view.currentIndex()):
            self.pinned.emit(conversation.conversation_id, not conversation.is_pinned)

    def show_found(self, text: str, ids: frozenset[str]) -> None:
        """Show these conversations too, unless something else is looked for by now."""
        if text == self._find.text().strip():
            self._filtered.look_for(text, ids)
            self.choose(self._current_id)

    @Slot()
    def delete_current(self) -> None:
        """Ask for the marked conversation to be deleted."""
        conversation = self._conversation_at(self._view.currentIndex())
        if conversation:
            self.delete_requested.emit(conversation)

    def _conversation_at(self, index: QModelIndex) -> Conversation | None:
        return index.data(ConversationModel.ConversationRole)

    @Slot(str)
    def _on_find_changed(self, text: str) -> None:
        # Titles at once, messages when they were looked through.
        self._filtered.look_for(text)
        if wanted := text.strip():
            self.find_requested.emit(wanted)

    @Slot(QModelIndex, QModelIndex)
    def _on_current_changed(self, index: QModelIndex, _before: QModelIndex) -> None:
        # What the keys move to is what is shown, or Delete would hit a chat nobody looks at.
        if self._view.hasFocus():
            self._on_activated(index)

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        conversation = self._conversation_at(index)
        if conversation and conversation.conversation_id != self._current_id:
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
        self._pin.setText("Unpin" if conversation and conversation.is_pinned else "Pin")
        menu.addActions([self._pin, self._rename, self._delete])
        menu.popup(self._view.viewport().mapToGlobal(position))
