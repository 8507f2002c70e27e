import io
import zipfile

import pytest

from desktop_rag.core.parsed import Anchor
from desktop_rag.ingest.read.foundation.source_file import Unreadable
from tests.unit.ingest.read.samples import make_docx, make_zip, paragraph, parse, relations

STYLES = """
<w:style w:styleId="T"><w:name w:val="Title"/></w:style>
<w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>
<w:style w:styleId="H2"><w:name w:val="Heading 2"/></w:style>
<w:style w:styleId="Mine"><w:name w:val="My heading"/><w:basedOn w:val="H2"/></w:style>
<w:style w:styleId="Own"><w:name w:val="Own"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>
<w:style w:styleId="Loop"><w:name w:val="Loop"/><w:basedOn w:val="Loop"/></w:style>
"""
NUMBERING = """
<w:abstractNum w:abstractNumId="7">
 <w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
 <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/>
  <w:lvlText w:val="%1.%2)"/></w:lvl>
</w:abstractNum>
<w:abstractNum w:abstractNumId="8">
 <w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="7"/>
 <w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>
"""


def item(text: str, number: int, level: int = 0) -> str:
    numbering = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
    return paragraph(text, properties=numbering)


def row(*cells: str) -> str:
    return "<w:tr>" + "".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in cells) + "</w:tr>"


def text_of(body: str) -> str:
    return parse("a.docx", make_docx(body, {"styles": STYLES, "numbering": NUMBERING})).text


def test_headings_come_from_styles_also_from_those_based_on_them() -> None:
    body = paragraph("Fees", "H1") + paragraph("Members", "Mine") + paragraph("Deep", "Own")
    body += paragraph("text", "Loop") + paragraph("direct", "", '<w:outlineLvl w:val="0"/>')
    document = parse("a.docx", make_docx(body, {"styles": STYLES}))
    assert [(h.level, h.title) for h in document.headings] == [
        (1, "Fees"),
        (2, "Members"),
        (3, "Deep"),
        (1, "direct"),
    ]
    assert document.marks[2].anchor.heading == "Fees › Members › Deep"
    assert all(
        document.text[heading.offset :].startswith(heading.title) for heading in document.headings
    )
    assert document.title == "Fees"


def test_the_title_paragraph_is_the_title_and_above_all_headings() -> None:
    body = paragraph("The plan", "T") + paragraph("Part one", "H1") + paragraph("text")
    document = parse("a.docx", make_docx(body, {"styles": STYLES}))
    assert document.title == "The plan"
    assert [(h.level, h.title) for h in document.headings] == [(1, "The plan"), (2, "Part one")]


def test_lists_are_numbered_as_word_does() -> None:
    body = item("one", 1) + 2 * item("sub", 1, 1) + item("two", 1) + item("sub", 1, 1)
    body += paragraph("text") + item("dot", 2) + item("three", 1) + item("again", 3)
    assert text_of(body) == (
        "1. one\n  1.a) sub\n  1.b) sub\n2. two\n  2.a) sub\n\ntext\n\n- dot\n3. three\n5. again"
    )


def test_rows_of_a_table_are_lines() -> None:
    table = f"<w:tbl>{row('Name', 'Fee')}{row('Ann', '')}{row('', '10')}</w:tbl>"
    assert text_of(paragraph("before") + table + paragraph("after")) == (
        "before\n\nName | Fee\nAnn |\n| 10\n\nafter"
    )


def test_a_table_of_one_cell_is_text() -> None:
    inner = paragraph("Heading", "H1") + paragraph("text")
    assert text_of(f"<w:tbl><w:tr><w:tc>{inner}</w:tc></w:tr></w:tbl>") == "Heading\n\ntext"


def test_nothing_a_reader_sees_is_left_out_and_nothing_deleted_let_in() -> None:
    run = "<w:r><w:t>{}</w:t></w:r>"
    box = f"<w:txbxContent>{paragraph('in a box')}</w:txbxContent>"
    body = (
        f"<w:sdt><w:sdtContent>{paragraph('in a control')}</w:sdtContent></w:sdt>"
        f"<w:p>{run.format('seen ')}<w:ins>{run.format('inserted ')}</w:ins>"
        f"<w:del><w:r><w:delText>GONE</w:delText><w:t>GONE</w:t></w:r></w:del>"
        f"<w:hyperlink>{run.format('linked')}</w:hyperlink><w:r><w:tab/><w:t>tab</w:t></w:r></w:p>"
        f"<w:p><w:r><AlternateContent><Choice>{box}</Choice><Fallback>{box}</Fallback>"
        "</AlternateContent></w:r></w:p>"
    )
    assert text_of(body) == "in a control\n\nseen inserted linked\ttab\n\nin a box"


def test_notes_and_comments_follow_the_paragraph_that_refers_to_them() -> None:
    notes = (
        f'<w:footnote w:type="separator" w:id="0">{paragraph("LINE")}</w:footnote>'
        f'<w:footnote w:id="1">{paragraph("a note")}</w:footnote>'
        f'<w:footnote w:id="2">{paragraph("of nobody")}</w:footnote>'
    )
    said = 'w:id="5" w:author="Ann" w:date="2024-05-06T10:00"'
    comments = f"<w:comment {said}>{paragraph('why?')}</w:comment>"
    body = (
        '<w:p><w:r><w:t>text</w:t></w:r><w:r><w:footnoteReference w:id="1"/></w:r>'
        '<w:r><w:commentReference w:id="5"/></w:r></w:p>'
    )
    parts = {"footnotes": notes, "comments": comments}
    assert parse("a.docx", make_docx(body + paragraph("next"), parts)).text == (
        "text[1]\n\n[1] a note\n[Comment by Ann, 2024-05-06 10:00: why?]\n\nnext\n\nof nobody"
    )


def test_notes_of_a_table_follow_the_table() -> None:
    reference = '<w:p><w:r><w:t>10</w:t></w:r><w:r><w:endnoteReference w:id="1"/></w:r></w:p>'
    cells = f"<w:tc>{paragraph('Ann')}</w:tc><w:tc>{reference}</w:tc>"
    notes = f'<w:endnote w:id="1">{paragraph("a note")}</w:endnote>'
    body = f"<w:tbl><w:tr>{cells}</w:tr>{row('Bob', '20')}</w:tbl>"
    assert parse("a.docx", make_docx(body, {"endnotes": notes})).text == (
        "Ann | 10[1]\nBob | 20\n\n[1] a note"
    )


def test_headers_and_footers_come_last_once_and_under_no_heading() -> None:
    parts = {"styles": STYLES, "header": paragraph("Letterhead") * 2, "footer": paragraph("- 7 -")}
    document = parse("a.docx", make_docx(paragraph("A", "H1") + paragraph("text"), parts))
    assert document.text == "A\n\ntext\n\nLetterhead"
    assert document.marks[-1].anchor == Anchor()


def test_the_header_of_a_table_is_the_row_that_says_so_or_looks_so() -> None:
    marked = row("Who", "City").replace("<w:tr>", "<w:tr><w:trPr><w:tblHeader/></w:trPr>")
    plain = row("Name", "Fee") + row("Ann", "10") + row("Bob", "20")
    unsure = row("Ann", "Rome") + row("Bob", "Oslo")
    tables = [f"<w:tbl>{rows}</w:tbl>" for rows in (marked + unsure, plain, unsure)]
    document = parse("a.docx", make_docx(paragraph("between").join(tables)))
    assert [header.text for header in document.table_headers] == ["Who | City", "Name | Fee"]
    first = document.table_headers[0]
    assert document.text[first.start : first.end].strip() == "Ann | Rome\nBob | Oslo"


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE d [<!ENTITY a "aaaa"><!ENTITY x "&a;&a;&a;">]>',
    ],
)
def test_entities_are_refused(declaration: str) -> None:
    content = make_docx(paragraph("x"))
    document = f"{declaration}<document><body><p><r><t>&x;</t></r></p></body></document>"
    with pytest.raises(Unreadable) as caught:
        parse("a.docx", _with_part(content, "word/document.xml", document))
    assert caught.value.hint == "It declares XML entities."


def test_a_broken_part_beside_the_document_does_no_harm() -> None:
    content = make_docx(paragraph("the text"), {"styles": STYLES})
    assert parse("a.docx", _with_part(content, "word/styles.xml", "<no xml")).text == "the text"
    with pytest.raises(Unreadable) as caught:
        parse("a.docx", _with_part(content, "word/document.xml", "<no xml"))
    assert caught.value.reason == "damaged"


def _with_part(content: bytes, name: str, part: str) -> bytes:
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files: dict[str, str | bytes] = {n: archive.read(n) for n in archive.namelist()}
    return make_zip(files | {name: part})


def spanned(text: str, properties: str) -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"


def test_a_merged_cell_says_its_text_wherever_it_reaches() -> None:
    wide, tall, on = '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    rows = (
        f"<w:tr>{spanned('Mill', tall)}{spanned('2031', wide)}</w:tr>"
        f"<w:tr>{spanned('', on)}{spanned('Rye', '')}{spanned('Oats', '')}</w:tr>"
        f"<w:tr>{spanned('Ostby', '')}{spanned('7', '')}{spanned('9', '')}</w:tr>"
    )
    document = parse("a.docx", make_docx(f"<w:tbl>{rows}</w:tbl>"))
    assert document.text == "Mill | 2031 | 2031\nMill | Rye | Oats\nOstby | 7 | 9"
    assert [header.text for header in document.table_headers] == ["Mill | 2031 Rye | 2031 Oats"]
    first, on = '<w:hMerge w:val="restart"/>', "<w:hMerge/>"
    old = f"<w:tr>{spanned('2031', first)}{spanned('', on)}{spanned('2032', '')}</w:tr>"
    assert text_of(f"<w:tbl>{old}</w:tbl>") == "2031 | 2031 | 2032"


def test_ticks_and_choices_of_old_forms_are_written() -> None:
    ticked = '<w:checkBox><w:checked w:val="{}"/></w:checkBox>'
    ticked = f"<w:fldChar><w:ffData>{ticked}</w:ffData></w:fldChar>"
    body = f"<w:p><w:r>{ticked.format(1)}<w:t> boat</w:t>{ticked.format(0)}<w:t> bus</w:t>"
    body += '<w:sym w:font="Wingdings" w:char="F0FE"/><w:t> paid</w:t></w:r></w:p>'
    entries = '<w:listEntry w:val="Oslo"/><w:listEntry w:val="Riga"/>'
    choice = f'<w:ddList><w:result w:val="1"/>{entries}</w:ddList>'
    body += f"<w:p><w:r><w:fldChar><w:ffData>{choice}</w:ffData></w:fldChar></w:r></w:p>"
    assert text_of(body) == "☒ boat☐ bus☒ paid\n\nRiga"


def test_descriptions_of_pictures_are_read_and_pictures_without_one_counted() -> None:
    picture = "<w:r><w:drawing><w:inline><w:docPr {}/><w:pic/></w:inline></w:drawing></w:r>"
    said = "".join(map(picture.format, ('descr="A map  of Mirre"', 'title="Tides"')))
    named = picture.format('descr="C:\\pictures\\logo.png" name="Picture 3"')
    table = f"<w:tbl><w:tr><w:tc><w:p>{named}</w:p></w:tc>{spanned('x', '')}</w:tr></w:tbl>"
    document = parse("a.docx", make_docx(f"<w:p>{said}{named}</w:p>{table}"))
    assert document.text == "[Picture: A map of Mirre][Picture: Tides]\n\n| x"
    assert document.warnings == ("Pictures without a description are not read: 2.",)


def test_a_page_kept_in_a_part_of_its_own_is_read() -> None:
    space = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    content = make_docx(f'<w:altChunk {space} r:id="r0"/>{paragraph("after")}')
    page = "<html><body><p>The valve of the tug Mirre opens at 6.5 bar.</p></body></html>"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    parts["word/_rels/document.xml.rels"] = relations({"page.html": "aFChunk"})
    document = parse("a.docx", make_zip(parts | {"word/page.html": page}))
    assert document.text == "The valve of the tug Mirre opens at 6.5 bar.\n\nafter"
    assert document.warnings == ()
    mime = b"MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n" + page.encode()
    for name, inside in {
        "c.mht": mime,
        "c.docx": make_docx(paragraph("The valve of the tug Mirre opens at 6.5 bar.")),
        "c.rtf": rb"{\rtf1 The valve of the tug Mirre opens at 6.5 bar.}",
        "c.txt": b"The valve of the tug Mirre opens at 6.5 bar.",
    }.items():
        parts["word/_rels/document.xml.rels"] = relations({name: "aFChunk"})
        [part] = parse("a.docx", make_zip(parts | {f"word/{name}": inside})).parts
        assert part.name == name
        assert part.document
        assert part.document.text == "The valve of the tug Mirre opens at 6.5 bar."
    del parts["word/_rels/document.xml.rels"]
    assert parse("a.docx", make_zip(parts)).warnings == ("A document inside this one is not read.",)


def test_descriptions_of_pictures_in_old_drawings_are_read() -> None:
    pictures = '<w:shape alt="Plan of the hall"><w:imagedata w:id="r1"/></w:shape>'
    pictures += '<w:shape><w:imagedata w:title="Map"/></w:shape><w:shape><w:imagedata/></w:shape>'
    document = parse("a.docx", make_docx(f"<w:p><w:r><w:pict>{pictures}</w:pict></w:r></w:p>"))
    assert document.text == "[Picture: Plan of the hall][Picture: Map]"
    assert document.warnings == ("Pictures without a description are not read: 1.",)


def test_numbers_of_cells_and_of_empty_paragraphs_are_counted() -> None:
    form = '<w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/>'
    level = f'<w:lvl w:ilvl="0">{form}</w:lvl>'
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{level}</w:abstractNum>'
        '<w:num w:numId="5"><w:abstractNumId w:val="0"/></w:num>'
    )
    numbered = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="5"/></w:numPr>'
    empty = f"<w:p><w:pPr>{numbered}</w:pPr></w:p>"
    rows = "".join(
        f"<w:tr><w:tc>{empty}</w:tc><w:tc>{paragraph(name)}</w:tc></w:tr>"
        for name in ("Pump", "Valve")
    )
    deleted = f"<w:p><w:pPr>{numbered}<w:rPr><w:del/></w:rPr></w:pPr></w:p>"
    body = f"<w:tbl>{rows}</w:tbl>{empty}{deleted}{paragraph('Spares', properties=numbered)}"
    text = parse("a.docx", make_docx(body, {"numbering": numbering})).text
    assert text == "1. | Pump\n2. | Valve\n\n4. Spares"


def test_levels_may_show_plain_numbers_begin_at_zero_and_restart_seldom() -> None:
    levels = (
        '<w:lvl w:ilvl="0"><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1."/></w:lvl>'
        '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:lvlRestart w:val="0"/><w:isLgl/>'
        '<w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl>'
        '<w:lvl w:ilvl="2"><w:numFmt w:val="none"/><w:lvlText w:val="§%3"/></w:lvl>'
    )
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>'
        '<w:num w:numId="5"><w:abstractNumId w:val="0"/></w:num>'
    )
    body = "".join(
        paragraph(text, properties=f'<w:numPr><w:ilvl w:val="{n}"/><w:numId w:val="5"/></w:numPr>')
        for n, text in ((0, "a"), (1, "b"), (0, "c"), (1, "d"), (2, "e"))
    )
    shown = parse("a.docx", make_docx(body, {"numbering": numbering})).text.split("\n")
    assert [line.strip() for line in shown] == ["0. a", "0.1) b", "I. c", "1.2) d", "§ e"]
