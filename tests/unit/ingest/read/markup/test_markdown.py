import pytest

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.source_file import Unreadable
from tests.unit.ingest.read.samples import parse

SAMPLE = """\
# Fees

For everybody.

## Members *only*

Ten euros.
## `code` and [link](http://example.invalid)
more

Setext
------

end
"""


def headings(text: str) -> list[tuple[int, str]]:
    document = parse("a.md", text.encode())
    for heading in document.headings:
        line = document.text[heading.offset :].split("\n")[0]
        assert heading.title.split()[0].strip("`*") in line
    return [(heading.level, heading.title) for heading in document.headings]


def test_headings_are_found_without_their_markup() -> None:
    assert headings(SAMPLE) == [
        (1, "Fees"),
        (2, "Members only"),
        (2, "code and link"),
        (2, "Setext"),
    ]


def test_the_text_is_unchanged_and_the_title_is_the_first_heading() -> None:
    document = parse("fees.md", SAMPLE.encode())
    assert document.text == SAMPLE
    assert (document.format, document.title) == ("Markdown", "Fees")


def test_marks_know_heading_and_line() -> None:
    document = parse("fees.md", SAMPLE.encode())
    anchors = {mark.anchor.line: mark.anchor.heading for mark in document.marks}
    assert anchors[3] == "Fees"
    assert anchors[7] == "Fees › Members only"
    # A heading in the midst of a paragraph's lines has its own mark.
    assert anchors[8] == "Fees › code and link"
    assert document.marks[0].anchor == Anchor(heading="Fees", line=1)
    assert [mark.offset for mark in document.marks] == sorted(m.offset for m in document.marks)


@pytest.mark.parametrize(
    "text",
    [
        "```\n# no heading\n```",
        "    # no heading",
        "<!--\n# no heading\n-->",
        "> # quoted",
        "- # in a list",
        "#no heading",
        "#",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text: str) -> None:
    assert headings(f"{text}\n\nsome text") == []


def test_front_matter_is_no_heading() -> None:
    text = "---\ndate: 2024-05-01\ntitle: 'Old stones'\n---\n# Real heading\n\ntext\n"
    document = parse("a.md", text.encode())
    assert document.title == "Old stones"
    assert [heading.title for heading in document.headings] == ["Real heading"]
    assert document.text == "# Real heading\n\ntext\n"
    assert document.headings[0].offset == 0
    assert [mark.anchor.line for mark in document.marks] == [5, 7]


@pytest.mark.parametrize(
    "text",
    [
        "---\nauthor: Ann\ntitle: Stones\ntags:\n- a\npier:\n  code: V-7\n---\n# Head\n\ntext\n",
        "+++\nauthor = 'Ann'\n# -\ntitle = 'Stones'\n\n[pier]\ncode = 'V-7'\n+++\n# Head\n\ntext\n",
    ],
)
def test_what_else_front_matter_says_is_read(text: str) -> None:
    document = parse("a.md", text.encode())
    assert document.title == "Stones"
    assert "Ann" in document.text.splitlines()[0]
    assert "V-7" in document.text.splitlines()[2]
    assert "Stones" not in document.text
    assert document.text.endswith("\n\n# Head\n\ntext\n")
    heading = document.headings[0]
    assert document.text[heading.offset :].startswith("# Head")
    lines = text.splitlines()
    assert [lines[(mark.anchor.line or 0) - 1] for mark in document.marks][1:] == ["# Head", "text"]
    assert lines[(document.marks[0].anchor.line or 0) - 1] == document.text.splitlines()[0]


def test_front_matter_gives_date_and_tags() -> None:
    document = parse("a.md", b"---\ndate: 2024-05-01\ntags: [roof, oil]\n---\n\ntext\n")
    assert (document.dated, document.tags, document.text) == (
        "2024-05-01", ("roof", "oil"), "text\n",
    )  # fmt: skip


def test_a_note_without_text_is_found_by_its_title() -> None:
    assert parse("a.md", b"---\ntitle: Old stones\n---\n").text == "Old stones"
    with pytest.raises(Unreadable):
        parse("a.md", b"---\ntags: roof\n---\n")


def test_rules_around_prose_are_no_front_matter() -> None:
    text = "---\nSome words of a preface\n---\n\ntext\n"
    assert parse("a.md", text.encode()).text == text


def test_the_name_is_the_title_when_there_is_no_heading() -> None:
    assert parse("holiday plans.md", b"just text").title == "holiday plans"


@pytest.mark.parametrize(
    "text",
    ["[" * 900_000, ">" * 900_000, "a " * 500_000, "* " * 200_000, "<!--" * 200_000, "`" * 900_000],
)
def test_hostile_markup_is_read(text: str) -> None:
    assert parse("a.md", text.encode()).text == text
