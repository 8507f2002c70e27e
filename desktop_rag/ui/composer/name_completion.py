"""Completes names after an @: files, folders, collections, assistants. Qt thread."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QListWidgetItem, QPlainTextEdit

from desktop_rag.answer.chat import Chat
from desktop_rag.core.language.translation import tr
from desktop_rag.core.question_scope import (
    ALL_DOCUMENTS,
    WITHOUT_DOCUMENTS,
    QuestionScope,
    ScopeItem,
    ScopeKind,
)
from desktop_rag.core.shared_library import is_shared_item
from desktop_rag.ui.composer.field_completion import FieldCompletion
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import item_name, one_line

# What precedes the beginning of a sentence.
_ENDS = ("", "\n", *".?!:…。？！")
# At the start or after a space, so that an e-mail address stays text. A name may have spaces.
_NAME = re.compile(r"(?:^|(?<=\s))@((?:[^\s@][^@\n]{0,80})?)$")
_CHOICE_ROLE = Qt.ItemDataRole.UserRole
_MOST = 8


@dataclass(frozen=True, slots=True)
class NamedChoice:
    """A part of the library, an assistant, or else a scope; `where` disambiguates names."""

    name: str
    item: ScopeItem | None = None
    assistant_id: str = ""
    scope: QuestionScope = ALL_DOCUMENTS
    where: str = ""

    @property
    def kind(self) -> str:
        """The kind in words; empty for all documents."""
        if self.assistant_id:
            return tr("Assistant")
        return self.item.kind.word if self.item else ""

    @property
    def in_words(self) -> str:
        """The row in the list: `@lease.pdf   File in contracts`."""
        kind = self.kind or self.where
        if self.kind and self.where:
            kind = tr("{kind} in {where}", kind=self.kind, where=self.where)
        return one_line(f"@{self.name}" + (f"   {kind}" if kind else ""))


ALL = NamedChoice(tr("All documents"))
WITHOUT = NamedChoice(tr("Without documents"), scope=WITHOUT_DOCUMENTS)


class NameCompletion(FieldCompletion):
    """`chosen` carries a NamedChoice. The name of a part of the library stays in a sentence that
    was begun; any other is removed from the field.

    `requested` carries the typed text; `show_choices` answers it.
    """

    chosen = Signal(object)
    requested = Signal(str)

    def __init__(self, field: QPlainTextEdit) -> None:
        super().__init__(field, tr("Files, folders, collections and assistants"))
        self.rows.setObjectName("nameList")
        self._asked: str | None = None
        self._choices: Sequence[NamedChoice] = ()

    def show_choices(self, typed: str, choices: Sequence[NamedChoice]) -> None:
        """Offer these for the typed text, if it is still the same."""
        if typed == self._typed():
            self._choices = choices
            self._fill()

    def _typed(self) -> str | None:
        cursor = self.field.textCursor()
        typed = _NAME.search(self.field.toPlainText()[: cursor.position()])
        return typed[1] if typed else None

    def _offer(self) -> None:
        typed = self._typed()
        if typed is None or not self._can_offer():
            self._asked, self._choices = None, ()
            self._hide()
        elif typed != self._asked:
            self._asked = typed
            self.requested.emit(typed)

    def _fill(self) -> None:
        if not self._can_offer():
            return
        self.rows.clear()
        for choice in self._choices:
            QListWidgetItem(choice.in_words, self.rows).setData(_CHOICE_ROLE, choice)
        self._show_rows()

    @Slot(QListWidgetItem)
    def _take(self, item: QListWidgetItem) -> None:
        cursor = self.field.textCursor()
        length = len(self._typed() or "") + 1
        choice = item.data(_CHOICE_ROLE)
        cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, length)
        before = self.field.toPlainText()[: cursor.selectionStart()]
        is_within_sentence = before.rstrip(" ")[-1:] not in _ENDS
        stays = choice.item is not None and is_within_sentence
        cursor.insertText(choice.name if stays else "")
        self._hide()
        self.chosen.emit(choice)


class NameFeed(QObject):
    """Looks names up for a completion in the background, one request at a time, newest next."""

    def __init__(self, bridge: Bridge, chat: Chat, completion: NameCompletion) -> None:
        super().__init__(completion)
        self._bridge = bridge
        self._chat = chat
        self._completion = completion
        self._is_running = False
        self._waiting: str | None = None
        completion.requested.connect(self._on_requested)

    @Slot(str)
    def _on_requested(self, typed: str) -> None:
        if self._is_running:
            self._waiting = typed
            return
        self._is_running = True
        chat = self._chat
        self._bridge.run(
            self,
            lambda: choices_for(chat, typed),
            lambda choices: self._on_found(typed, choices),
            lambda _error: self._on_found(typed, ()),
        )

    def _on_found(self, typed: str, choices: Sequence[NamedChoice]) -> None:
        self._is_running = False
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._on_requested(waiting)
        else:
            self._completion.show_choices(typed, choices)


def choices_for(chat: Chat, typed: str) -> list[NamedChoice]:
    """The choices with this text in their names. Worker threads."""
    wanted = typed.casefold()
    fixed = [c for c in (ALL, WITHOUT) if wanted in c.name.casefold()]
    assistants = [a for a in chat.assistants.all() if wanted in a.name.casefold()]
    found = [_choice_of(item) for item in chat.scopes.completing(typed, _MOST)]
    collections = [c for c in found if c.item and c.item.kind is ScopeKind.COLLECTION]
    others = [c for c in found if c not in collections]
    named = [NamedChoice(a.name, assistant_id=a.assistant_id) for a in assistants]
    return [*fixed, *collections, *named, *others]


def _choice_of(item: ScopeItem) -> NamedChoice:
    if is_shared_item(item):
        return NamedChoice(item.name, item, where=tr("the shared library"))
    place = item.key if item.kind is ScopeKind.FOLDER else item.path
    parents = re.split(r"[\\/]", place)[:-1]
    return NamedChoice(item_name(item), item, where=parents[-1] if parents else "")
