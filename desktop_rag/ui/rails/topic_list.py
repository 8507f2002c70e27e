"""The topics of rails in their order, and the buttons that add, remove, move. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.rails.topics.rail_topic import RailTopic
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.rails.topic_wording import topic_in_words
from desktop_rag.ui.widgets.controls import TextButton, set_tip
from desktop_rag.ui.widgets.item_list import ItemList

_HEIGHT_PX = 150


class TopicList(QWidget):
    """`chosen` and `removed` carry a place from zero; `moved` a place and the one it goes to."""

    chosen = Signal(int)
    added = Signal()
    removed = Signal(int)
    moved = Signal(int, int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._list = ItemList(tr("Topics"))
        self._list.setFixedHeight(_HEIGHT_PX)
        self._add = TextButton(tr("Add topic"), icon="plus:text", theme=theme)
        self._remove = TextButton(tr("Remove topic"), kind="danger")
        self._up = TextButton(tr("Move up"))
        self._down = TextButton(tr("Move down"))
        alt = Qt.Modifier.ALT
        keys = (
            (self._remove, QKeySequence(Qt.Key.Key_Delete)),
            (self._up, QKeySequence(alt | Qt.Key.Key_Up)),
            (self._down, QKeySequence(alt | Qt.Key.Key_Down)),
        )
        for button, key in keys:
            shown = key.toString(QKeySequence.SequenceFormat.NativeText)
            set_tip(button, tr("{name} ({key})", name=button.text(), key=shown))
            action = QAction(self._list, shortcut=key)
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            action.triggered.connect(button.click)
            self._list.addAction(action)
        buttons = QHBoxLayout()
        for button in (self._add, self._remove, self._up, self._down):
            buttons.addWidget(button)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self._list)
        column.addLayout(buttons)
        self._list.currentRowChanged.connect(self._on_chosen)
        self._add.clicked.connect(self.added)
        self._remove.clicked.connect(self._on_remove)
        self._up.clicked.connect(self._on_up)
        self._down.clicked.connect(self._on_down)

    @property
    def place(self) -> int:
        """The place of the chosen topic, -1 for none."""
        return self._list.currentRow()

    def show_topics(self, topics: Sequence[RailTopic], place: int) -> None:
        """Show topics, with the one at `place` chosen. Emits nothing."""
        words = [topic_in_words(topic) for topic in topics]
        with QSignalBlocker(self._list):
            if len(words) == self._list.count():
                for row, text in enumerate(words):
                    self._list.item(row).setText(text)
            else:
                self._list.clear()
                self._list.addItems(words)
            self._list.setCurrentRow(max(0, min(place, len(words) - 1)) if words else -1)
        self._list.setVisible(bool(words))
        self._show_buttons()

    def _show_buttons(self) -> None:
        place, count = self.place, self._list.count()
        self._remove.setEnabled(place >= 0)
        self._up.setEnabled(place > 0)
        self._down.setEnabled(0 <= place < count - 1)
        for button in (self._remove, self._up, self._down):
            button.setVisible(count > 0)

    @Slot(int)
    def _on_chosen(self, place: int) -> None:
        self._show_buttons()
        self.chosen.emit(place)

    @Slot()
    def _on_remove(self) -> None:
        self.removed.emit(self.place)

    @Slot()
    def _on_up(self) -> None:
        self.moved.emit(self.place, self.place - 1)

    @Slot()
    def _on_down(self) -> None:
        self.moved.emit(self.place, self.place + 1)
