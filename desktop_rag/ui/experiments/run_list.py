"""The runs of a set, of which one or several are chosen. Qt thread."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QAbstractItemView, QListWidgetItem, QWidget

from desktop_rag.core.experiments.run import RunState
from desktop_rag.core.experiments.run_names import model_of
from desktop_rag.core.experiments.run_summary import summary
from desktop_rag.core.experiments.scoring import RunScores
from desktop_rag.core.language.translation import decimal_in_words, told, tr
from desktop_rag.ui.foundation.days import clock_in_words
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.widgets.controls import plain_tooltip
from desktop_rag.ui.widgets.item_list import ItemList

# The runs that somebody wants to compare first.
_NEWEST = 2
_ID_ROLE = Qt.ItemDataRole.UserRole
_STATES = {
    RunState.WAITING: tr("being answered"),
    RunState.PAUSED: tr("paused"),
    RunState.DONE: tr("done"),
    RunState.FAILED: tr("failed"),
}


class RunList(ItemList):
    """A line for each run; the choice stays while runs go on."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Runs"), tr("No runs yet."), parent)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)

    @property
    def chosen_ids(self) -> set[str]:
        """The ids of the chosen runs."""
        return {item.data(_ID_ROLE) for item in self.selectedItems()}

    def show_runs(self, runs: Sequence[RunScores]) -> None:
        """Show these; the newest two are chosen when there are others than before."""
        chosen = self.chosen_ids
        known = {self.item(n).data(_ID_ROLE) for n in range(self.count())}
        if known != {scores.run.run_id for scores in runs}:
            chosen = {scores.run.run_id for scores in runs[-_NEWEST:]}
        with QSignalBlocker(self):
            self.clear()
            for scores in runs:
                item = QListWidgetItem(run_in_words(scores), self)
                item.setData(_ID_ROLE, scores.run.run_id)
                item.setToolTip(plain_tooltip(_details(scores)))
                item.setSelected(scores.run.run_id in chosen)


def run_in_words(scores: RunScores) -> str:
    """`small · done · 40 of 40 · score 75 % · 1.2 s`."""
    run, figures = scores.run, summary(scores)
    answered = tr("{done:,} of {total:,}", done=figures.answered, total=figures.questions)
    score = "" if figures.score is None else tr("score {share:.0f} %", share=100 * figures.score)
    seconds = "" if figures.seconds is None else f"{decimal_in_words(figures.seconds, 1)} s"
    cost = "" if figures.cost is None else tr("cost {cost:,.4g}", cost=figures.cost)
    parts = (one_line(scores.name), _STATES[run.state], answered, score, seconds, cost,
             one_line(told(run.error_title)))  # fmt: skip
    return " · ".join(part for part in parts if part)


def _details(scores: RunScores) -> str:
    """When a run was begun, and what answered, for a tooltip."""
    model = model_of(scores)
    begun = tr("Begun {time}", time=clock_in_words(scores.run.made_at))
    parts = (scores.name, tr("Model: {name}", name=model) if model else "", begun)
    return "\n".join(part for part in parts if part)
