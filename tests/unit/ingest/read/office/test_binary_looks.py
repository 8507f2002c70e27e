"""Number formats of binary workbooks, in records as the specifications have them."""

import io
import struct
import zipfile
from collections.abc import Sequence

from desktop_rag.ingest.read.foundation.ooxml import OfficePackage
from desktop_rag.ingest.read.office.binary_looks import xls_looks, xlsb_looks
from desktop_rag.ingest.read.office.sheet_looks import SheetLooks

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def record(kind: int, content: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(content)) + content


def xls(more: bytes = b"", more_shared: bytes = b"", fonts: Sequence[int] = (0, 0, 0, 0)) -> bytes:
    """A workbook of Excel 97 with one sheet: a share, a code, two amounts, a number, and `more`."""
    formats = {9: "", 164: '"ORD-"0000', 165: "#,##0.00 €"}
    written = b"".join(
        record(0x041E, struct.pack("<HHB", n, len(code), 1) + code.encode("utf-16-le"))
        for n, code in formats.items()
        if code
    )
    styles = b"".join(
        record(0x00E0, struct.pack("<HH16x", font, n))
        for font, n in zip(fonts, (0, *formats), strict=True)
    )
    cells = (
        record(0x0203, struct.pack("<HHHd", 0, 0, 1, 0.125))
        + record(0x027E, struct.pack("<HHHI", 0, 1, 2, 0))
        + record(0x00BD, struct.pack("<HHHIHIH", 3, 2, 3, 0, 3, 0, 3))
        + record(0x0203, struct.pack("<HHHd", 4, 0, 0, 1.0))
    )
    start = record(0x0809, b"\x00\x06\x05\x00" + bytes(12)) + more_shared + written + styles
    name = "Größe".encode("cp1252")
    place = len(start) + len(record(0x0085, bytes(8) + name)) + len(record(0x000A))
    sheet = record(0x0085, struct.pack("<IHBB", place, 0, len(name), 0) + name)
    return start + sheet + record(0x000A) + cells + more + record(0x000A)


def shown(looks: SheetLooks, row: int) -> dict[int, str]:
    return {column: show(7.0) for column, show in looks.of_row(row).shows.items()}


def test_numbers_of_an_old_workbook_have_their_formats() -> None:
    looks = xls_looks(xls())
    assert list(looks) == ["Größe"]
    assert [shown(looks["Größe"], row) for row in range(5)] == [
        {0: "700%", 1: "ORD-0007"}, {}, {}, {2: "7.00 €", 3: "7.00 €"}, {},
    ]  # fmt: skip


def font(flags: int = 0, place: int = 0) -> bytes:
    return record(0x0031, struct.pack("<HHHHH4x", 200, flags, 0, 400, place))


def test_letters_of_an_old_workbook_are_raised_and_crossed_out() -> None:
    fonts = font() * 4 + font(8) + font(0, 1)
    rich = struct.pack("<HBH", 13, 8, 2) + b"Price 900 750" + struct.pack("<4H", 6, 5, 9, 0)
    # Behind a border of records the letters may be wider.
    split = struct.pack("<HBHI", 7, 12, 1, 3) + b"Staff"
    rest = b"\1" + "84".encode("utf-16-le") + struct.pack("<2H", 6, 6) + b"xyz"
    texts = record(0x00FC, struct.pack("<II", 3, 2) + rich + split) + record(0x003C, rest)
    word = record(0x00FD, struct.pack("<HHHI", 6, 2, 0, 0))
    looks = xls_looks(xls(word, fonts + texts, (5, 0, 0, 0)))["Größe"]
    assert looks.texts == {"Price 900 750": "Price ~~900~~ 750", "Staff84": "Staff8⁴"}
    assert [looks.of_row(row).crossed_out for row in (3, 4, 6)] == [set(), {0}, {2}]


def formula(row: int, kind: int) -> bytes:
    return record(0x0006, struct.pack("<HHHB5xH8x", row, 0, 0, kind, 0xFFFF))


def row_of(row: int, flags: int) -> bytes:
    return record(0x0208, struct.pack("<H10xBxH", row, flags, 0))


def columns(first: int, last: int, flags: int) -> bytes:
    return record(0x007D, struct.pack("<HHHHH", first, last, 0, 0, flags))


def test_hidden_rows_and_columns_of_an_old_workbook_are_known() -> None:
    hidden = row_of(2, 0x20) + row_of(3, 0x21) + columns(4, 5, 1) + columns(6, 6, 0x101)
    hidden += columns(9, 255, 1)
    looks = xls_looks(xls(hidden))["Größe"]
    assert looks.hidden_columns == {4, 5}
    assert [looks.of_row(row).is_hidden for row in range(4)] == [False, False, True, False]
    filtered = xls_looks(xls(hidden + record(0x009B)))["Größe"]
    assert not any(filtered.of_row(row).is_hidden for row in range(4))


def test_formulas_of_an_old_workbook_without_stored_values_are_counted() -> None:
    assert xls_looks(xls(formula(5, 3) + formula(6, 3)))["Größe"].unstored == 2
    assert xls_looks(xls(formula(5, 3) + formula(6, 0)))["Größe"].unstored == 0


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


def xlsb(sheet: bytes, texts: bytes = b"") -> OfficePackage:
    styles = (
        brt(44, struct.pack("<H", 164) + wide("00000"))
        + brt(43, bytes(8)) + brt(43, struct.pack("<2xH4x", 8))
        + brt(47, struct.pack("<HH", 0, 9))
        + brt(617) + brt(47, struct.pack("<HHH", 0, 0, 1)) + brt(47, struct.pack("<HHH", 0, 164, 0))
        + brt(618)
    )  # fmt: skip
    workbook = brt(156, struct.pack("<II", 0, 1) + wide("rId1") + wide("Parts"))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("_rels/.rels", relations(rId1="officeDocument xl/workbook.bin"))
        archive.writestr("xl/workbook.bin", workbook)
        archive.writestr(
            "xl/_rels/workbook.bin.rels",
            relations(
                rId1="worksheet worksheets/sheet1.bin",
                rId2="styles styles.bin",
                rId3="sharedStrings sharedStrings.bin",
            ),
        )
        archive.writestr("xl/sharedStrings.bin", texts)
        archive.writestr("xl/styles.bin", styles)
        archive.writestr("xl/worksheets/sheet1.bin", sheet)
    return OfficePackage(zipfile.ZipFile(content))


def test_hidden_parts_and_formulas_of_a_binary_workbook_are_known() -> None:
    cells = brt(60, struct.pack("<IIIIH", 2, 3, 0, 0, 1))
    cells += brt(0, struct.pack("<IIHBBB", 1, 0, 0, 0, 0x10, 0))
    cells += brt(8, struct.pack("<III", 0, 0, 0))
    [looks] = xlsb_looks(xlsb(cells), "xl/workbook.bin").values()
    assert (looks.hidden_columns, looks.unstored) == ({2, 3}, 1)
    assert [looks.of_row(row).is_hidden for row in range(3)] == [False, True, False]


def test_numbers_of_a_binary_workbook_have_their_formats() -> None:
    cells = brt(0, struct.pack("<I", 2)) + brt(5, struct.pack("<IId", 1, 1, 7.0))
    looks = xlsb_looks(xlsb(cells + brt(2, struct.pack("<III", 2, 0, 0))), "xl/workbook.bin")
    assert list(looks) == ["Parts"]
    assert [shown(looks["Parts"], row) for row in range(3)] == [{}, {}, {1: "00007"}]
    assert xlsb_looks(xlsb(cells[:-3] + b"\xff\xff"), "xl/workbook.bin").keys() <= {"Parts"}


def test_letters_of_a_binary_workbook_are_crossed_out() -> None:
    runs = struct.pack("<I4H", 2, 6, 1, 9, 0)
    texts = brt(19, b"\0" + wide("plain")) + brt(19, b"\1" + wide("Price 900 750") + runs)
    cells = brt(0, struct.pack("<I", 2)) + brt(7, struct.pack("<III", 3, 0, 0))
    [looks] = xlsb_looks(xlsb(cells, texts), "xl/workbook.bin").values()
    assert looks.texts == {"Price 900 750": "Price ~~900~~ 750"}
    assert looks.of_row(2).crossed_out == {3}
