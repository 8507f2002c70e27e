"""The dialogs over answers of runs: judged blind, by a model, and side by side."""

import random
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.markup.own_words import is_exported
from desktop_rag.core.parsed import Anchor
from desktop_rag.features.evaluation.ui.experiment_actions import (
    JudgingStartDialog,
    ModelJudge,
    write_pdf,
)
from desktop_rag.features.evaluation.ui.judging_dialog import (
    AnswersDialog,
    AnswerText,
    JudgingDialog,
    to_judge,
)
from desktop_rag.features.evaluation.values.answer_matrix import AnswerMatrix, matrix_of
from desktop_rag.features.evaluation.values.run import (
    RUBRIC,
    Judgement,
    Preference,
    Run,
    RunAnswer,
    SetQuestion,
    SetUp,
)
from desktop_rag.features.evaluation.values.scoring import RunScores, named, scored
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.widgets.controls import ElidedButton
from tests.unit.ui.rooms import button, field, texts

QUESTIONS = tuple(SetQuestion(f"q{n}", f"When {n}?") for n in range(3))
SOURCE = SourceRef(1, "d", "/a", "Lamp", Anchor(page=4), "At dusk.", 1.0, is_cited=True)


def run(name: str, *words: str) -> RunScores:
    made = Run(name, "s", 1, SetUp(name), QUESTIONS, 0.0)
    answers = [
        RunAnswer(f"{name}{n}", name, f"q{n}", text, 0.0, sources=(SOURCE,), model=name)
        for n, text in enumerate(words)
    ]
    return scored(made, answers, ())


@pytest.fixture
def matrix() -> AnswerMatrix:
    runs = (run("amber", *"abc"), run("oak", *"ABC"), run("birch", "**Bold** [1].", "y", "z"))
    return matrix_of(QUESTIONS, named(runs))


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


@pytest.fixture
def judging(matrix: AnswerMatrix, theme: Theme, parent: QWidget, qtbot: QtBot) -> JudgingDialog:
    tasks = to_judge(matrix, ["amber", "birch"], [], random.Random(1))
    dialog = JudgingDialog("s", tasks, theme, parent)
    dialog.show()
    qtbot.waitActive(dialog)
    return dialog


def test_a_slip_is_judged_again_by_keys(judging: JudgingDialog, qtbot: QtBot) -> None:
    made: list[Judgement] = []
    judging.judged.connect(made.append)
    qtbot.keyClick(judging.focusWidget(), Qt.Key.Key_1)
    qtbot.waitUntil(lambda: "2 of 3" in texts(judging))
    qtbot.keyClick(judging.focusWidget(), Qt.Key.Key_Backspace)
    qtbot.waitUntil(lambda: "1 of 3 · You said: Left is better" in texts(judging))
    assert not button(judging, "Back").isEnabled()
    qtbot.keyClick(judging.focusWidget(), Qt.Key.Key_3)
    assert [judgement.preference for judgement in made] == [Preference.FIRST, Preference.SECOND]
    assert made[0].judgement_id == made[1].judgement_id
    assert "1, 2 and 3 choose, S skips, Backspace goes back." in texts(judging)


def test_keys_write_into_the_comment(judging: JudgingDialog, qtbot: QtBot) -> None:
    comment = field(judging, QLineEdit, "Comment")
    comment.setFocus()
    qtbot.keyClicks(comment, "1 s")
    qtbot.keyClick(comment, Qt.Key.Key_Backspace)
    assert comment.text() == "1 "
    assert "1 of 3" in texts(judging)


def test_answers_are_judged_as_they_are_read_with_their_sources(judging: JudgingDialog) -> None:
    shown = [text.toPlainText() for text in judging.findChildren(AnswerText)]
    assert sorted(shown) == ["Bold [1].", "a"]
    assert len(sources(judging)) == 2
    assert "birch" not in " ".join(texts(judging))


def sources(dialog: QWidget) -> list[ElidedButton]:
    found = dialog.findChildren(ElidedButton)
    return [b for b in found if b.isVisible() and b.full_text == "[1] Lamp · page 4"]


def test_sources_of_both_sides_are_read(
    matrix: AnswerMatrix, theme: Theme, parent: QWidget
) -> None:
    dialog = AnswersDialog(matrix, matrix.rows, 0, {"oak", "birch"}, theme, parent)
    read: list[SourceRef] = []
    dialog.read_requested.connect(read.append)
    dialog.show()
    for source in sources(dialog):
        source.click()
    assert read == [SOURCE, SOURCE]
    dialog.findChildren(AnswerText)[1].anchorClicked.emit(QUrl("cite:1"))
    assert read == [SOURCE] * 3


def test_the_model_that_judges_is_named_and_warned_of_its_own_answers(parent: QWidget) -> None:
    other = JudgingStartDialog(3, parent, ModelJudge("oak", RUBRIC, is_author=False))
    other.show()
    assert any("“oak”" in text for text in texts(other))
    assert not any("favour their own" in text for text in texts(other))
    own = JudgingStartDialog(3, parent, ModelJudge("oak", RUBRIC, is_author=True))
    own.show()
    assert any("favour their own" in text for text in texts(own))


def test_the_chosen_runs_are_shown_side_by_side_question_by_question(
    matrix: AnswerMatrix, theme: Theme, parent: QWidget
) -> None:
    dialog = AnswersDialog(matrix, matrix.rows, 1, {"oak", "birch"}, theme, parent)
    dialog.show()
    sides = [field(dialog, QComboBox, f"Run on the {side}") for side in ("left", "right")]
    assert [side.currentText() for side in sides] == ["oak", "birch"]
    assert {"2 of 3", "When 1?"} <= set(texts(dialog))
    button(dialog, "Next question").click()
    assert {"3 of 3", "When 2?"} <= set(texts(dialog))
    assert not button(dialog, "Next question").isEnabled()
    button(dialog, "Previous question").click()
    button(dialog, "Previous question").click()
    assert "When 0?" in texts(dialog)
    shown = [text.toPlainText() for text in dialog.findChildren(AnswerText)]
    assert shown == ["A", "Bold [1]."]


def test_a_run_without_an_answer_yet_says_so(theme: Theme, parent: QWidget) -> None:
    runs = named([run("amber", "a"), run("oak")])
    matrix = matrix_of(QUESTIONS, runs)
    dialog = AnswersDialog(matrix, matrix.rows, 0, (), theme, parent)
    dialog.show()
    assert "Not answered yet." in texts(dialog)


def test_a_report_as_pdf_says_that_the_app_made_it(qtbot: QtBot, tmp_path: Path) -> None:
    file = tmp_path / "report.pdf"
    write_pdf("<p>The lamp is lit at dusk.</p>", file)
    assert is_exported(file.read_bytes()[:1000].decode("utf-8", "replace"))
