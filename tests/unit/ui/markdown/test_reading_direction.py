"""Answers that are read from the right: their tables and quotes begin there."""

import re

from desktop_rag.core.paths import resources_dir
from desktop_rag.ui.foundation.theme import load_scheme
from desktop_rag.ui.markdown.markdown_html import MarkdownStyle, render_html

LOOK = MarkdownStyle(load_scheme(resources_dir() / "themes" / "light.toml").roles)
ARABIC = "| المدينة | السنة |\n|---|:---|\n| دبي | 2021 [1] |\n\nبعد الجدول."
ENGLISH = "| City | Year |\n|---|---|\n| Dubai | 2021 |"


def cells(html: str) -> list[tuple[str, str]]:
    """Each cell with its alignment, row by row."""
    found = re.findall(r'<t[hd] align="(\w+)"[^>]*>(.*?)</t[hd]>', html)
    return [(side, re.sub(r"<[^>]*>", "", words)) for side, words in found]


def test_the_columns_of_a_table_begin_at_the_right() -> None:
    html = render_html(ARABIC, {1}, LOOK)
    assert [words for _, words in cells(html)][:3] == ["السنة", "المدينة", "2021 [1]"]
    assert [side for side, _ in cells(html)] == ["left", "right"] * 2
    assert '<table align="right"' in html


def test_any_other_table_stays() -> None:
    html = render_html(ENGLISH, (), LOOK)
    assert [words for _, words in cells(html)] == ["City", "Year", "Dubai", "2021"]
    assert "<table cellspacing" in html


def test_the_words_of_a_document_keep_their_order() -> None:
    html = render_html(ARABIC, (), LOOK, links_paths=True)
    assert cells(html)[0][1] == "المدينة"


def test_the_bar_of_a_quote_is_where_reading_begins() -> None:
    quoted = render_html("> اقتباس\n>\n> > inner", (), LOOK)
    assert quoted.index("اقتباس") < quoted.rindex("bgcolor")
    assert quoted.index("bgcolor") < quoted.index("inner"), "a quote in it has its own side"
    english = render_html("> Words", (), LOOK)
    assert english.index("bgcolor") < english.index("Words")
