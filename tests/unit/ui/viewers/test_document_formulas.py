"""Formulas in documents: drawn on the page, with the words around and in them found."""

import pytest
from PySide6.QtGui import QGuiApplication, QTextCursor
from pytestqt.qtbot import QtBot

from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.markdown.formula_object import OBJECT
from desktop_rag.ui.markdown.markdown_html import MarkdownStyle
from desktop_rag.ui.viewers.page_source import (
    FormulaPen,
    PageSource,
    markdown_source,
    section_source,
)
from desktop_rag.ui.viewers.page_viewer import PageBrowser
from desktop_rag.ui.viewers.viewer import Hits
from tests.unit.ui.rooms import marked_on

TEXT = r"""The lamp turns once in $T = 2\pi/\omega$ seconds, said Brandt.

$$
\int_0^T \frac{a | b}{c} \,dt
= \sqrt{x}
$$

The keeper pays \(k_1 + k_2\) crowns.
"""
COLOURS: dict[str, str] = dict.fromkeys(
    ("border_strong", "muted", "sunken", "code_surface", "code_text", "link"), "#000000"
)
SOURCES = [markdown_source, section_source]


def shown(page: PageBrowser, source: PageSource) -> str:
    """Put a whole source on the page; returns its text there."""
    page.begin(source.text)
    look = MarkdownStyle(COLOURS)
    for chapter in range(len(source.chapters)):
        for piece in source.render(chapter, look):
            page.add_below(piece)
    return page.toPlainText()


@pytest.fixture
def page(qtbot: QtBot, theme: Theme) -> PageBrowser:
    page = PageBrowser(theme)
    qtbot.addWidget(page)
    page.resize(600, 500)
    page.show()
    return page


@pytest.mark.parametrize("source_of", SOURCES)
def test_formulas_are_drawn(page: PageBrowser, source_of: type) -> None:
    text = shown(page, source_of(TEXT, ()))
    assert text.count(OBJECT) == 3
    assert "$" not in text
    assert "frac" not in text
    assert "seconds, said Brandt." in text


@pytest.mark.parametrize("source_of", SOURCES)
@pytest.mark.parametrize(
    ("cited", "marked"),
    [
        ("seconds, said Brandt.", "seconds, said Brandt."),
        (r"once in $T = 2\pi/\omega$ seconds", f"once in {OBJECT} seconds"),
        (r"\frac{a | b}{c}", OBJECT),
        (r"The keeper pays \(k_1 + k_2\) crowns", f"The keeper pays {OBJECT} crowns"),
    ],
)
def test_cited_words_are_marked_with_their_formulas(
    page: PageBrowser, source_of: type, cited: str, marked: str
) -> None:
    shown(page, source_of(TEXT, ()))
    start = TEXT.index(cited)
    page.mark((start, start + len(cited)), Hits())
    assert marked_on(page) == [marked]


@pytest.mark.parametrize("source_of", SOURCES)
@pytest.mark.parametrize(
    "said",
    [
        "It costs $5 and $6 a day.",
        r"A broken one: $\frac{a}{$ and \nosuchcommand.",
        r"Not known: $\nosuchcommand{x}$.",
    ],
)
def test_what_is_no_formula_stays_text(page: PageBrowser, source_of: type, said: str) -> None:
    text = shown(page, source_of(said, ()))
    assert OBJECT not in text
    assert text.count("$") == said.count("$")


def test_a_plain_text_stays_as_it_is(page: PageBrowser) -> None:
    assert OBJECT not in shown(page, section_source(TEXT, (), is_plain=True))


def test_copied_words_have_the_latex(page: PageBrowser) -> None:
    shown(page, markdown_source(TEXT, ()))
    cursor = QTextCursor(page.document())
    cursor.select(QTextCursor.SelectionType.Document)
    page.setTextCursor(cursor)
    page.copy()
    copied = QGuiApplication.clipboard().text()
    assert r"$T = 2\pi/\omega$ seconds" in copied
    assert r"$k_1 + k_2$ crowns" in copied


def test_another_document_takes_its_drawings_along(page: PageBrowser) -> None:
    shown(page, markdown_source(TEXT, ()))
    tall = page.document().size().height()
    assert OBJECT not in shown(page, markdown_source("No formula.", ()))
    assert OBJECT in shown(page, markdown_source(TEXT, ()))
    assert page.document().size().height() == tall


def test_a_chapter_draws_a_limited_number_of_formulas() -> None:
    pen = FormulaPen(most=2)
    drawn = [pen(latex, False) is not None for latex in ("a_1", "a_2", "a_3", "a_1")]
    assert drawn == [True, True, False, True]
    assert pen.pictures_in("$a_1$ and $a_3$") == ((0, 5),)
