"""Chooses how many answers are judged, which, and by what rubric. Qt thread."""

from dataclasses import dataclass

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QDialog, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from desktop_rag.core.experiments.judging_sample import Spread
from desktop_rag.core.experiments.question_set import RUBRIC
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import SettingsSection, fit_height, number_field

_WIDTH_PX = 560
_RUBRIC_PX = 110
_MODEL = tr(
    "“{model}”, the helper model, compares the two answers to each question by this rubric, in"
    " both orders. Another rubric has them compared anew."
)
_OWN = tr(
    "“{model}” wrote some of these answers itself, and models favour their own. Choose another"
    " helper model under Models, or judge blind."
)
_PERSON = tr("Answers are shown without names. What you judged before is left out.")


@dataclass(frozen=True, slots=True)
class JudgingPlan:
    """`most` questions, 0 for all; the rubric is for a model."""

    most: int
    spread: Spread
    rubric: str


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """The model that judges, its rubric, and whether it wrote answers that it would judge."""

    model: str
    rubric: str
    is_author: bool


class JudgingStartDialog(QDialog):
    """`submitted` carries the JudgingPlan."""

    submitted = Signal(object)

    def __init__(self, count: int, parent: QWidget, judge: ModelJudge | None = None) -> None:
        """`count` questions could be judged, by the person without a model."""
        super().__init__(parent)
        self.setObjectName("judgingStartDialog")
        self.setWindowTitle(tr("Let the model judge") if judge else tr("Judge blind"))
        self._most = number_field(0, max(1, count), 1, "")
        self._most.setSpecialValueText(tr("All {count:,}", count=count))
        self._most.setAccessibleName(tr("How many questions"))
        self._spread = QComboBox()
        self._spread.setAccessibleName(tr("Which questions are drawn"))
        for spread in Spread:
            self._spread.addItem(spread.in_words(), spread.value)
        self._rubric = QPlainTextEdit(judge.rubric if judge else "")
        self._rubric.setAccessibleName(tr("Rubric"))
        self._rubric.setFixedHeight(_RUBRIC_PX)
        self._rubric.setTabChangesFocus(True)
        self._reset = TextButton(tr("Reset the rubric"))
        self._cancel = TextButton(tr("Cancel"))
        self._start = TextButton(tr("Begin"), kind="primary")
        self._build(judge)
        self._reset.clicked.connect(self._on_reset_clicked)
        self._cancel.clicked.connect(self.reject)
        self._start.clicked.connect(self._on_start_clicked)

    def _build(self, judge: ModelJudge | None) -> None:
        section = SettingsSection(tr("Sample"))
        section.add_row(tr("Questions"), self._most)
        section.add_row(tr("Drawn"), self._spread, is_wide=True)
        if judge:
            section.add_row(tr("Rubric"), self._rubric, is_wide=True)
        buttons = QHBoxLayout()
        if judge:
            buttons.addWidget(self._reset)
        buttons.addStretch(1)
        buttons.addWidget(self._cancel)
        buttons.addWidget(self._start)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(10)
        said = _MODEL.format(model=one_line(judge.model)) if judge else _PERSON
        column.addWidget(PlainLabel(said, tone="muted", wrap=True))
        if judge and judge.is_author:
            own = _OWN.format(model=one_line(judge.model))
            column.addWidget(PlainLabel(own, tone="warning", wrap=True))
        column.addWidget(section)
        column.addLayout(buttons)
        self._start.setDefault(True)
        fit_height(self, _WIDTH_PX)

    @Slot()
    def _on_reset_clicked(self) -> None:
        self._rubric.setPlainText(RUBRIC)

    @Slot()
    def _on_start_clicked(self) -> None:
        rubric = self._rubric.toPlainText().strip() or RUBRIC
        spread = Spread(self._spread.currentData())
        self.submitted.emit(JudgingPlan(self._most.value(), spread, rubric))
        self.accept()
