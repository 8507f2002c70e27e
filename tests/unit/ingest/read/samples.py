"""Small files of each format, made by hand, and a short way to read them."""

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from desktop_rag.core.parsed import ParsedDocument
from desktop_rag.ingest.read.formats import detect, read_as
from desktop_rag.ingest.read.foundation.source_file import SourceFile

MAX_CHARS = 1_000_000
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_CONTENT_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels"'
    ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)


def parse(name: str, content: bytes, max_chars: int = MAX_CHARS) -> ParsedDocument:
    """Detect and read, in this process."""
    source = SourceFile(Path(name), content)
    return read_as(detect(source), source, max_chars)


def text_at(document: ParsedDocument, index: int) -> str:
    """The text from a mark to the next one."""
    marks = document.marks
    end = marks[index + 1].offset if index + 1 < len(marks) else len(document.text)
    return document.text[marks[index].offset : end]


def make_zip(files: Mapping[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive with these files in this order."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def relations(targets: Mapping[str, str]) -> str:
    """A relationships part: target → kind."""
    items = "".join(
        f'<Relationship Id="r{n}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for n, (target, kind) in enumerate(targets.items())
    )
    return f'<Relationships xmlns="{_RELATIONS}">{items}</Relationships>'


def make_docx(body: str, parts: Mapping[str, str] | None = None) -> bytes:
    """A Word document; `parts` are further ones such as styles, by kind, without namespace."""
    parts = parts or {}
    return make_zip(
        {
            "[Content_Types].xml": _CONTENT_TYPES,
            "_rels/.rels": relations({"word/document.xml": "officeDocument"}),
            "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relations({f"{kind}.xml": kind for kind in parts}),
            **{f"word/{kind}.xml": f"<w:x {W}>{content}</w:x>" for kind, content in parts.items()},
        }
    )


def paragraph(text: str, style: str = "", properties: str = "") -> str:
    """A Word paragraph."""
    style_xml = f'<w:pStyle w:val="{style}"/>' if style else ""
    run = f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'
    return f"<w:p><w:pPr>{style_xml}{properties}</w:pPr>{run}</w:p>"


def make_xlsx(sheets: Mapping[str, str]) -> bytes:
    """A workbook: sheet name → its `<row>` elements."""
    names = list(sheets)
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    office = f'xmlns:r="{_OFFICE}"'
    listed = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="r{n - 1}"/>' for n, name in enumerate(names, 1)
    )
    return make_zip(
        {
            "[Content_Types].xml": _CONTENT_TYPES,
            "_rels/.rels": relations({"xl/workbook.xml": "officeDocument"}),
            "xl/workbook.xml": f"<workbook {main} {office}><sheets>{listed}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relations(
                {f"worksheets/sheet{n}.xml": "worksheet" for n in range(1, len(names) + 1)}
            ),
            **{
                f"xl/worksheets/sheet{n}.xml": (
                    f"<worksheet {main}><sheetData>{rows}</sheetData></worksheet>"
                )
                for n, rows in enumerate(sheets.values(), 1)
            },
        }
    )


def cell(reference: str, value: str | float | bool) -> str:
    """A cell of a workbook."""
    if isinstance(value, bool):
        return f'<c r="{reference}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        return f'<c r="{reference}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{reference}"><v>{value}</v></c>'


def make_pdf(
    pages: Sequence[str], title: str = "", outline: Sequence[tuple[str, int]] = (), note: str = ""
) -> bytes:
    """A PDF with a line of text for each line of a page; `outline` is (title, page from 0).

    `note` is what somebody typed onto each page without changing it.
    """
    count = len(pages)
    first_page, first_content, first_item = 5, 5 + count, 5 + 2 * count
    kids = " ".join(f"{first_page + n} 0 R" for n in range(count))
    items = [
        f"<< /Title ({name}) /Parent 4 0 R /Dest [{first_page + page} 0 R /Fit]"
        + (f" /Next {first_item + n + 1} 0 R" if n + 1 < len(outline) else "")
        + (f" /Prev {first_item + n - 1} 0 R" if n else "")
        + " >>"
        for n, (name, page) in enumerate(outline)
    ]
    last = f"/First {first_item} 0 R /Last {first_item + len(items) - 1} 0 R" if items else ""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R /Outlines 4 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Type /Outlines /Count {len(items)} {last} >>",
        *(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842]"
            f" /Resources << /Font << /F1 3 0 R >> >> /Contents {first_content + n} 0 R"
            + (f" /Annots [{first_item + len(items)} 0 R] >>" if note else " >>")
            for n in range(count)
        ),
        *(_content(page) for page in pages),
        *items,
        *(_note(note, first_item + len(items)) if note else ()),
        f"<< /Title ({title}) >>",
    ]
    return _pdf_file(objects, info=len(objects))


def _content(page: str) -> str:
    lines = "".join(f"({line}) Tj 0 -20 Td " for line in page.split("\n"))
    stream = f"BT /F1 12 Tf 50 800 Td {lines}ET"
    return f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream"


def _note(text: str, number: int) -> list[str]:
    stream = f"BT /F1 12 Tf 2 10 Td ({text}) Tj ET"
    drawing = f"/AP << /N {number + 1} 0 R >>"
    note = f"<< /Type /Annot /Subtype /FreeText /Rect [50 600 200 640] {drawing} >>"
    form = "/Subtype /Form /BBox [0 0 150 40] /Resources << /Font << /F1 3 0 R >> >>"
    return [note, f"<< {form} /Length {len(stream)} >>\nstream\n{stream}\nendstream"]


def _pdf_file(objects: Sequence[str], info: int) -> bytes:
    output = b"%PDF-1.7\n"
    offsets: list[int] = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(output))
        output += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R /Info {info} 0 R >>"
    xref = (
        f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}\nstartxref\n{len(output)}\n%%EOF\n"
    )
    return output + xref.encode("latin-1")


def make_ole(streams: Mapping[str, bytes]) -> bytes:
    """An old Office container with these streams, each filled up with zeros to 4,096 bytes."""
    sector = 512
    contents = [content + bytes(-len(content) % sector) for content in streams.values()]
    contents = [content.ljust(4096, b"\0") for content in contents]
    directory_sectors = (len(contents) + 1 + 3) // 4
    sizes = [directory_sectors, *(len(content) // sector for content in contents)]
    fat_sectors = (sum(sizes) + 1) // 127 + 1
    starts = [fat_sectors + sum(sizes[:n]) for n in range(len(sizes))]
    fat = [0xFFFFFFFD] * fat_sectors
    for start, size in zip(starts, sizes, strict=True):
        fat += [*range(start + 1, start + size), 0xFFFFFFFE]
    fat += [0xFFFFFFFF] * (fat_sectors * 128 - len(fat))
    header = bytearray(b"\xff" * sector)
    header[:76] = struct.pack(
        "<8s16x5H6x9I", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 62, 3, 0xFFFE, 9, 6,
        0, fat_sectors, starts[0], 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0,
    )  # fmt: skip
    for n in range(fat_sectors):
        header[76 + 4 * n : 80 + 4 * n] = struct.pack("<I", n)
    entries = _ole_entry("Root Entry", 5, child=1, start=0xFFFFFFFE, size=0)
    for n, name in enumerate(streams, 1):
        right = n + 1 if n < len(contents) else 0xFFFFFFFF
        entries += _ole_entry(name, 2, right=right, start=starts[n], size=len(contents[n - 1]))
    entries = entries.ljust(directory_sectors * sector, b"\0")
    return bytes(header) + struct.pack(f"<{len(fat)}I", *fat) + entries + b"".join(contents)


def _ole_entry(
    name: str, kind: int, *, start: int, size: int, right: int = 0xFFFFFFFF, child: int = 0xFFFFFFFF
) -> bytes:
    encoded = name.encode("utf-16-le")
    links = struct.pack("<3I", 0xFFFFFFFF, right, child)
    fields = encoded.ljust(64, b"\0") + struct.pack("<HBB", len(encoded) + 2, kind, 1) + links
    return fields.ljust(116, b"\0") + struct.pack("<IQ", start, size)
