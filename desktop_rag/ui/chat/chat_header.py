"""The header of a conversation: title, assistant, model and menu. Qt thread."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QMenu, QToolButton, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.ui.composer.assistant_choice import AssistantChoice
from desktop_rag.ui.composer.model_choice import ModelChoice
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import ElidedLabel, IconButton, begin_with_window
from desktop_rag.ui.widgets.wrapping_row import WrappingRow

_MIN_TITLE_PX = 120


class ChatHeader(QWidget):
    """Shows the title, the assistant and model, a menu, and the toggles of the side panels."""

    list_toggled = Signal()
    sources_toggled = Signal()
    rename_requested = Signal()
    pin_requested = Signal()
    export_requested = Signal()
    delete_requested = Signal()

    def __init__(
        self,
        theme: Theme,
        assistants: AssistantChoice,
        models: ModelChoice,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._title = ElidedLabel()
        self._title.setObjectName("chatTitle")
        begin_with_window(self._title)
        chats = IconButton(theme, "panel-left:muted", tr("Show or hide chats"))
        self._menu_button = IconButton(theme, "more:muted", tr("Chat options"))
        self._menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        self._pin = menu.addAction(tr("Pin"), self._on_pin)
        menu.addAction(tr("Rename"), self._on_rename)
        menu.addAction(tr("Export…"), self._on_export)
        menu.addSeparator()
        menu.addAction(tr("Delete"), self._on_delete)
        self._menu_button.setMenu(menu)
        self._sources = IconButton(theme, "panel-right:muted", tr("Show or hide sources"))
        chats.clicked.connect(self.list_toggled)
        self._sources.clicked.connect(self.sources_toggled)
        row = WrappingRow(
            [chats, self._title, self._menu_button, self._sources],
            [assistants, models],
            at=2,
            stretched=1,
            min_px=_MIN_TITLE_PX,
            spacing=4,
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 6, 8, 6)
        column.addWidget(row)

    def show_chat(self, title: str, *, is_stored: bool, is_pinned: bool) -> None:
        """Show a title; the menu is hidden until the conversation is stored."""
        self._title.set_full_text(title)
        self._menu_button.setVisible(is_stored)
        self._pin.setText(tr("Unpin") if is_pinned else tr("Pin"))

    @Slot()
    def _on_pin(self) -> None:
        self.pin_requested.emit()

    @Slot()
    def _on_export(self) -> None:
        self.export_requested.emit()

    @Slot()
    def _on_rename(self) -> None:
        self.rename_requested.emit()

    @Slot()
    def _on_delete(self) -> None:
        self.delete_requested.emit()
