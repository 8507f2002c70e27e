import pytest

from desktop_rag.core.parsed import Anchor
from tests.unit.ingest.read.samples import parse


def test_the_text_stands_as_it_is_and_the_title_is_the_name() -> None:
    document = parse("notes.txt", b"first line\n\n  indented  \nlast")
    assert document.text == "first line\n\n  indented  \nlast"
    assert (document.format, document.title, document.headings) == ("text", "notes", ())


def test_marks_are_set_at_paragraphs_and_every_twenty_lines() -> None:
    lines = ["a", "b", "", "", *(f"line {n}" for n in range(5, 50))]
    document = parse("log.txt", "\n".join(lines).encode())
    assert [mark.anchor.line for mark in document.marks] == [1, 5, 25, 45]
    for mark in document.marks:
        assert mark.anchor == Anchor(line=mark.anchor.line)
        assert document.text[mark.offset :].startswith(lines[(mark.anchor.line or 0) - 1])


def test_no_zeros_reach_the_text() -> None:
    document = parse("odd.txt", b"before\0after, and some more words")
    assert document.text == "before�after, and some more words"


@pytest.mark.slow
def test_a_text_beyond_the_limit_is_cut_and_that_is_said() -> None:
    document = parse("long.txt", b"word " * 100, max_chars=50)
    assert len(document.text) == 50
    assert document.warnings == ("Only the first 50 characters were read.",)


@pytest.mark.slow
def test_a_huge_text_has_a_bounded_number_of_marks() -> None:
    document = parse("huge.txt", b"x\n\n" * 300_000)
    assert 50_000 <= len(document.marks) < 52_000
    assert document.marks[-1].offset > 890_000
