import io
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pypdf
import pytest
from pypdf.constants import PageLabelStyle
from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject, TextStringObject

from desktop_rag.core.parsed import Anchor, ParsedDocument
from desktop_rag.ingest.read.formats import read_as
from desktop_rag.ingest.read.foundation import ocr
from desktop_rag.ingest.read.foundation.format_table import PDF
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.pdf.pdf_pages import parted
from tests.unit.ingest.read.pdf_samples import (
    Change,
    changed,
    encrypted,
    make_garbled,
    make_mapped,
    make_placed,
    make_scan,
)
from tests.unit.ingest.read.samples import MAX_CHARS, make_pdf, parse, text_at


def parse_safely(content: bytes) -> ParsedDocument:
    return read_as(PDF, SourceFile(Path("a.pdf"), content), MAX_CHARS, is_safe=True)


Reader = Callable[[bytes], ParsedDocument]
PICTURE = (2, 2, b"\xff\0\0" * 4)
READERS: list[Reader] = [lambda content: parse("a.pdf", content), parse_safely]


def joined(contents: list[bytes]) -> bytes:
    writer = pypdf.PdfWriter()
    for content in contents:
        writer.append(io.BytesIO(content))
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


def test_a_blank_page_is_no_scan() -> None:
    assert parse("a.pdf", make_pdf(["First page", "", "Third page"])).warnings == ()
    with pytest.raises(Unreadable) as caught:
        parse("a.pdf", make_pdf(["", ""]))
    assert (caught.value.reason, caught.value.hint) == ("no text", "Its pages are blank.")


def test_pages_that_are_pictures_are_named() -> None:
    pages = [make_scan([PICTURE]), make_pdf(["words"]), make_scan([PICTURE] * 3)]
    warnings = parse("a.pdf", joined(pages)).warnings
    assert warnings[0] == "Pages without text that may be scanned pictures: 1, 3-5."
    assert "To have them read" in warnings[1]


@pytest.mark.parametrize(("is_installed", "advice"), [(False, "extra “ocr”"), (True, "switch on")])
def test_a_scan_without_ocr_says_what_reads_it(
    monkeypatch: pytest.MonkeyPatch, *, is_installed: bool, advice: str
) -> None:
    monkeypatch.setattr(ocr, "is_ocr_installed", lambda: is_installed)
    with pytest.raises(Unreadable) as caught:
        parse("a.pdf", make_scan([PICTURE]))
    assert caught.value.reason == "no text"
    assert "scanned" in caught.value.hint
    assert advice in caught.value.hint


def test_signs_without_meaning_are_no_text() -> None:
    pages = joined([make_pdf(["words"]), make_garbled(20)])
    document = parse("a.pdf", pages)
    assert document.text.strip() == "words"
    assert document.warnings[0] == "Pages whose text is unreadable: 2."
    assert "To have them read" in document.warnings[1]
    with pytest.raises(Unreadable) as caught:
        parse("a.pdf", make_garbled(20))
    assert caught.value.reason == "no text"
    assert "does not tell which characters" in caught.value.hint


@pytest.mark.parametrize("read", READERS)
def test_letters_of_a_broken_map_are_no_text(read: Reader) -> None:
    arabic_and_chinese = "\u0627\u4e00\u0628\u4e01\u062a\u4e02\u062b\u4e03\u062c\u4e04" * 3
    document = read(joined([make_pdf(["words"]), make_mapped(arabic_and_chinese)]))
    assert document.text.strip() == "words"
    assert document.warnings[0] == "Pages whose text is unreadable: 2."


def test_the_error_of_the_file_before_does_not_count() -> None:
    # PDFium gives no reason of its own for a file whose list of pages is empty.
    without_pages = make_pdf(["words"]).replace(
        b"/Kids [5 0 R] /Count 1", b"/Kids [     ] /Count 0"
    )
    refusals: list[tuple[str, str]] = []
    for before in (make_pdf(["words"]), encrypted(make_pdf(["words"]), "sesame")):
        with suppress(Unreadable):
            parse("before.pdf", before)
        with pytest.raises(Unreadable) as caught:
            parse("a.pdf", without_pages)
        refusals.append((caught.value.reason, caught.value.hint))
    assert refusals == [("damaged", "None of its pages can be read.")] * 2


def test_a_page_that_one_reader_finds_empty_is_read_by_the_other() -> None:
    # The number of the object is not the one that its page asks for.
    pages = make_pdf(["words"]).replace(b"\n6 0 obj", b"\n9 0 obj")
    document = parse("a.pdf", pages)
    assert document.text.strip() == "words"
    assert document.warnings == ()


def with_annotation(rect: tuple[float, ...] = (50, 600, 200, 640), **fields: str) -> Change:
    def add(writer: pypdf.PdfWriter) -> None:
        names = {"subtype": "Subtype", "ft": "FT"}
        annotation = DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Annot"),
                NameObject("/Rect"): ArrayObject(map(FloatObject, rect)),
                **{
                    NameObject(f"/{names.get(key, key)}"): NameObject(value)
                    if value.startswith("/")
                    else TextStringObject(value)
                    for key, value in fields.items()
                },
            }
        )
        writer.add_annotation(0, annotation)

    return add


def test_comments_and_values_of_fields_are_read_where_nothing_draws_them() -> None:
    content = changed(
        make_pdf(["Name: on the page"]),
        with_annotation(subtype="/Highlight", Contents="Ask \u0416anna"),
        with_annotation(subtype="/Text", Contents="on the page"),
        with_annotation(subtype="/Widget", ft="/Tx", T="name", V="Ann Lee"),
        with_annotation(subtype="/Widget", ft="/Btn", T="box", V="/Yes"),
    )
    document = parse("a.pdf", content)
    assert document.text.split("\n") == [
        "Name: on the page", "[Comment: Ask \u0416anna]", "Ann Lee",
    ]  # fmt: skip


def test_values_of_fields_and_states_of_boxes_stand_at_their_labels() -> None:
    labels = [(50, 700, "Name:"), (50, 670, "Sum:"), (70, 640, "Yes"), (170, 640, "No")]
    # What fills a field is drawn last.
    drawn = [(50, 600, "The end."), (152, 700, "Ann Lee"), (54, 640, "x")]
    content = changed(
        make_placed([*labels, *drawn]),
        with_annotation((150, 697, 250, 712), subtype="/Widget", ft="/Tx", T="a", V="Ann Lee"),
        with_annotation((150, 667, 250, 682), subtype="/Widget", ft="/Tx", T="b", V="5000"),
        with_annotation((52, 637, 66, 651), subtype="/Widget", ft="/Btn", T="c", AS="/On"),
        with_annotation((152, 637, 166, 651), subtype="/Widget", ft="/Btn", T="d", AS="/Off"),
    )
    lines = parse("a.pdf", content).text.rstrip().split("\n")
    assert lines == ["Name: Ann Lee", "Sum: 5000", "☒ Yes ☐ No", "The end."]


def test_values_of_fields_stand_at_the_labels_above_them() -> None:
    labels = [(50, 712, "First name"), (250, 712, "Street and"), (305, 712, "number")]
    content = changed(
        make_placed([*labels, (50, 600, "The end.")]),
        with_annotation((50, 690, 200, 708), subtype="/Widget", ft="/Tx", T="a", V="Ann"),
        with_annotation((250, 690, 400, 708), subtype="/Widget", ft="/Tx", T="b", V="Elm 7"),
        with_annotation((50, 400, 200, 418), subtype="/Widget", ft="/Tx", T="c", V="alone"),
    )
    lines = parse("a.pdf", content).text.rstrip().split("\n")
    assert lines == ["First name Ann Street and number Elm 7", "The end.", "alone"]


def test_a_page_with_nothing_but_a_comment_is_read() -> None:
    content = changed(make_pdf([""]), with_annotation(subtype="/Text", Contents="Call back"))
    assert parse("a.pdf", content).text.strip() == "[Comment: Call back]"


def test_letters_that_one_sign_stands_for_are_in_order() -> None:
    # Seen from the left, as they are drawn: the last letter of the word is the first sign.
    salam = make_mapped(["\u0645", "\u0644\u0627", "\u0633"])
    assert parse("a.pdf", salam).text.strip() == "\u0633\u0644\u0627\u0645"
    article = make_mapped(["\u0645", "\u0644", "\u0627"])
    assert parse("a.pdf", article).text.strip() == "\u0627\u0644\u0645"


def test_scripts_do_not_run_together() -> None:
    assert parted("R \u0648Python\u0645\u0646 7") == "R \u0648 Python \u0645\u0646 7"
    assert parted("plain words 7x") == "plain words 7x"


def roman_then_decimal(writer: pypdf.PdfWriter) -> None:
    writer.set_page_label(0, 1, PageLabelStyle.LOWERCASE_ROMAN)
    writer.set_page_label(2, 2, PageLabelStyle.DECIMAL, start=3)
    writer.set_page_label(3, 3, PageLabelStyle.DECIMAL, prefix="A-", start=1)


@pytest.mark.parametrize("read", READERS)
def test_a_page_has_its_label_where_that_is_not_its_number(read: Reader) -> None:
    document = read(changed(make_pdf(["a", "b", "c", "d"]), roman_then_decimal))
    anchors = [mark.anchor for mark in document.marks]
    assert [anchor.page_label for anchor in anchors] == ["i", "ii", None, "A-1"]
    assert [anchor.page for anchor in anchors] == [1, 2, 3, 4]


def test_the_files_inside_are_parts() -> None:
    document = parse(
        "a.pdf",
        changed(
            make_pdf(["cover"]),
            lambda writer: writer.add_attachment("notes.txt", b"the notes inside"),
            lambda writer: writer.add_attachment("empty.txt", b""),
            lambda writer: writer.add_attachment("more.pdf", make_pdf(["inner words"])),
        ),
    )
    texts = {part.name: part.document and part.document.text.strip() for part in document.parts}
    assert texts == {"notes.txt": "the notes inside", "more.pdf": "inner words"}


def test_a_million_promised_pages_do_not_take_long() -> None:
    content = make_pdf(["the only page"]).replace(b"/Count 1 >>", b"/Count 1000000 >>")
    try:
        assert "the only page" in parse("a.pdf", content).text
    except Unreadable as exc:
        assert exc.reason == "damaged"  # noqa: PT017  either way is fine


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Annual report", "Annual report"),
        ("Microsoft Word - The plan", "The plan"),
        ("0000764478-17-000008", "a"),
        ("untitled", "a"),
        ("draft_v2.docx", "a"),
        ("(anonymous)", "a"),
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


def test_a_hyphen_stays_before_a_capital_and_where_the_document_has_it() -> None:
    lines = ["The Nord-", "Ostsee canal is a well-", "known one in the har-", "bour."]
    lines += ["A well-known canal of fish-", "meal. Fish-meal is no fishmeal."]
    assert " ".join(parse("a.pdf", make_pdf(["\n".join(lines)])).text.split()) == (
        "The Nord-Ostsee canal is a well-known one in the harbour. A well-known canal of fishmeal."
        " Fish-meal is no fishmeal."
    )


def test_the_hyphen_of_a_code_stays_at_the_end_of_a_line() -> None:
    lines = ["The part ZX-", "4471-", "B of the MX-", "RT line comes with infor-", "mation."]
    text = parse("a.pdf", make_pdf(["\n".join(lines)])).text
    assert "ZX-4471-B of the MX-RT line comes with information." in " ".join(text.split())
