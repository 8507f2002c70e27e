import pytest

from desktop_rag.core.parsed import Anchor, ParsedDocument
from desktop_rag.ingest.read.foundation.source_file import Unreadable
from tests.unit.ingest.read.samples import make_zip, parse

_URN = "urn:oasis:names:tc:opendocument:xmlns"
SPACES = " ".join(
    f'xmlns:{name}="{_URN}:{urn}:1.0"'
    for name, urn in {
        "office": "office",
        "text": "text",
        "table": "table",
        "draw": "drawing",
        "style": "style",
        "presentation": "presentation",
    }.items()
)
DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
STYLES = (
    '<style:style style:name="Mine" style:parent-style-name="Title"/>'
    '<text:list-style style:name="L1">'
    '<text:list-level-style-number text:level="1" style:num-format="1"/>'
    '<text:list-level-style-bullet text:level="2"/></text:list-style>'
)


def make_open(kind: str, body: str, styles: str = "", more: dict[str, str] | None = None) -> bytes:
    content = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    wrapped = f"<office:document-content {SPACES} {DC}>{STYLES}{content}</office:document-content>"
    return make_zip(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": wrapped,
            "styles.xml": f"<office:document-styles {SPACES}>{styles}</office:document-styles>",
            **(more or {}),
        }
    )


def read(body: str, styles: str = "") -> ParsedDocument:
    return parse("a.odt", make_open("text", body, styles))


def paragraphs(*texts: str) -> str:
    return "".join(f"<text:p>{text}</text:p>" for text in texts)


def test_headings_by_level_stand_under_the_title() -> None:
    body = (
        '<text:p text:style-name="Mine">Plan</text:p><text:h text:outline-level="1">Fees</text:h>'
    )
    body += '<text:section><text:h text:outline-level="2">Members</text:h></text:section>'
    document = read(body + paragraphs("text"))
    assert document.title == "Plan"
    assert [(h.level, h.title) for h in document.headings] == [
        (1, "Plan"),
        (2, "Fees"),
        (3, "Members"),
    ]
    assert document.marks[-1].anchor.heading == "Plan › Fees › Members"


def test_white_space_is_what_the_elements_say() -> None:
    body = paragraphs(
        'a<text:s text:c="3"/>b<text:tab/>c<text:line-break/><text:span>d</text:span>'
    )
    assert read(body).text == "a   b\tc\nd"


def test_lists_have_their_numbers_and_depth() -> None:
    def item(*blocks: str) -> str:
        return f"<text:list-item>{''.join(blocks)}</text:list-item>"

    deeper = f"<text:list>{item(paragraphs('dot'))}</text:list>"
    items = item(paragraphs("one", "more of it"), deeper) + item(paragraphs("two"))
    text = read(f'<text:list text:style-name="L1">{items}</text:list>').text
    assert text == "1. one\n  more of it\n  - dot\n2. two"


def test_lists_have_the_labels_of_their_kind() -> None:
    level = '<text:list-level-style-number text:level="1" style:num-format="a"'
    style = f'<text:list-style style:name="L2">{level} style:num-suffix=")"/></text:list-style>'
    items = f"<text:list-item>{paragraphs('rope')}</text:list-item>" * 2
    document = read(f'<text:list text:style-name="L2">{items}</text:list>', style)
    assert document.text == "a) rope\nb) rope"


def test_tables_are_rows_and_their_marked_header_is_known() -> None:
    def row(*cells: str) -> str:
        found = "".join(
            f"<table:table-cell>{paragraphs(cell)}</table:table-cell>" for cell in cells
        )
        return f"<table:table-row>{found}</table:table-row>"

    rows = f"<table:table-header-rows>{row('Who', 'City')}</table:table-header-rows>"
    document = read(f"<table:table>{rows}{row('Ann', 'Rome')}</table:table>{paragraphs('after')}")
    assert document.text == "Who | City\nAnn | Rome\n\nafter"
    header = document.table_headers[0]
    assert header.text == "Who | City"
    assert document.text[header.start : header.end].strip() == "Ann | Rome"


def test_a_merged_cell_says_its_text_wherever_it_reaches() -> None:
    def cell(text: str, columns: int = 1, rows: int = 1) -> str:
        spans = f'table:number-columns-spanned="{columns}" table:number-rows-spanned="{rows}"'
        return f"<table:table-cell {spans}>{paragraphs(text)}</table:table-cell>"

    covered = "<table:covered-table-cell/>"
    rows = (
        cell("Mills of the fjord", 3) + covered * 2,
        cell("Mill", 1, 2) + cell("2031", 2) + covered,
        covered + cell("Rye") + cell("Oats"),
        cell("Vik") + cell("8") + cell("9"),
    )
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    document = read(f"<table:table>{table}</table:table>")
    assert document.text == (
        "Mills of the fjord |  |\nMill | 2031 | 2031\nMill | Rye | Oats\nVik | 8 | 9"
    )
    assert [header.text for header in document.table_headers] == ["Mill | 2031 Rye | 2031 Oats"]


def test_cells_repeated_a_million_times_stay_few() -> None:
    repeated = 'table:number-columns-repeated="1000000"'
    cell = f"<table:table-cell {repeated}>{paragraphs('x')}</table:table-cell>"
    row = f'<table:table-row table:number-rows-repeated="1000000">{cell}</table:table-row>'
    assert len(read(f"<table:table>{row}</table:table>").text) < 20_000


def test_notes_and_comments_follow_their_paragraph() -> None:
    note = (
        "<text:note><text:note-citation>1</text:note-citation>"
        f"<text:note-body>{paragraphs('a note')}</text:note-body></text:note>"
    )
    comment = (
        f"<office:annotation><dc:creator>Ann</dc:creator>{paragraphs('why?')}</office:annotation>"
    )
    assert read(paragraphs(f"text{note} goes on{comment}", "next")).text == (
        "text[1] goes on\n\n[1] a note\n[Comment by Ann: why?]\n\nnext"
    )


def test_text_boxes_are_read_and_deleted_text_is_not() -> None:
    box = f"<draw:frame><draw:text-box>{paragraphs('in a box')}</draw:text-box></draw:frame>"
    deleted = f"<text:tracked-changes>{paragraphs('GONE')}</text:tracked-changes>"
    assert read(deleted + paragraphs(f"text{box}")).text == "text\n\nin a box"


def test_headers_and_footers_come_last_and_once() -> None:
    margin = f"<style:header>{paragraphs('Letterhead')}</style:header>"
    pages = f"<style:master-page>{margin}</style:master-page>" * 2
    document = read('<text:h text:outline-level="1">A</text:h>' + paragraphs("text"), pages)
    assert document.text == "A\n\ntext\n\nLetterhead"
    assert document.marks[-1].anchor == Anchor()


def test_slides_have_their_places_notes_and_tables() -> None:
    def frame(kind: str, *texts: str) -> str:
        box = f"<draw:text-box>{paragraphs(*texts)}</draw:text-box>"
        return f'<draw:frame presentation:class="{kind}">{box}</draw:frame>'

    cell = f"<table:table-cell>{paragraphs('x')}</table:table-cell>"
    table = f"<table:table><table:table-row>{cell * 2}</table:table-row></table:table>"
    notes = f"<presentation:notes>{frame('notes', 'say this')}</presentation:notes>"
    first = frame("outline", "body") + frame("title", "First") + notes
    second = f"<draw:g><draw:frame>{table}</draw:frame></draw:g>"
    pages = f"<draw:page>{first}</draw:page><draw:page>{second}</draw:page>"
    document = parse("a.odp", make_open("presentation", pages))
    assert document.text == "First\n\nbody\n\nNotes:\nsay this\n\nx | x"
    assert [mark.anchor for mark in document.marks] == [Anchor(slide=1), Anchor(slide=2)]
    assert document.headings[0].title == "First"


@pytest.mark.parametrize(("kind", "around"), [("text", "text:p"), ("presentation", "draw:page")])
def test_descriptions_of_pictures_are_read_and_pictures_without_one_counted(
    kind: str, around: str
) -> None:
    frame = "<draw:frame><draw:image/>{}</draw:frame>"
    body = frame.format('<svg:desc xmlns:svg="svg">A map of Mirre</svg:desc>') + frame.format("")
    document = parse(f"a.od{kind[0]}", make_open(kind, f"<{around}>{body}</{around}>"))
    assert document.text == "[Picture: A map of Mirre]"
    assert document.warnings == ("Pictures without a description are not read: 1.",)


def test_a_hidden_slide_says_so() -> None:
    properties = '<style:drawing-page-properties presentation:visibility="hidden"/>'
    style = f'<style:style style:name="dp1">{properties}</style:style>'
    shape = f"<draw:frame><draw:text-box>{paragraphs('2031')}</draw:text-box></draw:frame>"
    page = f'<draw:page draw:style-name="dp1">{shape}</draw:page>'
    document = parse("a.odp", make_open("presentation", page, style))
    assert document.text == "[Hidden slide]\n\n2031"


@pytest.mark.parametrize("kind", ["text", "presentation"])
def test_encrypted_documents_are_named_so(kind: str) -> None:
    manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
    content = make_open(
        kind, "", more={"META-INF/manifest.xml": manifest, "content.xml": "\x8f\x01"}
    )
    with pytest.raises(Unreadable) as caught:
        parse("a.odt", content)
    assert (caught.value.reason, caught.value.title) == (
        "encrypted",
        "Encrypted in a way that cannot be opened here",
    )


def test_entities_are_refused_and_what_is_broken_is_damaged() -> None:
    entity = '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/hostname">]><a>&x;</a>'
    for content, hint in (
        (entity, "It declares XML entities."),
        ("<a", "Its content can't be read."),
    ):
        with pytest.raises(Unreadable) as caught:
            parse("a.odt", make_open("text", "", more={"content.xml": content}))
        assert (caught.value.reason, caught.value.hint) == ("damaged", hint)


OUTLINE = (
    '<text:outline-style><text:outline-level-style text:level="1" style:num-format="I"'
    ' style:num-suffix="."/><text:outline-level-style text:level="2" style:num-format="1"'
    ' text:display-levels="2" text:start-value="3"/><text:outline-level-style text:level="3"'
    ' style:num-format=""/></text:outline-style>'
)


def test_headings_have_the_numbers_of_the_outline() -> None:
    def heading(level: int, text: str, said: str = "") -> str:
        return f'<text:h text:outline-level="{level}" {said}>{text}</text:h>'

    body = heading(1, "Scope") + heading(2, "Terms") + heading(2, "Fees") + heading(3, "Late")
    body += heading(1, "Preface", 'text:is-list-header="true"') + heading(1, "Goods")
    body += heading(2, "Delivery") + heading(2, "New", 'text:restart-numbering="true"')
    assert [h.title for h in read(body, OUTLINE).headings] == [
        "I. Scope", "I.3 Terms", "I.4 Fees", "Late", "Preface", "II. Goods", "II.3 Delivery",
        "II.3 New",
    ]  # fmt: skip
    assert [h.title for h in read(body).headings][:2] == ["Scope", "Terms"]


def test_items_have_the_numbers_of_the_levels_above_where_they_show_them() -> None:
    styles = (
        '<text:list-style style:name="N"><text:list-level-style-number text:level="1"'
        ' style:num-format="1" style:num-suffix="." text:start-value="4"/>'
        '<text:list-level-style-number text:level="2" style:num-format="a"'
        ' text:display-levels="2"/></text:list-style>'
    )
    inner = f"<text:list><text:list-item>{paragraphs('deep')}</text:list-item></text:list>"
    body = f'<text:list text:style-name="N"><text:list-item>{paragraphs("a")}</text:list-item>'
    body += f"<text:list-item>{paragraphs('b')}{inner}</text:list-item></text:list>"
    assert read(body, styles).text == "4. a\n5. b\n  5.a. deep"


def test_the_table_of_a_slide_has_its_header() -> None:
    def row(*texts: str) -> str:
        cells = (f"<table:table-cell>{paragraphs(t)}</table:table-cell>" for t in texts)
        return f"<table:table-row>{''.join(cells)}</table:table-row>"

    rows = row("Depot", "Staff") + row("North", "12") + row("South", "9")
    frame = f"<draw:frame><table:table>{rows}</table:table></draw:frame>"
    document = parse("a.odp", make_open("presentation", f"<draw:page>{frame}</draw:page>"))
    assert document.text == "Depot | Staff\nNorth | 12\nSouth | 9"
    assert [h.text for h in document.table_headers] == ["Depot | Staff"]


def test_fields_of_forms_show_what_was_filled_in() -> None:
    fields = (
        '<form:checkbox form:id="a" form:label="Paid" form:current-state="checked"/>'
        '<form:text form:id="b" form:current-value="Gate 9"/><form:listbox form:id="c">'
        '<form:option form:label="North"/><form:option form:label="South"'
        ' form:current-selected="true"/></form:listbox>'
    )
    space = 'xmlns:form="urn:oasis:names:tc:opendocument:xmlns:form:1.0"'
    shown = " ".join(f'<draw:control draw:control="{name}"/>' for name in "abc")
    body = f"<office:forms {space}><form:form>{fields}</form:form></office:forms>"
    assert read(f"{body}<text:p>{shown}</text:p>").text == "☒ Paid Gate 9 South"


def test_a_merged_cell_of_a_slide_says_its_text_wherever_it_reaches() -> None:
    rows = (
        f"<table:table-row><table:table-cell>{paragraphs('Plant')}</table:table-cell>"
        f'<table:table-cell table:number-columns-spanned="2">{paragraphs("Output")}'
        "</table:table-cell><table:covered-table-cell/></table:table-row><table:table-row>"
        f"<table:table-cell/><table:table-cell>{paragraphs('2021')}</table:table-cell>"
        f"<table:table-cell>{paragraphs('2022')}</table:table-cell></table:table-row>"
    )
    frame = f"<draw:frame><table:table>{rows}</table:table></draw:frame>"
    content = make_open("presentation", f"<draw:page>{frame}</draw:page>")
    assert parse("a.odp", content).text == "Plant | Output | Output\n| 2021 | 2022"


def test_items_on_slides_and_in_cells_keep_their_numbers() -> None:
    style = (
        '<text:list-style style:name="L"><text:list-level-style-number text:level="1" '
        'style:num-format="1" style:num-suffix="."/></text:list-style>'
    )
    item = "<text:list-item><text:p>{}</text:p></text:list-item>"
    items = f'<text:list text:style-name="L">{item.format("feed")}{item.format("wait")}</text:list>'
    cells = ("<text:p>Teal</text:p>", items)
    row = "".join(f"<table:table-cell>{cell}</table:table-cell>" for cell in cells)
    table = f"<table:table><table:table-row>{row}</table:table-row></table:table>"
    slide = (
        f"<draw:page><draw:frame><draw:text-box>{items}</draw:text-box></draw:frame></draw:page>"
    )
    assert parse("a.odt", make_open("text", table, style)).text == "Teal | 1. feed 2. wait"
    assert parse("a.odp", make_open("presentation", slide, style)).text == "1. feed\n2. wait"
