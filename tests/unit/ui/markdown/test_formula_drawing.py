"""LaTeX is drawn, or refused: what is wrong, unknown or hostile stays source."""

import re

import pytest

from desktop_rag.ui.markdown.formula_drawing import COLOUR, draw

DRAWN = (
    r"E = mc^2",
    r"\frac{-b \pm \sqrt{b^2-4ac}}{2a}",
    r"\sum_{i=1}^{n} i",
    r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
    r"f(x) = \begin{cases} 1 & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}",
    r"\begin{aligned} a &= b \\ &= c \end{aligned}",
    r"\mathbb{E}[X] \leq \hat{y} \to \mathcal{L}",
    r"a_0 + \cfrac{1}{a_1 + \cfrac{1}{a_2 + \cfrac{1}{a_3}}}",
    r"\color{red}{x} + \boxed{42}",
    r"x = y \label{eq:one} \nonumber",
    r"x = y \tag{3}",
)
REFUSED = (
    r"\frac{1",
    r"x^",
    r"\ce{H2O}",
    r"\nosuchcommand{x}",
    r"\def\a{\a\a}\a",
    r"\newcommand{\x}{\x\x}\x",
    r"\text{中文}",
    r"\text{a & b}",
    r"\rule{1000em}{1000em}",
    r"\hspace{100000em}x",
    r"\\" * 300,
    "{" * 400 + "}" * 400,
    r"\sqrt{" * 60 + "x" + "}" * 60,
    r"\frac{1}{" * 60 + "x" + "}" * 60,
    r"\left(" * 40 + "x" + r"\right)" * 40,
    r"\begin{pmatrix}" * 20 + "x" + r"\end{pmatrix}" * 20,
    "x_{" * 60 + "y" + "}" * 60,
    r"\frac" * 200,
    "",
)


@pytest.mark.parametrize("latex", DRAWN)
def test_formulas_are_drawn_in_one_colour_from_a_base_line(latex: str) -> None:
    drawing = draw(latex, True)
    assert drawing is not None
    assert drawing.width > 0
    assert drawing.ascent > 0
    assert set(re.findall(r'(?:fill|stroke)="([^"]*)"', drawing.svg)) <= {COLOUR, "none"}


@pytest.mark.parametrize("latex", REFUSED)
def test_what_is_wrong_unknown_or_too_much_is_refused(latex: str) -> None:
    assert draw(latex, False) is None


def test_what_hangs_below_the_line_is_measured() -> None:
    low, high = draw("x_{y_z}", False), draw("x^2", False)
    assert low is not None
    assert high is not None
    assert low.descent > high.descent
    assert high.ascent > low.ascent


def test_a_formula_on_its_own_lines_is_larger() -> None:
    latex = r"\sum_{i=1}^n \frac{1}{i}"
    alone, within = draw(latex, True), draw(latex, False)
    assert alone is not None
    assert within is not None
    assert alone.ascent + alone.descent > within.ascent + within.descent
