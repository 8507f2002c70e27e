"""An answer of a run as it is read: written out from its Markdown, with its sources. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QTextEdit, QWidget

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.language.translation import told, tr
from desktop_rag.features.evaluation.values.run import RunAnswer
from desktop_rag.ui.foundation.place_words import place_in_words
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.messages.cited_text import CitedText
from desktop_rag.ui.widgets.controls import PlainLabel
from desktop_rag.ui.widgets.elided_button import ElidedButton
from desktop_rag.ui.widgets.flow_row import FlowRow


class AnswerText(CitedText):
    """Read only, with what differs from another answer marked."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, name, parent)
        self.setTabChangesFocus(True)

    def show_answer(self, answer: RunAnswer | None) -> None:
        """Show its text, or why there is none."""
        self.setExtraSelections([])
        if answer is None:
            self.clear()
        elif answer.has_failed:
            self.setPlainText(told(f"{answer.error_title} {answer.error_hint}"))
        else:
            self.show_markdown(answer.text, answer.sources)

    def mark(self, spans: Sequence[tuple[int, int]]) -> None:
        """Underline these spans of `toPlainText`, in units of UTF-16."""
        marked: list[QTextEdit.ExtraSelection] = []
        for start, end in spans:
            selection = QTextEdit.ExtraSelection()
            cursor = QTextCursor(self.document())
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            look = QTextCharFormat()
            look.setBackground(self._theme.colour("accent_soft"))
            look.setFontUnderline(True)
            selection.cursor, selection.format = cursor, look  # pyright: ignore[reportAttributeAccessIssue]
            marked.append(selection)
        self.setExtraSelections(marked)


class CitedSources(QWidget):
    """A button for each cited source; that there is none is said.

    `read_requested` carries the SourceRef.
    """

    read_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._none = PlainLabel(tr("No source is cited."), tone="muted")
        self._row = FlowRow(self)
        self._row.addWidget(self._none)
        self._buttons: list[ElidedButton] = []

    def show_sources(self, answer: RunAnswer | None) -> None:
        """Show those of an answer, and nothing without one."""
        for button in self._buttons:
            button.hide()
            self._row.removeWidget(button)
            button.deleteLater()
        is_answered = answer is not None and not answer.has_failed
        cited = [s for s in answer.sources if s.is_cited] if answer and is_answered else []
        self._buttons = [self._button(source) for source in cited]
        self._none.setVisible(is_answered and not cited)

    def _button(self, source: SourceRef) -> ElidedButton:
        names = dict.fromkeys((source.title or source.path, place_in_words(source.anchor)))
        named = " · ".join(name for name in names if name)
        button = ElidedButton(one_line(f"[{source.n}] {named}"), "quiet", self)
        button.clicked.connect(lambda: self.read_requested.emit(source))
        self._row.addWidget(button)
        button.show()
        return button
