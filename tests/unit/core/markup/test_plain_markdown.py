"""Pieces of Markdown as plain text."""

import pytest

from desktop_rag.core.markup.plain_markdown import is_markdown, plain_markdown, shown_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## The *lamp* is **lit**\n> at _dusk_", "The lamp is lit\nat dusk"),
        ("See [the book](a/b_(c).md \"t\") and ![a map](m.png).", "See the book and a map."),
        ("[![built](i.svg)](log.html) now", "built now"),
        ("| Day | Hour |\n|-----|:----:|\n| Mon | 9 |\n", "Day · Hour\nMon · 9\n"),
        ("```cpp\nreturn *p; // [x](y)\n```\nEnd", "return *p; // [x](y)\nEnd"),
        ("Call `a_b(*c)` \\_twice\\_", "Call a_b(*c) _twice_"),
        ("<b>One</b> <!-- not shown -->two", "<b>One</b> two"),
        ("2*3*4 values[2](3) snake_case_name * one * two", None),
        ("above\n\n---\nbelow", "above\n\nbelow"),
    ],
)  # fmt: skip
def test_only_the_text_is_left(text: str, expected: str | None) -> None:
    assert plain_markdown(text).text == (text if expected is None else expected)


def test_places_of_the_original_are_known() -> None:
    text = "# *The* [keeper](k.md) rests\n| at | **noon** |"
    plain = plain_markdown(text)
    for word in ("The", "keeper", "rests", "noon"):
        at = plain.place(text.index(word))
        assert plain.text[at : at + len(word)] == word
    assert plain.place(len(text)) == len(plain.text)


@pytest.mark.parametrize("piece", ["[", "*a ", "_a", "`", "![a](", "|", "<a ", "<!--", "[![a]"])
def test_hostile_texts_are_read_whole(piece: str) -> None:
    assert len(plain_markdown(piece * 5_000).text) <= len(piece) * 5_000


def test_only_markdown_loses_its_marks() -> None:
    assert is_markdown("a/b.MD")
    assert is_markdown("pages/1.html", "https://example.org/")
    assert not is_markdown("pages/1.pdf", "https://example.org/1.pdf")
    assert shown_text("*a*", "b.py") == "*a*"
    assert shown_text("*a*", "b.md") == "a"
