"""The answers to a question beside each other, with what differs marked. Qt thread."""

import difflib
import re
from collections.abc import Collection, Sequence

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QComboBox, QDialog, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.features.evaluation.ui.judging_dialog import AnswerText, CitedSources
from desktop_rag.features.evaluation.values.answer_matrix import AnswerMatrix, MatrixRow
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton

_SIZE_PX = (920, 620)
_WORDS = re.compile(r"\S+")
_CORRECTION_PX = 80


class AnswersDialog(QDialog):
    """Two runs at a time.

    `corrected` carries the id of the question and an expected answer, `read_requested` a SourceRef.
    """

    corrected = Signal(str, str)
    read_requested = Signal(object)

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
        super().__init__(parent)
        self.setObjectName("answersDialog")
        self.setWindowTitle(tr("Answers"))
        self._rows = rows
        self._at = at
        columns = [n for n, run in enumerate(matrix.runs) if run.run_id in chosen]
        self._chosen = (columns or list(range(len(matrix.runs))))[-2:]
        self._place = PlainLabel(tone="muted")
        self._question = PlainLabel(scale="heading", wrap=True, selectable=True)
        self._expected = PlainLabel(tone="muted", wrap=True, selectable=True)
        self._sides = tuple(self._side(matrix, theme, n) for n in range(2))
        self._sources = tuple(CitedSources() for _side in self._sides)
        self._correction = QPlainTextEdit()
        self._correction.setAccessibleName(tr("Right answer"))
        self._correction.setPlaceholderText(tr("Write the right answer, to expect it from now on"))
        self._correction.setFixedHeight(_CORRECTION_PX)
        self._correction.setTabChangesFocus(True)
        self._before = TextButton(tr("Previous question"))
        self._after = TextButton(tr("Next question"))
        self._before.setShortcut(QKeySequence(QKeySequence.StandardKey.MoveToPreviousPage))
        self._after.setShortcut(QKeySequence(QKeySequence.StandardKey.MoveToNextPage))
        self._expect = TextButton(tr("Expect this"), kind="primary")
        self._close = TextButton(tr("Close"))
        self._build()
        self._before.clicked.connect(lambda: self._go(-1))
        self._after.clicked.connect(lambda: self._go(1))
        self._expect.clicked.connect(self._on_expect_clicked)
        self._close.clicked.connect(self.reject)
        for (choice, text, _), sources in zip(self._sides, self._sources, strict=True):
            choice.currentIndexChanged.connect(self._show)
            text.read_requested.connect(self.read_requested)
            sources.read_requested.connect(self.read_requested)
        self._go(0)

    def _side(
        self, matrix: AnswerMatrix, theme: Theme, side: int
    ) -> tuple[QComboBox, AnswerText, PlainLabel]:
        choice = QComboBox()
        choice.setAccessibleName(tr("Run on the left") if side == 0 else tr("Run on the right"))
        choice.addItems([one_line(name) for name in matrix.names])
        choice.setCurrentIndex(self._chosen[min(side, len(self._chosen) - 1)])
        text = AnswerText(
            theme, tr("Answer on the left") if side == 0 else tr("Answer on the right")
        )
        return choice, text, PlainLabel(tone="muted", wrap=True, selectable=True)

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(10)
        for label in (self._place, self._question, self._expected):
            column.addWidget(label)
        beside = QHBoxLayout()
        for (choice, text, foot), sources in zip(self._sides, self._sources, strict=True):
            side = QVBoxLayout()
            side.addWidget(choice)
            side.addWidget(text, 1)
            side.addWidget(foot)
            side.addWidget(sources)
            beside.addLayout(side, 1)
        column.addLayout(beside, 1)
        column.addWidget(self._correction)
        buttons = QHBoxLayout()
        buttons.addWidget(self._before)
        buttons.addWidget(self._after)
        buttons.addStretch(1)
        buttons.addWidget(self._expect)
        buttons.addWidget(self._close)
        column.addLayout(buttons)
        self.resize(*_SIZE_PX)

    @property
    def _row(self) -> MatrixRow:
        return self._rows[self._at]

    def _go(self, by: int) -> None:
        self._at += by
        self._before.setEnabled(self._at > 0)
        self._after.setEnabled(self._at < len(self._rows) - 1)
        self._place.setText(
            tr("{number:,} of {count:,}", number=self._at + 1, count=len(self._rows))
        )
        self._question.setText(self._row.question.text)
        expected = self._row.question.expected
        self._expected.setText(tr("Expected: {text}", text=" / ".join(expected)))
        self._expected.setVisible(bool(expected))
        with QSignalBlocker(self._correction):
            self._correction.clear()
        self._show()

    @Slot()
    def _show(self) -> None:
        cells = [self._row.cells[choice.currentIndex()] for choice, _, _ in self._sides]
        shown_sides = zip(self._sides, self._sources, cells, strict=True)
        for (_, shown, foot), sources, cell in shown_sides:
            shown.show_answer(cell.answer if cell else None)
            foot.setText(cell.foot if cell else tr("Not answered yet."))
            sources.show_sources(cell.answer if cell else None)
        texts = [shown.toPlainText() for _, shown, _ in self._sides]
        for (_, shown, _), spans in zip(self._sides, differing(*texts), strict=True):
            shown.mark(spans)

    @Slot()
    def _on_expect_clicked(self) -> None:
        if text := self._correction.toPlainText().strip():
            self.corrected.emit(self._row.question.question_id, text)
            self.accept()


def differing(one: str, other: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The spans of words, by characters of UTF-16 as Qt counts, that only one of the texts has."""
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
