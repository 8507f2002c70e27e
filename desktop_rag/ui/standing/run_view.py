"""An answer to a scheduled question with what changed, and its sources. Qt thread."""

from collections.abc import Sequence

from PySide6.QtGui import QFont, QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QWidget

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.language.translation import tr
from desktop_rag.core.standing.standing_run import ComparedSentence, SentenceChange, StandingRun
from desktop_rag.ui.foundation.place_words import place_in_words
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.messages.cited_text import CitedText
from desktop_rag.ui.standing.standing_wording import CHANGES

_COLOURS = {
    SentenceChange.ADDED: ("success_soft", "success_soft_text"),
    SentenceChange.GONE: ("danger_soft", "danger_soft_text"),
    SentenceChange.CHANGED: ("warning_soft", "warning_soft_text"),
}


class RunView(CitedText):
    """Shows one run; its citations and its sources lead to the documents.

    What changed is shown sentence by sentence, without Markdown.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Answer"), parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
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
                self.link(run.sources)
                for each in run.compared:
                    self._add_sentence(each)
            else:
                self.show_markdown(run.answer.strip(), run.sources)
            if run.note:
                self._add(run.note, self._muted())
            self._add_sources(run.sources)
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
        for n in sentence.numbers:
            self._put(" ", QTextCharFormat())
            self._put(f"[{n}]", self.linking(n, self._muted()))
        if sentence.before:
            before = self._muted()
            before.setFontStrikeOut(True)
            self._add(sentence.before, before, tr("Before: "))

    def _add_sources(self, sources: Sequence[SourceRef]) -> None:
        if sources:
            self._add("", QTextCharFormat())
            self._add(tr("Sources"), self._bold())
        for source in sources:
            place = place_in_words(source.anchor)
            name = one_line(source.url or source.path)
            line = f"[{source.n}] {name}" + (f", {place}" if place else "")
            self._add(line, self.linking(source.n, self._muted()))

    def _add(self, text: str, form: QTextCharFormat, word: str = "") -> None:
        """Put text on a line of its own."""
        if not self.document().isEmpty():
            self._end().insertBlock(QTextBlockFormat(), QTextCharFormat())
        self._put(word, self._bold())
        self._put(text, form)

    def _put(self, text: str, form: QTextCharFormat) -> None:
        self._end().insertText(text, form)

    def _end(self) -> QTextCursor:
        cursor = self.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        return cursor

    def _bold(self) -> QTextCharFormat:
        form = QTextCharFormat()
        form.setFontWeight(QFont.Weight.DemiBold)
        return form

    def _muted(self) -> QTextCharFormat:
        form = QTextCharFormat()
        form.setForeground(self._theme.colour("muted"))
        return form
