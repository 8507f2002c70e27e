"""What nobody sees in a document is not read as if it were in force, in each format."""

import io
import struct
import zipfile

import pytest

from tests.unit.ingest.read.markup.test_web_page import text_of as html
from tests.unit.ingest.read.office.test_open_document import make_open
from tests.unit.ingest.read.office.test_slides import make_pptx, shape, slide_xml
from tests.unit.ingest.read.old_office.test_old_slides import (
    OTHER,
    holding,
    listed,
    make_ppt,
    record,
    slide,
    text,
)
from tests.unit.ingest.read.old_office.test_old_slides import shape as old_shape
from tests.unit.ingest.read.old_office.test_rich_text import read as rich_text
from tests.unit.ingest.read.pdf_samples import make_layered
from tests.unit.ingest.read.samples import make_docx, make_xlsx, paragraph, parse


def test_shapes_and_rows_of_word() -> None:
    space = 'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"'

    def drawn(text: str, hidden: str) -> str:
        box = f"<w:txbxContent>{paragraph(text)}</w:txbxContent>"
        named = f'<wp:anchor {space}><wp:docPr hidden="{hidden}"/>{box}</wp:anchor>'
        return f"<w:p><w:r><w:drawing>{named}</w:drawing></w:r></w:p>"

    def row(*cells: str, properties: str = "") -> str:
        inside = "".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in cells)
        return f"<w:tr><w:trPr>{properties}</w:trPr>{inside}</w:tr>"

    style = "position:absolute; visibility: hidden"
    old = f'<w:shape style="{style}"><w:txbxContent>{paragraph("old")}</w:txbxContent></w:shape>'
    body = drawn("secret", "1") + drawn("shown", "0")
    body += f"<w:p><w:r><w:pict>{old}</w:pict></w:r></w:p>"
    rows = row("a", "1") + row("b", "2", properties="<w:hidden/>") + row("c", "3")
    document = parse("a.docx", make_docx(f"{body}<w:tbl>{rows}</w:tbl>"))
    assert document.text == "shown\n\na | 1\nc | 3"


def test_shapes_of_slides() -> None:
    hidden = shape("secret").replace("<p:nvSpPr>", '<p:nvSpPr><p:cNvPr hidden="1"/>')
    group = f'<p:grpSp><p:nvGrpSpPr><p:cNvPr hidden="1"/></p:nvGrpSpPr>{shape("deep")}</p:grpSp>'
    seen = shape("shown").replace("<p:nvSpPr>", '<p:nvSpPr><p:cNvPr hidden="0"/>')
    assert parse("a.pptx", make_pptx(slide_xml(hidden, group, seen))).text == "shown"


def test_shapes_and_rows_of_open_documents() -> None:
    def box(text: str, shown: str) -> str:
        inside = f"<draw:text-box><text:p>{text}</text:p></draw:text-box>"
        return f'<draw:frame draw:display="{shown}">{inside}</draw:frame>'

    def row(*texts: str, said: str = "") -> str:
        cells = (f"<table:table-cell><text:p>{t}</text:p></table:table-cell>" for t in texts)
        return f"<table:table-row {said}>{''.join(cells)}</table:table-row>"

    page = f"<draw:page>{box('secret', 'none')}{box('shown', 'always')}</draw:page>"
    assert parse("a.odp", make_open("presentation", page)).text == "shown"
    rows = row("a", "1") + row("b", "2", said='table:visibility="collapse"')
    body = f"<text:p>x{box('secret', 'none')}</text:p><table:table>{rows}</table:table>"
    assert parse("a.odt", make_open("text", body)).text == "x\n\na | 1"


def test_slides_of_before_2007() -> None:
    hidden = record(0x03F9, struct.pack("<IIBBHI", 0, 0, 0, 0, 0x0004, 0))
    shown = record(0x03F9, struct.pack("<IIBBHI", 0, 0, 0, 0, 0x0001, 0))
    slides = [
        slide(old_shape(text(OTHER, said)), more=info)
        for said, info in (("a", hidden), ("b", shown))
    ]
    content = make_ppt(slides, [holding(0x0FF0, listed(2, 256), listed(3, 257))])
    assert parse("a.ppt", content).text == "[Hidden slide]\n\na\n\nb"


def test_shapes_of_rich_text() -> None:
    def box(text: str, properties: str) -> str:
        return rf"{{\shp{{\*\shpinst{properties}{{\shptxt \pard {text}\par}}}}}}"

    hidden = box("secret", r"{\sp{\sn fHidden}{\sv 1}}")
    seen = box("shown", r"{\sp{\sn fHidden}{\sv 0}}")
    assert (
        rich_text(rf"before {hidden}{seen}\par after {{\v secret}}\par").text
        == "before\n\nshown\n\nafter"
    )


def test_pages_show_what_a_press_unfolds() -> None:
    folded = "<details><summary>More</summary>Terms of 2031.</details>"
    hidden = (
        '<p hidden>secret</p><p style="visibility: hidden">secret</p><p aria-hidden="true">seen</p>'
    )
    assert html(f"<p>shown</p>{hidden}{folded}") == "shown\n\nseen\n\nMore\nTerms of 2031."


@pytest.mark.parametrize("is_packed", [False, True])
def test_layers_of_a_pdf_that_are_switched_off(is_packed: bool) -> None:
    document = parse("a.pdf", make_layered(is_packed=is_packed))
    assert " ".join(document.text.split()) == "Offer. Net price 740. Kept. Thanks. New 760."


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_sheets(state: str) -> None:
    number = '<row r="1"><c r="A1"><v>1</v></c></row>'
    content, changed = make_xlsx({"Shown": number, "Old": number}), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(changed, "w") as after:
        for item in before.namelist():
            named = f'name="Old" state="{state}"'.encode()
            after.writestr(item, before.read(item).replace(b'name="Old"', named))
    document = parse("a.xlsx", changed.getvalue())
    assert document.text == "Shown\n1"
    assert document.warnings == ("The hidden sheet Old is not read.",)
