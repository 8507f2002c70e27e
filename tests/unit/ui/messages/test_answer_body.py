"""The text of an answer: the same when streamed and when stored, rendered in parts."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from desktop_rag.core.claims import Claim, Verdict
from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor
from desktop_rag.core.settings import AppearanceSettings, ColourScheme
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.messages.answer_body import SHOWN_CHARS, AnswerBody, SegmentView
from tests.claims import unchecked

SOURCE = SourceRef(1, "d1", "a.md", "A", Anchor(), "Text.", 0.5)
TEXT = "One **two** [1].\n\n- three\n- four [9]\n\n```py\nx = 1\n```\n\nLast.\n"


@pytest.fixture
def body(theme: Theme, qtbot: QtBot) -> AnswerBody:
    body = AnswerBody(theme)
    qtbot.addWidget(body)
    body.resize(600, 400)
    return body


def shown(body: AnswerBody) -> list[str]:
    return [view.toPlainText() for view in body.findChildren(SegmentView) if not view.isHidden()]


def htmls(body: AnswerBody) -> list[str]:
    return [view.toHtml() for view in body.findChildren(SegmentView) if not view.isHidden()]


def show_all_button(body: AnswerBody) -> QPushButton:
    return body.findChildren(QPushButton)[0]


def test_a_streamed_answer_ends_as_the_stored_one_looks(
    body: AnswerBody, theme: Theme, qtbot: QtBot
) -> None:
    for end in range(0, len(TEXT), 3):
        body.show_text(TEXT[:end], [SOURCE], is_live=True)
    body.show_text(TEXT, [SOURCE])
    stored = AnswerBody(theme)
    qtbot.addWidget(stored)
    stored.show_text(TEXT, [SOURCE])
    assert htmls(body) == htmls(stored)
    assert len(htmls(stored)) == 1


def test_while_it_streams_only_the_last_block_changes(body: AnswerBody) -> None:
    body.show_text("First block.\n\nSecond", [SOURCE], is_live=True)
    head = body.findChildren(SegmentView)[0]
    changes: list[int] = []
    head.textChanged.connect(lambda: changes.append(1))
    body.show_text("First block.\n\nSecond block goes on", [SOURCE], is_live=True)
    assert shown(body) == ["First block.", "Second block goes on"]
    assert changes == []


def test_citations_are_links_once_the_sources_are_known(body: AnswerBody) -> None:
    body.show_text("So [1].", [], is_live=True)
    assert "cite:1" not in htmls(body)[0]
    body.show_text("So [1].", [SOURCE], is_live=True)
    assert "cite:1" in htmls(body)[0]


def test_an_answer_that_became_shorter_is_shown_shorter(body: AnswerBody) -> None:
    body.show_text("A wrong citation [7] here.\n\nMore", [SOURCE], is_live=True)
    body.show_text("A wrong citation here.", [SOURCE])
    assert shown(body) == ["A wrong citation here."]


def test_a_changed_verdict_renders_only_its_segment(body: AnswerBody, qtbot: QtBot) -> None:
    text = "The lamp is lit at dusk.\n\n" + "It burns.\n\n" * 500 + "So it is.\n"
    ends = (24, len(text) - 1)
    right, wrong = (
        [Claim(0, end, replace(unchecked(""), verdict=verdict)) for end in ends]
        for verdict in (Verdict.SUPPORTED, Verdict.CONTRADICTED)
    )
    body.show_text(text, [], right)
    qtbot.waitUntil(lambda: body.is_rendered)
    first, last = shown(body)[0], shown(body)[-1]
    view = body.findChildren(SegmentView)[0]
    view.selectAll()
    body.show_text(text, [], [right[0], wrong[1]])
    qtbot.waitUntil(lambda: body.is_rendered)
    assert last != shown(body)[-1]
    assert view.textCursor().hasSelection()
    body.show_text(text, [], wrong)
    qtbot.waitUntil(lambda: body.is_rendered)
    assert first != shown(body)[0]


def test_another_theme_renders_again(body: AnswerBody, theme: Theme, qtbot: QtBot) -> None:
    body.show_text("`code`", [])
    light = htmls(body)
    theme.apply(AppearanceSettings(ColourScheme.DARK))
    qtbot.waitUntil(lambda: body.is_rendered)
    assert htmls(body) != light
    assert shown(body) == ["code"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["A paragraph of some words [1].\n\n" * 60_000, "```py\nx = 1\n```\n\n" * 5_000],
    ids=["2 MB", "5000 code blocks"],
)
def test_a_very_long_answer_is_cut(body: AnswerBody, qtbot: QtBot, text: str) -> None:
    """S-10."""
    body.show_text(text, [SOURCE])
    # The rest is rendered later, so that the window stays responsive.
    assert not body.is_rendered
    at_once = len(shown(body))
    qtbot.waitUntil(lambda: body.is_rendered, timeout=20_000)
    assert at_once < len(shown(body))
    assert sum(map(len, shown(body))) <= SHOWN_CHARS
    assert show_all_button(body).isVisibleTo(body)


@pytest.mark.slow
def test_show_all_shows_all(body: AnswerBody, qtbot: QtBot) -> None:
    text = "A paragraph of some words.\n\n" * 2_500
    body.show_text(text, [])
    qtbot.waitUntil(lambda: body.is_rendered, timeout=20_000)
    show_all_button(body).click()
    qtbot.waitUntil(lambda: body.is_rendered, timeout=20_000)
    assert sum(piece.count("paragraph") for piece in shown(body)) == 2_500
    assert not show_all_button(body).isVisibleTo(body)
