"""The form for a scheduled question, and words for schedules and their answers. Qt thread."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from PySide6.QtCore import QLocale, Qt, QTime, Signal, Slot
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QTimeEdit,
    QVBoxLayout,
    QWidget,
)

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope, names_of
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.features.schedules.values.scheduled_question import (
    LONGEST_NAME,
    Rhythm,
    ScheduledQuestion,
    next_occasion,
)
from desktop_rag.features.schedules.values.scheduled_run import ScheduledRun, SentenceChange
from desktop_rag.ui.foundation.days import day_and_time, time_of_day
from desktop_rag.ui.foundation.wording import failure_in_words, one_line
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import (
    DropDown,
    SettingsSection,
    fit_height,
    note,
    turn_if_focused,
)

RHYTHMS = {
    Rhythm.DAILY: tr("Every day"), Rhythm.WEEKLY: tr("Every week"),
    Rhythm.ON_CHANGE: tr("When its documents changed"),
}  # fmt: skip
# Before a sentence, so that colour is never alone.
CHANGES = {
    SentenceChange.ADDED: tr("New"), SentenceChange.GONE: tr("Gone"),
    SentenceChange.CHANGED: tr("Changed"), SentenceChange.SAME: "",
}  # fmt: skip


def schedule_in_words(question: ScheduledQuestion) -> str:
    """`Every week, Thursday 08:30`, `When its documents changed`, with its scope."""
    words = RHYTHMS[question.rhythm]
    if question.rhythm is not Rhythm.ON_CHANGE:
        words += f", {weekday_in_words(question.weekday)}" * (question.rhythm is Rhythm.WEEKLY)
        words += f" {time_of_day(question.minute)}"
    about = one_line(question.scope.in_words())
    return f"{words} · {about}" if about else words


def next_in_words(question: ScheduledQuestion, now: datetime) -> str:
    """The next time: `Next: 26 November 2026 08:30`."""
    if question.is_paused:
        return tr("Paused")
    following = next_occasion(question, now)
    if following is None:
        return tr("Next: once its documents changed and stayed the same for a minute")
    return tr("Next: {moment}", moment=day_and_time(following.timestamp()))


def run_in_words(run: ScheduledRun) -> str:
    """`23 November 2026 08:30 · changed`."""
    moment = day_and_time(run.ran_at)
    return tr("{moment} · changed", moment=moment) if run.is_changed else moment


def weekday_in_words(weekday: int) -> str:
    """The name of a day, 0 for Monday."""
    return QLocale().standaloneDayName(weekday + 1)


def cost_in_words(endpoint: EndpointSettings) -> str:
    """What each run uses: the endpoint with its model, or this computer alone."""
    if not endpoint.is_set:
        return tr("No model is connected: the answers are excerpts, made on this computer.")
    return tr(
        "Each run sends the question and its sources to {model} at {address}, which may cost"
        " something. Your limits apply.",
        model=one_line(endpoint.model), address=one_line(endpoint.base_url),
    )  # fmt: skip


_WIDTH_PX = 600
_LINES = 4
_MARGIN_PX = 16
_TEXT_MARGIN_PX = 7
_DAYS = 7
_MISSED = tr(
    "Asked while the app is open, also in the background. What was missed is made up once."
)


class _TimeField(QTimeEdit):
    def __init__(self, moment: QTime) -> None:
        super().__init__(moment)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        turn_if_focused(self, event, super().wheelEvent)


class ScheduleDialog(QDialog):
    """`submitted` carries the ScheduledQuestion as entered; open until it is saved."""

    submitted = Signal(object)

    def __init__(
        self,
        question: ScheduledQuestion,
        scopes: Sequence[QuestionScope],
        cost: str,
        parent: QWidget,
    ) -> None:
        """`scopes` can be chosen; `cost` says what each run uses."""
        super().__init__(parent)
        self.setObjectName("scheduleDialog")
        is_new = not question.question_id
        self.setWindowTitle(tr("Ask regularly") if is_new else tr("Scheduled question"))
        self._edited = question
        self._make_texts(question)
        self._rhythm = DropDown()
        for rhythm, words in RHYTHMS.items():
            self._rhythm.addItem(words, rhythm)
        self._rhythm.setCurrentIndex(list(RHYTHMS).index(question.rhythm))
        self._day = DropDown()
        self._day.addItems([weekday_in_words(day) for day in range(_DAYS)])
        self._day.setCurrentIndex(question.weekday)
        self._day.setAccessibleName(tr("Day"))
        self._time = _TimeField(QTime(*divmod(question.minute, 60)))
        self._time.setAccessibleName(tr("Time"))
        # The style sheet's padding does not apply to the text.
        self._time.lineEdit().setTextMargins(_TEXT_MARGIN_PX, 0, 0, 0)
        self._about = scope_field(question.scope, scopes)
        self._error = PlainLabel(tone="danger", wrap=True, selectable=True)
        self._save = TextButton(tr("Save"), kind="primary")
        self._cancel = TextButton(tr("Cancel"))
        self._build(cost)
        self._connect()
        self._on_edited()

    def _make_texts(self, question: ScheduledQuestion) -> None:
        self._question = QPlainTextEdit(question.question)
        self._question.setAccessibleName(tr("Scheduled question"))
        self._question.setTabChangesFocus(True)
        lines = self._question.fontMetrics().lineSpacing() * _LINES
        self._question.setFixedHeight(lines + _MARGIN_PX)
        self._name = QLineEdit(question.name)
        self._name.setMaxLength(LONGEST_NAME)
        self._name.setPlaceholderText(tr("The question itself"))

    def _build(self, cost: str) -> None:
        section = SettingsSection(self.windowTitle())
        section.add_row(tr("Question"), self._question, is_wide=True)
        section.add_row(tr("Name"), self._name, is_wide=True)
        section.add_row(tr("When"), self._rhythm, self._day, self._time)
        section.add_note(note(_MISSED))
        section.add_row(tr("About"), self._about, is_wide=True)
        section.add_note(note(cost))
        buttons = QHBoxLayout()
        buttons.addWidget(self._error, 1)
        buttons.addWidget(self._cancel)
        buttons.addWidget(self._save)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(12)
        column.addWidget(section)
        column.addStretch(1)
        column.addLayout(buttons)
        self._save.setDefault(True)
        fit_height(self, _WIDTH_PX)

    def _connect(self) -> None:
        self._question.textChanged.connect(self._on_edited)
        self._rhythm.currentIndexChanged.connect(self._on_edited)
        self._save.clicked.connect(self._on_saved)
        self._cancel.clicked.connect(self.reject)

    @property
    def question(self) -> ScheduledQuestion:
        """The question as entered."""
        time = self._time.time()
        return replace(
            self._edited, question=self._question.toPlainText(), name=self._name.text(),
            rhythm=self._chosen_rhythm, weekday=self._day.currentIndex(),
            minute=time.hour() * 60 + time.minute(), scope=self._about.currentData(),
        )  # fmt: skip

    @property
    def _chosen_rhythm(self) -> Rhythm:
        # Qt returns the text of a StrEnum.
        return Rhythm(self._rhythm.currentData())

    def show_error(self, error: AppError) -> None:
        """Show why the question can't be saved."""
        self._error.setText(failure_in_words(error))
        self._save.setEnabled(True)

    @Slot()
    def _on_edited(self) -> None:
        rhythm = self._chosen_rhythm
        self._day.setVisible(rhythm is Rhythm.WEEKLY)
        self._time.setVisible(rhythm is not Rhythm.ON_CHANGE)
        if self.isVisible():
            fit_height(self, self.width())
        self._error.setText("")
        self._save.setEnabled(bool(self._question.toPlainText().strip()))

    @Slot()
    def _on_saved(self) -> None:
        self._save.setEnabled(False)
        self.submitted.emit(self.question)


def scope_field(chosen: QuestionScope, scopes: Sequence[QuestionScope]) -> QComboBox:
    """A combo box of the scopes, all documents and the chosen one among them."""
    field = DropDown()
    field.setMinimumContentsLength(20)
    every = list(dict.fromkeys((ALL_DOCUMENTS, chosen, *scopes)))
    for scope in every:
        words = names_of(scope.items) or scope.in_words()
        field.addItem(one_line(words) or tr("All documents"), scope)
    field.setCurrentIndex(every.index(chosen))
    return field
