"""Questions are written, asked with two set-ups, compared, judged blind, and reported."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QComboBox, QLineEdit, QPlainTextEdit, QTextBrowser

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.features.evaluation.services import EvaluationServices
from desktop_rag.features.evaluation.ui.experiments_page import ExperimentsPage, MatrixView, RunList
from desktop_rag.features.evaluation.values.measurement import Measurement
from desktop_rag.features.evaluation.values.run import Preference
from desktop_rag.ui.reading.reading_pane import ReadingWindow
from desktop_rag.ui.widgets.controls import TextButton
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person
from tests.unit.ui.rooms import marked_words

_LEAST_TABLE_PX = 150
QUESTIONS = "\n".join(f"When is lamp {n} lit? => At dusk #lamps" for n in range(8))


def answer_to(prompt: str) -> str:
    """Right only with the instructions of the second set-up."""
    return "It is lit at dusk [1]." if "Be right." in prompt else "At noon [1]."


@pytest.fixture
def asker(
    home: Home, server: ChatServer, open_window: Callable[[], Person], papers: Path
) -> Person:
    """A person with an indexed folder and a model, in front of the page."""
    home.create()
    server.answer_to = answer_to
    save_settings(home.settings, Settings(endpoint=server.endpoint()))
    person = open_window()
    person.drops(papers)
    person.sees("2 searchable")
    person.opens_settings("Compare models")
    person.sees("Is the other model better?")
    return person


def writes(person: Person, name: str) -> None:
    person.chooses_entry("New set", "Write questions…")
    dialog = person.in_the_dialog()
    dialog.types("Name of the set", name)
    field = dialog.field("Questions, one a line")
    assert isinstance(field, QPlainTextEdit)
    field.setPlainText(QUESTIONS)
    dialog.clicks("Save")
    person.sees_no_longer("Is the other model better?")


def asks_with_two_set_ups(person: Person) -> None:
    person.clicks("Ask…")
    dialog = person.in_the_dialog()
    dialog.sees("8 answers, about ")
    dialog.clicks("Another set-up")
    instructions = dialog.place.findChildren(QPlainTextEdit)[0]
    instructions.setPlainText("Be right.")
    dialog.sees("16 answers, about ")
    dialog.clicks("Ask")


def reads(dialog: Person, click: Callable[[], None]) -> None:
    """A source opens at its words, in a window over the dialog."""
    click()
    dialog.waits_until(lambda: len(dialog.place.findChildren(ReadingWindow)) == 1)
    [window] = dialog.place.findChildren(ReadingWindow)
    dialog.waits_until(lambda: "lit at dusk" in " ".join(marked_words(window)))
    window.close()
    dialog.waits_until(lambda: not dialog.place.findChildren(ReadingWindow))


def looks_beside(asker: Person) -> None:
    asker.opens_row("Questions and answers", 0)
    asker.clicks("Side by side…")
    beside = asker.in_the_dialog()
    beside.sees("Expected: At dusk")
    texts = beside.place.findChildren(QTextBrowser)
    assert [len(text.extraSelections()) for text in texts] == [1, 1]
    reads(beside, lambda: beside.clicks_words("[1]"))
    reads(beside, lambda: beside.clicks("[1] Lamp"))
    beside.clicks("Next question")
    beside.sees("2 of 8")
    beside.sees("When is lamp 1 lit?")
    beside.clicks("Previous question")
    beside.sees("1 of 8")
    beside.types("Right answer", "At dusk, by the keeper.")
    beside.clicks("Expect this")
    asker.sees("Expected from the next run on.")


def judges_blind(asker: Person) -> None:
    asker.clicks("Judge blind…")
    asker.in_the_dialog().clicks("Begin")
    judging = asker.in_the_dialog()
    judging.sees("1 of 8")
    assert "Set-up 2" not in judging.screen()
    reads(judging, lambda: judging.clicks("[1] Lamp"))
    judging.clicks("Same")
    judging.sees("2 of 8")
    judging.clicks("Back")
    judging.sees("1 of 8 · You said: Same")
    for number in range(8):
        judging.sees(f"{number + 1} of 8")
        left = judging.place.findChildren(QTextBrowser)[0].toPlainText()
        judging.clicks("Left is better" if "dusk" in left else "Right is better")
    asker.sees("It rests on your judgement.")


@pytest.mark.slow
def test_the_better_set_up_is_found(asker: Person, tmp_path: Path) -> None:
    writes(asker, "Lamps")
    asks_with_two_set_ups(asker)
    asker.sees("Set-up 2 is better: 8 to 0, 0 equal. This is likely not chance.")
    done = [["test-model", "done", "8 of 8"], ["Set-up 2", "done", "8 of 8"]]
    asker.waits_until(lambda: [row[0].split(" · ")[:3] for row in asker.rows("Runs")] == done)
    table = asker.rows("Questions and answers")
    assert table[0] == ["When is lamp 0 lit?", "At noon.", "It is lit at dusk."]

    looks_beside(asker)
    judges_blind(asker)
    experiments = asker.app.services.wing(EvaluationServices).experiments
    [kept] = experiments.sets()
    results = experiments.results(kept.set_id)
    first, second = (scores.run.run_id for scores in results.runs)
    assert {j.of_pair(first, second) for j in results.judgements} == {Preference.SECOND}
    assert kept.questions[0].expected == ("At dusk", "At dusk, by the keeper.")
    assert re.match(r"%PDF-", _report(asker, tmp_path / "report.pdf")[:5])
    assert "likely not chance" in _report(asker, tmp_path / "report.html")


def test_an_endpoint_is_added_on_the_way(asker: Person) -> None:
    writes(asker, "Lamps")
    asker.clicks("Ask…")
    dialog = asker.in_the_dialog()
    dialog.clicks("Another set-up")
    dialog.clicks("Add endpoint")
    address = asker.field("Address")
    assert isinstance(address, QLineEdit)
    assert not address.text()
    assert asker.place.focusWidget() is address

    asker.opens_settings("Compare models")
    asker.clicks("Ask…")
    asker.in_the_dialog().sees("16 answers, about ")


def _report(person: Person, file: Path) -> str:
    person.clicks("Report…")
    dialog = person.in_the_dialog()
    dialog.place.fileSelected.emit(str(file))  # pyright: ignore[reportAttributeAccessIssue]
    person.sees(f"Saved: {file.name}")
    dialog.place.close()
    return file.read_bytes().decode("utf-8", "replace")


def test_a_set_is_saved_with_a_question(asker: Person) -> None:
    asker.chooses_entry("New set", "Write questions…")
    dialog = asker.in_the_dialog()
    dialog.sees("Name of the set")
    dialog.sees("Questions, one a line")
    dialog.types("Name of the set", "When is the lamp lit?")
    dialog.clicks("Save")
    dialog.sees("There is no question yet. Write at least one.")
    lines = dialog.field("Questions, one a line")
    assert dialog.place.focusWidget() is lines
    assert isinstance(lines, QPlainTextEdit)
    assert not asker.app.services.wing(EvaluationServices).experiments.sets()
    lines.setPlainText("When is the lamp lit?")
    dialog.clicks("Save")
    asker.sees("Press “Ask…” to have the questions answered.")


def test_measurements_are_compared_on_the_same_page(asker: Person) -> None:
    rows = [
        {"mode": mode, "query": str(n), "text": f"lamp {n}", "found": [{"id": "a"}],
         "ndcg@10": score, "ms": 4.0}
        for mode, score in (("dense", 0.5), ("hybrid", 1.0)) for n in range(9)
    ]  # fmt: skip
    kept = Measurement("abc", "retrieval", "harbour", 9.0, 1.5, "1", {}, [{}], rows)
    experiments = asker.app.services.wing(EvaluationServices).experiments
    experiments.keep(kept)
    writes(asker, "Lamps")
    choice = asker.field("Set of questions")
    assert isinstance(choice, QComboBox)
    asker.waits_until(lambda: choice.count() == 2)
    choice.setCurrentIndex(choice.findText("retrieval harbour"))
    choice.activated.emit(choice.currentIndex())
    asker.sees("hybrid is better: 9 to 0, 0 equal. This is likely not chance.")
    assert asker.rows("Questions and answers")[0] == ["lamp 0", "a", "a"]
    buttons = asker.place.findChildren(TextButton)
    asked = {b.text(): b.isEnabled() for b in buttons if b.text() in {"Ask…", "Edit…", "Report…"}}
    assert asked == {"Ask…": False, "Edit…": False, "Report…": True}
    asker.opens_row("Questions and answers", 0)
    asker.clicks("Side by side…")
    dialog = asker.in_the_dialog()
    dialog.sees("1 of 9")
    assert "Expect this" not in dialog.screen()


def test_a_small_window_shows_a_set_without_questions_in_full(asker: Person) -> None:
    asker.place.resize(900, 600)
    asker.app.services.wing(EvaluationServices).experiments.add("Empty")
    asker.sees("This set has no questions yet.")
    page = asker.place.findChild(ExperimentsPage)
    assert page is not None
    buttons = [b for b in page.findChildren(TextButton) if b.isVisible()]
    assert len(buttons) > 8
    cut = [b.text() for b in buttons if b.width() < b.sizeHint().width()]
    assert not cut
    [matrix] = page.findChildren(MatrixView)
    # The page is scrolled instead; the layout comes to rest after the text.
    asker.waits_until(lambda: matrix.height() >= _LEAST_TABLE_PX)
    places = [QRect(b.mapTo(page, QPoint()), b.size()) for b in buttons]
    assert all(page.rect().contains(place) for place in places)
    [runs] = page.findChildren(RunList)
    assert not any(QRect(runs.mapTo(page, QPoint()), runs.size()).intersects(p) for p in places)
