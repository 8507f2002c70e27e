"""The window's pages, imported and built on first use, and the navigation between them. Qt thread.

The app in the background, with its tray icon and its quick ask, needs none of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QSizePolicy, QStackedWidget, QWidget

from desktop_rag.answer.chat import Chat
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import Notice, ProgressChanged
from desktop_rag.core.paths import Home
from desktop_rag.core.pictures import PictureHold
from desktop_rag.core.settings import LongReading
from desktop_rag.ingest.library import Library
from desktop_rag.progress_words import pictures_question
from desktop_rag.ui.chat.chat_state import ChatState
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.shortcuts import PLACE
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.settings.edited_settings import EditedSettings
from desktop_rag.ui.widgets.controls import ToolButton, set_property, set_tip
from desktop_rag.ui.widgets.layouts import vertical
from desktop_rag.ui.widgets.scrolled_page import put_in_place

if TYPE_CHECKING:
    from desktop_rag.ui.chat.chat_page import ChatPage
    from desktop_rag.ui.library.library_page import LibraryPage
    from desktop_rag.ui.library.source_actions import FurtherKind
    from desktop_rag.ui.search.search_page import SearchPage
    from desktop_rag.ui.settings.settings_page import SettingsPage
    from desktop_rag.ui.settings.settings_parts import Part

_LEAST_PX = 62
_ICON = QSize(22, 22)
# Name and icon of each page, in the order of the shortcuts Ctrl+1, Ctrl+2, …
PAGES = (
    (tr("Chat"), "chat"),
    (tr("Library"), "library"),
    (tr("Search"), "search"),
    (tr("Settings"), "settings"),
)


class NavigationRail(QWidget):
    """A button per page on the window's left edge, as wide as the longest name.

    `page_chosen` carries a position.
    """

    page_chosen = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setObjectName("rail")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self._group = QButtonGroup(self)
        self._current = 0
        column = vertical(on=self, margins=(7, 10, 7, 10), spacing=4)
        for position, (name, icon) in enumerate(PAGES):
            button = self._button(name, icon)
            set_tip(button, tr("{name} (Ctrl+{value})", name=name, value=position + 1))
            self._group.addButton(button, position)
            column.addWidget(button)
        # Settings are set apart at the bottom.
        column.insertStretch(len(PAGES) - 1, 1)
        self._group.idClicked.connect(self.page_chosen)
        theme.changed.connect(self._tint)
        self.choose(0)

    def _button(self, name: str, icon: str) -> ToolButton:
        button = ToolButton()
        button.setText(name)
        button.setAccessibleName(name)
        button.setProperty("icon_name", icon)
        button.setIconSize(_ICON)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.setMinimumWidth(_LEAST_PX)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        return button

    def choose(self, position: int) -> None:
        """Mark the current page."""
        self._current = position
        for button in self._group.buttons():
            is_current = self._group.id(button) == position
            # Not checked: a screen reader would call a page a check box.
            set_property(button, "current", is_current)
            place = tr("The current page, ") if is_current else ""
            button.setAccessibleDescription(
                tr("{place}Ctrl+{value}", place=place, value=self._group.id(button) + 1)
            )
        self._tint()

    @Slot()
    def _tint(self) -> None:
        for button in self._group.buttons():
            role = "accent_soft_text" if self._group.id(button) == self._current else "muted"
            self._theme.set_icon(button, f"{button.property('icon_name')}:{role}")


_ANSWER_THERE = tr(
    "Everything else is searchable. The page Library has the answers to choose from."
)
CHAT, LIBRARY, SEARCH, SETTINGS = range(len(PAGES))


class WindowPages(QStackedWidget):
    """Builds and holds the pages. `built` carries the position of a new one."""

    built = Signal(int)

    def __init__(  # noqa: PLR0917  everything that any page needs
        self,
        bridge: Bridge,
        library: Library,
        chat: Chat,
        theme: Theme,
        home: Home,
        state: ChatState,
        settings: EditedSettings,
        kinds_read: Sequence[str],
    ) -> None:
        super().__init__()
        self._bridge = bridge
        self._library = library
        self._chat = chat
        self._theme = theme
        self._home = home
        self._state = state
        self._settings = settings
        self._kinds_read = kinds_read
        self._beside_settings: list[Part] = []
        self._beside_files: dict[str, Callable[[], QWidget]] = {}
        self._more_kinds: list[Callable[[], FurtherKind]] = []
        self._beside_chats: dict[str, Callable[[], QWidget]] = {}
        self._is_asked = False
        # The name of the part of the settings that compares models, "" without one.
        self.comparison = ""
        self.built_chat: ChatPage | None = None
        self.built_library: LibraryPage | None = None
        self.built_search: SearchPage | None = None
        self.built_settings: SettingsPage | None = None
        for _page in PAGES:
            self.addWidget(QWidget())
        bridge.hear(ProgressChanged, self._on_progress)

    def add_settings_part(self, part: "Part") -> None:
        """Add a part to a page of the settings."""
        self._beside_settings.append(part)
        if self.built_settings:
            self.built_settings.add_part(part)

    def add_library_view(self, name: str, build: Callable[[], QWidget]) -> None:
        """Add a view to the library, before that is shown; it is built when first shown."""
        self._beside_files[name] = build

    def add_source_kind(self, make: Callable[[], "FurtherKind"]) -> None:
        """Add a kind of source to the library, before that is shown."""
        self._more_kinds.append(make)

    def add_below_chats(self, name: str, build: Callable[[], QWidget]) -> None:
        """Add what is shown in place of a chat, before there are any; built when first shown."""
        self._beside_chats[name] = build

    def page_at(self, position: int) -> QWidget:
        """The page at this position, built if need be."""
        if position == CHAT:
            return self.chat
        if position == LIBRARY:
            return self.library
        return self.search if position == SEARCH else self.settings

    def is_built(self, position: int) -> bool:
        """True when the page at this position is built."""
        built = (self.built_chat, self.built_library, self.built_search, self.built_settings)
        return built[position] is not None

    def _on_progress(self, event: ProgressChanged) -> None:
        """Post a notice once the library page has a question about pictures."""
        waiting = event.progress.pictures
        was_asked, self._is_asked = self._is_asked, waiting.hold is PictureHold.ASKED
        if self._is_asked and not was_asked:
            self._bridge.post(Notice(pictures_question(waiting), _ANSWER_THERE))

    # --- the pages, built if need be -------------------------------------------------------------

    @property
    def chat(self) -> "ChatPage":
        """The page of chats."""
        if self.built_chat is None:
            from desktop_rag.ui.chat.chat_page import ChatPage

            self.built_chat = ChatPage(
                self._bridge, self._library, self._chat, self._theme, self._state,
                self._home.window,
            )  # fmt: skip
            for name, build in self._beside_chats.items():
                self.built_chat.add_below_chats(name, build)
            self.built_chat.apply(self._settings.value)
            self._add(CHAT, self.built_chat)
        return self.built_chat

    @property
    def library(self) -> "LibraryPage":
        """The page of folders and files."""
        if self.built_library is None:
            from desktop_rag.ui.library.library_page import LibraryPage

            self.built_library = LibraryPage(
                self._bridge, self._library, self._theme, self._kinds_read, self._beside_files,
                self._more_kinds,
            )  # fmt: skip
            self.built_library.long_pictures_chosen.connect(self._on_long_pictures_chosen)
            self._add(LIBRARY, self.built_library)
        return self.built_library

    @property
    def search(self) -> "SearchPage":
        """The page of the search."""
        if self.built_search is None:
            from desktop_rag.ui.search.search_page import SearchPage

            self.built_search = SearchPage(self._bridge, self._library, self._chat, self._theme)
            self._state.overview.tell(self.built_search.show_library)
            self.built_search.show_progress(self._library.indexing.progress())
            self._add(SEARCH, self.built_search)
        return self.built_search

    @property
    def settings(self) -> "SettingsPage":
        """The page of the settings."""
        if self.built_settings is None:
            from desktop_rag.ui.settings.settings_page import SettingsPage

            self.built_settings = SettingsPage(self._bridge, self._chat, self._settings, self._home)
            self.built_settings.prompts_requested.connect(self._on_prompts_requested)
            self.built_settings.assistants_requested.connect(self._on_assistants_requested)
            for part in self._beside_settings:
                self.built_settings.add_part(part)
            self._add(SETTINGS, self.built_settings)
        return self.built_settings

    @Slot(object)
    def _on_long_pictures_chosen(self, chosen: LongReading) -> None:
        settings = self._settings.value
        index = replace(settings.index, long_pictures=chosen)
        self._settings.change(replace(settings, index=index))

    @Slot()
    def _on_prompts_requested(self) -> None:
        self.chat.prompts.manage()

    @Slot()
    def _on_assistants_requested(self) -> None:
        self.chat.assistants.show_all()

    def _add(self, position: int, page: QWidget) -> None:
        page.setProperty(PLACE, PAGES[position][0])
        put_in_place(self, position, page)
        self.built.emit(position)


def import_chat_page() -> "type[ChatPage]":
    """Import the page that the window opens with. Any thread."""
    from desktop_rag.ui.chat.chat_page import ChatPage

    return ChatPage


def import_pages() -> tuple[type[QWidget], ...]:
    """Import all pages, so that the first look at each is quick. Any thread."""
    from desktop_rag.ui.library.library_page import LibraryPage
    from desktop_rag.ui.search.search_page import SearchPage
    from desktop_rag.ui.settings.settings_page import SettingsPage

    return import_chat_page(), LibraryPage, SearchPage, SettingsPage
