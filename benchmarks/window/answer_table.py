"""How long the window stands still while 100 questions of six runs are scrolled and filtered.

python benchmarks/window/answer_table.py [--questions N] [--runs N]

The real table of the page My questions over made-up answers of usual length, with a delegate that
paints each cell. It is scrolled by pages and by pixels in both directions, and each filter is
chosen. Prints the longest delay of a timer that is due every 5 ms, the longest time that the Qt
thread itself worked between two ticks, and the load of the computer. The limit is 50 ms of work.
Runs offscreen.
"""

import argparse
import json
import os
import random
import sys
from collections.abc import Callable

from benchmarks.window.event_loop import Tick, settle, watched
from desktop_rag.core.claims import CheckedClaim, Claim, Verdict
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.paths import resources_dir
from desktop_rag.core.settings import AppearanceSettings
from desktop_rag.features.evaluation.values.answer_matrix import (
    AnswerFilter,
    AnswerMatrix,
    matrix_of,
)
from desktop_rag.features.evaluation.values.run import Run, RunAnswer, SetQuestion, SetUp
from desktop_rag.features.evaluation.values.scoring import scored

_LIMIT_MS = 50.0
_SENTENCE = "the lamp of the lighthouse is lit at dusk by its keeper who trims the wick"
_ROUNDS = 3
_STEP_PX = 40


def main() -> None:
    """Parse the arguments, scroll, print one JSON document; exit code 1 beyond the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--runs", type=int, default=6)
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    ticks = measure(made_up(arguments.questions, arguments.runs))
    worked = max(tick.work_ms for tick in ticks)
    told = {
        "longest_work_ms": round(worked, 1),
        "longest_delay_ms": round(max(tick.late_ms for tick in ticks), 1),
        "ticks": len(ticks),
        "limit_ms": _LIMIT_MS,
        "load": os.getloadavg()[0],
    }
    print(json.dumps(told, indent=1))
    sys.exit(int(worked > _LIMIT_MS))


def made_up(questions: int, runs: int) -> AnswerMatrix:
    """Answers of 20 to 200 words with claims and sources."""
    chance = random.Random(1)
    asked = tuple(
        SetQuestion(f"q{n}", f"When is the lamp of pier {n} lit?", ("At dusk.",))
        for n in range(questions)
    )
    scores = [
        scored(
            Run(f"r{n}", "s", 1, SetUp(f"set-up {n}"), asked, 0.0),
            [_answer(question, n, chance) for question in asked],
            (),
        )
        for n in range(runs)
    ]
    return matrix_of(asked, scores)


def _answer(question: SetQuestion, run: int, chance: random.Random) -> RunAnswer:
    text = " ".join(chance.choices(_SENTENCE.split(), k=chance.randrange(20, 200)))
    checked = CheckedClaim(text[:80], chance.choice(list(Verdict)), 0.5, None, (), "")
    source = SourceRef(1, "d", "/docs/lamp.md", "Lamp", Anchor(), text, 1.0, is_cited=True)
    return RunAnswer(
        f"{run}{question.question_id}", f"r{run}", question.question_id, text, 0.0, seconds=1.0,
        sources=(source,), claims=(Claim(0, 80, checked, 1),),
    )  # fmt: skip


def measure(matrix: AnswerMatrix) -> list[Tick]:
    """Use the table; the ticks of all rounds."""
    from PySide6.QtCore import QSize
    from PySide6.QtWidgets import QApplication

    from desktop_rag.features.evaluation.ui.experiments_page import MatrixModel, MatrixView
    from desktop_rag.ui.foundation.theme import Theme

    qt = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(qt, QApplication), "it was made here"
    theme = Theme(qt, resources_dir(), AppearanceSettings())
    model = MatrixModel()
    view = MatrixView(theme, model)
    view.resize(QSize(1100, 700))
    view.show()
    model.show_matrix(matrix, AnswerFilter.ALL, "")
    settle(0.5)
    found: list[Tick] = []
    for _ in range(_ROUNDS):
        with watched() as ticks:
            for act in (_down(view), _across(view), _filters(model, matrix)):
                act()
        found += ticks
    return found


def _down(view: object) -> Callable[[], None]:
    from PySide6.QtWidgets import QTableView

    assert isinstance(view, QTableView)

    def act() -> None:
        bar = view.verticalScrollBar()
        for value in (*range(0, bar.maximum(), _STEP_PX), *range(bar.maximum(), 0, -500)):
            bar.setValue(value)
            settle(0.005)

    return act


def _across(view: object) -> Callable[[], None]:
    from PySide6.QtWidgets import QTableView

    assert isinstance(view, QTableView)

    def act() -> None:
        bar = view.horizontalScrollBar()
        for value in range(0, bar.maximum(), _STEP_PX):
            bar.setValue(value)
            settle(0.005)

    return act


def _filters(model: object, matrix: AnswerMatrix) -> Callable[[], None]:
    from desktop_rag.features.evaluation.ui.experiments_page import MatrixModel

    assert isinstance(model, MatrixModel)

    def act() -> None:
        for chosen in (*AnswerFilter, AnswerFilter.ALL):
            model.show_matrix(matrix, chosen, "")
            settle(0.05)

    return act


if __name__ == "__main__":
    main()
