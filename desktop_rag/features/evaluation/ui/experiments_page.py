"""The page "My questions": sets, their runs, and the matrix of answers. Qt thread."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSignalBlocker,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QPainter, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QListWidgetItem,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import count_of, decimal_in_words, told, tr
from desktop_rag.core.parsed import ChunkSettings
from desktop_rag.features.evaluation.ui.experiment_actions import ExperimentActions
from desktop_rag.features.evaluation.values.answer_matrix import (
    AnswerFilter,
    AnswerMatrix,
    MatrixCell,
    MatrixRow,
    matrix_of,
)
from desktop_rag.features.evaluation.values.found_places import in_words
from desktop_rag.features.evaluation.values.run import (
    QuestionSet,
    Run,
    RunState,
    RunWentOn,
    SetsChanged,
)
from desktop_rag.features.evaluation.values.run_summary import compared_with_first, summary
from desktop_rag.features.evaluation.values.scoring import RunScores, SetResults, model_of
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.foundation.days import clock_in_words
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import failure_in_words, one_line
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton, plain_tooltip
from desktop_rag.ui.widgets.flow_row import FlowRow
from desktop_rag.ui.widgets.form_fields import DropDown
from desktop_rag.ui.widgets.item_list import Column, ItemList, RowsModel, RowTable
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical

# The runs that somebody wants to compare first.
_NEWEST = 2
_ID_ROLE = Qt.ItemDataRole.UserRole
_STATES = {
    RunState.WAITING: tr("being answered"), RunState.PAUSED: tr("paused"),
    RunState.DONE: tr("done"), RunState.FAILED: tr("failed"),
}  # fmt: skip


class RunList(ItemList):
    """The runs of a set, of which several can be chosen; the choice stays while runs go on."""

    def __init__(self) -> None:
        super().__init__(tr("Runs"), tr("No runs yet."))
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)

    @property
    def chosen_ids(self) -> set[str]:
        """The ids of the chosen runs."""
        return {item.data(_ID_ROLE) for item in self.selectedItems()}

    def show_runs(self, runs: Sequence[RunScores], tag: str = "") -> None:
        """Show these, with the scores of a tag if one is given; two of others are chosen."""
        chosen = self.chosen_ids
        known = {self.item(n).data(_ID_ROLE) for n in range(self.count())}
        if known != {scores.run.run_id for scores in runs}:
            chosen = {scores.run.run_id for scores in runs[-_NEWEST:]}
        with QSignalBlocker(self):
            self.clear()
            for scores in runs:
                item = QListWidgetItem(run_in_words(scores, tag), self)
                item.setData(_ID_ROLE, scores.run.run_id)
                item.setToolTip(plain_tooltip(_details(scores)))
                item.setSelected(scores.run.run_id in chosen)


def _set_in_words(question_set: QuestionSet) -> str:
    """The name with the number of questions, which those of measurements read late."""
    name = one_line(question_set.name)
    if question_set.is_measured:
        return name
    count = count_of(len(question_set.questions), tr("question"), tr("questions"))
    return f"{name} · {count}"


def run_in_words(scores: RunScores, tag: str = "") -> str:
    """`small · done · 40 of 40 · score 75 % · preferred 60 % · 1.2 s`, the score of a tag."""
    run, figures = scores.run, summary(scores)
    score, won, backed = scores.mean(tag), figures.preferred, figures.supported
    known = (
        "" if score is None else tr("score {share:.0f} %", share=100 * score),
        "" if won is None else tr("preferred {share:.0f} %", share=100 * won),
        "" if backed is None else tr("backed by sources {share:.0f} %", share=100 * backed),
    )
    only_quotes = figures.supported is None and figures.excerpts > 0
    chunks = tr("{count:,} chunks", count=run.figures["chunks"]) if "chunks" in run.figures else ""
    parts = (
        one_line(scores.name), _STATES[run.state],
        tr("{done:,} of {total:,}", done=figures.answered, total=figures.questions), *known,
        tr("only quotes") if only_quotes else "", chunks,
        "" if figures.seconds is None else f"{decimal_in_words(figures.seconds, 1)} s",
        "" if figures.cost is None else tr("cost {cost:,.4g}", cost=figures.cost),
        one_line(told(run.error_title)),
    )  # fmt: skip
    return " · ".join(part for part in parts if part)


def _details(scores: RunScores) -> str:
    """The name, model and beginning of a run, for a tooltip."""
    model = model_of(scores)
    begun = tr("Begun {time}", time=clock_in_words(scores.run.made_at))
    parts = (scores.name, tr("Model: {name}", name=model) if model else "", begun)
    return "\n".join(part for part in parts if part)


_EMPTY = AnswerMatrix((), ())


class MatrixModel(RowsModel[MatrixRow]):
    """A row for each question; the first column is the question, the others are runs."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__((), parent)
        self.matrix = _EMPTY
        # The runs and questions that are shown.
        self._ids: tuple[list[str], list[str]] = ([], [])

    @property
    def rows(self) -> Sequence[MatrixRow]:
        """The questions that pass the filter."""
        return self._rows

    def show_matrix(self, matrix: AnswerMatrix, chosen: AnswerFilter, tag: str) -> None:
        """Show what passes the filter; where only cells changed, the view stays where it is."""
        rows = matrix.shown(chosen, tag)
        ids = [run.run_id for run in matrix.runs], [row.question.question_id for row in rows]
        is_same, self._ids = bool(rows) and ids == self._ids, ids
        self.matrix = matrix
        question = Column[MatrixRow](tr("Question"), lambda row: one_line(row.question.text))
        self.columns = [question, *(_column(n, name) for n, name in enumerate(matrix.names))]
        if not is_same:
            self.show(rows)
            return
        self._rows = rows
        last = self.index(max(0, len(rows) - 1), self.columnCount() - 1)
        self.dataChanged.emit(self.index(0, 0), last)
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, self.columnCount() - 1)


def _column(at: int, name: str) -> Column[MatrixRow]:
    """The answers of a run, and what is read out of them."""

    def text(row: MatrixRow) -> str:
        return cell.text if (cell := row.cells[at]) else ""

    def spoken(row: MatrixRow) -> str:
        return f"{cell.text} {cell.foot}" if (cell := row.cells[at]) else ""

    return Column(one_line(name), text, spoken=spoken)


Index = QModelIndex | QPersistentModelIndex
_LINES = 3
_PADDING_PX = 8
_STRIPE_PX = 4
_LEAST_COLUMN_PX = 190
_GOOD, _POOR = 0.75, 0.4
_WRAPPED = Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap


class AnswerDelegate(QStyledItemDelegate):
    """Paints a question, or an answer with its badges, its score and a stripe in its colour."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setClipRect(option.rect)
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.fillRect(option.rect, self._theme.colour("accent_wash" if is_chosen else "surface"))
        painter.setPen(self._theme.colour("border"))
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        painter.drawLine(option.rect.topRight(), option.rect.bottomRight())
        area = option.rect.adjusted(_PADDING_PX, _PADDING_PX, -_PADDING_PX, -_PADDING_PX)
        row: MatrixRow = index.data(RowsModel.RowRole)
        if index.column() == 0:
            painter.setPen(self._theme.colour("text"))
            painter.drawText(area, _WRAPPED, index.data())
        elif cell := row.cells[index.column() - 1]:
            self._paint_cell(painter, option, area, cell)
        painter.restore()

    def _paint_cell(
        self, painter: QPainter, option: QStyleOptionViewItem, area: QRect, cell: MatrixCell
    ) -> None:
        line = option.fontMetrics.height()
        tone = _tone(cell)
        stripe = QRect(option.rect.left(), option.rect.top(), _STRIPE_PX, option.rect.height() - 1)
        painter.fillRect(stripe, self._theme.colour(tone))
        text = QRect(area.left(), area.top(), area.width(), _LINES * line)
        painter.setPen(self._theme.colour("danger" if cell.answer.has_failed else "text"))
        painter.drawText(text, _WRAPPED, cell.text)
        foot = QRect(area.left(), area.bottom() - line, area.width(), line)
        painter.setPen(self._theme.colour("muted"))
        score = "" if cell.score is None else f"{100 * cell.score:.0f} %"
        room = area.width() - option.fontMetrics.horizontalAdvance(score) - _PADDING_PX
        elided = option.fontMetrics.elidedText(cell.foot, Qt.TextElideMode.ElideRight, room)
        painter.drawText(foot, Qt.AlignmentFlag.AlignLeft, elided)
        painter.setPen(self._theme.colour(tone if tone != "border" else "muted"))
        painter.drawText(foot, Qt.AlignmentFlag.AlignRight, score)


class MatrixView(RowTable):
    """The table of questions and runs. `opened` carries the row whose answers are to be shown."""

    opened = Signal(int)

    def __init__(self, theme: Theme, model: MatrixModel) -> None:
        super().__init__(theme, model)
        self.setItemDelegate(AnswerDelegate(theme, self))
        self.setAccessibleName(tr("Questions and answers"))
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        model.modelReset.connect(self._fit_columns)
        self.activated.connect(self._on_activated)

    def _fit_rows(self) -> None:
        height = (_LINES + 1) * self.fontMetrics().height() + 3 * _PADDING_PX
        self.verticalHeader().setDefaultSectionSize(height)

    @Slot()
    def _fit_columns(self) -> None:
        count = self.model().columnCount()
        share = self.viewport().width() // max(1, count)
        for column in range(count):
            self.setColumnWidth(column, max(_LEAST_COLUMN_PX, share))

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        self.opened.emit(index.row())


def _tone(cell: MatrixCell) -> str:
    if cell.answer.has_failed:
        return "danger"
    if cell.score is None:
        return "border"
    if cell.score >= _GOOD:
        return "success"
    return "danger" if cell.score < _POOR else "warning"


_SIDE_PX = 22
_PAIR = 2
_INTRO = tr(
    "Is the other model better? Write the questions that you would ask, have each set-up answer"
    " them, and see which answers are better, and whether that is more than chance."
)


@dataclass(frozen=True, slots=True)
class _Shown:
    """The content of the page, read on a worker thread."""

    sets: Sequence[QuestionSet]
    results: SetResults | None
    matrix: AnswerMatrix


class ExperimentsPage(QWidget):
    """Reads what it shows whenever it is shown, and after each change while it is."""

    def __init__(self, bridge: Bridge, actions: ExperimentActions, theme: Theme) -> None:
        super().__init__()
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("kind", "page")
        self._bridge = bridge
        self._actions = actions
        self._shown = _Shown((), None, _EMPTY)
        self._wanted_id = ""
        self._job: Job | None = None
        self._is_stale = False
        # The chunks of collections before others were used.
        self._former: dict[str, ChunkSettings] = {}
        self._make_controls(theme)
        self._model = MatrixModel(self)
        self._matrix = MatrixView(theme, self._model)
        self._build()
        self._connect()

    def _make_controls(self, theme: Theme) -> None:
        self._new = TextButton(tr("New set"), kind="primary", icon="plus:accent_text", theme=theme)
        self._new.setMenu(self._set_menu(is_new=True))
        self._sets = DropDown()
        self._sets.setMinimumContentsLength(20)
        self._sets.setAccessibleName(tr("Set of questions"))
        # A long name is no reason to wrap the row.
        self._sets.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self._edit = TextButton(tr("Edit…"), then=lambda: self._with_set(self._actions.write_set))
        self._more = TextButton(tr("Add questions"))
        self._more.setMenu(self._set_menu(is_new=False))
        self._delete = TextButton(tr("Delete"), kind="danger")
        self._ask = TextButton(tr("Ask…"), kind="primary")
        self._runs = RunList()
        self._pause = TextButton(tr("Pause"), then=self._on_pause_clicked)
        self._remove = TextButton(tr("Remove"), then=self._on_remove_clicked)
        self._use = TextButton(tr("Use these chunks"), then=self._on_use_clicked)
        self._undo = TextButton(tr("Undo"), then=self._on_undo_clicked)
        self._undo.hide()
        self._judge = TextButton(tr("Judge blind…"), then=self._on_judge_clicked)
        self._let_judge = TextButton(tr("Let the model judge"), then=self._on_let_judge_clicked)
        self._report = TextButton(tr("Report…"), then=self._on_report_clicked)
        self._beside = TextButton(tr("Side by side…"), then=self._on_beside_clicked)
        self._beside.setAccessibleDescription(tr("The answers of the chosen runs"))
        self._filter = DropDown()
        self._filter.setAccessibleName(tr("Which questions"))
        for chosen in AnswerFilter:
            self._filter.addItem(chosen.in_words(), chosen.value)
        self._tag = DropDown()
        self._tag.setAccessibleName(tr("Tag"))
        self._said = PlainLabel(wrap=True, selectable=True)
        self._compared = PlainLabel(wrap=True, selectable=True)
        self._empty = PlainLabel(_INTRO, tone="muted", wrap=True)

    def _set_menu(self, *, is_new: bool) -> QMenu:
        menu = QMenu(self)
        actions = self._actions

        def into() -> QuestionSet | None:
            return None if is_new else self._chosen_set

        if is_new:
            menu.addAction(tr("Write questions…")).triggered.connect(actions.write_new_set)
        for words, act in (
            (tr("From answers I judged or rewrote"), actions.add_from_chats),
            (tr("From a file…"), actions.add_from_file),
            (tr("Proposed from my documents"), actions.propose),
            (tr("Headings and sentences of my documents"), actions.take_from_text),
        ):
            menu.addAction(words).triggered.connect(lambda _=False, a=act: a(into()))
        return menu

    def _build(self) -> None:
        column = vertical(
            horizontal(PlainLabel(tr("My questions"), scale="title"), Stretch(), self._new),
            self._empty,
            on=self,
            margins=(_SIDE_PX, 18, _SIDE_PX, 14),
            spacing=10,
        )
        self._body = QWidget()
        column.addWidget(self._body, 1)
        column.addStretch(0)  # keeps the words at the top while there is no set
        column.addWidget(self._said)
        vertical(
            _row(self._sets, self._edit, self._more, self._delete, self._ask),
            self._runs,
            _row(self._pause, self._remove, self._use, self._undo),
            self._compared,
            _row(self._filter, self._tag, self._beside, self._judge, self._let_judge, self._report),
            (self._matrix, 1),
            on=self._body,
            margins=0,
            spacing=10,
        )
        # In a small window it gives way to the buttons below it.
        self._runs.setMinimumHeight(64)
        self._runs.setMaximumHeight(150)
        self._body.hide()

    def _connect(self) -> None:
        self._bridge.hear(SetsChanged, self._on_sets_changed)
        self._bridge.hear(RunWentOn, self._on_run_went_on)
        self._sets.activated.connect(self._on_set_chosen)
        self._delete.clicked.connect(lambda: self._with_set(self._actions.delete))
        self._ask.clicked.connect(lambda: self._with_set(self._actions.ask))
        self._runs.itemSelectionChanged.connect(self._on_runs_chosen)
        self._filter.activated.connect(self._show_matrix)
        self._tag.activated.connect(self._on_tag_chosen)
        self._matrix.opened.connect(self._on_row_opened)
        self._actions.said.connect(self._say)
        self._actions.failed.connect(self._on_failed)
        self._actions.made.connect(self._on_made)

    # --- what is there -----------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    def _on_sets_changed(self, _event: object) -> None:
        if self.isVisible():
            self._refresh()

    def _on_run_went_on(self, event: RunWentOn) -> None:
        self._on_sets_changed(event)
        if event.doing:
            self._say(event.doing)

    def _refresh(self) -> None:
        """Read again; a call meanwhile has it read once more afterwards."""
        if self._job:
            self._is_stale = True
            return
        wanted = self._wanted_id or (self._chosen_set.set_id if self._chosen_set else "")
        # What is chosen while this is read counts for the next time.
        self._wanted_id = ""
        self._job = self._bridge.run(self, lambda: self._read(wanted), self._show, self._on_failed)

    def _read(self, wanted: str) -> _Shown:
        experiments = self._actions.experiments
        sets = experiments.sets()
        chosen = next((s for s in sets if s.set_id == wanted), sets[0] if sets else None)
        if chosen is None:
            return _Shown(sets, None, _EMPTY)
        results = experiments.results(chosen.set_id)
        matrix = matrix_of(results.question_set.questions, results.runs)
        return _Shown(sets, results, matrix)

    def _show(self, shown: _Shown) -> None:
        self._job = None
        self._shown = shown
        self._empty.setVisible(all(each.is_measured for each in shown.sets))
        self._body.setVisible(bool(shown.sets))
        if results := shown.results:
            with QSignalBlocker(self._sets):
                self._sets.clear()
                for each in shown.sets:
                    self._sets.addItem(_set_in_words(each), each.set_id)
                ids = [each.set_id for each in shown.sets]
                self._sets.setCurrentIndex(ids.index(results.question_set.set_id))
            self._show_tags(results.question_set.tags)
            self._on_tag_chosen()
            self._on_runs_chosen()
        if self._is_stale:
            self._is_stale = False
            self._refresh()

    def _show_tags(self, tags: Sequence[str]) -> None:
        before = self._tag.currentData()
        self._tag.clear()
        self._tag.addItem(tr("All tags"), "")
        for tag in tags:
            self._tag.addItem(one_line(tag), tag)
        self._tag.setCurrentIndex(max(0, self._tag.findData(before)))
        self._tag.setVisible(bool(tags))

    @property
    def _chosen_set(self) -> QuestionSet | None:
        results = self._shown.results
        return results.question_set if results else None

    @property
    def _chosen_runs(self) -> list[Run]:
        ids, results = self._runs.chosen_ids, self._shown.results
        return [s.run for s in results.runs if s.run.run_id in ids] if results else []

    @Slot()
    def _on_runs_chosen(self) -> None:
        chosen = self._chosen_runs
        is_waiting = any(run.state is RunState.WAITING for run in chosen)
        can_resume = any(run.state in {RunState.PAUSED, RunState.FAILED} for run in chosen)
        self._pause.setText(tr("Pause") if is_waiting or not can_resume else tr("Resume"))
        self._pause.setEnabled(is_waiting or can_resume)
        is_own = bool(self._chosen_set and not self._chosen_set.is_measured)
        for button in (self._edit, self._more):
            button.setEnabled(is_own)
        self._remove.setEnabled(bool(chosen))
        self._use.setVisible(any(run.set_up.chunking for run in chosen))
        self._use.setEnabled(len(chosen) == 1)
        self._judge.setEnabled(is_own and len(chosen) in {1, _PAIR})
        self._let_judge.setEnabled(is_own and len(chosen) == _PAIR)
        for button in (self._report, self._beside):
            button.setEnabled(bool(self._shown.matrix.runs))
        self._ask.setEnabled(is_own and bool(self._chosen_set and self._chosen_set.questions))
        self._compared.say(self._comparison())

    def _comparison(self) -> str:
        results, chosen = self._shown.results, [run.run_id for run in self._chosen_runs]
        if results is None:
            return ""
        if results.question_set.is_measured and not results.runs:
            return ""
        if not results.question_set.questions and not results.runs:
            return tr("This set has no questions yet. “Edit…” and “Add questions” give it some.")
        if not results.runs:
            return tr("Press “Ask…” to have the questions answered.")
        if len(chosen) < _PAIR:
            return tr("Choose two runs or more to compare them.") if len(results.runs) > 1 else ""
        runs = [scores for scores in results.runs if scores.run.run_id in chosen]
        found = compared_with_first(runs, results.judgements)
        return "\n".join(each.in_words() for each in found)

    @Slot()
    def _on_tag_chosen(self) -> None:
        if results := self._shown.results:
            self._runs.show_runs(results.runs, self._tag.currentData() or "")
        self._show_matrix()

    @Slot()
    def _show_matrix(self) -> None:
        chosen = AnswerFilter(self._filter.currentData())
        self._model.show_matrix(self._shown.matrix, chosen, self._tag.currentData() or "")

    @Slot(str)
    def _say(self, words: str) -> None:
        self._said.say(words, "muted")

    @Slot(object)
    def _on_failed(self, error: AppError) -> None:
        self._job = None
        self._said.say(failure_in_words(error), "danger")

    # --- actions -----------------------------------------------------------------------------

    @Slot(str)
    def _on_made(self, set_id: str) -> None:
        self._wanted_id = set_id
        self._refresh()

    @Slot()
    def _on_set_chosen(self) -> None:
        self._wanted_id = self._sets.currentData()
        self._refresh()

    def _with_set(self, act: Callable[[QuestionSet], None]) -> None:
        if chosen := self._chosen_set:
            act(chosen)

    @Slot()
    def _on_pause_clicked(self) -> None:
        experiments, chosen = self._actions.experiments, self._chosen_runs
        ids = [run.run_id for run in chosen if run.state is RunState.WAITING]
        state = RunState.PAUSED if ids else RunState.WAITING
        ids = ids or [run.run_id for run in chosen if run.state is not RunState.DONE]
        self._actions.run(lambda: [experiments.set_state(each, state) for each in ids])

    @Slot()
    def _on_remove_clicked(self) -> None:
        results, ids = self._shown.results, self._runs.chosen_ids
        if results:
            self._actions.remove_runs([s for s in results.runs if s.run.run_id in ids])

    @Slot()
    def _on_use_clicked(self) -> None:
        experiments = self._actions.experiments
        [set_up] = (run.set_up for run in self._chosen_runs)
        if chunking := set_up.chunking:
            words = tr("“{name}” is used. The old chunks answer until the new ones are there.",
                       name=in_words(chunking))  # fmt: skip
            self._put_to_use(
                lambda: experiments.use_chunks(
                    dict.fromkeys(experiments.collections_of(set_up), chunking)
                ),
                words,
            )

    @Slot()
    def _on_undo_clicked(self) -> None:
        former, words = self._former, tr("The chunks are as they were.")
        self._put_to_use(
            lambda: self._actions.experiments.use_chunks(former), words, can_undo=False
        )

    def _put_to_use(
        self, work: Callable[[], dict[str, ChunkSettings]], words: str, *, can_undo: bool = True
    ) -> None:
        """Use chunks; `work` returns the former ones."""

        def finish(former: dict[str, ChunkSettings]) -> None:
            self._former = former
            self._undo.setVisible(can_undo)
            self._say(words)

        self._bridge.run(self, work, finish, self._on_failed)

    @Slot()
    def _on_judge_clicked(self) -> None:
        if results := self._shown.results:
            ids = [run.run_id for run in self._chosen_runs]
            done, set_id = results.judgements, results.question_set.set_id
            self._actions.judge(self._shown.matrix, ids, done, set_id)

    @Slot()
    def _on_let_judge_clicked(self) -> None:
        if results := self._shown.results:
            self._actions.judge_by_model(results, [run.run_id for run in self._chosen_runs])

    @Slot()
    def _on_report_clicked(self) -> None:
        if results := self._shown.results:
            self._actions.save_report(results)

    @Slot()
    def _on_beside_clicked(self) -> None:
        self._on_row_opened(max(0, self._matrix.currentIndex().row()))

    @Slot(int)
    def _on_row_opened(self, at: int) -> None:
        if (rows := self._model.rows) and (chosen := self._chosen_set):
            runs, at = self._runs.chosen_ids, min(at, len(rows) - 1)
            self._actions.show_answers(self._model.matrix, rows, at, runs, chosen)


def _row(*widgets: QWidget) -> FlowRow:
    row = FlowRow(spacing=10)
    for widget in widgets:
        row.addWidget(widget)
    return row
