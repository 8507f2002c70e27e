"""The card in the chat that shows a command exactly, asks for consent, and shows the outcome.

Qt thread. All text on it is plain. No button is the default, so that no single key agrees.
"""

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QFontDatabase, QTextOption
from PySide6.QtWidgets import QGridLayout, QPlainTextEdit, QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import Notice
from desktop_rag.features.rails.commands.command import Command, CommandsChanged, CommandState
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton, centred
from desktop_rag.ui.widgets.layouts import clear, horizontal, vertical

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop_rag.features.rails.commands.commands import Commands
    from desktop_rag.ui.chat.chat_page import ChatPage

_LINE_CHARS = 90
_MOST_LINES = 8
_MOST_CHARS = 200_000


class CommandCard(Card):
    """`decided` carries the id and whether the person agreed, `undo_wanted` the id."""

    decided = Signal(str, bool)
    undo_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__(kind="notice", tone="accent")
        self.setObjectName("commandCard")
        self._command: Command | None = None
        self._title = PlainLabel(wrap=True, selectable=True)
        self._title.setObjectName("noticeTitle")
        self._details = QGridLayout()
        self._details.setHorizontalSpacing(12)
        self._details.setColumnStretch(1, 1)
        self._state = PlainLabel(wrap=True)
        self._outcome = literal_text(tr("Outcome"))
        self._agree = TextButton(tr("Do it"), then=lambda: self._decide(is_agreed=True))
        self._decline = TextButton(tr("Don't"), then=lambda: self._decide(is_agreed=False))
        self._undo = TextButton(tr("Undo"), then=self._on_undo_clicked)
        buttons = horizontal()
        for button in (self._agree, self._decline, self._undo):
            button.setAutoDefault(False)
            buttons.addWidget(button)
        buttons.addStretch(1)
        vertical(
            self._title,
            self._details,
            self._state,
            self._outcome,
            buttons,
            on=self,
            margins=(14, 12, 14, 12),
            spacing=6,
        )
        self.hide()

    def show_command(self, command: Command | None) -> None:
        """Show a command as it is now; None hides the card."""
        self.setVisible(command is not None)
        if command is None:
            self._command = None
            return
        if self._command is None or self._command.command_id != command.command_id:
            self._show_details(command)
        self._command = command
        is_open = command.state is CommandState.PROPOSED
        self._title.setText(one_line(command.title))
        self.setAccessibleName(one_line(command.title))
        self._agree.setVisible(is_open)
        self._decline.setVisible(is_open)
        self._agree.setEnabled(is_open)
        self._decline.setEnabled(is_open)
        self._undo.setVisible(command.can_be_undone)
        self._undo.setEnabled(True)
        waits = tr("Nothing is done before you agree.")
        self._state.setText(waits if is_open else f"{command.state.in_words()}.")
        show_text(self._outcome, "\n\n".join(filter(None, (command.outcome, command.said))))

    def show_as_undecided(self) -> None:
        """Enable the buttons again after a decision or an undo failed."""
        self.show_command(self._command)

    def _show_details(self, command: Command) -> None:
        clear(self._details)
        for row, (name, value) in enumerate(command.details):
            label = PlainLabel(one_line(name), tone="muted", scale="small")
            field = literal_text(name)
            label.setBuddy(field)
            self._details.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
            self._details.addWidget(field, row, 1)
            # Only now: shown without a parent it would be a window.
            show_text(field, value)
            # First what would be done, then the buttons.
            for before, after in pairwise((field, self._agree, self._decline, self._undo)):
                QWidget.setTabOrder(before, after)

    def _decide(self, *, is_agreed: bool) -> None:
        if self._command is None:
            return
        # At once, so that the second click of a double click does nothing.
        self._agree.setEnabled(False)
        self._decline.setEnabled(False)
        self.decided.emit(self._command.command_id, is_agreed)

    @Slot()
    def _on_undo_clicked(self) -> None:
        if self._command is not None:
            self._undo.setEnabled(False)
            self.undo_wanted.emit(self._command.command_id)


def literal_text(name: str) -> QPlainTextEdit:
    """A read-only field for literal text."""
    field = QPlainTextEdit(readOnly=True, tabChangesFocus=True)
    field.setAccessibleName(name)
    field.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
    field.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
    return field


def show_text(field: QPlainTextEdit, text: str) -> None:
    """Show a text in the height it needs, up to a few lines; hide the field without one."""
    field.setVisible(bool(text))
    field.setPlainText(text[:_MOST_CHARS])
    lines = sum(1 + len(line) // _LINE_CHARS for line in text[:_MOST_CHARS].split("\n"))
    height = field.fontMetrics().lineSpacing() * min(lines, _MOST_LINES)
    margins = 2 * (field.frameWidth() + int(field.document().documentMargin())) + 8
    field.setFixedHeight(height + margins)


_WIDTH_PX = 780


class CommandActions(QObject):
    """Shows the command that the chat's last answer proposes above the question field."""

    def __init__(
        self, bridge: Bridge, commands: "Callable[[], Commands]", page: "ChatPage"
    ) -> None:
        """`commands` opens the commands, once an answer proposes one."""
        super().__init__(page)
        self._bridge = bridge
        self._commands = commands
        self._card = CommandCard()
        self._wanted = ""
        self._card.decided.connect(self._on_decided)
        self._card.undo_wanted.connect(self._on_undo_wanted)
        bridge.hear(CommandsChanged, self._on_commands_changed)
        row = centred(self._card, _WIDTH_PX)
        row.setContentsMargins(16, 4, 16, 4)
        page.above_composer.addLayout(row)
        page.sessions.proposal_changed.connect(self._follow)

    @Slot(str)
    def _follow(self, wanted: str) -> None:
        self._wanted = wanted
        self._card.show_command(None)
        if wanted:
            self._bridge.run(self, lambda: self._commands().get(wanted), self._show)

    def _show(self, command: Command | None) -> None:
        """Show the wanted command as it is now; one that is gone is hidden."""
        if command is None or command.command_id == self._wanted:
            self._card.show_command(command)

    def _on_commands_changed(self, event: CommandsChanged) -> None:
        wanted = self._wanted
        if wanted and event.command:
            self._show(event.command)
        elif wanted:
            self._bridge.run(self, lambda: self._commands().get(wanted), self._show)

    @Slot(str, bool)
    def _on_decided(self, command_id: str, is_agreed: bool) -> None:
        self._bridge.run(
            self,
            lambda: self._commands().decide(command_id, is_agreed=is_agreed),
            self._show,
            self._on_failed,
        )

    @Slot(str)
    def _on_undo_wanted(self, command_id: str) -> None:
        self._bridge.run(
            self, lambda: self._commands().undo(command_id), self._show, self._on_failed
        )

    def _on_failed(self, error: AppError) -> None:
        self._bridge.post(Notice(error.title, error.hint))
        self._card.show_as_undecided()
