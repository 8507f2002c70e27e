"""The page "Scheduled questions", with the document of a source beside it. Qt thread."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QFont, QShowEvent, QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QListWidgetItem, QStackedWidget, QWidget

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.language.translation import told, tr
from desktop_rag.features.schedules.scheduled_questions import Schedule
from desktop_rag.features.schedules.ui.schedule_actions import ScheduleActions
from desktop_rag.features.schedules.ui.schedule_dialog import (
    CHANGES,
    next_in_words,
    run_in_words,
    schedule_in_words,
)
from desktop_rag.features.schedules.values.scheduled_question import (
    RUNS_KEPT,
    ComparedSentence,
    ScheduledRun,
    SchedulesChanged,
    ScheduleState,
    SentenceChange,
)
from desktop_rag.ui.documents.document_beside import DocumentBeside
from desktop_rag.ui.documents.document_opener import DocumentOpener
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.days import day_and_time
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line, place_in_words
from desktop_rag.ui.messages.cited_text import CitedText
from desktop_rag.ui.widgets.controls import Card, PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import DropDown, note
from desktop_rag.ui.widgets.item_list import ItemList
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library

_COLOURS = {
    SentenceChange.ADDED: ("success_soft", "success_soft_text"),
    SentenceChange.GONE: ("danger_soft", "danger_soft_text"),
    SentenceChange.CHANGED: ("warning_soft", "warning_soft_text"),
}


class RunView(CitedText):
    """Shows one run with links to its sources; changes sentence by sentence, without Markdown."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Answer"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._run: ScheduledRun | None = None
        theme.changed.connect(self._draw)

    def show_run(self, run: ScheduledRun | None) -> None:
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


_ID_ROLE = Qt.ItemDataRole.UserRole
_LIST_PX = 170
_INTRO = tr(
    "A question that you ask again and again can be asked by the app: every day, every week, or"
    " when its documents changed. You are told when the answer says something else than before."
)
_KEPT = tr("The last {count} answers are kept.", count=RUNS_KEPT)


class SchedulePage(ScrolledPage):
    """The list of questions, and the answers to the chosen one.

    Read whenever it is shown, and after each change while it is. `read_requested` carries the
    SourceRef of a source to be read.
    """

    read_requested = Signal(object)

    def __init__(self, bridge: Bridge, actions: ScheduleActions, theme: Theme) -> None:
        super().__init__(tr("Scheduled questions"), fills_height=True)
        self._bridge = bridge
        self._actions = actions
        self._every: Sequence[Schedule] = ()
        self._runs: Sequence[ScheduledRun] = ()
        self._wanted_id = ""
        self._job: Job | None = None
        self._new = TextButton(tr("New…"), kind="primary", icon="plus:accent_text", theme=theme)
        self._new.setAccessibleDescription(tr("Schedule a question"))
        self.header.addWidget(self._new)
        self._list = ItemList(tr("Scheduled questions"), "")
        self._list.setMaximumHeight(_LIST_PX)
        self._make_details(theme)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._build_empty())
        self._stack.addWidget(self._build_details())
        self.column.addWidget(self._stack, 1)
        self._connect()

    def _make_details(self, theme: Theme) -> None:
        self._question = PlainLabel(wrap=True, selectable=True)
        self._schedule = PlainLabel(tone="muted", wrap=True)
        self._state = PlainLabel(wrap=True, selectable=True)
        self._run = TextButton(
            tr("Ask now"), icon="refresh", theme=theme, then=self._on_run_clicked
        )
        self._pause = TextButton("", then=self._on_pause_clicked)
        self._edit = TextButton(tr("Edit…"), then=self._on_edit_clicked)
        self._delete = TextButton(tr("Delete"), kind="danger", then=self._on_delete_clicked)
        self._history = DropDown()
        self._history.setAccessibleName(tr("Answers so far"))
        self._view = RunView(theme)
        self._kept = note(_KEPT)

    def _build_empty(self) -> QWidget:
        empty = QWidget()
        words = PlainLabel(_INTRO, tone="muted", wrap=True)
        words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        vertical(Stretch(), words, Stretch(2), on=empty)
        return empty

    def _build_details(self) -> QWidget:
        card = Card()
        vertical(
            self._question,
            self._schedule,
            self._state,
            horizontal(self._run, self._pause, self._edit, self._delete, Stretch()),
            self._history,
            (self._view, 1),
            self._kept,
            Stretch(0),
            on=card,
            margins=(18, 16, 18, 16),
            spacing=8,
        )
        panel = QWidget()
        vertical(self._list, (card, 1), on=panel, margins=0, spacing=14)
        return panel

    def _connect(self) -> None:
        self._new.clicked.connect(self._actions.create)
        self._list.currentRowChanged.connect(self._on_chosen)
        self._history.currentIndexChanged.connect(self._on_run_chosen)
        self._view.read_requested.connect(self.read_requested)
        self._bridge.hear(SchedulesChanged, self._on_schedules_changed)

    # --- what is there -----------------------------------------------------------------------

    def choose(self, question_id: str) -> None:
        """Show this question, once it is read."""
        self._wanted_id = question_id
        self._refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    def _on_schedules_changed(self, _event: SchedulesChanged) -> None:
        if self.isVisible():
            self._refresh()

    def _refresh(self) -> None:
        if self._job:
            self._job.cancel()
        self._job = self._bridge.run(self, self._actions.questions.all, self._on_read)

    def _on_read(self, every: Sequence[Schedule]) -> None:
        chosen = self._wanted_id or (self._chosen.question.question_id if self._chosen else "")
        self._wanted_id, self._every = "", every
        ids = [schedule.question.question_id for schedule in every]
        with QSignalBlocker(self._list):
            self._list.clear()
            for schedule in every:
                item = QListWidgetItem(_row_in_words(schedule), self._list)
                item.setData(_ID_ROLE, schedule.question.question_id)
            self._list.setCurrentRow(ids.index(chosen) if chosen in ids else 0)
        self._stack.setCurrentIndex(1 if every else 0)
        self._on_chosen()

    @property
    def _chosen(self) -> Schedule | None:
        row = self._list.currentRow()
        return self._every[row] if 0 <= row < len(self._every) else None

    @Slot()
    def _on_chosen(self) -> None:
        schedule = self._chosen
        if schedule is None:
            return
        question = schedule.question
        self._question.setText(question.question)
        self._schedule.setText(
            f"{schedule_in_words(question)} · {next_in_words(question, datetime.now())}"
        )
        words, tone = _state_in_words(schedule)
        self._state.say(words, tone)
        self._pause.setText(tr("Resume") if question.is_paused else tr("Pause"))
        self._run.setEnabled(not schedule.is_running)
        question_id, runs_of = question.question_id, self._actions.questions.runs
        self._bridge.run(
            self, lambda: runs_of(question_id), lambda runs: self._show_runs(question_id, runs)
        )

    def _show_runs(self, question_id: str, runs: Sequence[ScheduledRun]) -> None:
        if not self._chosen or self._chosen.question.question_id != question_id:
            return
        before = self._history.currentIndex()
        # The newest stays the newest; an older one that was chosen stays chosen.
        kept = self._runs[before].run_id if 0 < before < len(self._runs) else ""
        self._runs = runs
        with QSignalBlocker(self._history):
            self._history.clear()
            self._history.addItems([run_in_words(run) for run in runs])
            ids = [run.run_id for run in runs]
            self._history.setCurrentIndex(ids.index(kept) if kept in ids else min(0, len(ids) - 1))
        for widget in (self._history, self._view, self._kept):
            widget.setVisible(bool(runs))
        self._on_run_chosen()

    @Slot()
    def _on_run_chosen(self) -> None:
        at = self._history.currentIndex()
        self._view.show_run(self._runs[at] if 0 <= at < len(self._runs) else None)

    # --- actions -----------------------------------------------------------------------------

    @Slot()
    def _on_run_clicked(self) -> None:
        if schedule := self._chosen:
            self._run.setEnabled(False)
            self._actions.run_now(schedule.question)

    @Slot()
    def _on_pause_clicked(self) -> None:
        if schedule := self._chosen:
            question = schedule.question
            self._actions.set_paused(question, is_paused=not question.is_paused)

    @Slot()
    def _on_edit_clicked(self) -> None:
        if schedule := self._chosen:
            self._actions.edit(schedule.question)

    @Slot()
    def _on_delete_clicked(self) -> None:
        if schedule := self._chosen:
            self._actions.delete(schedule.question)


def _row_in_words(schedule: Schedule) -> str:
    """`Lamps · changed 23/11/2026 08:30`."""
    name, last = one_line(schedule.question.name), schedule.last
    if schedule.is_running:
        return tr("{name} · being answered", name=name)
    if schedule.state.has_failed:
        return tr("{name} · failed", name=name)
    if schedule.question.is_paused:
        return tr("{name} · paused", name=name)
    return f"{name} · {run_in_words(last)}" if last else name


def _state_in_words(schedule: Schedule) -> tuple[str, str]:
    """The state of the schedule, and its tone."""
    if schedule.is_running:
        return tr("It is being answered."), "muted"
    if schedule.state.has_failed:
        return _failure_in_words(schedule.state), "danger"
    if schedule.last is None:
        return tr("It was not answered yet."), "muted"
    return "", ""


def _failure_in_words(state: ScheduleState) -> str:
    """Why the latest try failed, and when there is another."""
    said = " ".join(told(part) for part in (state.error_title, state.error_hint) if part)
    if not state.retry_at:
        return tr("{said} It is tried again at the next time, or with “Ask now”.", said=said)
    moment = day_and_time(state.retry_at)
    return tr("{said} It is tried again at {moment}, or with “Ask now”.", said=said, moment=moment)


class ScheduleReading(DocumentBeside):
    """The page with its reading pane."""

    def __init__(
        self, bridge: Bridge, actions: ScheduleActions, library: "Library", theme: Theme
    ) -> None:
        page = SchedulePage(bridge, actions, theme)
        super().__init__(bridge, library, theme, DocumentOpener(bridge, library, theme, page))
        self._page = page
        self.addWidget(page)
        page.read_requested.connect(self.read_source)

    @Slot(str)
    def choose(self, question_id: str) -> None:
        """Show this question, once it is read."""
        self._page.choose(question_id)
