"""A note keeps what the person wrote, whatever they do with the file."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.parsed import Anchor
from desktop_rag.features.schedules.values.note_page import (
    NotePage,
    NoteSection,
    SectionChange,
    new_page,
    page_text,
    parsed_page,
    proposed,
    with_accepted,
)
from desktop_rag.features.schedules.values.note_sources import (
    NoteSources,
    cited_in,
    note_citations,
    without_links,
)
from desktop_rag.ui.reading.reading_pane import listed_place

LAMP = NoteSection("Overview", "It is lit at dusk.")
FEES = NoteSection("Fees", "They are 8 pounds.")
FOLDER = Path("/docs/Notes")


def source(n: int, path: str, **fields: object) -> SourceRef:
    plain = SourceRef(
        n, "d", path, Path(path).name, Anchor(heading="Fees"), "t", 1.0, is_cited=True
    )
    return replace(plain, **fields)  # pyright: ignore[reportArgumentType]


def written(*sections: NoteSection) -> NotePage:
    """A note as the app wrote it."""
    page = new_page("Lighthouse", {"items": []})
    changes = proposed(page, sections, str.__eq__)
    return with_accepted(page, changes, [section.heading for section in sections])


def edited(page: NotePage, old: str, new: str) -> NotePage:
    """The note after the person changed its file."""
    text = page_text(page)
    assert old in text
    found = parsed_page(text.replace(old, new))
    assert found
    return found


def test_a_note_comes_back_equal() -> None:
    page = written(LAMP, FEES)
    assert parsed_page(page_text(page)) == page
    assert page_text(page).startswith('---\ntitle: "Lighthouse (your note)"\n')


def test_the_front_matter_and_the_words_of_the_person_stay() -> None:
    page = edited(written(LAMP), "topic:", "tags: [sea]\ntopic:")
    page = edited(page, "# Lighthouse", "# Our lighthouse\n\nI love it.")
    text = page_text(page)
    assert "\ntags: [sea]\n" in text
    assert "# Our lighthouse\n\nI love it.\n" in text
    assert parsed_page(text) == page


@pytest.mark.parametrize(
    "text", ["", "# A page", "---\ntitle: x\n---\n# A", "---\ntopic: 1\n---\n"]
)
def test_another_file_is_no_note(text: str) -> None:
    assert parsed_page(text) is None


@given(st.text(alphabet="#-`\n ab漢"))
def test_whatever_is_in_a_section_comes_back(body: str) -> None:
    page = written(LAMP)
    text = page_text(page) + "\n" + body
    found = parsed_page(text)
    assert found
    assert parsed_page(page_text(found)) == found


def test_headings_in_code_are_no_sections() -> None:
    section = NoteSection("Code", "```\n## no heading\n```")
    assert parsed_page(page_text(written(section))) == written(section)


def test_only_the_sections_of_the_app_are_replaced_unasked() -> None:
    page = edited(written(LAMP, FEES), "8 pounds.", "8 pounds, I think.")
    fresh = [NoteSection("Overview", "It is lit at noon."), NoteSection("Fees", "They are 9.")]
    changes = proposed(page, fresh, str.__eq__)
    assert [(c.heading, c.change, c.is_yours) for c in changes] == [
        ("Overview", SectionChange.CHANGED, False),
        ("Fees", SectionChange.CHANGED, True),
    ]
    refreshed = with_accepted(page, changes, ["Overview"])
    assert "It is lit at noon." in page_text(refreshed)
    assert "8 pounds, I think." in page_text(refreshed)
    assert not proposed(refreshed, [fresh[0]], str.__eq__)


def test_spaces_at_the_ends_of_lines_are_no_edit() -> None:
    page = edited(written(LAMP), "at dusk.", "at dusk.  ")
    [section] = page.sections
    assert not page.is_persons(section)


def test_what_the_person_removed_comes_back_only_when_asked_for() -> None:
    page = edited(written(LAMP, FEES), "## Fees\n\nThey are 8 pounds.\n", "")
    [change] = proposed(page, [LAMP, FEES], str.__eq__)
    assert (change.change, change.is_yours) == (SectionChange.NEW, True)
    assert with_accepted(page, [change], []).sections == (LAMP,)


def test_a_section_of_the_person_is_never_gone() -> None:
    page = edited(written(LAMP), "## Overview", "## Mine\n\nHands off.\n\n## Overview")
    [change] = proposed(page, [FEES], str.__eq__)[1:]
    assert (change.change, change.heading) == (SectionChange.GONE, "Overview")
    left = with_accepted(page, [change], ["Overview"])
    assert [section.heading for section in left.sections] == ["Mine"]


def test_citations_are_links_from_the_note_to_the_files() -> None:
    sources = NoteSources(new_page("x", {}), FOLDER)
    found = [source(1, "/docs/papers/a lamp.md"), source(2, "/w", url="https://example.com/a(b)")]
    text = sources.linked("Lit at dusk [1][2]. See [9] and [x](y).", found)
    assert text == (
        "Lit at dusk [[1]](../papers/a%20lamp.md)[[2]](https://example.com/a%28b%29)."
        " See [9] and [x](y)."
    )
    assert without_links(text) == "Lit at dusk. See [9] and [x](y)."


def test_sources_keep_their_numbers() -> None:
    first, second = source(1, "/docs/a.md"), source(1, "/docs/b_b.md")
    sources = NoteSources(new_page("x", {}), FOLDER)
    page = written(NoteSection("A", sources.linked("Yes [1].", [first])))
    page = with_accepted(
        page,
        changes := proposed(
            page,
            [*page.sections, NoteSection("B", sources.linked("No [1].", [second]))],
            str.__eq__,
        ),
        [change.heading for change in changes],
    )
    page = sources.listed(page)
    listed = page.section("Sources")
    assert listed
    assert listed.body == "1. [a.md](../a.md), Fees\n2. [b\\_b.md](../b_b.md), Fees"
    again = NoteSources(page, FOLDER)
    assert again.linked("[1]", [second]) == "[[2]](../b_b.md)"
    only = again.listed(page.with_sections([s for s in page.sections if s.heading != "A"]))
    left = only.section("Sources")
    assert left
    assert left.body == "2. [b\\_b.md](../b_b.md), Fees"


def test_a_note_keeps_its_language() -> None:
    text = page_text(new_page("Leuchtturm", {}, "de"))
    assert text.startswith('---\ntitle: "Leuchtturm (Ihre Notiz)"\n')
    page = parsed_page(text)
    assert page
    assert page.language == "de"


def test_a_note_of_an_earlier_version_is_english() -> None:
    assert edited(written(LAMP), 'language: "en"\n', "") == written(LAMP)


@pytest.mark.parametrize("line", ['language: "de"', "language: de"])
def test_the_person_can_give_a_note_another_language(line: str) -> None:
    page = edited(written(LAMP), 'language: "en"', line)
    assert page.language == "de"
    assert page.front == ()


def test_another_line_about_the_language_is_the_persons() -> None:
    page = edited(written(LAMP), 'language: "en"', "language: en-GB")
    assert page.front == ("language: en-GB",)


def test_sources_are_listed_in_the_language_of_the_note() -> None:
    page = new_page("x", {}, "de")
    sources = NoteSources(page, FOLDER)
    page = page.with_sections([NoteSection("A", sources.linked("Ja [1].", [source(1, "/docs/a")]))])
    assert [section.heading for section in sources.listed(page).sections] == ["A", "Quellen"]


def test_sources_are_found_again_in_another_language() -> None:
    page = written(NoteSection("A", "Yes [[1]](../a.md)."))
    sources = NoteSources(page, FOLDER)
    sources.linked("[1]", [source(1, "/docs/a.md")])
    page = edited(sources.listed(page), 'language: "en"', 'language: "de"')
    again = NoteSources(page, FOLDER)
    assert again.linked("[1]", [source(1, "/docs/b.md")]) == "[[2]](../b.md)"
    assert [section.heading for section in again.listed(page).sections] == ["A", "Sources"]


def test_a_section_of_the_person_about_sources_is_no_list_of_the_app() -> None:
    mine = NoteSection("Quellen", "1. Das Wasser kommt aus drei Quellen.")
    page = written(NoteSection("A", "Yes [[1]](../a.md).")).with_sections(
        [NoteSection("A", "Yes [[1]](../a.md)."), mine]
    )
    sources = NoteSources(page, FOLDER)
    sources.linked("[1]", [source(1, "/docs/a.md")])
    headings = [section.heading for section in sources.listed(page).sections]
    assert headings == ["A", "Quellen", "Sources"]


def test_the_sources_behind_links_are_in_their_order() -> None:
    first, second = source(1, "/docs/a.md"), source(2, "/docs/a.md")
    said = "One [2]. Two [1][2], not [9]."
    text = NoteSources(new_page("x", {}), FOLDER).linked(said, [first, second])
    assert cited_in(said, [first, second]) == (second, first, second)
    assert text.count("[[1]](../a.md)") == 3
    found = note_citations(text)
    assert found.numbered == r"One [1]. Two [2][3], not \[9\]."
    assert found.labels == {1: 1, 2: 1, 3: 1}
    assert found.in_words == r"One \[1\]. Two \[1\]\[1\], not \[9\]."


def test_the_list_of_a_note_names_the_place_of_a_number() -> None:
    page = new_page("x", {})
    sources = NoteSources(page, FOLDER)
    fees = source(1, "/docs/a.md", anchor=Anchor(heading="Fees [new]"))
    plain = source(2, "/docs/b.md", anchor=Anchor())
    body = sources.linked("Yes [1]. No [2].", [fees, plain])
    text = page_text(sources.listed(page.with_sections([NoteSection("A", body)])))
    assert listed_place(text, 1, "../a.md") == "Fees [new]"
    assert listed_place(text, 1, "../b.md") == ""
    assert listed_place(text, 2, "../b.md") == ""
