import struct
from email.message import EmailMessage

from tests.unit.ingest.read.samples import parse

TEXT, BYTES, WHOLE = 0x1F, 0x102, 0x03


def attribute(number: int, data: bytes, level: int = 1) -> bytes:
    checksum = sum(data) & 0xFFFF
    return struct.pack("<BHHI", level, number, 6, len(data)) + data + struct.pack("<H", checksum)


def padded(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data + bytes(-len(data) % 4)


def properties(*found: tuple[int, int, bytes]) -> bytes:
    """Properties as (number, kind, value), after one of a whole number and one with a name."""
    named = struct.pack("<HH16sI", WHOLE, 0x8001, bytes(16), 1) + padded("Own".encode("utf-16-le"))
    entries = struct.pack("<HHI", WHOLE, 0x0017, 1) + named + struct.pack("<I", 7)
    for number, kind, value in found:
        entries += struct.pack("<HHI", kind, number, 1) + padded(value)
    return struct.pack("<I", len(found) + 2) + entries


def packed(*attributes: bytes) -> bytes:
    return b"\x78\x9f\x3e\x22\x01\x00" + b"".join(attributes)


def wide(text: str) -> bytes:
    return f"{text}\0".encode("utf-16-le")


def test_body_and_files_are_read() -> None:
    content = packed(
        attribute(0x9007, struct.pack("<II", 1252, 0)),
        attribute(0x8004, "Plan für Orsk\0".encode("cp1252")),
        attribute(0x9003, properties((0x1000, TEXT, wide("The crane lifts 40 t.")))),
        attribute(0x9002, bytes(14), level=2),
        attribute(0x8010, b"PLAN~1.TXT\0", level=2),
        attribute(0x800F, b"the plan", level=2),
        attribute(0x9005, properties((0x3707, TEXT, wide("C:\\old\\plan of may.txt"))), level=2),
        attribute(0x9002, bytes(14), level=2),
        attribute(0x8010, b"b.txt\0", level=2),
        attribute(0x800F, b"the other", level=2),
    )
    document = parse("winmail.dat", content)
    assert document.title == "Plan für Orsk"
    assert document.text == "Plan für Orsk\n\nThe crane lifts 40 t."
    texts = {part.name: part.document.text for part in document.parts if part.document}
    assert texts == {"plan of may.txt": "the plan", "b.txt": "the other"}


def test_a_body_that_is_a_page_or_rich_text_is_read() -> None:
    page = properties((0x1013, BYTES, b"<html><h1>Tides</h1><p>High at noon.</p></html>"))
    assert parse("a.tnef", packed(attribute(0x9003, page))).text == "# Tides\n\nHigh at noon."
    plain = rb"{\rtf1 High at noon.\par}"
    rich = struct.pack("<4I", len(plain) + 12, len(plain), 0x414C454D, 0) + plain
    content = packed(attribute(0x9003, properties((0x1009, BYTES, rich))))
    assert parse("a.tnef", content).text == "High at noon."


def test_in_a_mail_it_is_a_part_with_its_files() -> None:
    message = EmailMessage()
    message["Subject"] = "Plan"
    message.set_content("See the plan.")
    file = attribute(0x9002, bytes(14), 2) + attribute(0x8010, b"b.txt\0", 2)
    content = packed(file, attribute(0x800F, b"the plan", 2))
    message.add_attachment(content, "application", "ms-tnef", filename="winmail.dat")
    parts = parse("a.eml", message.as_bytes()).parts
    assert [part.name for part in parts] == ["winmail.dat", "winmail.dat › b.txt"]
    assert parts[1].document
    assert parts[1].document.text == "the plan"


def test_damage_ends_the_reading_and_what_came_before_stays() -> None:
    whole = packed(attribute(0x8004, b"Plan\0"), attribute(0x800C, b"words of it\0"))
    assert parse("a.tnef", whole + b"\xff" * 40).text == "Plan\n\nwords of it"
    assert parse("a.tnef", whole[:-6]).text.startswith("Plan\n\nwords")
    broken = attribute(0x9003, b"\xff" * 30)
    assert parse("a.tnef", whole + broken).text == "Plan\n\nwords of it"
