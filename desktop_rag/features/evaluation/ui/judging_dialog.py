"""Dialogs with answers of runs: to judge them blind, or to see two beside each other. Qt thread."""

import difflib
import random
import re
import time
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QComboBox, QDialog, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.language.translation import told, tr
from desktop_rag.features.evaluation.values.answer_matrix import AnswerMatrix, MatrixRow
from desktop_rag.features.evaluation.values.run import Judgement, Preference, RunAnswer, SetQuestion
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line, place_in_words
from desktop_rag.ui.messages.cited_text import CitedText
from desktop_rag.ui.widgets.controls import ElidedButton, PlainLabel, TextButton
from desktop_rag.ui.widgets.flow_row import FlowRow
from desktop_rag.ui.widgets.form_fields import DropDown
from desktop_rag.ui.widgets.layouts import Part, Stretch, horizontal, vertical


class AnswerText(CitedText):
    """Shows the answer of a run, with its differences from another one marked."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__(theme, name)
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
    """A button for each cited source. `read_requested` carries the SourceRef."""

    read_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__()
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


class AnswerDialog(QDialog):
    """A question with answers beside each other. `read_requested` carries a SourceRef."""

    read_requested = Signal(object)

    def __init__(self, title: str, names: Sequence[str], theme: Theme, parent: QWidget) -> None:
        """There is an answer for each of the `names`."""
        super().__init__(parent)
        self.setWindowTitle(title)
        self._place = PlainLabel(tone="muted")
        self._question = PlainLabel(scale="heading", wrap=True, selectable=True)
        self._texts = [AnswerText(theme, name) for name in names]
        self._sources = [CitedSources() for _ in names]
        for shown in (*self._texts, *self._sources):
            shown.read_requested.connect(self.read_requested)

    def _arrange(self, *parts: Part) -> None:
        vertical(self._place, self._question, *parts, on=self, margins=(20, 18, 20, 16), spacing=10)

    def _show_place(self, at: int, count: int, *more: str) -> None:
        place = tr("{number:,} of {count:,}", number=at + 1, count=count)
        self._place.setText(" · ".join(part for part in (place, *more) if part))

    def _show_answers(self, answers: Sequence[RunAnswer | None]) -> None:
        for text, sources, answer in zip(self._texts, self._sources, answers, strict=True):
            text.show_answer(answer)
            sources.show_sources(answer)


_SIZE_PX = (900, 560)
# What the buttons say, as (preference, rating).
_PAIR = tuple((each, 0) for each in (Preference.FIRST, Preference.SAME, Preference.SECOND))
_RATINGS = tuple((None, rating) for rating in range(1, 6))


@dataclass(frozen=True, slots=True)
class JudgedAnswers:
    """A question with one answer or two, in the order shown."""

    question: SetQuestion
    answers: tuple[RunAnswer, ...]


def to_judge(
    matrix: AnswerMatrix, run_ids: Sequence[str], done: Sequence[Judgement], chance: random.Random
) -> list[JudgedAnswers]:
    """The answers that the person has not judged yet, with random sides."""
    columns = [n for n, run in enumerate(matrix.runs) if run.run_id in run_ids]
    found: list[JudgedAnswers] = []
    for row in matrix.rows:
        cells = [row.cells[n] for n in columns]
        given = [cell.answer for cell in cells if cell and not cell.answer.has_failed]
        own = [j for j in done if not j.judge and j.question_id == row.question.question_id]
        judged = [{j.first_run, j.second_run} - {""} for j in own]
        if len(given) < len(run_ids) or set(run_ids) in judged:
            continue
        chance.shuffle(given)
        found.append(JudgedAnswers(row.question, tuple(given)))
    return found


class JudgingDialog(AnswerDialog):
    """Asks which of two answers is better, or how good one is, from 1 to 5.

    The sides are random and no name is shown, so that nobody favours a model. `judged` carries each
    Judgement when it is made or changed.
    """

    judged = Signal(object)

    def __init__(
        self, set_id: str, tasks: Sequence[JudgedAnswers], theme: Theme, parent: QWidget
    ) -> None:
        is_pair = bool(tasks) and len(tasks[0].answers) > 1
        names = [tr("Answer {number}", number=n) for n in range(1, 3 if is_pair else 2)]
        super().__init__(tr("Judge blind"), names, theme, parent)
        self.setObjectName("judgingDialog")
        self._set_id = set_id
        self._tasks = tasks
        self._at = 0
        self._made: dict[int, Judgement] = {}
        self._comment = QLineEdit(placeholderText=tr("Comment, if you like"))
        self._comment.setAccessibleName(tr("Comment"))
        self._skip = TextButton(tr("Skip"), then=self._next)
        self._back = TextButton(tr("Back"), then=self._on_back_clicked)
        said = (tr("1, 2 and 3 choose, S skips, Backspace goes back.") if is_pair
                else tr("1 to 5 choose, S skips, Backspace goes back."))  # fmt: skip
        self._keys = PlainLabel(said, tone="muted")
        self._values = _PAIR if is_pair else _RATINGS
        self._buttons = self._make_buttons()
        shown = zip(self._texts, self._sources, strict=True)
        sides = [(vertical((text, 1), sources), 1) for text, sources in shown]
        buttons = horizontal(*self._buttons, Stretch(), self._back, self._skip)
        self._arrange((horizontal(*sides), 1), self._comment, buttons, self._keys)
        self.resize(*_SIZE_PX)
        # The shortcut of a button acts a moment later, in which the next key would be lost.
        keys = (*map(str, range(1, len(self._buttons) + 1)), Qt.Key.Key_S, Qt.Key.Key_Backspace)
        for key, button in zip(keys, (*self._buttons, self._skip, self._back), strict=True):
            QShortcut(QKeySequence(key), self).activated.connect(button.click)
        self._show()

    def _make_buttons(self) -> list[TextButton]:
        worst, best = tr("1, wrong or useless"), tr("5, right and complete")
        pair = (tr("Left is better"), tr("Same"), tr("Right is better"))
        words = pair if len(self._values) == len(pair) else (worst, "2", "3", "4", best)
        buttons = [TextButton(word) for word in words]
        for button, value in zip(buttons, self._values, strict=True):
            button.clicked.connect(lambda _=False, v=value: self._judge(*v))
        return buttons

    def _show(self) -> None:
        task = self._tasks[self._at]
        self._show_place(self._at, len(self._tasks), self._said_before())
        self._question.setText(task.question.text)
        self._show_answers(task.answers)
        self._back.setEnabled(self._at > 0)
        made = self._made.get(self._at)
        self._comment.setText(made.comment if made else "")
        # The keys choose here; in the comment they would write.
        self._texts[0].setFocus()

    def _said_before(self) -> str:
        made = self._made.get(self._at)
        if made is None:
            return ""
        chosen = self._buttons[self._values.index((made.preference, made.rating))]
        return tr("You said: {words}", words=chosen.text())

    def _judge(self, preference: Preference | None, rating: int) -> None:
        task = self._tasks[self._at]
        runs = [answer.run_id for answer in task.answers]
        before = self._made.get(self._at)
        judgement = Judgement(
            before.judgement_id if before else uuid.uuid4().hex, self._set_id,
            task.question.question_id, runs[0], time.time(), runs[1] if len(runs) > 1 else "",
            preference, rating, self._comment.text().strip(),
        )  # fmt: skip
        self._made[self._at] = judgement
        self.judged.emit(judgement)
        self._next()

    @Slot()
    def _on_back_clicked(self) -> None:
        self._at -= 1
        self._show()

    @Slot()
    def _next(self) -> None:
        self._at += 1
        if self._at < len(self._tasks):
            self._show()
        else:
            self.accept()


_ANSWERS_SIZE_PX = (920, 620)
_WORDS = re.compile(r"\S+")
_CORRECTION_PX = 80


class AnswersDialog(AnswerDialog):
    """Shows the answers of two runs to a question, with the differences marked.

    `corrected` carries the id of the question and an expected answer.
    """

    corrected = Signal(str, str)

    def __init__(
        self,
        matrix: AnswerMatrix,
        rows: Sequence[MatrixRow],
        at: int,
        chosen: Collection[str],
        theme: Theme,
        parent: QWidget,
    ) -> None:
        """The `rows` are gone through from `at`; `chosen` are the ids of runs to begin with."""
        names = (tr("Answer on the left"), tr("Answer on the right"))
        super().__init__(tr("Answers"), names, theme, parent)
        self.setObjectName("answersDialog")
        self._rows = rows
        self._at = at
        columns = [n for n, run in enumerate(matrix.runs) if run.run_id in chosen]
        self._chosen = (columns or list(range(len(matrix.runs))))[-2:]
        self._expected = PlainLabel(tone="muted", wrap=True, selectable=True)
        sides = (tr("Run on the left"), tr("Run on the right"))
        self._choices = [self._choice(matrix, name, n) for n, name in enumerate(sides)]
        self._feet = [PlainLabel(tone="muted", wrap=True, selectable=True) for _ in sides]
        self._correction = QPlainTextEdit()
        self._correction.setAccessibleName(tr("Right answer"))
        self._correction.setPlaceholderText(tr("Write the right answer, to expect it from now on"))
        self._correction.setFixedHeight(_CORRECTION_PX)
        self._correction.setTabChangesFocus(True)
        self._before = TextButton(tr("Previous question"), then=lambda: self._go(-1))
        self._after = TextButton(tr("Next question"), then=lambda: self._go(1))
        self._before.setShortcut(QKeySequence(QKeySequence.StandardKey.MoveToPreviousPage))
        self._after.setShortcut(QKeySequence(QKeySequence.StandardKey.MoveToNextPage))
        self._expect = TextButton(tr("Expect this"), kind="primary", then=self._on_expect_clicked)
        self._close = TextButton(tr("Close"), then=self.reject)
        self._build()
        for choice in self._choices:
            choice.currentIndexChanged.connect(self._show)
        self._go(0)

    def set_correctable(self, *, is_wanted: bool) -> None:
        """Let the person write a right answer, or don't."""
        for widget in (self._correction, self._expect):
            widget.setVisible(is_wanted)

    def _choice(self, matrix: AnswerMatrix, name: str, side: int) -> QComboBox:
        choice = DropDown()
        choice.setAccessibleName(name)
        choice.addItems([one_line(name) for name in matrix.names])
        choice.setCurrentIndex(self._chosen[min(side, len(self._chosen) - 1)])
        return choice

    def _build(self) -> None:
        parts = zip(self._choices, self._texts, self._feet, self._sources, strict=True)
        sides = [
            (vertical(choice, (text, 1), foot, cited), 1) for choice, text, foot, cited in parts
        ]
        buttons = horizontal(self._before, self._after, Stretch(), self._expect, self._close)
        self._arrange(self._expected, (horizontal(*sides), 1), self._correction, buttons)
        self.resize(*_ANSWERS_SIZE_PX)

    @property
    def _row(self) -> MatrixRow:
        return self._rows[self._at]

    def _go(self, by: int) -> None:
        self._at += by
        self._before.setEnabled(self._at > 0)
        self._after.setEnabled(self._at < len(self._rows) - 1)
        self._show_place(self._at, len(self._rows))
        self._question.setText(self._row.question.text)
        expected = self._row.question.expected
        words = tr("Expected: {text}", text=" / ".join(expected)) if expected else ""
        self._expected.say(words)
        with QSignalBlocker(self._correction):
            self._correction.clear()
        self._show()

    @Slot()
    def _show(self) -> None:
        cells = [self._row.cells[choice.currentIndex()] for choice in self._choices]
        self._show_answers([cell.answer if cell else None for cell in cells])
        for foot, cell in zip(self._feet, cells, strict=True):
            foot.setText(cell.foot if cell else tr("Not answered yet."))
        spans = differing(*(text.toPlainText() for text in self._texts))
        for text, marked in zip(self._texts, spans, strict=True):
            text.mark(marked)

    @Slot()
    def _on_expect_clicked(self) -> None:
        if text := self._correction.toPlainText().strip():
            self.corrected.emit(self._row.question.question_id, text)
            self.accept()


def differing(one: str, other: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The spans of words that only one of the texts has, in UTF-16 units as Qt counts."""
    sides = [list(_WORDS.finditer(text)) for text in (one, other)]
    words = [[match[0] for match in side] for side in sides]
    found: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    matcher = difflib.SequenceMatcher(a=words[0], b=words[1], autojunk=False)
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind == "equal":
            continue
        for n, (text, side, start, end) in enumerate(
            ((one, sides[0], i1, i2), (other, sides[1], j1, j2))
        ):
            if start < end:
                span = side[start].start(), side[end - 1].end()
                found[n].append((_units(text, span[0]), _units(text, span[1])))
    return found


def _units(text: str, place: int) -> int:
    return len(text[:place].encode("utf-16-le")) // 2
