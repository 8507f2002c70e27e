import pytest

from desktop_rag.ingest.read.foundation.source_file import Unreadable
from tests.unit.ingest.read.samples import parse, text_at

PROSE = "Enough words to be a sentence that somebody wrote for others to read."
ARTICLE = f"""<?xml version="1.0"?>
<article><front><article-meta><title-group>
<article-title>On <italic>sheep</italic></article-title></title-group>
<contrib><name><surname>Smith</surname><given-names>J</given-names></name></contrib>
</article-meta></front><body>
<sec><title>Methods</title><p>{PROSE} See <xref>1</xref>.</p>
<sec><title>Counting</title><p>{PROSE}</p><fig><caption><title>A sheep</title></caption></fig>
</sec></sec>
<sec><title>Results</title>
<table><tr><th>a</th><th>b</th></tr><tr><td><p>1</p></td><td>2</td></tr></table></sec>
</body></article>"""


def test_a_document_is_paragraphs_under_headings() -> None:
    document = parse("a.xml", ARTICLE.encode())
    assert document.title == "On sheep"
    assert [(h.level, h.title) for h in document.headings] == [
        (1, "On sheep"), (1, "Methods"), (2, "Counting"), (1, "Results")
    ]  # fmt: skip
    assert f"\n\n{PROSE} See 1.\n\n" in document.text
    assert "Smith J" in document.text
    assert "a | b\n1 | 2" in document.text
    assert "<" not in document.text


def test_anchors_are_lines_of_the_file_and_headings() -> None:
    document = parse("a.xml", ARTICLE.encode())
    lines = ARTICLE.split("\n")
    for index, mark in enumerate(document.marks):
        assert mark.anchor.line
        words = text_at(document, index).split()
        assert words[0] in lines[mark.anchor.line - 1]
    assert document.marks[-1].anchor.heading == "Results"


def test_a_configuration_stays_as_it_is() -> None:
    content = "<project>\n <name>thing</name>\n <version>1.0</version>\n</project>"
    document = parse("pom.xml", content.encode())
    assert document.text == content
    assert document.marks[0].anchor.line == 1


def test_broken_xml_stays_as_it_is() -> None:
    content = f"<a><b>{PROSE}</a>"
    assert parse("a.xml", content.encode()).text == content


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_the_declared_encoding_counts(encoding: str) -> None:
    content = f'<?xml version="1.0" encoding="{encoding}"?><a><p>Größe. {PROSE}</p></a>'
    assert parse("a.xml", content.encode(encoding)).text == f"Größe. {PROSE}"


def test_html_that_was_put_in_as_text_is_shown_as_text() -> None:
    content = f"<rss><channel><description>&lt;p&gt;{PROSE} &amp;amp; more&lt;/p&gt;</description>"
    document = parse("a.rss", f"{content}</channel></rss>".encode())
    assert document.text == f"{PROSE} & more"


def test_entities_stand_for_letters_and_short_texts_only() -> None:
    declared = '<!DOCTYPE a [<!ENTITY co "ACME"><!ENTITY pic SYSTEM "x.tif" NDATA TIF>]>'
    document = parse("a.xml", f"{declared}<a><p>&co;&nbsp;&eacute; {PROSE}</p></a>".encode())
    assert document.text == f"ACME é {PROSE}"
    assert document.warnings == ()


def test_p04_no_other_file_is_read(tmp_path: object) -> None:
    secret = f"{tmp_path}/secret.txt"
    declared = f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{secret}">]>'
    document = parse("a.xml", f"{declared}<a><p>before &x; after {PROSE}</p></a>".encode())
    assert document.text == f"before after {PROSE}"
    assert document.warnings == ("What it takes from other files is left out.",)


def test_p05_entities_of_entities_are_refused() -> None:
    names = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    content = f'<!DOCTYPE a [<!ENTITY l0 "ha">{names}]><a>&l9;</a>'
    with pytest.raises(Unreadable) as caught:
        parse("a.xml", content.encode())
    assert caught.value.reason == "damaged"
    with pytest.raises(Unreadable):
        parse("a.xml", content.encode("utf-16"))


@pytest.mark.slow
def test_p11_deep_and_wide_trees_are_read() -> None:
    deep = "<a>" * 100_000 + PROSE + "</a>" * 100_000
    assert PROSE in parse("a.xml", deep.encode()).text
    wide = f"<a>{f'<p>{PROSE}</p>' * 20_000}</a>"
    assert len(parse("a.xml", wide.encode()).text) > 1_000_000 - 1


def test_a_book_is_read_however_large_its_pictures_are() -> None:
    picture = f"<binary id='a'>{'iVBORw0KGgo' * 500}</binary>"
    book = (
        "<?xml version='1.0'?><FictionBook><description><title-info><author><first-name>Ann"
        "</first-name><last-name>Lee</last-name></author><book-title>The Pier</book-title>"
        "</title-info></description><body><section><title><p>Part 1</p><p>The Sea</p></title>"
        f"<p>He came.</p></section></body>{picture}</FictionBook>"
    )
    document = parse("a.fb2", book.encode())
    assert (document.format, document.title) == ("FB2", "The Pier")
    assert document.text == "Ann Lee\n\nThe Pier\n\nPart 1 The Sea\n\nHe came."
    assert [h.title for h in document.headings] == ["The Pier", "Part 1 The Sea"]


def test_an_outline_is_a_list() -> None:
    outline = (
        "<opml><head><title>Trip</title></head><body><outline text='Bergen'><outline text='Hotel,"
        " room 12' _note='pay in cash'/></outline><outline text='News' type='rss'"
        " xmlUrl='https://n.example/feed'/></body></opml>"
    )
    document = parse("a.opml", outline.encode())
    assert (document.format, document.title) == ("OPML", "Trip")
    assert document.text == (
        "- Bergen\n  - Hotel, room 12\npay in cash\n- News (https://n.example/feed)"
    )


def test_addresses_stand_behind_the_words_of_links() -> None:
    space = 'xmlns:xlink="http://www.w3.org/1999/xlink"'
    link = f'<ext-link {space} xlink:href="https://orin.example/5">the <b>guide</b></ext-link>'
    inside = '<xref target="sec2">below</xref>'
    words = "that holds the words of the house"
    document = f"<article><p>See {link} {words}, and {inside}.</p></article>"
    assert parse("a.xml", document.encode()).text == (
        f"See the guide (https://orin.example/5) {words}, and below."
    )
