from itertools import pairwise

import pytest

from desktop_rag.ingest.read.foundation.source_file import Unreadable
from tests.unit.ingest.read.samples import make_zip, parse

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)
NCX = (
    '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel>'
    '<text>The second</text></navLabel><content src="two.xhtml#top"/></navPoint></navMap></ncx>'
)


def package(*names: str) -> str:
    items = "".join(
        f'<item id="{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(names)
    )
    order = "".join(f'<itemref idref="{n}"/>' for n in range(len(names)))
    return (
        '<package xmlns="http://www.idpf.org/2007/opf">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Lights</dc:title>'
        f"</metadata><manifest>{items}"
        '<item id="toc" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>'
        f"<spine>{order}</spine></package>"
    )


def book(chapters: dict[str, str], **others: str) -> bytes:
    files = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": package(*chapters),
        "OEBPS/toc.ncx": NCX,
        **{f"OEBPS/{name}": text for name, text in chapters.items()},
        **others,
    }
    return make_zip(files)


def test_chapters_come_in_the_order_of_the_book() -> None:
    found = parse(
        "a.epub",
        book(
            {
                "z.xhtml": "<html><body><h1>The first</h1><p>Of lamps.</p></body></html>",
                "two.xhtml": "<html><body><p>Of oil.</p></body></html>",
            }
        ),
    )
    assert (found.format, found.title) == ("EPUB", "Lights")
    assert [h.title for h in found.headings] == ["The first", "The second"]
    assert found.text == "# The first\n\nOf lamps.\n\n# The second\n\nOf oil."
    assert [m.anchor.heading for m in found.marks][-1] == "The second"


def test_p03_a_chapter_outside_the_archive_is_not_followed() -> None:
    data = book({"../../../etc/passwd": "", "two.xhtml": "<p>Of oil.</p>"})
    assert parse("a.epub", data).text.endswith("Of oil.")


def test_p04_entities_are_not_resolved() -> None:
    page = (
        '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
        "<html><body><p>Of oil. &x;</p></body></html>"
    )
    assert "root:" not in parse("a.epub", book({"two.xhtml": page})).text


def test_a_protected_book_is_encrypted_and_mangled_fonts_do_no_harm() -> None:
    def encryption(name: str) -> dict[str, str]:
        reference = f'<CipherReference URI="{name}"/>'
        return {"META-INF/encryption.xml": f"<encryption>{reference}</encryption>"}

    chapters = {"two.xhtml": "<p>Of oil.</p>"}
    assert parse("a.epub", book(chapters, **encryption("OEBPS/font.otf"))).text
    with pytest.raises(Unreadable, match="Encrypted"):
        parse("a.epub", book(chapters, **encryption("OEBPS/two.xhtml")))


def test_a_book_without_a_package_is_damaged() -> None:
    with pytest.raises(Unreadable, match="damaged"):
        parse("a.epub", make_zip({"mimetype": "application/epub+zip", "x": "y"}))


def test_a_table_of_contents_with_a_document_type_is_read() -> None:
    kind = '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://x.example/ncx.dtd">'
    data = book({"two.xhtml": "<p>Of oil.</p>"}, **{"OEBPS/toc.ncx": kind + NCX})
    assert [h.title for h in parse("a.epub", data).headings] == ["The second"]


def test_a_chapter_in_several_files_keeps_its_title() -> None:
    chapters = {"two.xhtml": "<p>Of oil.</p>", "three.xhtml": "<p>Of wicks.</p>"}
    found = parse("a.epub", book(chapters))
    assert [m.anchor.heading for m in found.marks] == ["The second", "The second"]


def test_the_encoding_that_a_chapter_declares_counts() -> None:
    page = "<?xml version='1.0' encoding='iso-8859-2'?><html><body><p>Łódź nocą</p></body></html>"
    files = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER}
    chapter = {"OEBPS/two.xhtml": page.encode("iso-8859-2")}
    data = make_zip({**files, "OEBPS/book.opf": package("two.xhtml"), **chapter})
    assert parse("a.epub", data).text.endswith("Łódź nocą")


def test_p05_entities_that_grow_without_end_are_refused() -> None:
    names = "abcdefghij"
    lines = "".join(f"<!ENTITY {name} '{f'&{before};' * 10}'>" for before, name in pairwise(names))
    laughs = f"<!DOCTYPE package [<!ENTITY a 'ha'>{lines}]>"
    opf = laughs + package("two.xhtml").replace("Lights", "Lights &j;")
    chapters = {"two.xhtml": f"{laughs}<p>Of oil. &j;</p>"}
    with pytest.raises(Unreadable, match="damaged"):
        parse("a.epub", book(chapters, **{"OEBPS/book.opf": opf}))
    found = parse("a.epub", book(chapters, **{"OEBPS/toc.ncx": laughs + NCX}))
    assert len(found.text) < 1000
    assert "Of oil." in found.text


def test_a_missing_chapter_is_named_and_the_others_are_read() -> None:
    chapters = {"one.xhtml": "<p>Of lamps.</p>", "two.xhtml": "<p>Of oil.</p>"}
    content = book(chapters, **{"OEBPS/book.opf": package("one.xhtml", "gone.xhtml", "TWO.xhtml")})
    found = parse("a.epub", content)
    assert "Of lamps." in found.text
    # Not every program spells a name as the archive does.
    assert "Of oil." in found.text
    assert found.warnings == ("A chapter is missing: OEBPS/gone.xhtml",)


def test_a_book_whose_chapters_are_all_missing_is_damaged_not_empty() -> None:
    content = book({}, **{"OEBPS/book.opf": package("gone.xhtml")})
    with pytest.raises(Unreadable) as caught:
        parse("a.epub", content)
    assert (caught.value.reason, caught.value.hint) == (
        "damaged",
        "A chapter is missing: OEBPS/gone.xhtml",
    )
