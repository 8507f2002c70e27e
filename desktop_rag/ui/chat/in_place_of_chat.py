"""What the list of chats leads to beside chats, shown in their place. Qt thread."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QBoxLayout, QStackedWidget, QWidget

from desktop_rag.ui.widgets.controls import TextButton
from desktop_rag.ui.widgets.scrolled_page import put_in_place


class InPlaceOfChat(QStackedWidget):
    """Shows the chat, or one of the widgets that have a button below the list of chats.

    Each is built when it is first shown. `other_shown` carries True when one of them is shown,
    False when the chat is.
    """

    other_shown = Signal(bool)

    def __init__(self, buttons: QBoxLayout, chat: QWidget) -> None:
        """The buttons are added to the layout `buttons`."""
        super().__init__()
        self._layout = buttons
        self._chat = chat
        self._buttons: dict[str, TextButton] = {}
        self._unbuilt: dict[str, Callable[[], QWidget]] = {}
        self.addWidget(chat)

    @property
    def names(self) -> list[str]:
        """The names on the buttons."""
        return list(self._buttons)

    def add(self, name: str, build: Callable[[], QWidget]) -> None:
        """Add a button, and what is built when it is first pressed."""
        button = TextButton(name, kind="quiet")
        button.setCheckable(True)
        button.clicked.connect(partial(self._on_clicked, name))
        self._buttons[name] = button
        self._unbuilt[name] = build
        self._layout.addWidget(button)
        self.addWidget(QWidget())

    def show_named(self, name: str) -> QWidget:
        """Show what has this name; returns it."""
        at = 1 + list(self._buttons).index(name)
        if build := self._unbuilt.pop(name, None):
            put_in_place(self, at, build())
        self.setCurrentIndex(at)
        self._mark(name)
        self.other_shown.emit(True)
        widget = self.currentWidget()
        assert widget is not None, "it was added"
        return widget

    def show_chat(self) -> None:
        """Show the chat again, unless it is shown."""
        if self.currentWidget() is not self._chat:
            self.setCurrentWidget(self._chat)
            self._mark("")
            self.other_shown.emit(False)

    def _on_clicked(self, name: str) -> None:
        if self._buttons[name].isChecked():
            self.show_named(name)
        else:
            self.show_chat()

    def _mark(self, name: str) -> None:
        for known, button in self._buttons.items():
            button.setChecked(known == name)
