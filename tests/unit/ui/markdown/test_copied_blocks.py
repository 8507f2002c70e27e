"""What can be copied of an answer by itself, and in which forms."""

import pytest

from desktop_rag.ui.markdown.markdown_html import (
    BlockKind,
    as_html_table,
    as_tabs,
    blocks_in,
    code_title,
)

TABLE = "| Who | Fee |\n|---|---:|\n| **adult** | 8 [1] |\n| `child` | $x_1$ |"


def test_a_table_is_copied_as_written_and_as_cells() -> None:
    (block,) = blocks_in(f"Fees:\n\n{TABLE}\n\nThat is all.", with_formulas=True)
    assert block.kind is BlockKind.TABLE
    assert block.text == TABLE
    assert block.rows == (("Who", "Fee"), ("adult", "8"), ("child", "$x_1$"))


def test_blocks_come_in_the_order_of_the_text() -> None:
    text = f"> quote\n>\n> ```py\n> x\n> ```\n\n{TABLE}\n\n```mermaid\ngraph TD\n```\n\n    y"
    kinds = [block.kind for block in blocks_in(text, with_formulas=True)]
    assert kinds == ["quote", "code", "table", "diagram", "code"]
    assert [b.text for b in blocks_in(text, with_formulas=True) if not b.rows] == [
        "", "x", "graph TD", "y",
    ]  # fmt: skip


def test_plain_text_has_none() -> None:
    assert blocks_in("Nothing *here*.", with_formulas=True) == ()


def test_no_cell_becomes_a_formula_of_a_spreadsheet() -> None:
    rows = [["=1+1", "@x", "+cmd|x", "-5", "+3.5%", "-", "a\tb\nc"]]
    assert as_tabs(rows) == "'=1+1\t'@x\t'+cmd|x\t-5\t+3.5%\t-\ta b c"
    assert "<td>'=1+1</td>" in as_html_table(rows)


def test_html_cells_are_text() -> None:
    assert as_html_table([["<b>", "a & b"]]) == (
        "<table><tr><td>&lt;b&gt;</td><td>a &amp; b</td></tr></table>"
    )


@pytest.mark.parametrize(
    ("language", "title"),
    [("python", "python"), ("", "Code"), ("mermaid", "Diagram source (Mermaid)")],
)
def test_code_is_named_by_its_language(language: str, title: str) -> None:
    assert code_title(language) == title
