"""The actions and dialogs of the page "My questions": sets, runs, judging, reports. Qt thread."""

import random
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QMarginsF, QObject, Qt, Signal, Slot
from PySide6.QtGui import QPageLayout, QPageSize, QPdfWriter, QTextDocument
from PySide6.QtWidgets import QDialog, QLineEdit, QPlainTextEdit, QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.markup.own_words import EXPORTED_REPORT
from desktop_rag.core.parsed import ParsedDocument
from desktop_rag.features.evaluation.experiments.document_questions import (
    USUAL_QUESTIONS,
    made_questions,
    proposals,
    questions_of_feedback,
)
from desktop_rag.features.evaluation.experiments.reports import report_html, write_report
from desktop_rag.features.evaluation.experiments.set_files import read_questions
from desktop_rag.features.evaluation.ui.judging_dialog import AnswersDialog, JudgingDialog, to_judge
from desktop_rag.features.evaluation.ui.set_up_dialog import SetUpChoices, SetUpDialog
from desktop_rag.features.evaluation.values.answer_matrix import (
    AnswerMatrix,
    MatrixRow,
    Spread,
    drawn,
    groups,
    matrix_of,
)
from desktop_rag.features.evaluation.values.run import (
    LONGEST_NAME,
    RUBRIC,
    Judgement,
    QuestionSet,
    SetQuestion,
    SetUp,
)
from desktop_rag.features.evaluation.values.scoring import RunScores, SetResults, model_of
from desktop_rag.ui.documents.document_beside import DialogReading
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import (
    collection_name,
    failure_in_words,
    given_name,
    one_line,
)
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import DropDown, SettingsSection, note, number_field
from desktop_rag.ui.widgets.forms import FormDialog, ask_first, choose_file, open_once, save_as
from desktop_rag.ui.widgets.layouts import horizontal, vertical

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.features.evaluation.experiments.experiments import Experiments
    from desktop_rag.ingest.library import Library

_SIZE_PX = (640, 480)
_TAGS, _EXPECTED = "#", "=>"
_HELP = tr(
    "One question a line. What follows => is the answer you expect, if you know one; words that"
    " begin with # are tags: When is the lamp lit? => At dusk. #sea"
)


class SetDialog(QDialog):
    """Edits a set as text, a line for each question. `submitted` carries the QuestionSet."""

    submitted = Signal(object)

    def __init__(self, edited: QuestionSet, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("setDialog")
        self.setWindowTitle(tr("Questions"))
        self._edited = edited
        self._name = QLineEdit(edited.name, maxLength=LONGEST_NAME)
        self._name.setAccessibleName(tr("Name of the set"))
        self._lines = QPlainTextEdit("\n".join(map(line_of, edited.questions)))
        self._lines.setAccessibleName(tr("Questions, one a line"))
        self._lines.setTabChangesFocus(True)
        self._error = PlainLabel(tone="danger", wrap=True, selectable=True)
        self._save = TextButton(tr("Save"), kind="primary", then=self._on_saved)
        self._cancel = TextButton(tr("Cancel"), then=self.reject)
        buttons = horizontal((self._error, 1), self._cancel, self._save)
        column = vertical(on=self, margins=(20, 18, 20, 16), spacing=10)
        for words, field in (
            (tr("Name of the set"), self._name),
            (tr("Questions, one a line"), self._lines),
        ):
            label = PlainLabel(words)
            label.setBuddy(field)
            column.addWidget(label)
            column.addWidget(field, int(field is self._lines))
        column.addWidget(note(_HELP))
        column.addLayout(buttons)
        self._save.setDefault(True)
        self.resize(*_SIZE_PX)

    def show_error(self, error: AppError) -> None:
        """Show why the set can't be saved."""
        self._error.setText(failure_in_words(error))

    @Slot()
    def _on_saved(self) -> None:
        lines = self._lines.toPlainText().splitlines()
        questions = questions_of(lines, self._edited.questions)
        if not any(question.text for question in questions):
            self._error.setText(tr("There is no question yet. Write at least one."))
            self._lines.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        self.submitted.emit(replace(self._edited, name=self._name.text(), questions=questions))


def line_of(question: SetQuestion) -> str:
    """A question as a line; of several expected answers the first is shown."""
    parts = [" ".join(question.text.split())]
    if question.expected:
        parts.append(f"{_EXPECTED} {' '.join(question.expected[0].split())}")
    parts += [_TAGS + "_".join(tag.split()) for tag in question.tags]
    return " ".join(parts)


def questions_of(lines: list[str], known: tuple[SetQuestion, ...]) -> tuple[SetQuestion, ...]:
    """The questions of these lines; one whose text is unchanged keeps its id."""
    by_line = {line_of(question): question for question in known}
    by_text = {" ".join(question.text.split()): question for question in known}
    found: list[SetQuestion] = []
    for line in filter(str.strip, lines):
        if line in by_line:
            found.append(by_line[line])
            continue
        text, _, rest = line.partition(_EXPECTED)
        words = (rest if _EXPECTED in line else text).split()
        tags = tuple(word[1:] for word in words if word.startswith(_TAGS) and word[1:])
        plain = " ".join(word for word in words if not word.startswith(_TAGS))
        asked, expected = (" ".join(text.split()), plain) if _EXPECTED in line else (plain, "")
        same = by_text.get(asked, SetQuestion(uuid.uuid4().hex, asked))
        answers = (expected, *same.expected[1:]) if expected else ()
        found.append(replace(same, expected=answers, tags=tags))
    return tuple(found)


_MARGIN_MM = 14.0
_DPI = 120


def write_pdf(html: str, file: Path) -> None:
    """Write or replace the file. AppError when it can't be written. Any thread.

    `html` is our own report, in which all foreign text is escaped and nothing is loaded.
    """
    writer = QPdfWriter(str(file))
    writer.setCreator(EXPORTED_REPORT)
    writer.setResolution(_DPI)
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    margins = QMarginsF(_MARGIN_MM, _MARGIN_MM, _MARGIN_MM, _MARGIN_MM)
    writer.setPageMargins(margins, QPageLayout.Unit.Millimeter)
    document = QTextDocument()
    document.setHtml(html)
    document.setPageSize(writer.pageLayout().paintRectPixels(_DPI).size().toSizeF())
    document.print_(writer)
    del writer
    if not file.is_file() or not file.stat().st_size:
        raise AppError(tr("The PDF could not be written."), str(file))


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
    """At `most` so many questions, 0 for all; the rubric is for a model."""

    most: int
    spread: Spread
    rubric: str


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """The model that judges, its rubric, and whether it wrote answers that it would judge."""

    model: str
    rubric: str
    is_author: bool


class JudgingStartDialog(FormDialog):
    """Asks how many answers are judged, which, and by what rubric; `submitted` carries the plan."""

    def __init__(self, count: int, parent: QWidget, judge: ModelJudge | None = None) -> None:
        """`count` questions could be judged, by the person without a model."""
        self._most = number_field(0, max(1, count), 1, "")
        self._most.setSpecialValueText(tr("All {count:,}", count=count))
        self._most.setAccessibleName(tr("How many questions"))
        self._spread = DropDown()
        self._spread.setAccessibleName(tr("Which questions are drawn"))
        for spread in Spread:
            self._spread.addItem(spread.in_words(), spread.value)
        self._rubric = QPlainTextEdit(judge.rubric if judge else "", tabChangesFocus=True)
        self._rubric.setAccessibleName(tr("Rubric"))
        self._rubric.setFixedHeight(_RUBRIC_PX)
        section = SettingsSection(tr("Sample"))
        section.add_row(tr("Questions"), self._most)
        section.add_row(tr("Drawn"), self._spread, is_wide=True)
        title = tr("Let the model judge") if judge else tr("Judge blind")
        super().__init__(title, section, _WIDTH_PX, parent, send=tr("Begin"))
        said = _MODEL.format(model=one_line(judge.model)) if judge else _PERSON
        self.column.insertWidget(0, PlainLabel(said, tone="muted", wrap=True))
        if judge:
            section.add_row(tr("Rubric"), self._rubric, is_wide=True)
            reset = TextButton(tr("Reset the rubric"))
            reset.clicked.connect(self._on_reset_clicked)
            self.buttons.insertWidget(0, reset)
        if judge and judge.is_author:
            own = _OWN.format(model=one_line(judge.model))
            self.column.insertWidget(1, PlainLabel(own, tone="warning", wrap=True))
        self.submitted.connect(self.accept)

    def value(self) -> JudgingPlan:
        """The plan as entered."""
        rubric = self._rubric.toPlainText().strip() or RUBRIC
        return JudgingPlan(self._most.value(), Spread(self._spread.currentData()), rubric)

    @Slot()
    def _on_reset_clicked(self) -> None:
        self._rubric.setPlainText(RUBRIC)


_PROPOSED = 10
_NEW = QuestionSet("", "")


_REPORTS = {
    "HTML (*.html)": "html",
    "PDF (*.pdf)": "pdf",
    "CSV (*.csv)": "csv",
    "JSONL (*.jsonl)": "jsonl",
}


class ExperimentActions(QObject):
    """`said` carries a sentence for the page, `failed` an AppError, `made` the id of a new set.

    `endpoint_requested` asks for the page where an endpoint is added.
    """

    said = Signal(str)
    failed = Signal(object)
    made = Signal(str)
    endpoint_requested = Signal()

    def __init__(
        self,
        bridge: Bridge,
        experiments: "Experiments",
        library: "Library",
        chat: "Chat",
        theme: Theme,
        window: QWidget,
    ) -> None:
        """Dialogs open over the `window`."""
        super().__init__(window)
        self.experiments = experiments
        self._bridge = bridge
        self._library = library
        self._chat = chat
        self._theme = theme
        self._window = window
        # The set-ups of a dialog that was left to add an endpoint, by the id of their set.
        self._begun: dict[str, list[SetUp]] = {}

    def run(self, work: Callable[[], object], words: str = "") -> None:
        """Run `work` on a worker thread, then emit these words."""
        self._bridge.run(self, work, lambda _: self.said.emit(words), self.failed.emit)

    # --- sets --------------------------------------------------------------------------------

    @Slot()
    def write_new_set(self) -> None:
        """Let the person write a new set."""
        self.write_set(_NEW)

    def write_set(self, edited: QuestionSet) -> None:
        """Let the person change a set, or write a new one."""
        dialog = SetDialog(edited, self._window)

        def save(written: QuestionSet) -> None:
            def work() -> QuestionSet:
                if written.set_id:
                    return self.experiments.change(written)
                return self.experiments.add(written.name, written.questions)

            def finish(kept: QuestionSet) -> None:
                dialog.accept()
                self.made.emit(kept.set_id)

            self._bridge.run(dialog, work, finish, dialog.show_error)

        dialog.submitted.connect(save)
        open_once(dialog)

    def add_from_chats(self, into: QuestionSet | None) -> None:
        """Make or extend a set by the questions with feedback."""
        name = tr("From my chats")
        self._make(lambda: self._put(into, name, questions_of_feedback(self._chat)))

    def add_from_file(self, into: QuestionSet | None) -> None:
        """Make or extend a set by a file."""

        def parse(path: Path) -> ParsedDocument | None:
            return self._library.documents.parsed(path, cancel=Event())

        def make(name: str) -> None:
            file = Path(name)
            self._make(lambda: self._put(into, file.stem, read_questions(file, parse)))

        filters = [tr("Questions") + " (*.csv *.jsonl *.xlsx)"]
        choose_file(self._window, tr("Questions from a file"), make, filters=filters)

    def propose(self, into: QuestionSet | None) -> None:
        """Have the model propose questions from documents, each checked, and add them to a set."""

        def propose(cancel: Event) -> Iterable[SetQuestion]:
            if not self._chat.models.helper():
                title = tr("No model is set that could propose questions.")
                raise AppError(title, tr("Set one up in the settings."))
            return proposals(self._library, self._chat, _PROPOSED, cancel)

        found: list[SetQuestion] = []

        def hear(question: SetQuestion) -> None:
            found.append(question)
            self.said.emit(tr("{count:,} questions proposed so far", count=len(found)))

        def finish() -> None:
            if found:
                self._make(lambda: self._put(into, tr("From my documents"), found))
            else:
                self.said.emit(tr("No question came that the documents answer."))

        self.said.emit(tr("The model reads passages and proposes questions…"))
        self._bridge.stream(self, propose, hear, finish, self.failed.emit)

    def take_from_text(self, into: QuestionSet | None) -> None:
        """Make or extend a set by headings and sentences of documents."""

        def make() -> QuestionSet:
            among = self._library.documents.all()
            found = made_questions(
                self._library, self._chat, USUAL_QUESTIONS, Event(), among, uses_model=False
            )
            return self._put(into, tr("From my documents"), list(found))

        self._make(make)

    def _put(
        self, into: QuestionSet | None, name: str, found: Sequence[SetQuestion]
    ) -> QuestionSet:
        if into:
            return self.experiments.extend(into.set_id, found)
        taken = {each.name.casefold() for each in self.experiments.sets()}
        names = chain([name], (f"{name} {n}" for n in range(2, 1_000)))
        free = next(each for each in names if each.casefold() not in taken)
        return self.experiments.add(free, [replace(q, question_id=uuid.uuid4().hex) for q in found])

    def _make(self, work: Callable[[], QuestionSet]) -> None:
        def finish(kept: QuestionSet) -> None:
            self.said.emit("")
            self.made.emit(kept.set_id)

        self._bridge.run(self, work, finish, self.failed.emit)

    def delete(self, question_set: QuestionSet) -> None:
        """Delete a set with its runs, after a question."""
        title = tr("Delete “{name}” with all its runs?", name=one_line(question_set.name))
        self._confirm(title, lambda: self.experiments.remove(question_set.set_id))

    def remove_runs(self, runs: Sequence[RunScores]) -> None:
        """Remove runs with their answers, after a question."""
        names = ", ".join(one_line(scores.name) for scores in runs)
        ids, title = [s.run.run_id for s in runs], tr("Remove the answers of {names}?", names=names)
        self._confirm(title, lambda: [self.experiments.remove(run_id) for run_id in ids])

    def _confirm(self, title: str, work: Callable[[], object]) -> None:
        text = "\n\n".join((title, tr("This can't be undone.")))
        ask_first(self._window, "", text, tr("Delete"), lambda: self.run(work))

    # --- runs --------------------------------------------------------------------------------

    def ask(self, question_set: QuestionSet) -> None:
        """Let the person choose set-ups, and ask the set with them in the background."""

        def load() -> SetUpChoices:
            endpoints = self._chat.models.settings.endpoints
            offered = self._chat.models.offered
            models = [
                (f"{name} · {given_name(endpoint.label)}", (endpoint.base_url, name))
                for endpoint in endpoints
                for name in dict.fromkeys((endpoint.model, *offered(endpoint.base_url)))
                if name
            ]
            every = self._chat.assistants.all()
            assistants = [(a.name, a.assistant_id) for a in every]
            own_models = frozenset(a.assistant_id for a in every if a.has_model)
            known = self._library.collections.all()
            collections = [(collection_name(c), c.collection_id) for c in known]
            endpoint = self._chat.models.endpoint
            usual = endpoint.model or tr("Excerpts")
            return SetUpChoices(models, assistants, collections, usual, endpoint.is_set, own_models)

        def show(choices: SetUpChoices) -> None:
            dialog = SetUpDialog(
                self._bridge, choices,
                lambda set_ups: self.experiments.estimate(question_set, set_ups), self._window,
                self._begun.pop(question_set.set_id, ()),
            )  # fmt: skip
            dialog.submitted.connect(begin)
            dialog.endpoint_requested.connect(leave)
            open_once(dialog)

        def leave(set_ups: list[SetUp]) -> None:
            self._begun[question_set.set_id] = set_ups
            self.endpoint_requested.emit()

        def begin(set_ups: list[SetUp]) -> None:
            # The dialog said what it may cost.
            self.run(lambda: self.experiments.begin(question_set, set_ups, has_consent=True))

        self._bridge.run(self, load, show, self.failed.emit)

    def show_answers(
        self,
        matrix: AnswerMatrix,
        rows: Sequence[MatrixRow],
        at: int,
        chosen: Collection[str],
        question_set: QuestionSet,
    ) -> None:
        """Show the answers of the `chosen` runs to a question beside each other."""
        dialog = AnswersDialog(matrix, rows, at, chosen, self._theme, self._window)
        dialog.set_correctable(is_wanted=not question_set.is_measured)
        said, correct = tr("Expected from the next run on."), self.experiments.correct
        dialog.corrected.connect(
            lambda question_id, text: self.run(
                lambda: correct(question_set.set_id, question_id, text), said
            )
        )
        self._let_read(dialog)
        open_once(dialog)

    def _let_read(self, dialog: AnswersDialog | JudgingDialog) -> None:
        reading = DialogReading(self._bridge, self._library, self._theme, dialog)
        dialog.read_requested.connect(reading.read)

    # --- judging and reports -----------------------------------------------------------------

    def judge(
        self, matrix: AnswerMatrix, run_ids: Sequence[str], done: Sequence[Judgement], set_id: str
    ) -> None:
        """Let the person judge one run or two, blind."""
        tasks = to_judge(matrix, run_ids, done, random.Random())
        if not tasks:
            self.said.emit(tr("There is nothing left to judge in these runs."))
            return
        by_id = {task.question.question_id: task for task in tasks}

        def begin(plan: JudgingPlan) -> None:
            chosen = self._drawn(matrix, run_ids, list(by_id), plan)
            chosen_tasks = [by_id[each] for each in chosen]
            dialog = JudgingDialog(set_id, chosen_tasks, self._theme, self._window)
            dialog.judged.connect(
                lambda judgement: self.run(lambda: self.experiments.judge(judgement))
            )
            self._let_read(dialog)
            open_once(dialog)

        self._start_judging(len(tasks), None, begin)

    def judge_by_model(self, results: SetResults, run_ids: Sequence[str]) -> None:
        """Have the helper model judge two runs, each pair in both orders."""
        asked, scores = results.question_set, {each.run.run_id: each for each in results.runs}
        first, second = (scores[run_id] for run_id in run_ids)
        both = [each for each in first.answers if each in second.answers]
        if not both:
            self.said.emit(tr("No question is answered in both runs yet."))
            return

        def begin(plan: JudgingPlan) -> None:
            chosen = self._drawn(matrix_of(asked.questions, results.runs), run_ids, both, plan)
            self._let_judge(results, first, second, plan.rubric, chosen)

        def start(model: str) -> None:
            is_author = model in {model_of(first), model_of(second)}
            judge = ModelJudge(model, asked.rubric or RUBRIC, is_author)
            self._start_judging(len(both), judge, begin)

        self._bridge.run(self, self.experiments.judging_model, start, self.failed.emit)

    def _start_judging(
        self, count: int, judge: ModelJudge | None, begin: Callable[[JudgingPlan], None]
    ) -> None:
        dialog = JudgingStartDialog(count, self._window, judge)
        dialog.submitted.connect(begin)
        dialog.open()

    def _drawn(
        self, matrix: AnswerMatrix, run_ids: Sequence[str], among: Sequence[str], plan: JudgingPlan
    ) -> list[str]:
        return drawn(among, groups(matrix, run_ids, plan.spread), plan.most, random.Random())

    def _let_judge(
        self,
        results: SetResults,
        first: RunScores,
        second: RunScores,
        rubric: str,
        among: Sequence[str],
    ) -> None:
        self.said.emit(tr("The model compares the answers…"))

        def work() -> str:
            self.experiments.set_rubric(results.question_set.set_id, rubric)
            done = self.experiments.judge_by_model(first, second, Event(), rubric, among)
            agreed = self.experiments.agreement(results.question_set.set_id)
            return f"{done.in_words()} {agreed.in_words()}"

        self._bridge.run(self, work, self.said.emit, self.failed.emit)

    def save_report(self, results: SetResults) -> None:
        """Let the person choose a file, whose ending decides the format."""

        def save(name: str) -> None:
            file, words = Path(name), tr("Saved: {name}", name=Path(name).name)
            if file.suffix.casefold() == ".pdf":
                self.run(lambda: write_pdf(report_html(results), file), words)
            else:
                self.run(lambda: write_report(results, file), words)

        save_as(self._window, tr("Save a report"), "", _REPORTS, save, name="reportDialog")
