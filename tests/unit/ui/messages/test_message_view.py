"""The conversation as widgets: rows, footers, failures, scrolling, clicks."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QAbstractSlider, QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from desktop_rag.core.claims import CheckedClaim, Claim, Evidence, Verdict
from desktop_rag.core.conversation import (
    AnswerDone,
    AnswerStep,
    FileCounts,
    Message,
    MessageState,
    Role,
    SearchNotes,
    SourceRef,
    SourcesFound,
    StepTaken,
    TextDelta,
    ThinkingDelta,
)
from desktop_rag.core.parsed import Anchor
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.messages.answer_body import SegmentView
from desktop_rag.ui.messages.answer_item import EXCERPTS_BYLINE, AnswerItem, byline
from desktop_rag.ui.messages.claim_panel import ClaimPanel
from desktop_rag.ui.messages.message_model import MessageModel
from desktop_rag.ui.messages.message_view import MessageView
from desktop_rag.ui.messages.question_item import QuestionItem
from desktop_rag.ui.widgets.controls import Card, PlainLabel
from desktop_rag.ui.widgets.flow_row import WrappingRow

SOURCE = SourceRef(1, "d1", "a.md", "A", Anchor(), "Text.", 0.5)
QUESTION = Message("m1", "c1", Role.USER, "<b>Why</b> & how?", 1.0)
ANSWER = Message(
    "m2", "c1", Role.ASSISTANT, "Because [1].", 2.0, model="tiny", seconds=4.21, sources=(SOURCE,)
)
FAILED = replace(
    ANSWER,
    state=MessageState.FAILED,
    error_title="The server <b>refused</b>.",
    error_hint="Start it.",
)


@pytest.fixture
def view(theme: Theme, qtbot: QtBot) -> MessageView:
    view = MessageView(theme)
    qtbot.addWidget(view)
    view.resize(700, 500)
    view.show()
    return view


def load(view: MessageView, messages: Sequence[Message], qtbot: QtBot) -> MessageModel:
    model = MessageModel(view)
    model.load(messages)
    view.set_model(model)
    # A layout shows a new widget in the next round of the event loop.
    qtbot.waitUntil(lambda: view.is_settled and all(w.isVisible() for w in items(view)))
    return model


def items(view: MessageView) -> list[QWidget]:
    return [*view.findChildren(QuestionItem), *view.findChildren(AnswerItem)]


def labels(view: MessageView) -> list[str]:
    found = [w for w in view.findChildren(PlainLabel) if w.isVisible()]
    return [label.text() for label in found]


def button(view: MessageView, name: str) -> QAbstractButton:
    """The visible button with this accessible name or text."""
    buttons = [b for b in view.findChildren(QAbstractButton) if b.isVisible()]
    return next(b for b in buttons if name in {b.accessibleName(), b.text()})


def test_a_question_is_shown_literally(view: MessageView, qtbot: QtBot) -> None:
    load(view, [QUESTION], qtbot)
    assert "<b>Why</b> & how?" in labels(view)


def test_a_very_long_question_is_cut(view: MessageView, qtbot: QtBot) -> None:
    load(view, [replace(QUESTION, text="x" * 5_000)], qtbot)
    assert any(text.endswith("… (1,000 more characters)") for text in labels(view))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (ANSWER, "tiny · 4.2 s"),
        (replace(ANSWER, model="", is_excerpts=True, seconds=0.0), EXCERPTS_BYLINE),
        (replace(ANSWER, state=MessageState.STOPPED), "stopped · tiny · 4.2 s"),
        (replace(ANSWER, model="", seconds=0.0), ""),
    ],
)
def test_the_byline(message: Message, expected: str) -> None:
    assert byline(message) == expected


@pytest.mark.parametrize("is_own", [True, False])
def test_an_answer_without_sources_has_a_notice(
    view: MessageView, qtbot: QtBot, is_own: bool
) -> None:
    load(view, [QUESTION, replace(ANSWER, sources=(), is_own_knowledge=is_own)], qtbot)
    assert any(text.startswith("Not from your documents:") for text in labels(view)) is is_own


def test_copy_gives_the_markdown_with_the_cited_sources(view: MessageView, qtbot: QtBot) -> None:
    cited = replace(SOURCE, is_cited=True, anchor=Anchor(page=3))
    load(view, [QUESTION, replace(ANSWER, sources=(cited, replace(SOURCE, n=2)))], qtbot)
    button(view, "Copy answer").click()
    assert QGuiApplication.clipboard().text() == "Because [1].\n\n[1] A, page 3, a.md"
    assert button(view, "Copied")


def test_a_failed_answer_shows_the_error_and_retry(view: MessageView, qtbot: QtBot) -> None:
    load(view, [QUESTION, FAILED], qtbot)
    assert {"The server <b>refused</b>.", "Start it."} <= set(labels(view))
    with qtbot.waitSignal(view.asked.retry_requested):
        button(view, "Retry").click()
    with qtbot.waitSignal(view.asked.settings_requested):
        button(view, "Open settings").click()


def test_a_stopped_answer_can_be_asked_for_again(view: MessageView, qtbot: QtBot) -> None:
    load(view, [QUESTION, replace(ANSWER, state=MessageState.STOPPED)], qtbot)
    with qtbot.waitSignal(view.asked.retry_requested):
        button(view, "Regenerate answer").click()


def test_a_click_on_sources_or_a_citation_carries_the_message(
    view: MessageView, qtbot: QtBot
) -> None:
    load(view, [QUESTION, ANSWER], qtbot)
    with qtbot.waitSignal(view.asked.sources_requested) as asked:
        button(view, "1 source").click()
    assert asked.args == [ANSWER]
    with qtbot.waitSignal(view.asked.citation_clicked) as clicked:
        view.findChildren(SegmentView)[0].citation_clicked.emit(ANSWER.sources[0])
    assert clicked.args == [ANSWER, ANSWER.sources[0]]


def test_search_notes_are_shown_under_the_answer(view: MessageView, qtbot: QtBot) -> None:
    notes = SearchNotes((("<b>lmap", "lamp"),), "Only PDF files", 4)
    said = "Searched for “lamp” instead of “<b>lmap”. Only PDF files."
    model = load(view, [QUESTION, replace(ANSWER, notes=SearchNotes())], qtbot)
    assert not any(text.startswith("Searched") for text in labels(view))
    model.begin_question("<b>lmap type:pdf")
    model.apply(SourcesFound((SOURCE,), notes))
    qtbot.waitUntil(lambda: said in labels(view))
    model.apply(AnswerDone(replace(ANSWER, notes=notes)))
    qtbot.waitUntil(lambda: said in labels(view) and view.is_settled)


def test_the_nearest_passages_are_shown_when_asked_for(view: MessageView, qtbot: QtBot) -> None:
    refused = replace(ANSWER, sources=(), nearest=(SOURCE,))
    load(view, [QUESTION, refused], qtbot)
    with qtbot.waitSignal(view.asked.sources_requested) as asked:
        button(view, "Show the nearest passages").click()
    assert asked.args == [refused]


def test_thinking_is_collapsed_and_separate(view: MessageView, qtbot: QtBot) -> None:
    model = load(view, [], qtbot)
    model.begin_question("Why?")
    model.apply(ThinkingDelta("Let me <i>see</i>."))
    qtbot.waitUntil(lambda: view.is_settled)
    assert "Let me <i>see</i>." not in labels(view)
    button(view, "Thinking…").click()
    assert "Let me <i>see</i>." in labels(view)
    model.apply(TextDelta("Because."))
    model.apply(AnswerDone(replace(ANSWER, thinking="Let me <i>see</i>.")))
    assert button(view, "Thinking").isVisible()
    assert "see" not in view.findChildren(SegmentView)[0].toPlainText()


def test_steps_are_shown_as_they_happen_and_folded_afterwards(
    view: MessageView, qtbot: QtBot
) -> None:
    model = load(view, [], qtbot)
    model.begin_question("Why?")
    step = AnswerStep("Searched “<b>why</b>”: 1 passage", (1,))
    notes = SearchNotes(steps=(step, AnswerStep("Calculated 1 + 1 = 2")))
    model.apply(StepTaken(step, (SOURCE,), replace(notes, steps=(step,))))
    qtbot.waitUntil(lambda: view.is_settled)
    assert button(view, "Looked further: 1 step").isVisible()
    model.apply(AnswerDone(replace(ANSWER, notes=notes)))
    qtbot.waitUntil(lambda: view.is_settled)
    assert "Calculated 1 + 1 = 2" not in labels(view)
    button(view, "Looked further: 2 steps").click()
    assert "Calculated 1 + 1 = 2" in labels(view)
    with qtbot.waitSignal(view.asked.citation_clicked) as told:
        button(view, "Searched “<b>why</b>”: 1 passage").click()
    assert told.args is not None
    assert told.args[1] == SOURCE


def test_the_phase_is_shown(view: MessageView, qtbot: QtBot) -> None:
    model = load(view, [], qtbot)
    model.begin_question("Why?")
    qtbot.waitUntil(lambda: "Searching your documents…" in labels(view))
    model.apply(SourcesFound((SOURCE,)))
    qtbot.waitUntil(lambda: "Reading the sources…" in labels(view))
    model.apply(AnswerDone(ANSWER))
    qtbot.waitUntil(lambda: "tiny · 4.2 s" in labels(view))


def test_many_deltas_are_rendered_few_times(view: MessageView, qtbot: QtBot) -> None:
    model = load(view, [], qtbot)
    model.begin_question("Why?")
    model.apply(TextDelta("Start. "))
    qtbot.waitUntil(lambda: view.is_settled)
    changes: list[int] = []
    segment = view.findChildren(SegmentView)[0]
    segment.textChanged.connect(lambda: changes.append(1))
    for _ in range(500):
        model.apply(TextDelta("word "))
    qtbot.waitUntil(lambda: view.is_settled)
    assert segment.toPlainText().count("word") == 500
    assert len(changes) <= 4


LONG = [QUESTION, replace(ANSWER, text="A line.\n\n" * 40)] * 3


def test_it_opens_at_the_end_and_follows_the_answer(view: MessageView, qtbot: QtBot) -> None:
    model = load(view, LONG, qtbot)
    bar = view.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 1000 and bar.value() == bar.maximum())
    before = bar.maximum()
    model.begin_question("And then?")
    model.apply(TextDelta("More.\n\n" * 40))
    qtbot.waitUntil(lambda: bar.maximum() > before + 300 and bar.value() == bar.maximum())


@pytest.mark.slow
def test_the_scroll_position_is_kept_after_scrolling_up(view: MessageView, qtbot: QtBot) -> None:
    model = load(view, LONG, qtbot)
    bar = view.verticalScrollBar()
    model.begin_question("And then?")
    qtbot.waitUntil(lambda: bar.maximum() > 1000 and bar.value() == bar.maximum())
    before = bar.maximum()
    bar.setValue(200)
    model.apply(TextDelta("More.\n\n" * 40))
    qtbot.waitUntil(lambda: bar.maximum() > before + 300)
    assert bar.value() == 200


@pytest.mark.slow
def test_a_long_conversation_builds_only_the_newest_rows(view: MessageView, qtbot: QtBot) -> None:
    messages = [replace(QUESTION, text=f"Question {n}") for n in range(100)]
    load(view, messages, qtbot)
    assert len(view.findChildren(QuestionItem)) == 40
    assert "Question 99" in labels(view)
    button(view, "Show earlier messages").click()
    qtbot.waitUntil(lambda: view.is_settled)
    assert len(view.findChildren(QuestionItem)) == 80


@pytest.mark.slow
def test_a_long_conversation_grows_as_it_is_scrolled_and_lets_go_of_its_end(
    view: MessageView, qtbot: QtBot
) -> None:
    load(view, [replace(QUESTION, text=f"Question {n}") for n in range(130)], qtbot)
    bar = view.verticalScrollBar()

    def goes(action: QAbstractSlider.SliderAction) -> int:
        """Scroll by a page; nothing jumps while rows come. The first row that can be read."""
        seen = view.first_row_in_view()
        bar.triggerAction(action)
        QApplication.processEvents()
        assert abs(view.first_row_in_view() - seen) < 40
        return view.first_row_in_view()

    qtbot.waitUntil(lambda: goes(bar.SliderAction.SliderPageStepSub) == 0)
    qtbot.waitUntil(lambda: view.is_settled and len(view.findChildren(QuestionItem)) == 80)
    assert "Question 129" not in labels(view)
    qtbot.waitUntil(lambda: goes(bar.SliderAction.SliderPageStepAdd) > 110)
    qtbot.waitUntil(lambda: "Question 129" in labels(view))


def test_another_conversation_replaces_the_first(view: MessageView, qtbot: QtBot) -> None:
    first = load(view, [QUESTION, ANSWER], qtbot)
    load(view, [replace(QUESTION, text="Other", created_at=0.0)], qtbot)
    first.begin_question("Unseen")
    qtbot.waitUntil(lambda: not view.findChildren(AnswerItem))
    assert [text for text in labels(view) if text] == ["Other"]


def test_that_there_are_no_documents_is_no_answer_to_rate(view: MessageView, qtbot: QtBot) -> None:
    nothing = replace(ANSWER, text="There are no documents yet.", model="", sources=())
    load(view, [QUESTION, replace(nothing, notes=SearchNotes())], qtbot)
    names = {b.accessibleName() for b in view.findChildren(QAbstractButton) if b.isVisible()}
    assert not names & {"Good answer", "Bad answer", "Rewrite answer"}
    with qtbot.waitSignal(view.asked.folder_requested):
        button(view, "Add folder…").click()
    load(view, [QUESTION, replace(nothing, notes=SearchNotes(files=FileCounts(0, 0)))], qtbot)
    names = {b.accessibleName() for b in view.findChildren(QAbstractButton) if b.isVisible()}
    assert {"Good answer", "Bad answer", "Rewrite answer"} <= names


def test_a_verdict_that_opens_is_in_view_with_its_heading(view: MessageView, qtbot: QtBot) -> None:
    passage = "The lamp is lit at dusk by the keeper of the tower. " * 28
    checked = CheckedClaim(
        passage, Verdict.PARTLY, 0.5, Evidence(0, 0, len(passage)), (), "It says a part."
    )
    sources = (replace(SOURCE, n=1, text=passage),)
    answer = replace(ANSWER, text=passage, claims=(Claim(0, 40, checked, 1),), sources=sources)
    view.resize(420, 300)
    load(view, [QUESTION, answer], qtbot)
    view.findChildren(QPushButton, "claimSummary")[0].click()
    [panel] = view.findChildren(ClaimPanel)
    qtbot.waitUntil(lambda: panel.height() > view.viewport().height())
    qtbot.waitUntil(lambda: 0 <= panel.mapTo(view.viewport(), QPoint()).y() < 300)


def test_a_stopped_answer_says_that_it_was_not_checked(view: MessageView, qtbot: QtBot) -> None:
    stopped = replace(ANSWER, state=MessageState.STOPPED, claims=())
    load(view, [QUESTION, stopped], qtbot)
    [summary] = view.findChildren(QPushButton, "claimSummary")
    assert summary.text() == "Not checked, as the answer is not complete"
    summary.click()
    assert view.findChildren(ClaimPanel)[0].isHidden()
    load(view, [QUESTION, replace(ANSWER, claims=())], qtbot)
    assert not any(b.isVisible() for b in view.findChildren(QPushButton, "claimSummary"))


def _is_inside(widget: QWidget, viewport: QWidget) -> bool:
    left = widget.mapTo(viewport, widget.rect().topLeft()).x()
    return left >= 0 and left + widget.width() <= viewport.width()


def test_a_narrow_answer_is_not_cut_off(view: MessageView, qtbot: QtBot) -> None:
    asked = replace(QUESTION, text="How is the wick of the great lamp cut by day? " * 4)
    load(view, [asked, ANSWER], qtbot)
    footer = view.findChildren(WrappingRow)[0]
    assert not footer.is_wrapped
    view.resize(320, 500)
    qtbot.waitUntil(lambda: footer.is_wrapped)
    bubble = view.findChildren(QuestionItem)[0].findChildren(Card)[0]
    buttons = footer.findChildren(QAbstractButton)
    seen = [bubble, *(button for button in buttons if not button.isHidden())]
    qtbot.waitUntil(lambda: all(_is_inside(widget, view.viewport()) for widget in seen))
    view.resize(700, 500)
    qtbot.waitUntil(lambda: not footer.is_wrapped)


def test_a_cut_answer_can_be_asked_for_again(view: MessageView, qtbot: QtBot) -> None:
    cut = replace(
        FAILED, state=MessageState.CUT, error_title="This answer was cut off.", seconds=0.0
    )
    load(view, [QUESTION, cut], qtbot)
    assert "This answer was cut off." in labels(view)
    assert byline(cut) == "cut off · tiny"
    shown = [b.accessibleName() or b.text() for b in view.findChildren(QAbstractButton)
             if b.isVisible()]  # fmt: skip
    assert "Open settings" not in shown
    assert "Regenerate answer" not in shown
    with qtbot.waitSignal(view.asked.retry_requested):
        button(view, "Retry").click()


def test_only_the_last_answer_offers_to_retry(view: MessageView, qtbot: QtBot) -> None:
    load(view, [QUESTION, FAILED, replace(QUESTION, message_id="m3"), ANSWER], qtbot)
    assert "Start it." in labels(view)
    assert not [b for b in view.findChildren(QAbstractButton)
                if b.isVisible() and b.text() == "Retry"]  # fmt: skip


def test_an_answer_says_that_it_is_not_stored_until_it_is(view: MessageView, qtbot: QtBot) -> None:
    model = load(view, [QUESTION, replace(ANSWER, is_unstored=True)], qtbot)
    assert any(text.startswith("This answer is not stored yet: the disk refuses it.")
               for text in labels(view))  # fmt: skip
    model.show_stored(frozenset({ANSWER.message_id}))
    assert not any("not stored" in text for text in labels(view))


@pytest.mark.slow
def test_what_is_read_stays_in_place_when_the_view_becomes_narrower(
    view: MessageView, qtbot: QtBot
) -> None:
    long = [replace(ANSWER, message_id=f"m{n}", text=f"Answer {n}. " * 90) for n in range(6)]
    load(view, long, qtbot)
    bar, answers = view.verticalScrollBar(), view.findChildren(AnswerItem)
    third = view.viewport().height() // 3
    read = max(answers, key=lambda item: item.y() if item.y() < bar.maximum() // 2 else -1)
    top = bar.value() + read.mapTo(view.viewport(), read.rect().topLeft()).y()
    bar.setValue(top - third // 2)

    def is_in_view() -> bool:
        top = read.mapTo(view.viewport(), read.rect().topLeft()).y()
        return top <= third < top + read.height()

    assert is_in_view()
    before = read.height()
    view.resize(420, 500)
    qtbot.waitUntil(lambda: read.height() > before and is_in_view())
