"""Puts the card of the last command above the question field of the chat. Qt thread."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.features.rails.commands.command import Command, CommandsChanged
from desktop_rag.features.rails.ui.command_card import CommandCard
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.widgets.controls import centred
from desktop_rag.ui.window.window_pages import CHAT

if TYPE_CHECKING:
    from desktop_rag.features.rails.commands.commands import Commands
    from desktop_rag.ui.window.window_pages import WindowPages

_WIDTH_PX = 780


class CommandActions(QObject):
    """Shows the command that the last answer of the open chat proposes, and passes on the word."""

    def __init__(self, bridge: Bridge, commands: "Commands", pages: "WindowPages") -> None:
        super().__init__(pages)
        self._bridge = bridge
        self._commands = commands
        self._pages = pages
        self._card = CommandCard()
        self._wanted = ""
        self._card.decided.connect(self._on_decided)
        self._card.undo_wanted.connect(self._on_undo_wanted)
        bridge.posted.connect(self._on_posted)
        pages.built.connect(self._on_built)
        if pages.built_chat:
            self._on_built(CHAT)

    @Slot(int)
    def _on_built(self, position: int) -> None:
        if position != CHAT or self._pages.built_chat is None:
            return
        row = centred(self._card, _WIDTH_PX)
        row.setContentsMargins(16, 4, 16, 4)
        self._pages.built_chat.above_composer.addLayout(row)
        self._pages.built_chat.sessions.messages_changed.connect(self._follow)
        self._follow()

    @Slot()
    def _follow(self) -> None:
        """Show the command of the last answer, if it proposes one."""
        assert self._pages.built_chat is not None
        model = self._pages.built_chat.sessions.current.model
        turn = model.turn(-1) if model.rowCount() else None
        notes = turn.message.notes if turn and not turn.is_live else None
        wanted = notes.proposal if notes else ""
        if wanted == self._wanted:
            return
        self._wanted = wanted
        self._card.show_command(None)
        if wanted:
            self._bridge.run(self, lambda: self._commands.get(wanted), self._show)

    def _show(self, command: Command | None) -> None:
        if command is not None and command.command_id == self._wanted:
            self._card.show_command(command)

    @Slot(object)
    def _on_posted(self, event: object) -> None:
        if not isinstance(event, CommandsChanged) or not self._wanted:
            return
        if event.command is not None:
            self._show(event.command)
        else:
            wanted = self._wanted
            self._bridge.run(self, lambda: self._commands.get(wanted), self._show_or_hide)

    def _show_or_hide(self, command: Command | None) -> None:
        if command is None:
            self._card.show_command(None)
        else:
            self._show(command)

    @Slot(str, bool)
    def _on_decided(self, command_id: str, is_agreed: bool) -> None:
        self._bridge.run(
            self,
            lambda: self._commands.decide(command_id, is_agreed=is_agreed),
            self._show,
            self._on_failed,
        )

    @Slot(str)
    def _on_undo_wanted(self, command_id: str) -> None:
        self._bridge.run(self, lambda: self._commands.undo(command_id), self._show, self._on_failed)

    def _on_failed(self, error: AppError) -> None:
        self._bridge.post(Notice(error.title, error.hint))
        self._card.show_as_undecided()
