"""The page "My questions", with the views "Answers" and "Chunks". Qt thread."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QListWidgetItem, QScrollArea, QStackedWidget, QTabBar, QWidget

from desktop_rag.core.domain import Collection
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import told, tr
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.features.evaluation.experiments.chunk_trials import (
    MOST_QUESTIONS,
    USUAL_QUESTIONS,
    ChunkPlan,
)
from desktop_rag.features.evaluation.ui.experiment_actions import ExperimentActions
from desktop_rag.features.evaluation.ui.experiments_page import ExperimentsPage
from desktop_rag.features.evaluation.values.chunk_advice import WORST, advice, in_words, why, worth
from desktop_rag.features.evaluation.values.chunk_trial import ChunkComparison
from desktop_rag.features.evaluation.values.experiment_events import ChunkTrialChanged, TrialStage
from desktop_rag.features.evaluation.values.run import QuestionSet
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import failure_in_words, one_line
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import DropDown, number_field
from desktop_rag.ui.widgets.item_list import ItemList
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.features.evaluation.experiments.run_worker import RunWorker
    from desktop_rag.ingest.library import Library

_SIDE_PX = 22
_SETTINGS_PX = 150
_INTRO = tr(
    "Documents are searched in chunks. Which size and method find most depends on your documents:"
    " here each is tried with the same questions, in a library of its own. That takes some minutes,"
    " and changes nothing until you use other chunks."
)


@dataclass(frozen=True, slots=True)
class _Shown:
    """The content of the panel, read on a worker thread."""

    collections: Sequence[Collection]
    sets: Sequence[QuestionSet]
    compared: ChunkComparison | None
    progress: ChunkTrialChanged


class ChunkPanel(QWidget):
    """Compares chunk settings over the documents of a collection, and shows why places are missed.

    Reads its content whenever it is shown, and when a comparison has ended.
    """

    def __init__(self, bridge: Bridge, worker: "RunWorker", library: "Library") -> None:
        super().__init__()
        self._bridge = bridge
        self._worker = worker
        self._library = library
        self._shown = _Shown((), (), None, worker.chunk_trials.progress)
        self._former: ChunkSettings | None = None
        # What was said of the chunks that were put to use.
        self._put = ""
        self._make_controls()
        self._build()
        self._connect()

    def _make_controls(self) -> None:
        self._collection = DropDown()
        self._collection.setAccessibleName(tr("Collection"))
        self._questions = DropDown()
        self._questions.setAccessibleName(tr("Questions"))
        self._collection.setMinimumContentsLength(18)
        self._questions.setMinimumContentsLength(30)
        self._count = number_field(5, MOST_QUESTIONS, 5, tr(" questions"))
        self._count.setAccessibleName(tr("How many questions are made"))
        self._count.setValue(USUAL_QUESTIONS)
        self._begin = TextButton(tr("Compare chunks"), kind="primary", then=self._on_begin_clicked)
        self._pause = TextButton(tr("Pause"), then=self._on_pause_clicked)
        self._cancel = TextButton(tr("Cancel"), then=self._on_cancel_clicked)
        self._said = PlainLabel(tone="muted", wrap=True, selectable=True)
        self._settings = ItemList(tr("Chunk settings"))
        self._settings.setFixedHeight(_SETTINGS_PX)
        self._advice = PlainLabel(wrap=True, selectable=True)
        self._worth = PlainLabel(tone="muted", wrap=True, selectable=True)
        self._use = TextButton(tr("Use these chunks"), kind="primary", then=self._on_use_clicked)
        self._undo = TextButton(tr("Undo"), then=self._on_undo_clicked)
        self._worst_title = PlainLabel(tr("The worst questions, and why"), scale="heading")
        self._worst = ItemList(tr("The worst questions, and why"))
        self._worst.setWordWrap(True)

    def _build(self) -> None:
        used = horizontal(self._use, self._undo, Stretch())
        vertical(
            PlainLabel(tr("Chunks"), scale="title"),
            PlainLabel(_INTRO, tone="muted", wrap=True),
            horizontal(self._collection, self._questions, self._count, Stretch()),
            horizontal(self._begin, self._pause, self._cancel, (self._said, 1)),
            self._settings,
            self._advice,
            self._worth,
            used,
            self._worst_title,
            (self._worst, 1),
            Stretch(0),
            on=self,
            margins=(_SIDE_PX, 18, _SIDE_PX, 14),
            spacing=10,
        )
        self._undo.hide()
        self._show_progress()
        self._show_comparison()

    def _connect(self) -> None:
        self._bridge.hear(ChunkTrialChanged, self._on_trial_changed)
        self._collection.activated.connect(self._on_collection_chosen)
        self._questions.activated.connect(self._show_progress)
        self._settings.itemSelectionChanged.connect(self._show_use)

    # --- what is there -----------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    def _on_trial_changed(self, event: ChunkTrialChanged) -> None:
        if not self.isVisible():
            return
        if event.is_under_way:
            self._shown = replace(self._shown, progress=event)
            self._show_progress()
        else:
            self._refresh()

    def _refresh(self) -> None:
        wanted = self._collection.currentData() or ""
        self._bridge.run(self, lambda: self._read(wanted), self._show, self._on_failed)

    def _read(self, wanted: str) -> _Shown:
        trials, collections = self._worker.chunk_trials, self._library.collections.all()
        ids = [each.collection_id for each in collections]
        chosen = wanted if wanted in ids else next(iter(ids), "")
        found = trials.latest(chosen)
        return _Shown(collections, self._worker.experiments.sets(), found, trials.progress)

    def _show(self, shown: _Shown) -> None:
        self._shown = shown
        chosen = self._collection.currentData(), self._questions.currentData()
        with QSignalBlocker(self._collection), QSignalBlocker(self._questions):
            self._collection.clear()
            for each in shown.collections:
                self._collection.addItem(one_line(each.name), each.collection_id)
            self._questions.clear()
            self._questions.addItem(tr("Made by the model, or from headings"), "")
            self._questions.addItem(tr("Made from headings and sentences"), "text")
            for question_set in shown.sets:
                name = tr("Of “{name}”", name=one_line(question_set.name))
                self._questions.addItem(name, question_set.set_id)
            self._collection.setCurrentIndex(max(0, self._collection.findData(chosen[0])))
            self._questions.setCurrentIndex(max(0, self._questions.findData(chosen[1] or "")))
        self._show_progress()
        self._show_comparison()

    @Slot()
    def _show_progress(self) -> None:
        progress = self._shown.progress
        is_paused = progress.stage is TrialStage.PAUSED
        is_under_way = progress.is_under_way
        self._begin.setEnabled(bool(self._shown.collections) and not is_under_way)
        self._count.setVisible(self._chosen_set is None)
        for button in (self._pause, self._cancel):
            button.setVisible(is_under_way)
        self._pause.setText(tr("Resume") if is_paused else tr("Pause"))
        if progress.stage is TrialStage.FAILED:
            self._say(told(f"{progress.error_title} {progress.error_hint}".strip()), tone="danger")
        elif is_under_way:
            counted = tr("{done:,} of {total:,}", done=progress.done, total=progress.total)
            parts = (tr("paused") if is_paused else "", progress.doing)
            said = [*parts, counted if progress.total else ""]
            self._say(" · ".join(part for part in said if part) or tr("Beginning…"))
        elif progress.stage is TrialStage.CANCELLED:
            self._say(tr("Cancelled. Nothing was changed."))
        else:
            self._say(self._put)

    def _show_comparison(self) -> None:
        compared = self._shown.compared
        shown = (self._settings, self._advice, self._worth, self._use, self._worst,
                 self._worst_title)  # fmt: skip
        for widget in shown:
            widget.setVisible(compared is not None)
        if compared is None:
            return
        advised, present = advice(compared), self._present
        with QSignalBlocker(self._settings):
            self._settings.clear()
            for trial in compared.trials:
                asked = len(compared.questions)
                parts = [
                    in_words(trial.chunking),
                    tr("{found:,} of {count:,} found", found=trial.found, count=asked),
                    tr("{count:,} chunks", count=trial.chunks),
                    tr("in use") if trial.chunking == present else "",
                ]
                item = QListWidgetItem(" · ".join(filter(None, parts)), self._settings)
                item.setSelected(trial.chunking == advised.chunking)
                if item.isSelected():
                    self._settings.setCurrentItem(item)
        self._advice.setText(advised.words)
        self._worth.setText(worth(compared))
        self._worst.clear()
        for question, found in compared.worst(compared.trials[0], WORST):
            item = QListWidgetItem(f"{one_line(question.text)}\n    {why(found)}", self._worst)
            item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
        self._show_use()

    @property
    def _chosen_set(self) -> QuestionSet | None:
        wanted = self._questions.currentData()
        return next((s for s in self._shown.sets if s.set_id == wanted), None)

    @property
    def _present(self) -> ChunkSettings | None:
        """The present chunk settings of the chosen collection."""
        wanted = self._collection.currentData()
        found = (c.chunking for c in self._shown.collections if c.collection_id == wanted)
        return next(found, None)

    @property
    def _chosen(self) -> ChunkSettings | None:
        compared, row = self._shown.compared, self._settings.currentRow()
        return compared.trials[row].chunking if compared and row >= 0 else None

    @Slot()
    def _show_use(self) -> None:
        self._use.setEnabled(self._chosen not in (None, self._present))

    def _say(self, words: str, tone: str = "muted") -> None:
        self._said.set_tone(tone)
        self._said.setText(words)

    @Slot(object)
    def _on_failed(self, error: AppError) -> None:
        self._begin.setEnabled(True)
        self._say(failure_in_words(error), tone="danger")

    # --- actions -----------------------------------------------------------------------------

    @Slot()
    def _on_collection_chosen(self) -> None:
        self._former, self._put = None, ""
        self._undo.hide()
        self._refresh()

    @Slot()
    def _on_begin_clicked(self) -> None:
        uses_model = self._questions.currentData() != "text"
        plan = ChunkPlan(
            self._collection.currentData(), self._chosen_set, self._count.value(), uses_model
        )
        self._begin.setEnabled(False)
        self._put = ""
        trials = self._worker.chunk_trials
        self._bridge.run(self, lambda: trials.begin(plan), failed=self._on_failed)

    @Slot()
    def _on_pause_clicked(self) -> None:
        is_wanted = self._shown.progress.stage is TrialStage.RUNNING
        self._worker.chunk_trials.pause(is_wanted=is_wanted)

    @Slot()
    def _on_cancel_clicked(self) -> None:
        self._worker.chunk_trials.cancel()

    @Slot()
    def _on_use_clicked(self) -> None:
        if chosen := self._chosen:
            words = tr("“{name}” is used. The old chunks answer until the new ones are there.",
                       name=in_words(chosen))  # fmt: skip
            self._put_to_use(chosen, words, can_undo=True)

    @Slot()
    def _on_undo_clicked(self) -> None:
        if former := self._former:
            self._put_to_use(former, tr("The chunks are as they were."), can_undo=False)

    def _put_to_use(self, chunking: ChunkSettings, words: str, *, can_undo: bool) -> None:
        collection_id, trials = self._collection.currentData(), self._worker.chunk_trials

        def finish(former: ChunkSettings) -> None:
            self._former = former if can_undo else None
            self._put = words
            self._undo.setVisible(can_undo)
            self._say(words)
            self._refresh()

        self._bridge.run(self, lambda: trials.use(collection_id, chunking), finish, self._on_failed)


class MyQuestionsPage(QWidget):
    """Two views below their tabs. `endpoint_requested` asks for the page where one is added."""

    endpoint_requested = Signal()

    def __init__(
        self,
        bridge: Bridge,
        worker: "RunWorker",
        library: "Library",
        chat: "Chat",
        theme: Theme,
        window: QWidget,
    ) -> None:
        """Dialogs open over the `window`."""
        super().__init__()
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("kind", "page")
        self._tabs = QTabBar(expanding=False, drawBase=False)
        self._tabs.setAccessibleName(tr("Views"))
        self._tabs.addTab(tr("Answers"))
        self._tabs.addTab(tr("Chunks"))
        self._views = QStackedWidget()
        actions = ExperimentActions(bridge, worker.experiments, library, chat, theme, window)
        actions.endpoint_requested.connect(self.endpoint_requested)
        # In a small window it is scrolled, so that the table of answers keeps its height.
        answers = QScrollArea(widgetResizable=True)
        answers.setFrameShape(QFrame.Shape.NoFrame)
        answers.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        answers.setWidget(ExperimentsPage(bridge, actions, theme))
        self._views.addWidget(answers)
        self._views.addWidget(ChunkPanel(bridge, worker, library))
        vertical(
            vertical(self._tabs, margins=(_SIDE_PX, 0, _SIDE_PX, 0)),
            (self._views, 1),
            on=self,
            margins=(0, 8, 0, 0),
            spacing=0,
        )
        self._tabs.currentChanged.connect(self._on_tab_changed)

    @Slot(int)
    def _on_tab_changed(self, at: int) -> None:
        self._views.setCurrentIndex(at)
