"""The scope of a question as chips above the field, with what can't be searched. Qt thread."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from desktop_rag.answer.chat import Chat
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import DocumentsChanged, SourcesChanged
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope, ScopeItem, ScopeKind
from desktop_rag.ui.composer.attached_files import AttachedFile
from desktop_rag.ui.foundation.ask_request import Wanted
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import item_name, one_line
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.flow_row import FlowRow
from desktop_rag.ui.widgets.layouts import clear, drop, vertical
from desktop_rag.ui.widgets.removable_chip import RemovableChip

SCOPE_ICONS = {
    ScopeKind.FILE: "file-text",
    ScopeKind.FOLDER: "folder",
    ScopeKind.LINK: "link",
    ScopeKind.COLLECTION: "collection",
}
_ALL = tr("Ask about all documents instead")
_MOST_CHIPS = 6


class ScopeBar(QWidget):
    """The chips of a scope and of attached files, above a notice with remedies.

    `changed` follows each change of either, `cleared` when the person wants all documents again.
    `attachment_removed` carries the key of an attached file.
    """

    changed = Signal()
    cleared = Signal()
    attachment_removed = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.scope = self._before = ALL_DOCUMENTS
        self.attached: Sequence[AttachedFile] = ()
        self._field: QPlainTextEdit | None = None
        self._offers: list[TextButton] = []
        self.setAccessibleName(tr("What the question is about"))
        self._chips = QWidget()
        self._flow = FlowRow(self._chips)
        self._notice_row = QWidget()
        self._notice = PlainLabel(tone="warning", scale="small", wrap=True)
        ways_out = QWidget()
        self._ways_out = FlowRow(ways_out)
        vertical(self._notice, ways_out, on=self._notice_row, margins=0, spacing=0)
        vertical(self._chips, self._notice_row, on=self, margins=(0, 0, 0, 2), spacing=4)
        # Hidden individually: shown before it is in its window, each would be a window of its own.
        for part in (self._chips, self._notice_row, self):
            part.hide()

    @property
    def is_reading(self) -> bool:
        """True while an attached file is being read."""
        return any(file.is_reading for file in self.attached)

    def set_scope(self, scope: QuestionScope) -> None:
        """Ask about this scope from now on."""
        if scope != self.scope:
            self._before, self.scope = self.scope, scope
            self._show()

    def add(self, item: ScopeItem) -> None:
        """Ask about this part too."""
        self.set_scope(self.scope.with_item(item))

    def show_attached(self, files: Sequence[AttachedFile]) -> None:
        """Show these files after the scope."""
        if tuple(files) != tuple(self.attached):
            self.attached = tuple(files)
            self._show()

    def clear(self) -> None:
        """Ask about all documents again."""
        self.set_scope(ALL_DOCUMENTS)
        self.cleared.emit()

    def show_notice(self, text: str, *offers: tuple[str, Callable[[], None]]) -> None:
        """Say what can't be searched, with a button for each remedy; "" hides the notice."""
        drop(self._offers, of=self._ways_out)
        self._offers = []
        for words, act in offers:
            button = TextButton(words, self._notice_row, kind="quiet")
            button.clicked.connect(act)
            self._ways_out.addWidget(button)
            self._offers.append(button)
        self._notice.setText(text)
        self._notice_row.setVisible(bool(text))
        self._fit()

    def serve(self, field: QPlainTextEdit) -> None:
        """Let Backspace in this empty field remove the last chip, and Ctrl+Z undo a change."""
        self._field = field
        field.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        is_empty = self._field is not None and not self._field.toPlainText()
        if is_empty and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Backspace and self.scope.items:
                self.remove(self.scope.items[-1])
                return True
            can_undo = self._before not in (ALL_DOCUMENTS, self.scope)
            if event.matches(QKeySequence.StandardKey.Undo) and can_undo:
                self.set_scope(self._before)
                return True
        return super().eventFilter(watched, event)

    def remove(self, *items: ScopeItem) -> None:
        """Stop asking about these; Ctrl+Z in the empty field undoes that."""
        left = tuple(item for item in self.scope.items if item not in items)
        if left or self.attached:
            self.set_scope(QuestionScope.of(*left))
        else:
            self.clear()
        if self._field is not None:
            self._field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self) -> None:
        clear(self._flow)
        for chip in (*self._scope_chips(), *self._file_chips()):
            self._flow.addWidget(chip)
            chip.show()
        self._chips.setVisible(self._flow.count() > 0)
        self._fit()
        self.changed.emit()

    def _scope_chips(self) -> list[RemovableChip]:
        items = self.scope.items
        is_one = len(items) + len(self.attached) == 1
        shown = items if len(items) <= _MOST_CHIPS else items[: _MOST_CHIPS - 1]
        chips = [
            self._chip(
                item_name(item),
                SCOPE_ICONS[item.kind],
                _ALL if is_one else tr("Don’t ask about {one_line}", one_line=item_name(item)),
                item,
            )
            for item in shown
        ]
        if others := items[len(shown) :]:
            words = tr("{count:,} more", count=len(others))
            chips.append(
                self._chip(words, "more", tr("Don’t ask about {words}", words=words), *others)
            )
        return chips

    def _chip(self, name: str, icon: str, remove: str, *items: ScopeItem) -> RemovableChip:
        chip = RemovableChip(self._theme, name, remove, icon=f"{icon}:muted")
        chip.removed.connect(lambda: self.remove(*items))
        return chip

    def _file_chips(self) -> list[RemovableChip]:
        is_one = len(self.scope.items) + len(self.attached) == 1
        chips: list[RemovableChip] = []
        for file in self.attached:
            removal = _ALL if is_one else tr("Remove {one_line}", one_line=one_line(file.name))
            chip = RemovableChip(self._theme, file.name, removal, icon="attach:muted")
            chip.removed.connect(lambda key=file.key: self._on_file_removed(key))
            chips.append(chip)
        return chips

    def _on_file_removed(self, key: int) -> None:
        if len(self.scope.items) + len(self.attached) == 1:
            self.clear()
        else:
            self.attachment_removed.emit(key)

    @Slot()
    def _fit(self) -> None:
        self.setVisible(not (self._chips.isHidden() and self._notice_row.isHidden()))
        self.updateGeometry()


_SHOWN = 2


class ScopeCheck(QObject):
    """Shows in the bar what of its scope can't be read, with remedies.

    It checks when the scope or the library changes.
    """

    def __init__(
        self, bridge: Bridge, chat: Chat, bar: ScopeBar, assistant_id: Callable[[], str]
    ) -> None:
        """`assistant_id` returns the current assistant, which may not have access to everything."""
        super().__init__(bar)
        self._bridge = bridge
        self._chat = chat
        self._bar = bar
        self._assistant_id = assistant_id
        self._is_running = self._is_due = False
        bar.changed.connect(self.check)
        bridge.hear((DocumentsChanged, SourcesChanged), self._on_library_changed)

    @Slot()
    def check(self) -> None:
        """Check again, after a check that is running."""
        scope, assistant_id = self._bar.scope, self._assistant_id()
        self._is_due = self._is_running
        if self._is_running:
            return
        if not scope.is_limited:
            self._bar.show_notice("")
            return
        self._is_running = True
        self._bridge.run(
            self,
            lambda: self._chat.scopes.missing(scope, assistant_id),
            self._on_checked,
            lambda _error: self._on_checked(()),
        )

    def _on_checked(self, missing: Sequence[tuple[ScopeItem, str]]) -> None:
        self._is_running = False
        if self._is_due:
            self.check()
            return
        items = [item for item, _ in missing]
        said = [f"“{item_name(item)}”: {one_line(why)}." for item, why in missing[:_SHOWN]]
        if more := len(missing) - _SHOWN:
            said += [tr("And {more:,} more.", more=more)] * (more > 0)
        offers: list[tuple[str, Callable[[], None]]] = []
        if missing:
            to_library = partial(self._bridge.post, Wanted.LIBRARY)
            offers.append((tr("Open the library"), to_library))
            words = tr("Leave it out") if len(items) == 1 else tr("Leave them out")
            offers.append((words, lambda: self._bar.remove(*items)))
        self._bar.show_notice(" ".join(said), *offers)

    def _on_library_changed(self, _event: object) -> None:
        if self._bar.scope.is_limited:
            self.check()
