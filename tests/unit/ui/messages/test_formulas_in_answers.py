"""Formulas in an answer: drawn as they come, never half, copied and read as LaTeX."""

import pytest
from PySide6.QtGui import QColor, QGuiApplication, QTextCursor
from pytestqt.qtbot import QtBot

from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.markdown.formula_drawing import FormulaDrawer
from desktop_rag.ui.markdown.formula_object import OBJECT
from desktop_rag.ui.messages.answer_body import AnswerBody, SegmentView

TEXT = (
    "The area is $A = \\pi r^2$, which costs $5 and $6.\n\n"
    "\\[\n\\frac{a}{b}\n= c\n\\]\n\nWrong is $\\frac{1$ here."
)


@pytest.fixture
def body(theme: Theme, bridge: Bridge, qtbot: QtBot) -> AnswerBody:
    drawer = FormulaDrawer(bridge)
    body = AnswerBody(theme, drawer)
    qtbot.addWidget(body)
    body.resize(600, 400)
    body.show()
    return body


def shown(body: AnswerBody) -> str:
    return "\n".join(view.toPlainText() for view in body.findChildren(SegmentView))


def test_formulas_are_drawn_and_money_is_not(body: AnswerBody, qtbot: QtBot) -> None:
    body.show_text(TEXT, ())
    qtbot.waitUntil(lambda: body.is_rendered)
    assert shown(body) == (
        f"The area is {OBJECT}, which costs $5 and $6.\n{OBJECT}\nWrong is $\\frac{{1$ here."
    )


def test_a_formula_that_is_being_written_is_never_shown_in_part(
    body: AnswerBody, qtbot: QtBot
) -> None:
    seen: list[str] = []
    for end in range(1, len(TEXT), 3):
        body.show_text(TEXT[:end], (), is_live=True)
        seen.append(shown(body))
        qtbot.waitUntil(lambda: body.is_rendered)
        seen.append(shown(body))
    before = [text for text in seen if "Wrong" not in text]
    assert not [text for text in before if "\\" in text or "frac" in text or "= c" in text]
    assert f"The area is {OBJECT}, which costs $5" in "".join(before)
    body.show_text(TEXT, ())
    qtbot.waitUntil(lambda: body.is_rendered)
    assert "$\\frac{1$ here" in shown(body)


def test_what_is_copied_has_the_latex(body: AnswerBody, qtbot: QtBot) -> None:
    body.show_text(TEXT, ())
    qtbot.waitUntil(lambda: body.is_rendered)
    view = body.findChild(SegmentView)
    assert view is not None
    view.selectAll()
    view.copy()
    copied = QGuiApplication.clipboard().mimeData()
    assert copied is not None
    assert copied.text().startswith("The area is $A = \\pi r^2$, which costs $5 and $6.")
    assert "$$\\frac{a}{b}\n= c$$" in copied.text()
    assert "$A = \\pi r^2$" in copied.html()
    assert "<img" not in copied.html()


def test_a_screen_reader_finds_the_latex(body: AnswerBody, qtbot: QtBot) -> None:
    body.show_text(TEXT, ())
    qtbot.waitUntil(lambda: body.is_rendered)
    view = body.findChild(SegmentView)
    assert view is not None
    assert "$A = \\pi r^2$" in view.accessibleDescription()


def test_a_formula_stands_on_the_line_in_the_colour_of_the_text(
    body: AnswerBody, theme: Theme, qtbot: QtBot
) -> None:
    body.show_text("a $\\rule{2em}{1em}$", ())
    qtbot.waitUntil(lambda: body.is_rendered)
    view = body.findChild(SegmentView)
    assert view is not None
    place = view.cursorRect(QTextCursor(view.document()))
    line = view.document().firstBlock().layout().lineAt(0)
    image = view.viewport().grab().toImage()
    inked = [
        y
        for y in range(image.height())
        if QColor(image.pixel(round(line.naturalTextRect().right()) - 8, y)) == theme.colour("text")
    ]
    baseline = line.y() + line.ascent()
    assert abs(inked[-1] + 1 - baseline) <= 1, (inked, baseline, place)
