"""The form for a scheduled question, and words for schedules and their answers. Qt thread."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from PySide6.QtCore import QLocale, Qt, QTime, Slot
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QPlainTextEdit, QTimeEdit, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope, names_of
from desktop_rag.core.settings import EndpointSettings
from desktop_rag.features.schedules.values.scheduled_question import (
    LONGEST_NAME,
    Rhythm,
    ScheduledQuestion,
    ScheduledRun,
    SentenceChange,
    next_occasion,
)
from desktop_rag.ui.foundation.days import day_and_time, time_of_day
from desktop_rag.ui.foundation.wording import item_name, one_line
from desktop_rag.ui.widgets.form_fields import DropDown, SettingsSection, note, turn_if_focused
from desktop_rag.ui.widgets.forms import FormDialog

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


class ScheduleDialog(FormDialog):
    """`submitted` carries the ScheduledQuestion as entered; open until it is saved."""

    def __init__(
        self,
        question: ScheduledQuestion,
        scopes: Sequence[QuestionScope],
        cost: str,
        parent: QWidget,
    ) -> None:
        """`scopes` can be chosen; `cost` says what each run uses."""
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
        title = tr("Scheduled question") if question.question_id else tr("Ask regularly")
        super().__init__(title, self._section(title, cost), _WIDTH_PX, parent)
        self._question.textChanged.connect(self._on_edited)
        self._rhythm.currentIndexChanged.connect(self._on_edited)
        self._on_edited()

    def _make_texts(self, question: ScheduledQuestion) -> None:
        self._question = QPlainTextEdit(question.question, tabChangesFocus=True)
        self._question.setAccessibleName(tr("Scheduled question"))
        lines = self._question.fontMetrics().lineSpacing() * _LINES
        self._question.setFixedHeight(lines + _MARGIN_PX)
        self._name = QLineEdit(question.name)
        self._name.setMaxLength(LONGEST_NAME)
        self._name.setPlaceholderText(tr("The question itself"))

    def _section(self, title: str, cost: str) -> SettingsSection:
        section = SettingsSection(title)
        section.add_row(tr("Question"), self._question, is_wide=True)
        section.add_row(tr("Name"), self._name, is_wide=True)
        section.add_row(tr("When"), self._rhythm, self._day, self._time)
        section.add_note(note(_MISSED))
        section.add_row(tr("About"), self._about, is_wide=True)
        section.add_note(note(cost))
        return section

    def value(self) -> ScheduledQuestion:
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

    @Slot()
    def _on_edited(self) -> None:
        rhythm = self._chosen_rhythm
        self._day.setVisible(rhythm is Rhythm.WEEKLY)
        self._time.setVisible(rhythm is not Rhythm.ON_CHANGE)
        if self.isVisible():
            self._scroll.make_room()
        self._error.hide()
        self._send.setEnabled(bool(self._question.toPlainText().strip()))


def scope_field(chosen: QuestionScope, scopes: Sequence[QuestionScope]) -> QComboBox:
    """A combo box of the scopes, all documents and the chosen one among them."""
    field = DropDown()
    field.setMinimumContentsLength(20)
    every = list(dict.fromkeys((ALL_DOCUMENTS, chosen, *scopes)))
    for scope in every:
        one = item_name(*scope.items) if len(scope.items) == 1 else ""
        words = one or names_of(scope.items) or scope.in_words()
        field.addItem(one_line(words) or tr("All documents"), scope)
    field.setCurrentIndex(every.index(chosen))
    return field
