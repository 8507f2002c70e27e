from pathlib import Path

import pytest

from desktop_rag.core.parsed import Anchor, ParsedDocument
from desktop_rag.ingest.read.formats import detect, read_as
from desktop_rag.ingest.read.foundation.source_file import SourceFile

MENU = "".join(f"<li><a href='/{n}'>Menu entry {n}</a></li>" for n in range(20))
BODY = " ".join(f"The keeper of lighthouse {n} trims the wick at dusk." for n in range(30))


def fetched(markup: str) -> ParsedDocument:
    source = SourceFile(Path("page.html"), markup.encode())
    return read_as(detect(source), source, 1_000_000, is_web_page=True)


def test_menus_and_footers_are_left_out_and_headings_kept() -> None:
    found = fetched(
        f"<html><head><title>Lights</title></head><body><nav><ul>{MENU}</ul></nav><main><article>"
        f"<h1>Lamps</h1><p>{BODY}</p><h2>Oil</h2><p>{BODY}</p></article></main>"
        "<footer><p>Imprint and cookies</p></footer></body></html>"
    )
    assert (found.format, found.title) == ("web page", "Lights")
    assert "Menu entry 7" not in found.text
    assert "Imprint" not in found.text
    assert [h.title for h in found.headings] == ["Lamps", "Oil"]
    assert found.marks[-1].anchor.heading == "Lamps › Oil"


def test_a_page_without_a_main_part_is_read_whole() -> None:
    rows = "".join(f"<div>Entry {n} of the register</div>" for n in range(50))
    found = fetched(f"<html><body>{rows}</body></html>")
    assert "Entry 49 of the register" in found.text


@pytest.mark.slow
def test_a_page_nested_without_end_is_read_all_the_same() -> None:
    found = fetched("<html><body>" + "<div>" * 50_000 + "The light is on.")
    assert "The light is on." in found.text


def test_headings_that_the_main_text_lost_are_put_back() -> None:
    # Without a heading of the first level and in plain divisions they are taken for lines.
    sections = "".join(f"<div><h3>Lamp {n}</h3><div>{n} {BODY}</div></div>" for n in range(1, 6))
    found = fetched(f"<html><body><div>{sections}</div></body></html>")
    assert [h.title for h in found.headings] == [f"Lamp {n}" for n in range(1, 6)]
    for heading in found.headings:
        assert found.text[heading.offset :].startswith(f"### {heading.title}")


def test_lines_of_the_main_text_are_no_places() -> None:
    found = fetched(f"<html><body><article><h1>Lamps</h1><p>{BODY}</p></article></body></html>")
    assert [mark.anchor for mark in found.marks] == [Anchor(heading="Lamps")]
