"""Raised, lowered, crossed out and hidden letters say what they say on the page, in each format."""

import pytest

from desktop_rag.ingest.read.foundation.looks import Look, in_looks
from desktop_rag.ingest.read.markup.element_looks import StyleRules
from tests.unit.ingest.read.markup.test_web_page import text_of as html
from tests.unit.ingest.read.office.test_open_document import make_open
from tests.unit.ingest.read.office.test_slides import make_pptx, shape, slide_xml
from tests.unit.ingest.read.old_office.test_rich_text import read as rich_text
from tests.unit.ingest.read.samples import make_docx, make_pdf, parse

SHOWN = "Turnover of 763² tonnes, ~~44~~ 51 pallets, 5 × 10⁻³ g of CO₂."


def test_letters_without_a_form_of_their_own_stay_and_marks_of_notes_stand_apart() -> None:
    up = Look(is_raised=True)
    assert in_looks([("1", Look()), ("st", up), (" of 12", Look()), ("a", up)]) == "1st of 12[a]"
    assert in_looks([(" 9 ", Look(is_crossed_out=True)), ("8", Look(is_hidden=True))]) == " ~~9~~ "


@pytest.mark.parametrize(
    ("letters", "shown"),
    [("2.5", "10^2.5"), ("1–3", "10¹⁻³"), ("k2", "10^(k2)"), ("th", "10th"), ("[1]", "10[1]")],
)
def test_raised_figures_never_join_the_one_before_them(letters: str, shown: str) -> None:
    assert in_looks([("10", Look()), (letters, Look(is_raised=True))]) == shown


def test_each_line_that_is_crossed_out_says_so() -> None:
    runs = [("900\n\n 850 ", Look(is_crossed_out=True)), ("\n800", Look())]
    assert in_looks(runs) == "~~900~~\n\n ~~850~~ \n800"


STYLED = "Fee ~~90~~ 80, 10² m\n\n~~Old fee 70~~\n\nnow 60"


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def test_a_word_document() -> None:
    up, down = ('<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>')
    body = run("Turnover of 763") + run("2", up) + run(" tonnes, ") + run("4", "<w:strike/>")
    body += run("4", '<w:dstrike w:val="1"/>') + run("70", "<w:vanish/>")
    body += run(" 51 pallets, 5 × 10", '<w:strike w:val="0"/>') + run("-3", up)
    body += run(" g of CO") + run("2", down) + run(".")
    assert parse("a.docx", make_docx(f"<w:p>{body}</w:p>")).text == SHOWN


def test_looks_that_come_by_a_style_of_word() -> None:
    def style(name: str, properties: str, base: str = "") -> str:
        based = f'<w:basedOn w:val="{base}"/><w:rPr>{properties}</w:rPr>'
        return f'<w:style w:styleId="{name}">{based}</w:style>'

    styles = style("Out", "<w:strike/>") + style("Old", "<w:i/>", "Out")
    styles += style("Up", '<w:vertAlign w:val="superscript"/>') + style("No", "<w:vanish/>")
    used = '<w:rStyle w:val="{}"/>'
    body = f"<w:p>{run('Fee ')}{run('90', used.format('Old'))}{run(' 80, 10')}"
    body += f"{run('2', used.format('Up'))}{run(' m')}{run('!', used.format('No'))}</w:p>"
    for name, text in (("Old", "Old fee 70"), ("No", "hidden")):
        body += f'<w:p><w:pPr><w:pStyle w:val="{name}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
    kept = run("now 60", '<w:strike w:val="0"/>')
    body += f'<w:p><w:pPr><w:pStyle w:val="Old"/></w:pPr>{kept}</w:p>'
    assert parse("a.docx", make_docx(body, {"styles": styles})).text == STYLED


def test_looks_that_come_by_a_style_of_rich_text() -> None:
    head = r"{\stylesheet{\s0 Normal;}{\s7\strike Old;}{\*\cs8 \additive\strike Heading 1 Char;}}"
    body = r"\pard Fee {\cs8 90} 80, 10{\up6 2} m\par\pard\s7 Old fee 70\par\pard now 60\par"
    document = rich_text(body, head)
    assert document.text == STYLED
    assert not document.headings


def test_looks_that_come_by_a_style_of_an_open_document() -> None:
    def style(name: str, properties: str, parent: str = "") -> str:
        named = f'style:name="{name}" style:parent-style-name="{parent}"'
        return f"<style:style {named}><style:text-properties {properties}/></style:style>"

    styles = style("out", 'style:text-line-through-style="solid"')
    styles += style("old", 'text:display="true"', "out")
    styles += style("up", 'style:text-position="super 58%"')
    styles += style("now", 'style:text-line-through-style="none"')
    old = '<text:span text:style-name="old">90</text:span>'
    up = '<text:span text:style-name="up">2</text:span>'
    no = '<text:hidden-text text:is-hidden="true">secret</text:hidden-text>'
    now = '<text:span text:style-name="now">now 60</text:span>'
    body = f"<text:p>Fee {old} 80, 10{up} m{no}</text:p>"
    body += '<text:p text:style-name="old">Old fee 70</text:p>'
    body += '<text:section text:display="none"><text:p>secret</text:p></text:section>'
    body += '<text:p>secret<text:hidden-paragraph text:is-hidden="true"/></text:p>'
    body += f'<text:p text:style-name="old">{now}</text:p>'
    assert parse("a.odt", make_open("text", body, styles)).text == STYLED


def test_slides() -> None:
    def part(text: str, look: str = "") -> str:
        return f"<a:r><a:rPr {look}/><a:t>{text}</a:t></a:r>"

    up, down, out = 'baseline="30000"', 'baseline="-25000"', 'strike="sngStrike"'
    body = part("Turnover of 763", 'baseline="0"') + part("2", up) + part(" tonnes, ")
    body += part("44", out) + part(" 51 pallets, 5 × 10") + part("-3", up)
    body += part(" g of CO") + part("2", down) + part(".")
    slides = make_pptx(slide_xml(shape(body=f"<a:p>{body}</a:p>")))
    assert parse("a.pptx", slides).text == SHOWN


def test_an_open_document() -> None:
    looks = {
        "up": 'style:text-position="super 58%"', "down": 'style:text-position="-8% 58%"',
        "out": 'style:text-line-through-style="solid"', "no": 'text:display="none"',
    }  # fmt: skip
    styles = "".join(
        f'<style:style style:name="{name}"><style:text-properties {look}/></style:style>'
        for name, look in looks.items()
    )

    def part(text: str, name: str) -> str:
        return f'<text:span text:style-name="{name}">{text}</text:span>'

    body = f"Turnover of 763{part('2', 'up')} tonnes, {part('44', 'out')}{part('70', 'no')} 51"
    body += f" pallets, 5 × 10{part('-3', 'up')} g of CO{part('2', 'down')}."
    assert parse("a.odt", make_open("text", f"<text:p>{body}</text:p>", styles)).text == SHOWN


def test_a_page() -> None:
    body = "Turnover of 763<sup>2</sup> tonnes, <del>44</del> 51 pallets, 5 × 10<sup>-3</sup> g of"
    assert html(f"<p>{body} CO<sub>2</sub>.</p>") == SHOWN
    crossed = '<p>Fee <span style="text-decoration: line-through red">90</span> <s>80</s> 75</p>'
    assert html(crossed) == "Fee ~~90~~ ~~80~~ 75"


def test_rich_text() -> None:
    body = r"Turnover of 763{\super 2} tonnes, {\strike 44}{\v 70} 51 pallets, 5 \'d7 10\super -3"
    assert rich_text(rf"{body}\nosupersub  g of CO{{\sub 2}}.\par").text == SHOWN


def test_a_pdf() -> None:
    def shifted(text: str, by: int) -> str:
        return f") Tj /F1 7 Tf {by} Ts ({text}) Tj 0 Ts /F1 12 Tf ("

    line = f"Turnover of 763{shifted('2', 5)} tonnes, 10{shifted('-3', 5)} g of"
    line += f" CO{shifted('2', -2)}, 10{shifted('2.5', 5)} of note{shifted('a', 5)} and more."
    document = parse("a.pdf", make_pdf([f"{line}\nThe page 2 of 10 is the last."]))
    assert document.text.strip() == (
        "Turnover of 763² tonnes, 10⁻³ g of CO₂, 10^2.5 of note[a] and more.\n"
        "The page 2 of 10 is the last."
    )


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("<mi>k</mi><mo>=</mo><mfrac><mn>3</mn><mn>4</mn></mfrac>", "k=3/4"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac>", "(a+b)/2"),
        ("<msup><mi>c</mi><mn>2</mn></msup>", "c²"),
        ("<msub><mi>x</mi><mn>1</mn></msub>", "x₁"),
        ("<msup><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></msup>", "(a+b)²"),
        ("<msup><mi>e</mi><mrow><mi>i</mi><mi>π</mi></mrow></msup>", "e^iπ"),
        ("<mn>3</mn><mfrac><mn>1</mn><mn>4</mn></mfrac>", "3 1/4"),
        ("<msqrt><mn>2</mn></msqrt>", "√2"),
        ("<msqrt><mi>a</mi><mo>+</mo><mn>1</mn></msqrt>", "√(a+1)"),
        ("<mroot><mn>27</mn><mn>3</mn></mroot>", "∛27"),
        ("<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>", "x₁²"),
        (
            (
                "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi>"
                "</munderover><msub><mi>x</mi><mi>i</mi></msub>"
            ),
            "∑_(i=1)ⁿx_i",
        ),
        (
            (
                "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr>"
                "<mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable>"
            ),
            "1, 2; 3, 4",
        ),
        (
            (
                "<mmultiscripts><mi>C</mi><none/><none/><mprescripts/><mn>6</mn><mn>14</mn>"
                "</mmultiscripts>"
            ),
            "₆¹⁴C",
        ),
    ],
)
def test_formulas_of_pages_and_xml(formula: str, said: str) -> None:
    assert html(f"<p>so <math>{formula}</math> holds</p>") == f"so {said} holds"
    words = "in every one of the sites that were looked at"
    document = f"<article><p>so <math>{formula}</math> holds {words * 9}</p></article>"
    assert parse("a.xml", document.encode()).text == f"so {said} holds {words * 9}"


def test_formulas_however_deep_they_are() -> None:
    formula = "<msqrt>" * 5000 + "<mn>2</mn>" + "</msqrt>" * 5000
    text = html(f"<math>{formula}</math> and more")
    assert "√2)" in text
    assert text.endswith(") and more")


@pytest.mark.parametrize(
    "sheet", ["<style>" * 100_000, "/*" * 300_000, "@" * 300_000, "@{" * 300_000, "a" * 500_000]
)
def test_p11_hostile_style_sheets_end(sheet: str) -> None:
    assert not StyleRules(f"<style>{sheet}").style_of({"class": "a"})


RULES = """.old, td.was {text-decoration: line-through} .up{vertical-align:super} /* .up{} */
 .gone {display:none} .tab {display: none} .tab.open {display:block}
 @media print { .page {display:none} }"""


def test_the_style_sheet_of_a_page() -> None:
    body = '<p class="page">Turnover of 763<i class="up">2</i> tonnes, <b class="x old">44</b> 51'
    body += ' pallets<span class="gone">70</span>, 5 × 10<i style="vertical-align:super">-3</i> g'
    body += ' of CO<sub>2</sub>.<div class="tab">Open.</div>'
    assert html(body, f"<style>{RULES}</style>") == f"{SHOWN}\n\nOpen."
    assert html('<p class="gone" style="display: block">Open.', f"<style>{RULES}</style>")


@pytest.mark.parametrize(
    ("before", "up", "out", "down"),
    [
        ("", "<sup>{}</sup>", "<strike>{}</strike>", "<sub>{}</sub>"),
        ("", '<hi rend="sup">{}</hi>', "<del>{}</del>", '<hi rend="sub">{}</hi>'),
        ("", "<r><rPr><vertAlign val='superscript'/></rPr>{}</r>",
         "<r><rPr><strike val='on'/></rPr>{}</r>",
         "<r><rPr><vertAlign val='subscript'/></rPr>{}</r>"),
        (('<style name="u"><text-properties text-position="super 58%"/></style><style name="o">'
         '<text-properties text-line-through-style="solid"/></style><style name="d">'
         '<text-properties text-position="sub 58%"/></style>'),
         '<span style-name="u">{}</span>', '<span style-name="o">{}</span>',
         '<span style-name="d">{}</span>'),
    ],
)  # fmt: skip
def test_xml(before: str, up: str, out: str, down: str) -> None:
    said = f"Turnover of 763{up.format(2)} tonnes, {out.format(44)} 51 pallets, 5 × 10"
    said += f"{up.format(-3)} g of CO{down.format(2)}."
    assert (
        parse("a.fb2", f"<FictionBook>{before}<p>{said}</p></FictionBook>".encode()).text == SHOWN
    )


MATHS = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def m(name: str, *inner: str) -> str:
    """An element of Office Math; a text that is no element becomes a run."""
    parts = (each if each.startswith("<") else f"<m:r><m:t>{each}</m:t></m:r>" for each in inner)
    return f"<m:{name}>{''.join(parts)}</m:{name}>"


FORMULAS = [
    (m("f", m("num", "3"), m("den", "4")), "3/4"),
    (m("rad", m("deg", "3"), m("e", "27")), "∛27"),
    (m("rad", m("deg", "n"), m("e", "a+b")), "ⁿ√(a+b)"),
    (m("sSup", m("e", "x"), m("sup", "k")), "x^k"),
    (
        m("nary", '<m:naryPr><m:chr m:val="∑"/></m:naryPr>', m("sub", "i=1"), m("sup", "n"),
          m("e", "x")),
        "∑_(i=1)ⁿ x",
    ),
    (
        m("d", '<m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr>',
          m("e", m("m", m("mr", m("e", "1"), m("e", "2")), m("mr", m("e", "3"), m("e", "4"))))),
        "[1, 2; 3, 4]",
    ),
    (m("d", m("e", "n"), m("e", "k")), "(n|k)"),
    (m("eqArr", m("e", "x=1"), m("e", "y=2")), "x=1; y=2"),
    (m("sPre", m("sub", "6"), m("sup", "14"), m("e", "C")), "₆¹⁴C"),
    (m("func", m("fName", m("limLow", m("e", "lim"), m("lim", "n"))), m("e", "x")), "lim_n x"),
]  # fmt: skip


@pytest.mark.parametrize(("formula", "said"), FORMULAS)
def test_formulas_of_word_and_slides(formula: str, said: str) -> None:
    body = f"<w:p><m:oMath {MATHS}>{formula}</m:oMath></w:p>"
    assert parse("a.docx", make_docx(body)).text == said
    inside = f"<a14:m xmlns:a14='main'><m:oMath {MATHS}>{formula}</m:oMath></a14:m>"
    slides = make_pptx(slide_xml(shape(body=f"<a:p>{inside}</a:p>")))
    assert parse("a.pptx", slides).text == said


def test_formulas_of_open_documents() -> None:
    inside = "<mfrac><mn>3</mn><mn>4</mn></mfrac><mo>+</mo><mroot><mn>27</mn><mn>3</mn></mroot>"
    inside += "<msup><mi>x</mi><mn>2</mn></msup><annotation>3 over 4</annotation>"
    formula = f'<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow>{inside}</mrow></math>'
    link = 'xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="./Object 1"'
    frame = f"<draw:frame><draw:object {link}/></draw:frame>"
    more = {"Object 1/content.xml": formula}
    content = make_open("text", f"<text:p>k = {frame} m</text:p>", "", more)
    assert parse("a.odt", content).text == "k = 3/4+∛27x² m"
    page = f"<draw:page>{frame}</draw:page>"
    assert parse("a.odp", make_open("presentation", page, "", more)).text == "3/4+∛27x²"


def test_formulas_of_word() -> None:
    def part(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    fraction = f"<m:f><m:num>{part('a+b')}</m:num><m:den>{part('4')}</m:den></m:f>"
    power = f"<m:sSup><m:e>{part('c')}</m:e><m:sup>{part('2')}</m:sup></m:sSup>"
    space = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    body = f"<w:p><m:oMath {space}>{part('k=')}{fraction}{part('·')}{power}</m:oMath></w:p>"
    assert parse("a.docx", make_docx(body)).text == "k=(a+b)/4·c²"
