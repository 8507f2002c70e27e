"""The button above the chat that shows and changes the assistant. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line, shortened
from desktop_rag.ui.widgets.controls import set_tip
from desktop_rag.ui.widgets.menu_button import MenuButton

NO_ASSISTANT = tr("No assistant")
_MAX_NAME = 30
_MAX_ENTRY = 60


class AssistantChoice(MenuButton):
    """`chosen` carries the selected Assistant, or None."""

    chosen = Signal(object)
    new_requested = Signal()
    list_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._assistants: Sequence[Assistant] = ()
        self._wanted_id = ""
        self.setObjectName("assistantChoice")
        self.choices.triggered.connect(self._on_triggered)
        self._show()

    @property
    def assistant(self) -> Assistant | None:
        """The selected assistant; None if there is none or it was deleted."""
        found = (a for a in self._assistants if a.assistant_id == self._wanted_id)
        return next(found, None)

    @property
    def assistant_id(self) -> str:
        """The id of the selected assistant; "" for none."""
        return self.assistant.assistant_id if self.assistant else ""

    def show_assistants(self, assistants: Sequence[Assistant]) -> None:
        """Offer these; a selected assistant that was deleted and restored is selected again."""
        if list(assistants) != list(self._assistants):
            self._assistants = assistants
            self._show()

    def choose(self, assistant_id: str) -> None:
        """Select an assistant; "" or a deleted one selects none."""
        self._wanted_id = assistant_id
        self._show()

    def _show(self) -> None:
        """Show the selection and emit `chosen`."""
        name = self.assistant.name if self.assistant else NO_ASSISTANT
        self.setText(shortened(name, _MAX_NAME))
        self.setAccessibleName(
            tr("Assistant: {one_line}. Press to change", one_line=one_line(name))
        )
        set_tip(self, tr("Assistant: {one_line}", one_line=one_line(name)))
        self._fill()
        self.chosen.emit(self.assistant)

    def _fill(self) -> None:
        self.choices.clear()
        self._add(NO_ASSISTANT, "")
        for assistant in self._assistants:
            self._add(shortened(assistant.name, _MAX_ENTRY), assistant.assistant_id)
        self.choices.addSeparator()
        self.choices.addAction(tr("New assistant…")).triggered.connect(self.new_requested)
        if self._assistants:
            self.choices.addAction(tr("Manage assistants…")).triggered.connect(self.list_requested)

    def _add(self, label: str, assistant_id: str) -> None:
        action = self.choices.addAction(label)
        action.setData(assistant_id)
        action.setCheckable(True)
        action.setChecked(assistant_id == self.assistant_id)

    @Slot(QAction)
    def _on_triggered(self, action: QAction) -> None:
        if action.isCheckable():
            self.choose(action.data())
