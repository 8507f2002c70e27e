"""Number formats of binary workbooks, in records as the specifications have them."""

import io
import struct
import zipfile

from desktop_rag.ingest.read.foundation.ooxml import OfficePackage
from desktop_rag.ingest.read.office.binary_looks import xls_looks, xlsb_looks
from desktop_rag.ingest.read.office.sheet_looks import SheetLooks

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def record(kind: int, content: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(content)) + content


def xls() -> bytes:
    """A workbook of Excel 97 with one sheet: a share, a code, two amounts, and a plain number."""
    formats = {9: "", 164: '"ORD-"0000', 165: "#,##0.00 €"}
    written = b"".join(
        record(0x041E, struct.pack("<HHB", n, len(code), 1) + code.encode("utf-16-le"))
        for n, code in formats.items()
        if code
    )
    styles = b"".join(record(0x00E0, struct.pack("<HH16x", 0, n)) for n in (0, *formats))
    cells = (
        record(0x0203, struct.pack("<HHHd", 0, 0, 1, 0.125))
        + record(0x027E, struct.pack("<HHHI", 0, 1, 2, 0))
        + record(0x00BD, struct.pack("<HHHIHIH", 3, 2, 3, 0, 3, 0, 3))
        + record(0x0203, struct.pack("<HHHd", 4, 0, 0, 1.0))
    )
    start = record(0x0809, b"\x00\x06\x05\x00" + bytes(12)) + written + styles
    name = "Größe".encode("cp1252")
    place = len(start) + len(record(0x0085, bytes(8) + name)) + len(record(0x000A))
    sheet = record(0x0085, struct.pack("<IHBB", place, 0, len(name), 0) + name)
    return start + sheet + record(0x000A) + cells + record(0x000A)


def shown(looks: SheetLooks, row: int) -> dict[int, str]:
    return {column: show(7.0) for column, show in looks.of_row(row).shows.items()}


def test_numbers_of_an_old_workbook_have_their_formats() -> None:
    looks = xls_looks(xls())
    assert list(looks) == ["Größe"]
    assert [shown(looks["Größe"], row) for row in range(5)] == [
        {0: "700%", 1: "ORD-0007"}, {}, {}, {2: "7.00 €", 3: "7.00 €"}, {},
    ]  # fmt: skip


def test_damaged_records_end_the_looking() -> None:
    whole = xls()
    for size in range(0, len(whole), 7):
        xls_looks(whole[:size])
    assert xls_looks(b"\xff" * 999) == {}


def brt(kind: int, content: bytes = b"") -> bytes:
    sizes = bytes([len(content)]) if len(content) < 0x80 else b""
    kinds = bytes([kind]) if kind < 0x80 else bytes([kind & 0x7F | 0x80, kind >> 7])
    return kinds + sizes + content


def wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def relations(**targets: str) -> str:
    rows = "".join(
        f'<Relationship Id="{name}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for name, (kind, target) in {n: t.split() for n, t in targets.items()}.items()
    )
    return f'<Relationships xmlns="{PACKAGE}">{rows}</Relationships>'


def xlsb(sheet: bytes) -> OfficePackage:
    styles = (
        brt(44, struct.pack("<H", 164) + wide("00000"))
        + brt(47, struct.pack("<HH", 0, 9))
        + brt(617) + brt(47, struct.pack("<HH", 0, 0)) + brt(47, struct.pack("<HH", 0, 164))
        + brt(618)
    )  # fmt: skip
    workbook = brt(156, struct.pack("<II", 0, 1) + wide("rId1") + wide("Parts"))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("_rels/.rels", relations(rId1="officeDocument xl/workbook.bin"))
        archive.writestr("xl/workbook.bin", workbook)
        archive.writestr(
            "xl/_rels/workbook.bin.rels",
            relations(rId1="worksheet worksheets/sheet1.bin", rId2="styles styles.bin"),
        )
        archive.writestr("xl/styles.bin", styles)
        archive.writestr("xl/worksheets/sheet1.bin", sheet)
    return OfficePackage(zipfile.ZipFile(content))


def test_numbers_of_a_binary_workbook_have_their_formats() -> None:
    cells = brt(0, struct.pack("<I", 2)) + brt(5, struct.pack("<IId", 1, 1, 7.0))
    looks = xlsb_looks(xlsb(cells + brt(2, struct.pack("<III", 2, 0, 0))), "xl/workbook.bin")
    assert list(looks) == ["Parts"]
    assert [shown(looks["Parts"], row) for row in range(3)] == [{}, {}, {1: "00007"}]
    assert xlsb_looks(xlsb(cells[:-3] + b"\xff\xff"), "xl/workbook.bin").keys() <= {"Parts"}
