"""An answer of a run as it is read: written out from its Markdown, with its sources. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import QUrl
from PySide6.QtGui import QFontDatabase, QImage, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QTextBrowser, QTextEdit, QWidget

from desktop_rag.core.experiments.run import RunAnswer
from desktop_rag.core.language.translation import told, tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.markdown.markdown_html import MarkdownStyle, render_html


class AnswerText(QTextBrowser):
    """Read only; its links lead nowhere."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setOpenLinks(False)
        self.setTabChangesFocus(True)
        self.setAccessibleName(name)

    def loadResource(self, kind: int, name: QUrl | str) -> QImage:
        # With None, Qt would read the file itself.
        return QImage()

    def show_answer(self, answer: RunAnswer | None) -> None:
        """Show its text, or why there is none."""
        self.setExtraSelections([])
        if answer is None:
            self.clear()
        elif answer.has_failed:
            self.setPlainText(told(f"{answer.error_title} {answer.error_hint}"))
        else:
            font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
            look = MarkdownStyle(self._theme.colours, font.family())
            self.setHtml(render_html(answer.text, (), look))

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


def sources_in_words(answer: RunAnswer) -> str:
    """A line for each cited source; that there is none is said."""
    lines: list[str] = []
    for source in answer.sources:
        names = dict.fromkeys((source.title or source.path, source.anchor.label()))
        named = " · ".join(name for name in names if name)
        lines += [one_line(f"[{source.n}] {named}")] * source.is_cited
    return "\n".join(lines) or tr("No source is cited.")
