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
from tests.faults.system_calls import SystemCalls, needs_strace
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


def inflating(start: bytes, repeated: bytes, size_bytes: int) -> bytes:
    """A workbook whose sheet begins so and unpacks to this size; it is never in memory."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(XLSX)) as parts,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        for name in parts.namelist():
            if name != "xl/worksheets/sheet1.xml":
                archive.writestr(name, parts.read(name))
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            sheet.write(start)
            block = repeated * (MEGABYTE // len(repeated))
            for _ in range(size_bytes // len(block)):
                sheet.write(block)
    return buffer.getvalue()


@pytest.mark.parametrize("repeated", [b" ", b"<row/>", b'<row r="1"><c r="A1"><v>1</v></c></row>'])
def test_p01_a_workbook_that_unpacks_to_too_much_is_refused(read: Read, repeated: bytes) -> None:
    poison = inflating(b"<worksheet><sheetData>", repeated, 600 * MEGABYTE)
    assert len(poison) < 5 * MEGABYTE
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


DECLARATIONS = (
    '<!ENTITY e SYSTEM "{place}">',
    '<!ENTITY e SYSTEM "{place}"><!ENTITY % p SYSTEM "{place}">%p;',
)


@needs_strace
@pytest.mark.parametrize("declaration", DECLARATIONS, ids=["entity", "parameter"])
@pytest.mark.parametrize("kind", XML_KINDS)
def test_p04_no_file_and_no_address_is_asked_for_an_entity(
    read_traced: tuple[Read, SystemCalls], tmp_path: Path, kind: str, declaration: str
) -> None:
    """A file that is refused later, and an address that nobody answers at, leave no other trace."""
    read, calls = read_traced
    secret = tmp_path / "secret"
    secret.write_text(MARKER)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        for place in (secret.as_uri(), f"http://{address}/x", f"ftp://{address}/x"):
            declared = declaration.format(place=place)
            outcome = read(f"a.{kind}", poisoned_xml(kind, declared, "&e;"))
            assert is_ended(outcome)
            assert MARKER not in text(outcome)
    assert calls.naming(str(tmp_path / f"a.{kind}")), "the trace shows what is read"
    assert calls.naming(str(secret), address) == []
    assert calls.connections() == []


@pytest.mark.parametrize("kind", XML_KINDS)
def test_p05_a_billion_laughs_are_never_laughed(read: Read, kind: str) -> None:
    outcome = read(f"a.{kind}", poisoned_xml(kind, LAUGHS, "&l9;"))
    assert is_ended(outcome)
    assert reason(outcome) != "timeout"
    assert len(text(outcome)) < 2000
    assert text(outcome).count("ha") < 20


PICTURES = "http://schemas.openxmlformats.org/drawingml/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def linked_picture(target: str) -> bytes:
    """A document as word processors write it, with a picture that is linked and not embedded."""
    related = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r9" Type="{OFFICE}/image" Target="{target}" TargetMode="External"/>'
        "</Relationships>"
    )
    drawing = (
        f'<w:drawing><wp:inline xmlns:wp="{PICTURES}/wordprocessingDrawing">'
        '<wp:docPr id="1" name="Picture 1" descr="a lamp"/>'
        f'<a:graphic xmlns:a="{PICTURES}/main"><a:graphicData uri="{PICTURES}/picture">'
        f'<pic:pic xmlns:pic="{PICTURES}/picture"><pic:blipFill>'
        f'<a:blip xmlns:r="{OFFICE}" r:link="r9"/></pic:blipFill></pic:pic>'
        "</a:graphicData></a:graphic></wp:inline></w:drawing>"
    )
    document = make_docx(f"{paragraph('words')}<w:p><w:r>{drawing}</w:r></w:p>")
    return with_part(document, "word/_rels/document.xml.rels", related)


@needs_strace
@pytest.mark.parametrize("target", ["{secret}", "{uri}", "file:///dev/zero", "/dev/zero", "{web}"])
def test_p06_a_linked_picture_is_not_asked_for(
    read_traced: tuple[Read, SystemCalls], tmp_path: Path, target: str
) -> None:
    read, calls = read_traced
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"\x89PNG" + MARKER.encode())
    web = "http://127.0.0.1:9/p06.png"
    link = target.format(secret=secret, uri=secret.as_uri(), web=web)
    outcome = read("a.docx", linked_picture(link))
    assert "words" in text(outcome)
    assert MARKER not in text(outcome)
    assert calls.naming(str(tmp_path / "a.docx")), "the trace shows what is read"
    assert calls.naming(str(secret), "/dev/zero", "p06.png") == []
    assert calls.connections() == []
