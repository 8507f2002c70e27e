"""Texts as pages: chapters, their HTML, and where the words of the source stand."""

import re
from itertools import pairwise

import pytest

from desktop_rag.core.parsed import Heading
from desktop_rag.ui.foundation.word_search import MAX_HITS, found_spans
from desktop_rag.ui.markdown.markdown_html import MarkdownStyle
from desktop_rag.ui.viewers.page_source import PageSource, markdown_source, section_source
from desktop_rag.ui.viewers.page_viewer import WordMap

COLOURS: dict[str, str] = dict.fromkeys(
    ("border_strong", "muted", "sunken", "code_surface", "code_text", "link"), "#000000"
)
LOOK = MarkdownStyle(COLOURS)


def html_of(source: PageSource) -> str:
    pieces = [p for n in range(len(source.chapters)) for p in source.render(n, LOOK)]
    return "".join(piece.html for piece in pieces)


@pytest.mark.parametrize("is_markdown", [True, False])
def test_the_pieces_cover_the_text_without_gaps(is_markdown: bool) -> None:
    paragraphs = [f"Paragraph {n} tells of the lamp. " * 9 for n in range(90)]
    paragraphs[5] = "word " * 9_000
    text = "\n\n".join(paragraphs)
    headings = [Heading(text.index(f"Paragraph {n} "), 1, "") for n in (3, 30, 31)]
    source = (markdown_source if is_markdown else section_source)(text, headings)
    assert len(source.chapters) > 3
    pieces = [p for n in range(len(source.chapters)) for p in source.render(n, LOOK)]
    assert pieces[0].start == 0
    assert pieces[-1].end == len(text)
    assert all(a.end == b.start for a, b in pairwise(pieces))
    assert source.chapter_at(len(text)) == len(source.chapters) - 1
    start, end = source.chapters[source.chapter_at(headings[1].offset)]
    assert start <= headings[1].offset < end


def test_headings_items_and_tables_are_shown_as_such() -> None:
    text = "## Oil\nIt comes by boat.\n- Bring wicks\n  • at dusk\nyear | keeper\n1901 | Brandt\n"
    shown = html_of(section_source(text, [Heading(0, 1, "Oil")]))
    assert re.search(r"font-size:x-large[^>]*>Oil</p>", shown)
    assert shown.count("<tr>") == 2
    assert "<td>Brandt</td>" in shown
    assert shown.count("•") == 2
    plain = html_of(section_source(text, (), is_plain=True))
    assert "## Oil<br>It comes by boat.<br>- Bring wicks" in plain


def test_empty_cells_at_the_ends_of_a_row_keep_their_columns() -> None:
    text = "| Food | Calories\nLeaves | Ash | 50\nBerries | Elder |\n"
    rows = re.findall(r"<tr>(.*?)</tr>", html_of(section_source(text, ())))
    assert [re.findall(r"<td>(.*?)</td>", row) for row in rows] == [
        ["", "Food", "Calories"], ["Leaves", "Ash", "50"], ["Berries", "Elder", ""],
    ]  # fmt: skip


@pytest.mark.parametrize("is_plain", [True, False])
def test_a_document_cannot_bring_html(is_plain: bool) -> None:
    hostile = '<img src="file:///dev/zero"> <script>x</script>\n- <b>a</b>\n<i> | <u>\n'
    shown = html_of(section_source(hostile, [Heading(0, 1, "")], is_plain=is_plain))
    assert not re.search("<(?:img|script|b|i|u)[ >]", shown)
    shown = html_of(markdown_source(hostile + "\n![x](file:///dev/zero)\n", ()))
    assert not re.search("<(?:img|script|u)[ >]", shown)


def test_words_are_found_where_they_are_shown() -> None:
    source = "Read **the *first* manual** at [the pier](https://example.org/pier), twice."
    shown = "Read the first manual at the pier, twice."
    mapped = WordMap(source, shown)
    start, end = source.index("the *first"), source.index(" at")
    place = mapped.rendered(start, end)
    assert place
    assert shown[slice(*place)] == "the first manual"
    last = mapped.rendered(source.index("twice"), len(source))
    assert last
    assert shown[slice(*last)] == "twice."
    assert mapped.rendered(source.index("https"), source.index("/pier)")) is None


def test_hits_ignore_case_and_white_space_and_cross_slices() -> None:
    text = "a Lamp\nburns " + "x" * 499_990 + " the LAMP  burns, the lamp burns"
    assert [text[s:e] for s, e in found_spans(text, "lamp burns")] == [
        "Lamp\nburns",
        "LAMP  burns",
        "lamp burns",
    ]
    assert found_spans(text, "  ") == ()
    assert found_spans(text, "(") == ()
    assert len(found_spans("a " * 20_000, "a")) == MAX_HITS
