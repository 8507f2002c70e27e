"""The answers to a question beside each other, with what differs marked. Qt thread."""

import difflib
import re
from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.experiments.answer_matrix import MatrixCell, MatrixRow
from desktop_rag.core.experiments.run import Run
from desktop_rag.core.language.translation import told, tr
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton

_SIZE_PX = (920, 620)
_WORDS = re.compile(r"\S+")
_CORRECTION_PX = 80


class AnswersDialog(QDialog):
    """Two runs at a time. `corrected` carries the id of the question and an expected answer."""

    corrected = Signal(str, str)

    def __init__(self, row: MatrixRow, runs: Sequence[Run], theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("answersDialog")
        self.setWindowTitle(tr("Answers"))
        self._row = row
        self._mark: QColor = theme.colour("accent_soft")
        answered = [n for n, cell in enumerate(row.cells) if cell]
        self._sides = tuple(self._side(runs, answered, n) for n in range(2))
        self._correction = QPlainTextEdit()
        self._correction.setAccessibleName(tr("Right answer"))
        self._correction.setPlaceholderText(tr("Write the right answer, to expect it from now on"))
        self._correction.setFixedHeight(_CORRECTION_PX)
        self._correction.setTabChangesFocus(True)
        self._expect = TextButton(tr("Expect this"), kind="primary")
        self._close = TextButton(tr("Close"))
        self._build()
        self._expect.clicked.connect(self._on_expect_clicked)
        self._close.clicked.connect(self.reject)
        for choice, _, _ in self._sides:
            choice.currentIndexChanged.connect(self._show)
        self._show()

    def _side(
        self, runs: Sequence[Run], answered: Sequence[int], side: int
    ) -> tuple[QComboBox, QPlainTextEdit, PlainLabel]:
        choice = QComboBox()
        choice.setAccessibleName(tr("Run on the left") if side == 0 else tr("Run on the right"))
        for n in answered:
            choice.addItem(one_line(runs[n].set_up.name), n)
        choice.setCurrentIndex(min(side, len(answered) - 1) if side == 0 else len(answered) - 1)
        text = QPlainTextEdit()
        text.setReadOnly(True)
        text.setAccessibleName(tr("Answer"))
        return choice, text, PlainLabel(tone="muted", wrap=True, selectable=True)

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(10)
        column.addWidget(
            PlainLabel(self._row.question.text, scale="heading", wrap=True, selectable=True)
        )
        if expected := self._row.question.expected:
            words = tr("Expected: {text}", text=" / ".join(expected))
            column.addWidget(PlainLabel(words, tone="muted", wrap=True, selectable=True))
        beside = QHBoxLayout()
        for choice, text, foot in self._sides:
            side = QVBoxLayout()
            side.addWidget(choice)
            side.addWidget(text, 1)
            side.addWidget(foot)
            beside.addLayout(side, 1)
        column.addLayout(beside, 1)
        column.addWidget(self._correction)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self._expect)
        buttons.addWidget(self._close)
        column.addLayout(buttons)
        self.resize(*_SIZE_PX)

    @Slot()
    def _show(self) -> None:
        cells = [self._row.cells[choice.currentData()] for choice, _, _ in self._sides]
        texts = [_text(cell) for cell in cells]
        for (_, shown, foot), text, cell in zip(self._sides, texts, cells, strict=True):
            shown.setPlainText(text)
            foot.setText(_foot(cell))
        for (_, shown, _), spans in zip(self._sides, differing(*texts), strict=True):
            self._highlight(shown, spans)

    def _highlight(self, shown: QPlainTextEdit, spans: Sequence[tuple[int, int]]) -> None:
        marked: list[QTextEdit.ExtraSelection] = []
        for start, end in spans:
            selection = QTextEdit.ExtraSelection()
            cursor = QTextCursor(shown.document())
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            look = QTextCharFormat()
            look.setBackground(self._mark)
            look.setFontUnderline(True)
            selection.cursor, selection.format = cursor, look  # pyright: ignore[reportAttributeAccessIssue]
            marked.append(selection)
        shown.setExtraSelections(marked)

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


def _text(cell: MatrixCell | None) -> str:
    if cell is None:
        return ""
    answer = cell.answer
    if answer.has_failed:
        return told(f"{answer.error_title} {answer.error_hint}")
    return answer.text.replace("\r\n", "\n")


def _foot(cell: MatrixCell | None) -> str:
    if cell is None:
        return ""
    names = [
        f"[{source.n}] {source.title or source.path} {source.anchor.label()}".strip()
        for source in cell.answer.sources
        if source.is_cited
    ]
    return "\n".join([cell.foot, *names])
