"""Judges answers blind: which of two is better, or how good one is, from 1 to 5. Qt thread.

The sides are drawn by chance and no name is shown, so that nobody favours a model.
"""

import random
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from desktop_rag.core.experiments.answer_match import without_citations
from desktop_rag.core.experiments.answer_matrix import AnswerMatrix
from desktop_rag.core.experiments.question_set import SetQuestion
from desktop_rag.core.experiments.run import Judgement, Preference
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton

_SIZE_PX = (900, 560)
_RATINGS = range(1, 6)


@dataclass(frozen=True, slots=True)
class JudgedAnswers:
    """A question with one answer or two, as (id of the run, text), in the order shown."""

    question: SetQuestion
    answers: tuple[tuple[str, str], ...]


def to_judge(
    matrix: AnswerMatrix,
    run_ids: Sequence[str],
    done: Sequence[Judgement],
    chance: random.Random,
) -> list[JudgedAnswers]:
    """What the person did not judge yet, with random sides."""
    columns = [n for n, run in enumerate(matrix.runs) if run.run_id in run_ids]
    found: list[JudgedAnswers] = []
    for row in matrix.rows:
        cells = [row.cells[n] for n in columns]
        given = [cell.answer for cell in cells if cell and not cell.answer.has_failed]
        own = [j for j in done if not j.judge and j.question_id == row.question.question_id]
        if len(given) < len(run_ids) or any(_is_about(j, run_ids) for j in own):
            continue
        sides = [(answer.run_id, without_citations(answer.text)) for answer in given]
        chance.shuffle(sides)
        found.append(JudgedAnswers(row.question, tuple(sides)))
    return found


def _is_about(judgement: Judgement, run_ids: Sequence[str]) -> bool:
    pair = {judgement.first_run, judgement.second_run} - {""}
    return pair == set(run_ids)


class JudgingDialog(QDialog):
    """`judged` carries each Judgement as it is made."""

    judged = Signal(object)

    def __init__(self, set_id: str, tasks: Sequence[JudgedAnswers], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("judgingDialog")
        self.setWindowTitle(tr("Judge blind"))
        self._set_id = set_id
        self._tasks = tasks
        self._at = 0
        is_pair = bool(tasks) and len(tasks[0].answers) > 1
        self._place = PlainLabel(tone="muted")
        self._question = PlainLabel(scale="heading", wrap=True, selectable=True)
        self._texts = [QPlainTextEdit() for _ in range(2 if is_pair else 1)]
        for number, text in enumerate(self._texts, 1):
            text.setReadOnly(True)
            text.setAccessibleName(tr("Answer {number}", number=number))
        self._comment = QLineEdit()
        self._comment.setAccessibleName(tr("Comment"))
        self._comment.setPlaceholderText(tr("Comment, if you like"))
        self._skip = TextButton(tr("Skip"))
        self._buttons = self._make_pair() if is_pair else self._make_ratings()
        self._build()
        self._skip.clicked.connect(self._next)
        self._show()

    def _make_pair(self) -> list[TextButton]:
        words = (tr("Left is better"), tr("Same"), tr("Right is better"))
        preferences = (Preference.FIRST, Preference.SAME, Preference.SECOND)
        buttons = [TextButton(word) for word in words]
        for button, preference in zip(buttons, preferences, strict=True):
            button.clicked.connect(lambda _=False, p=preference: self._judge(p, 0))
        return buttons

    def _make_ratings(self) -> list[TextButton]:
        words = {1: tr("1, wrong or useless"), 5: tr("5, right and complete")}
        buttons = [TextButton(words.get(n, str(n))) for n in _RATINGS]
        for button, rating in zip(buttons, _RATINGS, strict=True):
            button.clicked.connect(lambda _=False, n=rating: self._judge(None, n))
        return buttons

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(10)
        column.addWidget(self._place)
        column.addWidget(self._question)
        beside = QHBoxLayout()
        for text in self._texts:
            beside.addWidget(text, 1)
        column.addLayout(beside, 1)
        column.addWidget(self._comment)
        buttons = QHBoxLayout()
        for button in self._buttons:
            buttons.addWidget(button)
        buttons.addStretch(1)
        buttons.addWidget(self._skip)
        column.addLayout(buttons)
        self.resize(*_SIZE_PX)

    def _show(self) -> None:
        task = self._tasks[self._at]
        self._place.setText(
            tr("{number:,} of {count:,}", number=self._at + 1, count=len(self._tasks))
        )
        self._question.setText(task.question.text)
        for text, (_, answer) in zip(self._texts, task.answers, strict=True):
            text.setPlainText(answer)
        self._comment.clear()

    def _judge(self, preference: Preference | None, rating: int) -> None:
        task = self._tasks[self._at]
        runs = [run_id for run_id, _ in task.answers]
        self.judged.emit(
            Judgement(
                uuid.uuid4().hex, self._set_id, task.question.question_id, runs[0], time.time(),
                runs[1] if len(runs) > 1 else "", preference, rating, self._comment.text().strip(),
            )
        )  # fmt: skip
        self._next()

    @Slot()
    def _next(self) -> None:
        self._at += 1
        if self._at < len(self._tasks):
            self._show()
        else:
            self.accept()
