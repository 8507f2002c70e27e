"""Addresses behind links, in every format that has them."""

import io
import zipfile

import pypdf
import pytest
from pypdf.annotations import Link

from desktop_rag.ingest.read.foundation.addresses import behind, without_addresses
from tests.unit.ingest.read.office.test_open_document import make_open
from tests.unit.ingest.read.office.test_slides import make_pptx, slide_xml
from tests.unit.ingest.read.old_office.test_old_word import Para, make_doc
from tests.unit.ingest.read.pdf_samples import changed, make_placed
from tests.unit.ingest.read.samples import cell, make_docx, make_xlsx, make_zip, parse

MANUAL = "https://pumps.example/manual/77"
BEHIND = f" ({MANUAL})"
_RELATION = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="far" Target="https://pumps.example/manual/77" TargetMode="External" Type='
    '"http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink"/>'
    "</Relationships>"
)
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'


def added(archive: bytes, parts: dict[str, str]) -> bytes:
    """The archive with further parts, or others in their stead."""
    with zipfile.ZipFile(io.BytesIO(archive)) as old:
        return make_zip({name: old.read(name) for name in old.namelist()} | parts)


@pytest.mark.parametrize(
    ("words", "target", "shown"),
    [
        ("the manual", MANUAL, BEHIND),
        ("write", "mailto:help@pumps.example?subject=Pump", " (mailto:help@pumps.example)"),
        ("call", "tel:+4930123456", " (tel:+4930123456)"),
        # The words are the address already.
        ("pumps.example/manual/77", MANUAL, ""),
        ("Pumps.example", "http://www.pumps.example/", ""),
        ("help@pumps.example", "mailto:help@pumps.example", ""),
        # Nothing that leads out of the file.
        ("chapter 2", "#chapter-2", ""),
        ("chapter 2", "chapter2.html", ""),
        ("run", "javascript:alert(1)", ""),
        ("a file", "file:///etc/passwd", ""),
        ("", MANUAL, ""),
        # What lies on a server, and what is of the same kind as the page.
        ("plan", "file://nas/plans/Mill 7.pdf", " (file://nas/plans/Mill%207.pdf)"),
        ("plan", r"\\nas\plans\7.pdf", " (file://nas/plans/7.pdf)"),
        ("the manual", MANUAL.removeprefix("https:"), BEHIND),
        ("news", f"https://n.example/{'x' * 170}", f" (https://n.example/{'x' * 170})"),
        # Who clicked says nothing about where it leads.
        ("news", f"https://n.example/a?u={'x' * 200}", " (https://n.example/a)"),
        ("news", f"https://n.example/{'x' * 200}", ""),
    ],
)
def test_an_address_stands_behind_words_that_are_others(
    words: str, target: str, shown: str
) -> None:
    assert behind(words, target) == shown


def test_what_was_put_behind_words_can_be_taken_away() -> None:
    said = f"See the manual{BEHIND} and call (tel:+4930) him (today)."
    assert without_addresses(said) == "See the manual and call him (today)."


def page(body: str) -> str:
    return parse("a.html", f"<body>{body}</body>".encode()).text


def test_a_page_keeps_the_addresses_of_links_in_its_text() -> None:
    link = f'<a href="{MANUAL}">this <b>page</b></a>'
    assert page(f"<p>See {link}, or ask.</p>") == f"See this page{BEHIND}, or ask."
    table = f"<table><tr><th>Pump</th><th>Text</th></tr><tr><td>Hesper</td><td>{link}</td></table>"
    assert f"Hesper | this page{BEHIND}" in page(table)
    document = parse("a.html", f"<h1>{link}</h1><p>words".encode())
    assert document.headings[0].title == "this page"
    assert document.text.startswith(f"# this page{BEHIND}\n")


@pytest.mark.parametrize(
    "head",
    [
        '<base href="https://pumps.example/manual/">',
        '<link rel="canonical" href="https://pumps.example/manual/index.html">',
    ],
)
def test_a_page_that_tells_its_own_address_has_those_of_its_neighbours(head: str) -> None:
    body = '<p>See <a href="77">this page</a> or <a href="#top">the top</a>.'
    content = f"<html><head>{head}</head><body>{body}</body></html>"
    assert parse("a.html", content.encode()).text == f"See this page{BEHIND} or the top."


def test_menus_do_not_fill_a_page_with_addresses() -> None:
    def link(number: int) -> str:
        return f'<a href="https://menu.example/{number}">Part {number}</a>'

    items = "".join(f"<li>{link(number)}</li>" for number in range(30))
    shown = page(f"<ul>{items}</ul><p>{link(40)} is for pumps.</p><ul>{items}</ul>")
    assert shown.count("https://") == 11
    assert "Part 40 (https://menu.example/40) is for pumps." in shown
    around = page(f"<header>{link(1)}</header><p>words</p><div role='navigation'>{link(2)}</div>")
    assert "https://" not in around
    marks = "".join(f'<dt><a add_date="1" href="https://b.example/{n}">B</a>' for n in range(30))
    assert page(f"<dl>{marks}</dl>").count("https://") == 30


@pytest.mark.parametrize(
    "body",
    [
        '<w:hyperlink r:id="far"><w:r><w:t>this page</w:t></w:r></w:hyperlink>',
        (
            '<w:fldSimple w:instr=" HYPERLINK &quot;https://pumps.example/manual/77&quot; ">'
            "<w:r><w:t>this page</w:t></w:r></w:fldSimple>"
        ),
        (
            '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "https:'
            '</w:instrText></w:r><w:r><w:instrText>//pumps.example/manual/77" \\o "t"</w:instrText>'
            "</w:r>"
            '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>this </w:t></w:r><w:r><w:t>'
            'page</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
        ),
    ],
)
def test_word(body: str) -> None:
    text = f'<w:p {_R}><w:r><w:t xml:space="preserve">See </w:t></w:r>{body}'
    end = '<w:r><w:t xml:space="preserve"> now.</w:t></w:r></w:p>'
    content = added(make_docx(text + end), {"word/_rels/document.xml.rels": _RELATION})
    assert parse("a.docx", content).text == f"See this page{BEHIND} now."


def test_other_fields_of_word_have_no_address() -> None:
    field = '<w:p><w:fldSimple w:instr=" PAGE "><w:r><w:t>7</w:t></w:r></w:fldSimple></w:p>'
    assert parse("a.docx", make_docx(field)).text == "7"


def test_slides() -> None:
    link = '<a:hlinkClick r:id="far"/>'
    runs = f"<a:r><a:rPr>{link}</a:rPr><a:t>this </a:t></a:r>"
    runs += f"<a:r><a:rPr>{link}</a:rPr><a:t>page</a:t></a:r><a:r><a:t> now</a:t></a:r>"
    text = f"<p:sp><p:txBody><a:p>{runs}</a:p></p:txBody></p:sp>"
    button = f'<p:sp><p:nvSpPr><p:cNvPr id="4" name="x">{link}</p:cNvPr></p:nvSpPr>'
    button += "<p:txBody><a:p><a:r><a:t>Press</a:t></a:r></a:p></p:txBody></p:sp>"
    content = added(
        make_pptx(slide_xml(text, button)), {"ppt/slides/_rels/slide1.xml.rels": _RELATION}
    )
    assert parse("a.pptx", content).text == f"this page{BEHIND} now\n\nPress{BEHIND}"


def test_sheets_by_cell_and_by_formula() -> None:
    rows = f'<row r="2">{cell("B2", "Hesper")}{cell("C2", "open")}</row>'
    formula = '<f>HYPERLINK("https://pumps.example/manual/77","Orsk")</f>'
    rows += f'<row r="3">{cell("B3", "see")}<c r="C3" t="str">{formula}<v>Orsk</v></c></row>'
    links = f'<hyperlinks {_R}><hyperlink ref="C2" r:id="far"/></hyperlinks></worksheet>'
    archive = make_xlsx({"S": rows})
    with zipfile.ZipFile(io.BytesIO(archive)) as old:
        sheet = old.read("xl/worksheets/sheet1.xml").decode().replace("</worksheet>", links)
    parts = {"xl/worksheets/sheet1.xml": sheet, "xl/worksheets/_rels/sheet1.xml.rels": _RELATION}
    text = parse("a.xlsx", added(archive, parts)).text
    assert text == f"S\nHesper | open{BEHIND}\nsee | Orsk{BEHIND}"


def test_open_documents() -> None:
    link = f'<text:a xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="{MANUAL}">'
    body = f"<text:p>See {link}this page</text:a> now.</text:p>"
    assert parse("a.odt", make_open("text", body)).text == f"See this page{BEHIND} now."


def test_rich_text() -> None:
    field = rf'{{\field{{\*\fldinst{{HYPERLINK "{MANUAL}"}}}}{{\fldrslt{{\ul this page}}}}}}'
    content = rf"{{\rtf1 See {field} now, page {{\field{{\fldinst PAGE}}{{\fldrslt 3}}}}.\par}}"
    assert parse("a.rtf", content.encode()).text == f"See this page{BEHIND} now, page 3."


def test_old_word() -> None:
    field = f'\x13 HYPERLINK "{MANUAL}" \x14this page\x15'
    document = parse("a.doc", make_doc([Para(f"See {field} now, page \x13 PAGE \x143\x15.\r")]))
    assert document.text == f"See this page{BEHIND} now, page 3."


def linked(content: bytes, *rects: tuple[float, float, float, float]) -> bytes:
    def link(writer: pypdf.PdfWriter) -> None:
        for rect in rects:
            writer.add_annotation(0, Link(rect=rect, url=MANUAL))

    return changed(content, link)


def test_pages_of_a_pdf() -> None:
    content = make_placed([(50, 700, "The manual of the Hesper pump is here, and not here.")])
    # Around the first "here", which the second is no link for.
    assert parse("a.pdf", linked(content, (205, 695, 227, 712))).text == (
        f"The manual of the Hesper pump is here{BEHIND}, and not here."
    )


def test_a_link_over_two_lines_of_a_pdf_has_its_address_once() -> None:
    content = make_placed([(50, 700, "Read the manual"), (50, 686, "of the pump first.")])
    lines = linked(content, (75, 697, 150, 710), (50, 683, 100, 696))
    text = parse("a.pdf", lines).text
    assert text == f"Read the manual\nof the pump{BEHIND} first."


def test_a_link_in_a_book() -> None:
    package = '<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
    package += '</manifest><spine><itemref idref="a"/></spine></package>'
    container = '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>'
    chapter = f'<p>See <a href="{MANUAL}">this page</a> and <a href="b.xhtml#2">below</a>.</p>'
    files = {"META-INF/container.xml": container, "b.opf": package, "a.xhtml": chapter}
    assert parse("a.epub", make_zip(files)).text == f"See this page{BEHIND} and below."
