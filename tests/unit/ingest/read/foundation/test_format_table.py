import importlib
import re
from collections import Counter
from pathlib import Path

import pytest

from desktop_rag.core.query import parse_query
from desktop_rag.ingest.read.formats import reader_of
from desktop_rag.ingest.read.foundation.format_table import FORMATS, WEB_PAGE, Format, kinds_read
from tests.unit.ingest.read.samples import cell, make_docx, make_pdf, make_xlsx, paragraph, parse

ROOT = Path(__file__).parents[5]
# Subjects of messages are the headings of their anchors.
FIELD_OF_PLACE = {"message": "heading"}
HEADED = make_docx(paragraph("Fees", properties='<w:outlineLvl w:val="0"/>') + paragraph("words"))


def name_of(row: Format) -> str:
    return row.name


@pytest.mark.parametrize("row", FORMATS, ids=name_of)
def test_a_row_is_complete(row: Format) -> None:
    assert row.name
    assert row.kind
    assert row.suffixes or row.name == WEB_PAGE
    assert all(re.fullmatch(r"\.[a-z0-9]+", suffix) for suffix in row.suffixes)
    assert not (row.signature and row.text_start)


@pytest.mark.parametrize("row", FORMATS, ids=name_of)
def test_its_readers_are_there(row: Format) -> None:
    for written in filter(None, (row.reader, row.safe_reader)):
        module, _, function = written.partition(":")
        assert callable(getattr(importlib.import_module(module), function))
    assert reader_of(row, is_safe=False) != reader_of(row, is_safe=True) or not row.safe_reader


def test_no_two_formats_share_a_name_or_a_suffix() -> None:
    counts = Counter(suffix for row in FORMATS for suffix in row.suffixes)
    counts.update(row.name for row in FORMATS)
    assert set(counts.values()) == {1}


def test_the_list_for_people_fits_the_table() -> None:
    guide = (ROOT / "docs/user-guide.md").read_text("utf-8")
    lines = [line.casefold() for line in guide.splitlines()]
    rows = [line.strip("|").split("|") for line in lines if line.startswith("|")]
    listed = [(row[0], row[1]) for row in rows if len(row) == 2]
    missing = [
        row.name
        for row in FORMATS
        if not row.extra
        and not any(row.kind.casefold() in kinds and row.place in place for kinds, place in listed)
    ]
    assert missing == []


def test_what_needs_an_extra_is_said_to_need_it() -> None:
    guide = (ROOT / "docs/user-guide.md").read_text("utf-8")
    [row] = [row for row in FORMATS if row.extra]
    assert re.search(rf"{row.kind} are read when\s+the extra `{row.extra}`", guide)
    assert row.kind not in kinds_read()


def test_each_kind_is_named_once() -> None:
    kinds = kinds_read()
    assert len(kinds) == len(set(kinds))
    assert {"PDF", "Word", "Excel", "e-mail", "Markdown", "source code"} <= set(kinds)


@pytest.mark.parametrize("word", ["excel", "powerpoint", "word", "image", "photo", "email", "mail"])
def test_what_the_type_filter_makes_of_a_word_is_in_the_table(word: str) -> None:
    suffixes = {suffix[1:] for row in FORMATS for suffix in row.suffixes}
    names = {row.name.casefold() for row in FORMATS}
    assert set(parse_query(f"x type:{word}").filters.types) <= suffixes | names


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.pdf", make_pdf(["words"])),
        ("a.docx", HEADED),
        ("a.xlsx", make_xlsx({"S": f'<row r="1">{cell("A1", "words")}</row>'})),
        ("a.rtf", b"{\\rtf1{\\stylesheet{\\s1 heading 1;}}\\pard\\s1 Fees\\par\\pard words\\par}"),
        ("a.html", b"<h1>Fees</h1><p>words"),
        ("a.md", b"# Fees\n\nwords"),
        ("a.rst", b"Fees\n====\n\nwords"),
        ("a.adoc", b"== Fees\n\nwords"),
        ("a.org", b"* Fees\n\nwords"),
        ("a.tex", b"\\section{Fees}\n\nwords"),
        ("a.ipynb", b'{"cells": [{"cell_type": "markdown", "source": "# Fees\\n\\nwords"}]}'),
        ("a.csv", b"name,fee\nann,10\nbob,20\n"),
        ("a.json", b'{"fee": "ten euros"}'),
        ("a.xml", b"<?xml version='1.0'?><a><p>The fee is ten euros for each member.</p></a>"),
        ("a.txt", b"words"),
        ("a.ics", b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Fees\nEND:VEVENT\nEND:VCALENDAR"),
        ("a.vcf", b"BEGIN:VCARD\nFN:Ann\nEND:VCARD"),
        ("a.vtt", b"WEBVTT\n\n00:01.000 --> 00:02.000\nwords"),
        ("a.bib", b"@book{fees, title={Fees}}"),
        ("a.opml", b"<opml><body><outline text='Fees'/></body></opml>"),
        ("a.eml", b"From: a@b.example\nDate: 1 Jan 2024 10:00 +0000\nSubject: Fees\n\nwords"),
        (
            "a.mbox",
            b"From a@b.example Sat Jan  2 17:42:00 2016\nFrom: a@b.example\nSubject: Fees\n\nwords",
        ),
    ],
)
def test_sources_open_at_the_place_of_the_format(name: str, content: bytes) -> None:
    document = parse(name, content)
    [row] = [row for row in FORMATS if row.name == document.format]
    field = FIELD_OF_PLACE.get(row.place, row.place)
    assert any(getattr(mark.anchor, field) for mark in document.marks)
