import pytest

from desktop_rag.core.parsed import Anchor, ParsedDocument
from desktop_rag.ingest.read.foundation.source_file import Unreadable
from tests.unit.ingest.read.samples import make_zip, parse, relations, text_at

A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
C = 'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'


def lines(*texts: str, level: int = 0) -> str:
    return "".join(
        f'<a:p><a:pPr lvl="{level}"/><a:r><a:t>{text}</a:t></a:r></a:p>' for text in texts
    )


def shape(*texts: str, kind: str = "", body: str = "") -> str:
    place = f'<p:ph type="{kind}"/>' if kind else ""
    name = f"<p:nvSpPr><p:nvPr>{place}</p:nvPr></p:nvSpPr>"
    return f"<p:sp>{name}<p:txBody>{body or lines(*texts)}</p:txBody></p:sp>"


def slide_xml(*shapes: str) -> str:
    tree = f"<p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld>"
    return f"<p:sld {A} {P} {R} {C}>{tree}</p:sld>"


def make_pptx(
    *slides: str, parts: dict[str, str] | None = None, related: dict[str, str] | None = None
) -> bytes:
    """A presentation; `related` is what the first slide is related to: target → kind."""
    count = len(slides)
    # The parts are named against the order of the slides.
    names = [f"slides/slide{count - n}.xml" for n in range(count)]
    listed = "".join(f'<p:sldId id="{256 + n}" r:id="r{n}"/>' for n in range(count))
    presentation = f"<p:presentation {P} {R}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>"
    return make_zip(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations({"ppt/presentation.xml": "officeDocument"}),
            "ppt/presentation.xml": presentation,
            "ppt/_rels/presentation.xml.rels": relations(dict.fromkeys(names, "slide")),
            f"ppt/slides/_rels/slide{count}.xml.rels": relations(related or {}),
            **{f"ppt/{name}": xml for name, xml in zip(names, slides, strict=True)},
            **(parts or {}),
        }
    )


def read(*shapes: str) -> ParsedDocument:
    return parse("a.pptx", make_pptx(slide_xml(*shapes)))


def test_slides_come_in_the_order_of_the_presentation_each_at_its_place() -> None:
    first = slide_xml(shape("below"), shape("First", kind="title"))
    document = parse("a.pptx", make_pptx(first, slide_xml(), slide_xml(shape("third"))))
    assert document.text == "First\n\nbelow\n\nthird"
    assert [mark.anchor for mark in document.marks] == [Anchor(slide=1), Anchor(slide=3)]
    assert text_at(document, 1) == "third"
    assert [(h.level, h.title, h.offset) for h in document.headings] == [(1, "First", 0)]


def test_the_title_is_that_of_a_title_slide() -> None:
    assert read(shape("Our plan", kind="ctrTitle"), shape("x")).title == "Our plan"


def test_groups_and_alternatives_are_read_once() -> None:
    group = f"<p:grpSp><p:grpSp>{shape('deep')}</p:grpSp></p:grpSp>"
    choice = f"<Choice>{shape('new')}</Choice><Fallback>{shape('old')}</Fallback>"
    assert read(group, f"<AlternateContent>{choice}</AlternateContent>").text == "deep\n\nnew"


def test_levels_numbers_and_line_breaks_are_kept() -> None:
    numbered = (
        '<a:p><a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr><a:r><a:t>{}</a:t></a:r></a:p>'
    )
    body = lines("top") + lines("deeper", level=1) + numbered.format("one") + numbered.format("two")
    body += "<a:p><a:r><a:t>a</a:t></a:r><a:br/><a:r><a:t>b</a:t></a:r></a:p>"
    assert read(shape(body=body)).text == "top\n  deeper\n1. one\n2. two\na\nb"


@pytest.mark.parametrize(
    ("kind", "label"),
    [("alphaLcParenR", "b)"), ("romanUcPeriod", "II."), ("arabicParenBoth", "(2)")],
)
def test_lists_have_the_labels_of_their_kind(kind: str, label: str) -> None:
    item = f'<a:p><a:pPr><a:buAutoNum type="{kind}"/></a:pPr><a:r><a:t>rope</a:t></a:r></a:p>'
    assert read(shape(body=2 * item)).text.endswith(f"\n{label} rope")


def test_the_number_of_a_slide_is_left_out_and_a_footer_written_once() -> None:
    slide = slide_xml(shape("text"), shape("7", kind="sldNum"), shape("Company", kind="ftr"))
    assert parse("a.pptx", make_pptx(slide, slide)).text == "text\n\nCompany\n\ntext"


def test_a_merged_cell_says_its_text_in_each_row_and_column() -> None:
    def row(*cells: str) -> str:
        return f"<a:tr>{''.join(cells)}</a:tr>"

    def cell(text: str, merged: str = "") -> str:
        return f"<a:tc {merged}><a:txBody>{lines(text)}</a:txBody></a:tc>"

    rows = row(cell("Year"), cell("Fees"), cell("", 'hMerge="1"'))
    rows += row(cell("2024"), cell("a"), cell("b"))
    rows += row(cell("", 'vMerge="1"'), cell("c"), cell(""))
    frame = f"<p:graphicFrame><a:graphic><a:tbl>{rows}</a:tbl></a:graphic></p:graphicFrame>"
    assert read(frame).text == "Year | Fees | Fees\n2024 | a | b\n2024 | c |"


def test_notes_and_comments_stand_below_their_slide() -> None:
    notes = slide_xml(shape("1", kind="sldNum"), shape("say this", kind="body"))
    comment = '<p:cm authorId="3" dt="2024-05-06T10:00"><p:text>why?</p:text></p:cm>'
    comments = f"<p:cmLst {P}>{comment}</p:cmLst>"
    content = make_pptx(
        slide_xml(shape("text")),
        slide_xml(shape("next")),
        parts={"ppt/notes/n.xml": notes, "ppt/comments/c.xml": comments},
        related={"../notes/n.xml": "notesSlide", "../comments/c.xml": "comments"},
    )
    assert parse("a.pptx", content).text == (
        "text\n\nNotes:\nsay this\n\nComment, 2024-05-06 10:00: why?\n\nnext"
    )


def test_charts_and_diagrams_are_read_from_their_parts() -> None:
    def points(name: str, *values: str) -> str:
        texts = [f'<c:pt idx="{n}"><c:v>{value}</c:v></c:pt>' for n, value in enumerate(values)]
        return f"<c:{name}>{''.join(texts)}</c:{name}>"

    series = points("tx", "Sales") + points("cat", "May", "June") + points("val", "1", "2.50000001")
    chart = f"<c:x {A} {C}><c:title>{lines('Fees')}</c:title><c:ser>{series}</c:ser></c:x>"
    frame = '<p:graphicFrame><c:chart r:id="r0"/></p:graphicFrame>'
    diagram = '<p:graphicFrame><relIds r:dm="r1"/></p:graphicFrame>'
    content = make_pptx(
        slide_xml(frame, diagram),
        parts={"ppt/c.xml": chart, "ppt/d.xml": f"<d {A}><t>{lines('step')}</t></d>"},
        related={"../c.xml": "chart", "../d.xml": "diagramData"},
    )
    assert parse("a.pptx", content).text == "Fees\n| Sales\nMay | 1\nJune | 2.5\n\nstep"


def test_a_slide_that_is_broken_does_not_stop_the_rest() -> None:
    document = parse("a.pptx", make_pptx("<no xml", slide_xml(shape("text"))))
    assert (document.text, document.warnings) == ("text", ("Slide 1 can't be read.",))
    assert document.marks[0].anchor == Anchor(slide=2)


def test_entities_and_foreign_parts_are_refused() -> None:
    outside = f'<!DOCTYPE p [<!ENTITY x SYSTEM "file:///etc/hostname">]>{slide_xml(shape("&x;"))}'
    with pytest.raises(Unreadable) as caught:
        parse("a.pptx", make_pptx(outside))
    assert caught.value.hint == "It declares XML entities."


def test_descriptions_of_pictures_are_read_and_pictures_without_one_counted() -> None:
    picture = "<p:pic><p:nvPicPr><p:cNvPr {}/></p:nvPicPr></p:pic>"
    document = read(picture.format('descr="A map of Mirre"'), picture.format('descr="logo.jpeg"'))
    assert document.text == "[Picture: A map of Mirre]"
    assert document.warnings == ("Pictures without a description are not read: 1.",)


def test_a_hidden_slide_says_so() -> None:
    hidden = slide_xml(shape("2031", kind="title")).replace("<p:sld ", '<p:sld show="0" ')
    assert parse("a.pptx", make_pptx(hidden)).text == "2031\n\n[Hidden slide]"


def test_slides_without_text_have_none() -> None:
    with pytest.raises(Unreadable) as caught:
        parse("a.pptx", make_pptx(slide_xml(shape("", kind="title"))))
    assert caught.value.reason == "no text"


def test_a_table_has_the_header_that_it_says_or_that_looks_so() -> None:
    def frame(*rows: str, properties: str = "") -> str:
        written = "".join(
            "<a:tr>" + "".join(f"<a:tc><a:txBody>{lines(c)}</a:txBody></a:tc>" for c in row.split())
            + "</a:tr>"
            for row in rows
        )  # fmt: skip
        table = f"<a:tbl><a:tblPr {properties}/>{written}</a:tbl>"
        return f"<p:graphicFrame><a:graphic>{table}</a:graphic></p:graphicFrame>"

    document = read(shape("x"), frame("Depot Staff", "North 12", "South 9"), shape("y"))
    assert document.text == "x\n\nDepot | Staff\nNorth | 12\nSouth | 9\n\ny"
    [header] = document.table_headers
    assert (header.text, document.text[header.start : header.end]) == (
        "Depot | Staff",
        "\nNorth | 12\nSouth | 9",
    )
    words = ("Ann Bo", "Cy Di", "Eve Flo")
    assert read(frame(*words, properties='firstRow="1"')).table_headers[0].text == "Ann | Bo"
    assert not read(frame(*words)).table_headers
