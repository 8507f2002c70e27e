"""What the page "My questions" does: sets made and asked, answers judged, reports. Qt thread."""

import random
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from desktop_rag.core.errors import AppError
from desktop_rag.core.experiments.answer_matrix import AnswerMatrix, MatrixRow, matrix_of
from desktop_rag.core.experiments.judging_sample import drawn, groups
from desktop_rag.core.experiments.question_set import RUBRIC, QuestionSet, SetQuestion
from desktop_rag.core.experiments.run import Judgement, SetUp
from desktop_rag.core.experiments.run_names import model_of
from desktop_rag.core.experiments.scoring import RunScores
from desktop_rag.core.language.translation import tr
from desktop_rag.core.parsed import ParsedDocument
from desktop_rag.experiments.document_questions import proposals
from desktop_rag.experiments.feedback_questions import questions_of_feedback
from desktop_rag.experiments.report_files import write_report
from desktop_rag.experiments.reports import report_html
from desktop_rag.experiments.set_files import read_questions
from desktop_rag.ui.documents.dialog_reading import DialogReading
from desktop_rag.ui.experiments.answers_dialog import AnswersDialog
from desktop_rag.ui.experiments.judging_dialog import JudgingDialog, to_judge
from desktop_rag.ui.experiments.judging_start_dialog import (
    JudgingPlan,
    JudgingStartDialog,
    ModelJudge,
)
from desktop_rag.ui.experiments.report_pdf import write_pdf
from desktop_rag.ui.experiments.set_dialog import SetDialog
from desktop_rag.ui.experiments.set_up_dialog import SetUpChoices, SetUpDialog
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.foundation.wording import one_line

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.experiments.experiments import Experiments, SetResults
    from desktop_rag.ingest.library import Library

_PROPOSED = 10
_NEW = QuestionSet("", "")


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
        """Do something on a worker thread, and say these words once it is done."""
        self._bridge.run(self, work, lambda _: self.said.emit(words), self.failed.emit)

    # --- sets --------------------------------------------------------------------------------

    @Slot()
    def write_new_set(self) -> None:
        """Let the person write a new set."""
        self.write_set(_NEW)

    def write_set(self, edited: QuestionSet) -> None:
        """Let the person change a set, or write a new one."""
        dialog = SetDialog(edited, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

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
        dialog.open()

    def add_from_chats(self, into: QuestionSet | None) -> None:
        """Make or extend a set by the questions with feedback."""

        def work() -> QuestionSet:
            found = questions_of_feedback(self._chat)
            if not found:
                hint = tr("Press 👍 or 👎 below answers, or write your own version.")
                raise AppError(tr("There is no feedback on answers yet."), hint)
            return self._put(into, tr("From my chats"), found)

        self._make(work)

    def add_from_file(self, into: QuestionSet | None) -> None:
        """Make or extend a set by a file."""
        dialog = QFileDialog(self._window, tr("Questions from a file"))
        dialog.setObjectName("questionsFileDialog")
        dialog.setNameFilter(tr("Questions") + " (*.csv *.jsonl *.xlsx)")
        dialog.fileSelected.connect(
            lambda name: self._make(
                lambda: self._put(into, Path(name).stem, read_questions(Path(name), self._parse))
            )
        )
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _parse(self, path: Path) -> ParsedDocument | None:
        return self._library.documents.parsed(path, cancel=Event())

    def propose(self, into: QuestionSet | None) -> None:
        """Have the model propose questions from documents, each checked, and add them to a set."""

        def propose(cancel: Event) -> Iterable[SetQuestion]:
            if not self._chat.grader.model_name:
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
        ids = [scores.run.run_id for scores in runs]
        self._confirm(
            tr("Remove the answers of {names}?", names=names),
            lambda: [self.experiments.remove_run(run_id) for run_id in ids],
        )

    def _confirm(self, title: str, work: Callable[[], object]) -> None:
        box = QMessageBox(self._window)
        box.setObjectName("experimentConfirmation")
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText("\n\n".join((title, tr("This can't be undone."))))
        remove = box.addButton(tr("Delete"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(tr("Cancel"), QMessageBox.ButtonRole.RejectRole))
        remove.clicked.connect(lambda: self.run(work))
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    # --- runs --------------------------------------------------------------------------------

    def ask(self, question_set: QuestionSet) -> None:
        """Let the person choose set-ups, and ask the set with them in the background."""

        def load() -> SetUpChoices:
            endpoints = self._chat.models.settings.endpoints
            models = [
                (f"{name} · {endpoint.label}", (endpoint.base_url, name))
                for endpoint in endpoints
                for name in dict.fromkeys(
                    (endpoint.model, *self._chat.models.offered(endpoint.base_url))
                )
                if name
            ]
            every = self._chat.assistants.all()
            assistants = [(a.name, a.assistant_id) for a in every]
            own_models = frozenset(a.assistant_id for a in every if a.has_model)
            collections = [(c.name, c.collection_id) for c in self._library.collections.all()]
            endpoint = self._chat.models.endpoint
            usual = endpoint.model or tr("Excerpts")
            return SetUpChoices(models, assistants, collections, usual, endpoint.is_set, own_models)

        def show(choices: SetUpChoices) -> None:
            dialog = SetUpDialog(
                self._bridge, choices,
                lambda set_ups: self.experiments.estimate(question_set, set_ups), self._window,
                self._begun.pop(question_set.set_id, ()),
            )  # fmt: skip
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.submitted.connect(begin)
            dialog.endpoint_requested.connect(leave)
            dialog.open()

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
        set_id: str,
    ) -> None:
        """Show the answers of the `chosen` runs to a question beside each other."""
        dialog = AnswersDialog(matrix, rows, at, chosen, self._theme, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.corrected.connect(
            lambda question_id, text: self.run(
                lambda: self.experiments.correct(set_id, question_id, text),
                tr("Expected from the next run on."),
            )
        )
        self._let_read(dialog)
        dialog.open()

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
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.judged.connect(
                lambda judgement: self.run(lambda: self.experiments.judge(judgement))
            )
            self._let_read(dialog)
            dialog.open()

        self._start_judging(len(tasks), None, begin)

    def judge_by_model(self, results: "SetResults", run_ids: Sequence[str]) -> None:
        """Have the background model judge two runs, with the order swapped."""
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
            self._start_judging(
                len(both), ModelJudge(model, asked.rubric or RUBRIC, is_author), begin
            )

        self._bridge.run(self, self.experiments.judging_model, start, self.failed.emit)

    def _start_judging(
        self, count: int, judge: ModelJudge | None, begin: Callable[[JudgingPlan], None]
    ) -> None:
        dialog = JudgingStartDialog(count, self._window, judge)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.submitted.connect(begin)
        dialog.open()

    def _drawn(
        self, matrix: AnswerMatrix, run_ids: Sequence[str], among: Sequence[str], plan: JudgingPlan
    ) -> list[str]:
        return drawn(among, groups(matrix, run_ids, plan.spread), plan.most, random.Random())

    def _let_judge(
        self,
        results: "SetResults",
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

    def save_report(self, results: "SetResults") -> None:
        """Let the person choose a file, whose ending says what is written."""
        dialog = QFileDialog(self._window, tr("Save a report"))
        dialog.setObjectName("reportDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(["HTML (*.html)", "PDF (*.pdf)", "CSV (*.csv)", "JSONL (*.jsonl)"])
        dialog.setDefaultSuffix("html")

        def save(name: str) -> None:
            file, words = Path(name), tr("Saved: {name}", name=Path(name).name)
            if file.suffix.casefold() != ".pdf":
                self.run(lambda: write_report(results, file), words)
                return
            self.run(lambda: write_pdf(report_html(results), file), words)

        dialog.fileSelected.connect(save)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
