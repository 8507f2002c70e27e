r"""Formulas are found, and money, brackets, variables of a shell and code are not."""

import pytest

from desktop_rag.core.markup.formulas import formulas, open_formula, verbatim_spans

FORMULAS = {
    "The area is $A = \\pi r^2$.": ["A = \\pi r^2"],
    "$x$ and $y$": ["x", "y"],
    "There are $5$ of them, about $3.14$.": ["5", "3.14"],
    "$$E = mc^2$$": ["E = mc^2"],
    "So:\n$$\na &= b \\\\\n- c &= d\n$$\nthen": ["a &= b \\\\\n- c &= d"],
    "with \\(a_1 + b\\) and \\[ \\int_0^1 x\\,dx \\]": ["a_1 + b", "\\int_0^1 x\\,dx"],
    "\\[\nx = y\n\\]": ["x = y"],
    "\\[ x^2 + y^2 = z^2 \\].": ["x^2 + y^2 = z^2"],
    "It costs $5, which is $x = 5$.": ["x = 5"],
    "$P(\\text{rain} \\mid \\text{cloud})$": ["P(\\text{rain} \\mid \\text{cloud})"],
    "$speed = distance / time$": ["speed = distance / time"],
    "($n!$)": ["n!"],
    "| $a$ | $b$ |": ["a", "b"],
    "$5\\%$ of it": ["5\\%"],
    "$\\text{价格} = 5$": [],
}
PLAIN = (
    "It costs $5 and $6.",
    "between $5-$6, or US$5 to CA$7",
    "from $5 to 10$ a day",
    "5$ and 6$",
    "$100 or 200$",
    "$5-$x",
    "echo $HOME and $PATH:$HOME",
    "a \\$5 note and \\$6",
    "as `$x$` and ``$y$`` say",
    "```\n$$x$$\n```",
    "see \\[1\\] and \\[Smith 2020\\]",
    "an array \\[a=b\\] of it",
    "a \\(note\\_1 about this other thing here\\)".replace("\\_", " "),
    "\\\\(x\\\\)",
    "$$",
    "$$ $$",
    "$ x $",
    "$x\n$",
    "$$x\n\ny$$",
    "The price is $20 million for 3 years$ of work",
    "$" * 500,
    "\\[" * 500,
)


@pytest.mark.parametrize(("text", "found"), FORMULAS.items())
def test_formulas_are_found(text: str, found: list[str]) -> None:
    assert [formula.latex for formula in formulas(text)] == found


@pytest.mark.parametrize("text", PLAIN)
def test_other_text_is_none(text: str) -> None:
    assert formulas(text) == []


def test_a_display_is_told_from_a_formula_in_a_line() -> None:
    text = "$a$ $$b$$ \\(c\\) \\[\\sqrt d\\]"
    assert [f.is_display for f in formulas(text)] == [False, True, False, True]
    assert [text[f.start : f.end] for f in formulas(text)] == text.split(" ", 3)


def test_code_and_formulas_are_verbatim() -> None:
    text = "`a` and $b$ and `c`"
    assert [text[start:end] for start, end in verbatim_spans(text)] == ["`a`", "$b$", "`c`"]


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("The area is $A = \\pi r^", "$A = \\pi r^"),
        ("The area is $", "$"),
        ("with \\", "\\"),
        ("with \\(a", "\\(a"),
        ("So:\n\n$$\nx = 1\n", "$$\nx = 1\n"),
        ("So: \\[ x = 1 \\", "\\[ x = 1 \\"),
        ("$a$ then $b", "$b"),
        ("It costs $5", "$5"),
        ("It costs $5 and", ""),
        ("It costs $5 and $6 in", ""),
        ("echo $HOME is the one", ""),
        ("$x$ done", ""),
        ("$$x$$ done", ""),
        ("\\[ x\n\nnext", ""),
        ("`$a", "$a"),
        ("```\n$a = ", ""),
        ("a line\\\nand", ""),
    ],
)
def test_a_formula_that_is_being_written_is_known(text: str, held: str) -> None:
    assert text[open_formula(text) :] == held


def test_a_text_that_grows_never_shows_a_part_of_a_formula() -> None:
    text = "The root $\\frac{-b}{2a}$ of \\(ax + c = 0\\), which is\n\n$$\nx = 1\n$$\n\nand $5."
    for end in range(len(text)):
        shown = text[: open_formula(text[:end])]
        rest = shown
        for formula in formulas(shown):
            rest = rest.replace(shown[formula.start : formula.end], "")
        assert "\\" not in rest, shown
        assert "= 0" not in rest, shown
