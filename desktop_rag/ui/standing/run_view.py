"""An answer to a scheduled question with what changed, and its sources. Qt thread."""

from PySide6.QtGui import QFont, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.standing.standing_run import ComparedSentence, SentenceChange, StandingRun
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.standing.standing_wording import CHANGES

_COLOURS = {
    SentenceChange.ADDED: ("success_soft", "success_soft_text"),
    SentenceChange.GONE: ("danger_soft", "danger_soft_text"),
    SentenceChange.CHANGED: ("warning_soft", "warning_soft_text"),
}


class RunView(QPlainTextEdit):
    """Shows one run, read-only. Text of documents is inserted literally."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(tr("Answer"))
        self._theme = theme
        self._run: StandingRun | None = None
        theme.changed.connect(self._draw)

    def show_run(self, run: StandingRun | None) -> None:
        """Show this run; nothing for None. The same run again keeps the place."""
        if run != self._run:
            self._run = run
            self._draw()

    def _draw(self) -> None:
        self.clear()
        if run := self._run:
            if run.is_changed:
                for each in run.compared:
                    self._add_sentence(each)
            else:
                self._add(run.answer.strip(), QTextCharFormat())
            if run.note:
                self._add(run.note, self._muted())
            self._add_sources(run)
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def _add_sentence(self, sentence: ComparedSentence) -> None:
        form = QTextCharFormat()
        if colours := _COLOURS.get(sentence.change):
            background, text = colours
            form.setBackground(self._theme.colour(background))
            form.setForeground(self._theme.colour(text))
        form.setFontStrikeOut(sentence.change is SentenceChange.GONE)
        word = CHANGES[sentence.change]
        self._add(sentence.text, form, f"{word}: " if word else "")
        if sentence.before:
            before = self._muted()
            before.setFontStrikeOut(True)
            self._add(sentence.before, before, tr("Before: "))

    def _add_sources(self, run: StandingRun) -> None:
        if run.sources:
            self._add("", QTextCharFormat())
            self._add(tr("Sources"), self._bold())
        for source in run.sources:
            place = source.anchor.label()
            name = source.url or source.path
            self._add(f"[{source.n}] {name}" + (f", {place}" if place else ""), self._muted())

    def _add(self, text: str, form: QTextCharFormat, word: str = "") -> None:
        cursor = self.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if not self.document().isEmpty():
            cursor.insertBlock()
        cursor.insertText(word, self._bold())
        cursor.insertText(text, form)

    def _bold(self) -> QTextCharFormat:
        form = QTextCharFormat()
        form.setFontWeight(QFont.Weight.DemiBold)
        return form

    def _muted(self) -> QTextCharFormat:
        form = QTextCharFormat()
        form.setForeground(self._theme.colour("muted"))
        return form
