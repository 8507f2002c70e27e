"""PDF files with more to them than lines of text, made by hand or out of simpler ones."""

import io
import zlib
from collections.abc import Callable, Sequence

import pypdf

from tests.unit.ingest.read.samples import make_pdf

Change = Callable[[pypdf.PdfWriter], object]


def changed(content: bytes, *changes: Change) -> bytes:
    """The file with something done to it."""
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(content))
    for change in changes:
        change(writer)
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def encrypted(content: bytes, password: str) -> bytes:
    """The file behind a password; with "" it opens without one."""
    return changed(content, lambda writer: writer.encrypt(password, "owner", algorithm="RC4-128"))


def turned(content: bytes, degrees: int) -> bytes:
    """The file with its pages turned clockwise."""
    return changed(content, lambda writer: [page.rotate(degrees) for page in writer.pages])


def make_scan(pictures: list[tuple[int, int, bytes]]) -> bytes:
    """A PDF with one picture a page: width, height, rows of red, green and blue bytes."""
    pages: list[bytes] = []
    for width, height, rgb in pictures:
        packed = zlib.compress(rgb)
        image = (
            f"/Type /XObject /Subtype /Image /Width {width} /Height {height} /BitsPerComponent 8"
            f" /ColorSpace /DeviceRGB /Filter /FlateDecode /Length {len(packed)}"
        )
        pages.append(f"<< {image} >>\nstream\n".encode() + packed + b"\nendstream")
    drawing = b"q 595 0 0 842 0 0 cm /Im0 Do Q"
    content = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawing), drawing)
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        content,
    ]
    for n, picture in enumerate(pages):
        resources = f"/Resources << /XObject << /Im0 {5 + 2 * n} 0 R >> >>"
        page = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] {resources} /Contents 3 0 R >>"
        )
        objects += [page.encode(), picture]
    return _written(objects)


def make_mapped(meanings: Sequence[str]) -> bytes:
    """A page with one sign for each of these meanings, from left to right."""
    signs = bytes(range(0x41, 0x41 + len(meanings))).hex()
    mapping = "".join(
        f"<{0x41 + n:02x}> <{meaning.encode('utf-16-be').hex()}>\n"
        for n, meaning in enumerate(meanings)
    )
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"
        "1 begincodespacerange <00> <ff> endcodespacerange\n"
        f"{len(meanings)} beginbfchar\n{mapping}endbfchar\nendcmap end end"
    )
    place = "/Type /Page /Parent 2 0 R /MediaBox [0 0 595 842]"
    drawing = f"BT /F2 12 Tf 50 800 Td <{signs}> Tj ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< {place} /Contents 5 0 R /Resources << /Font << /F2 4 0 R >> >> >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>",
        f"<< /Length {len(drawing)} >>\nstream\n{drawing}\nendstream",
        f"<< /Length {len(cmap)} >>\nstream\n{cmap}\nendstream",
    ]
    return _written([item.encode() for item in objects])


def make_garbled(count: int) -> bytes:
    """A page with so many signs that the file gives no meaning to."""
    return make_mapped([chr(0xE000 + n) for n in range(count)])


def rendered(text: str, width: int = 1240, height: int = 1754) -> tuple[int, int, bytes]:
    """A picture of a page with these lines, as `make_scan` takes it."""
    import pypdfium2
    import pypdfium2.raw as pdfium

    with pypdfium2.PdfDocument(make_pdf([text])) as document:
        bitmap = document[0].render(
            scale=(width - 0.01) / 595,  # type: ignore[arg-type]
            rev_byteorder=True,
            force_bitmap_format=pdfium.FPDFBitmap_BGR,
        )
        rows = bytes(bitmap.buffer)
        lines = [
            rows[start : start + 3 * bitmap.width]
            for start in range(0, bitmap.stride * bitmap.height, bitmap.stride)
        ]
        assert abs(bitmap.height - height) < 5
        return bitmap.width, bitmap.height, b"".join(lines)


def make_placed(*pages: Sequence[tuple[float, float, str]]) -> bytes:
    """Pages of texts that each stand at a place in points from the lower left."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, texts in enumerate(pages):
        drawing = "\n".join(f"BT /F1 10 Tf {x} {y} Td ({text}) Tj ET" for x, y, text in texts)
        objects += [
            (
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842]"
                f" /Contents {5 + 2 * number} 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
            ),
            f"<< /Length {len(drawing)} >>\nstream\n{drawing}\nendstream",
        ]
    return _written([item.encode() for item in objects])


def make_layered(*, is_packed: bool = False) -> bytes:
    """A page with a line on a layer that is shown, and one on a layer that is switched off.

    Packed, what names the layers is in a stream of objects.
    """
    drawing = (
        "BT /F1 10 Tf 50 800 Td (Offer.) Tj 0 -20 Td /OC /On BDC (Net price 740.) Tj EMC"
        " 0 -20 Td /OC /Off BDC (Draft price 690.) Tj EMC 0 -20 Td /OC /Any BDC (Kept.) Tj EMC"
        " 0 -20 Td /OC /All BDC (Dropped 1.) Tj EMC 0 -20 Td /OC /Rule BDC (Dropped 2.) Tj EMC"
        " 0 -20 Td (Thanks.) Tj ET /Form Do /Shown Do"
    )
    both = "<< /Type /OCMD /OCGs [6 0 R 7 0 R]"
    resources = (
        "/Font << /F1 4 0 R >> /Properties << /On 6 0 R /Off 7 0 R"
        f" /Any {both} >> /All {both} /P /AllOn >> /Rule << /Type /OCMD /VE [/Not 6 0 R] >> >>"
        " /XObject << /Form 9 0 R /Shown 10 0 R >>"
    )
    form = "BT /F1 10 Tf 50 600 Td ({}) Tj ET"
    frame = (
        "<< /Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << /Font << /F1 4 0 R >>"
        " >> /OC {} 0 R /Length {} >>\nstream\n{}\nendstream"
    )
    forms = [form.format("Old 650."), form.format("New 760.")]
    objects = [
        "<< /Type /Catalog /Pages 2 0 R /OCProperties 8 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R"
            f" /Resources << {resources} >> >>"
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Length {len(drawing)} >>\nstream\n{drawing}\nendstream",
        "<< /Type /OCG /Name (Prices) >>",
        "<< /Type /OCG /Name (Drafts) >>",
        "<< /OCGs [6 0 R 7 0 R] /D << /OFF [7 0 R] >> >>",
        *(frame.format(n, len(text), text) for n, text in zip((7, 6), forms, strict=True)),
    ]
    if is_packed:
        packed = zlib.compress(b"1 0 << /OCProperties 8 0 R >>")
        objects[0] = objects[0].replace("/OCProperties", "/OC#50roperties")
        head = f"<< /Type /ObjStm /N 1 /First 4 /Filter /FlateDecode /Length {len(packed)} >>"
        objects.append(f"{head}\nstream\n{packed.decode('latin-1')}\nendstream")
    return _written([item.encode("latin-1") for item in objects])


def _written(objects: list[bytes]) -> bytes:
    output = b"%PDF-1.7\n"
    table = b"0000000000 65535 f \n"
    for number, content in enumerate(objects, 1):
        table += b"%010d 00000 n \n" % len(output)
        output += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    size = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return output + b"xref\n0 %d\n" % size + table + trailer % (size, len(output))
