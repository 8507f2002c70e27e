"""P-01 to P-06: containers that decompress to too much, lie, or reference other files.

Each goes to the real parser process, which must finish in time with a text or a reason, and must
read the good file that follows.
"""

import io
import socket
import zipfile
from pathlib import Path

import pytest

from tests.faults.outcomes import MEGABYTE, Read, is_ended, reason, text
from tests.unit.ingest.read.samples import (
    cell,
    make_docx,
    make_xlsx,
    make_zip,
    paragraph,
    relations,
)

MARKER = "SECRET-OF-ANOTHER-FILE"
REFUSED = {"too large", "damaged"}


def with_part(container: bytes, name: str, content: str | bytes) -> bytes:
    """The container with one part replaced."""
    files: dict[str, str | bytes] = {}
    with zipfile.ZipFile(io.BytesIO(container)) as archive:
        files = {part: archive.read(part) for part in archive.namelist()}
    return make_zip({**files, name: content})


XLSX = make_xlsx({"S": f'<row r="1">{cell("A1", "words")}</row>'})
DOCX = make_docx(paragraph("words"))


def open_document(content: str | bytes, kind: str = "text") -> bytes:
    mimetype = f"application/vnd.oasis.opendocument.{kind}"
    return make_zip({"mimetype": mimetype, "content.xml": content})


def book(chapter: str | bytes, **more: str) -> bytes:
    container = '<container><rootfiles><rootfile full-path="o.opf"/></rootfiles></container>'
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata/><manifest>'
        '<item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="c"/></spine></package>'
    )
    return make_zip(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "o.opf": package,
            "c.xhtml": chapter,
            **more,
        }
    )


def presentation(slide: str) -> bytes:
    p = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    r = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    listed = f'<p:presentation {p} {r}><p:sldIdLst><p:sldId id="256" r:id="r0"/></p:sldIdLst>'
    return make_zip(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations({"ppt/presentation.xml": "officeDocument"}),
            "ppt/presentation.xml": f"{listed}</p:presentation>",
            "ppt/_rels/presentation.xml.rels": relations({"slides/slide1.xml": "slide"}),
            "ppt/slides/slide1.xml": slide,
        }
    )


@pytest.mark.parametrize("tail", [b" " * 80 * MEGABYTE, b"<row/>" * 10 * MEGABYTE])
def test_p01_a_workbook_that_unpacks_to_too_much_is_refused(read: Read, tail: bytes) -> None:
    poison = with_part(XLSX, "xl/worksheets/sheet1.xml", b"<worksheet>" + tail)
    assert reason(read("a.xlsx", poison)) == "too large"


def test_p02_a_document_that_unpacks_to_too_much_is_refused(read: Read) -> None:
    poison = with_part(DOCX, "word/document.xml", b"<w:p/>" * 14 * MEGABYTE)
    assert reason(read("a.docx", poison)) == "too large"


def lying(container: bytes, name: bytes) -> bytes:
    """The container with a part whose header understates its size."""
    data = bytearray(container)
    for magic, name_at, size_at in ((b"PK\3\4", 30, 22), (b"PK\1\2", 46, 24)):
        at = data.find(magic)
        while at >= 0:
            if data[at + name_at :].startswith(name):
                data[at + size_at : at + size_at + 4] = (1000).to_bytes(4, "little")
            at = data.find(magic, at + 4)
    return bytes(data)


def test_p03_sizes_are_counted_and_not_believed(read: Read) -> None:
    poison = with_part(XLSX, "xl/worksheets/sheet1.xml", b" " * 80 * MEGABYTE)
    assert reason(read("a.xlsx", lying(poison, b"xl/worksheets"))) in REFUSED


def test_p03_more_than_ten_thousand_entries_are_refused(read: Read) -> None:
    parts = {"[Content_Types].xml": "", **{f"word/{n}": "" for n in range(10_000)}}
    assert reason(read("a.docx", make_zip(parts, zipfile.ZIP_STORED))) == "too large"


def test_p03_archives_in_archives_end_at_the_first(read: Read) -> None:
    content = b"deep"
    for level in range(40):
        content = make_zip({f"{level}.zip": content})
    assert reason(read("a.zip", content)) == "unsupported"
    assert reason(read("a.docx", content)) == "unsupported"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_p03_names_that_climb_out_write_nothing(read: Read, tmp_path: Path) -> None:
    names = ["../x", "..\\..\\x", "/x", str(tmp_path / "x"), "C:\\x", "word/document.xml"]
    buffer = io.BytesIO(DOCX)
    with zipfile.ZipFile(buffer, "a") as archive:
        for name in names:
            archive.writestr(name, "<climbed/>")
    assert is_ended(read("a.docx", buffer.getvalue()))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.docx", "good.txt"]


# --- XML ---------------------------------------------------------------------------------------

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha"}">' for n in range(10))


def poisoned_xml(kind: str, declared: str, entity: str) -> bytes:
    """A file of a format with a document type, and an entity in place of its text."""
    start = f"<!DOCTYPE x [{declared}]>"
    match kind:
        case "docx":
            body = f"<w:p><w:r><w:t>before {entity} after</w:t></w:r></w:p>"
            document = f'{start}<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
            return with_part(DOCX, "word/document.xml", document)
        case "xlsx":
            rows = (
                f'{start}<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>{entity}'
            )
            sheet = f"{rows}</t></is></c></row></sheetData></worksheet>"
            return with_part(XLSX, "xl/worksheets/sheet1.xml", sheet)
        case "pptx":
            a = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
            return presentation(f"{start}<p {a}><a:p><a:r><a:t>{entity}</a:t></a:r></a:p></p>")
        case "odt":
            t = 'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
            return open_document(f"{start}<x {t}><text:p>before {entity} after</text:p></x>")
        case "epub":
            return book(f"{start}<html><body><p>before {entity} after</p></body></html>")
        case _:
            return f"{start}<svg><text>before {entity} after</text></svg>".encode()


XML_KINDS = ("docx", "xlsx", "pptx", "odt", "epub", "svg", "xml")


@pytest.mark.parametrize("kind", XML_KINDS)
def test_p04_no_file_and_no_address_is_read_for_an_entity(
    read: Read, tmp_path: Path, kind: str
) -> None:
    secret = tmp_path / "secret"
    secret.write_text(MARKER)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/x"
        for place in (secret.as_uri(), address):
            declared = f'<!ENTITY e SYSTEM "{place}"><!ENTITY % p SYSTEM "{place}">%p;'
            outcome = read(f"a.{kind}", poisoned_xml(kind, declared, "&e;"))
            assert is_ended(outcome)
            assert MARKER not in text(outcome)
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize("kind", XML_KINDS)
def test_p05_a_billion_laughs_are_never_laughed(read: Read, kind: str) -> None:
    outcome = read(f"a.{kind}", poisoned_xml(kind, LAUGHS, "&l9;"))
    assert is_ended(outcome)
    assert reason(outcome) != "timeout"
    assert len(text(outcome)) < 2000
    assert text(outcome).count("ha") < 20


@pytest.mark.parametrize("target", ["{secret}", "file:///dev/zero", "/dev/zero"])
def test_p06_a_linked_picture_is_not_read(read: Read, tmp_path: Path, target: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text(MARKER)
    link = target.format(secret=secret.as_uri())
    related = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="r9" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
        f'relationships/image" Target="{link}" TargetMode="External"/></Relationships>'
    )
    drawing = '<w:drawing><blip r:link="r9" xmlns:r="r"/></w:drawing>'
    poison = make_docx(f"{paragraph('words')}<w:p><w:r>{drawing}</w:r></w:p>")
    outcome = read("a.docx", with_part(poison, "word/_rels/document.xml.rels", related))
    assert text(outcome).strip() == "words"
