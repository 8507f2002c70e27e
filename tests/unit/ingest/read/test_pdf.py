import io
from collections.abc import Callable
from pathlib import Path

import pypdf
import pytest

from desktop_rag.core.anchors import Anchor
from desktop_rag.core.parsed import ParsedDocument
from desktop_rag.ingest.read.formats import PDF, read_as
from desktop_rag.ingest.read.source import SourceFile, Unreadable
from tests.unit.ingest.read.samples import MAX_CHARS, make_pdf, parse, text_at


def parse_safely(content: bytes) -> ParsedDocument:
    return read_as(PDF, SourceFile(Path("a.pdf"), content), MAX_CHARS, is_safe=True)


Reader = Callable[[bytes], ParsedDocument]
READERS: list[Reader] = [lambda content: parse("a.pdf", content), parse_safely]


def encrypted(content: bytes, password: str) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(content))
    writer.encrypt(password, "owner", algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("read", READERS)
def test_each_page_has_its_mark(read: Reader) -> None:
    document = read(make_pdf(["First page\nsecond line", "", "Third page"]))
    assert [mark.anchor for mark in document.marks] == [Anchor(page=n) for n in (1, 2, 3)]
    assert text_at(document, 0).split() == ["First", "page", "second", "line"]
    assert text_at(document, 2).strip() == "Third page"
    assert text_at(document, 1).strip() == ""
    assert "\r" not in document.text
    assert "1 of 3 pages hold no text" in document.warnings[0]


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Annual report", "Annual report"),
        ("Microsoft Word - The plan", "The plan"),
        ("0000764478-17-000008", "a"),
        ("untitled", "a"),
        ("draft_v2.docx", "a"),
        ("", "a"),
    ],
)
def test_only_a_sensible_title_is_taken(title: str, shown: str) -> None:
    content = make_pdf(["text"], title)
    assert parse("a.pdf", content).title == shown
    assert parse_safely(content).title == shown


def test_the_outline_gives_headings_where_the_page_has_them() -> None:
    pages = ["Contents\nCosts and fees", "Costs and fees\nTen euros.", "more about costs"]
    outline = [("Costs  and Fees", 1), ("Not on the page", 1), ("costs", 2)]
    document = parse("a.pdf", make_pdf(pages, outline=outline))
    assert [(h.level, h.title) for h in document.headings] == [(1, "Costs and Fees")]
    offset = document.headings[0].offset
    assert document.text[offset:].startswith("Costs and fees\nTen")
    assert offset == document.marks[1].offset


@pytest.mark.parametrize("read", READERS)
def test_a_password_is_asked_for_only_where_one_is_needed(read: Reader) -> None:
    content = make_pdf(["secret words"])
    assert read(encrypted(content, "")).text.strip() == "secret words"
    with pytest.raises(Unreadable) as caught:
        read(encrypted(content, "sesame"))
    assert caught.value.reason == "encrypted"


def test_pages_without_text_are_said_to_be_scans() -> None:
    with pytest.raises(Unreadable) as caught:
        parse("a.pdf", make_pdf(["", ""]))
    assert caught.value.reason == "no text"
    assert "scanned" in caught.value.hint


def test_what_is_typed_onto_a_page_is_read() -> None:
    assert parse("form.pdf", make_pdf(["Name:"], note="Ann Lee")).text.split() == [
        "Name:",
        "Ann",
        "Lee",
    ]


def test_every_truncation_is_an_error_or_a_text() -> None:
    content = make_pdf(["one two", "three four"], "Title", [("one two", 0)])
    for length in range(6, len(content), 97):
        try:
            assert "\0" not in parse("a.pdf", content[:length]).text
        except Unreadable as exc:
            assert exc.reason in {"damaged", "no text"}  # noqa: PT017  either way is fine
