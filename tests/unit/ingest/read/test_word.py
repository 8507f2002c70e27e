import pytest

from desktop_rag.ingest.read.source import Unreadable
from tests.unit.ingest.read.samples import make_docx, make_zip, paragraph, parse

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
 <w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl>
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


def test_footnotes_follow_the_text() -> None:
    notes = (
        f'<w:footnote w:type="separator">{paragraph("LINE")}</w:footnote>'
        f"<w:footnote>{paragraph('a note')}</w:footnote>"
    )
    assert parse("a.docx", make_docx(paragraph("text"), {"footnotes": notes})).text == (
        "text\n\na note"
    )


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
