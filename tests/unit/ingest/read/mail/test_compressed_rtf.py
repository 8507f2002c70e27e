import struct

import pytest

from desktop_rag.ingest.read.mail.outlook import NotCompressedRtfError, decompressed


def packed(content: bytes, size_bytes: int) -> bytes:
    return struct.pack("<IIII", len(content) + 12, size_bytes, 0x75465A4C, 0) + content


def test_the_example_of_the_specification_is_unpacked() -> None:
    content = bytes.fromhex("03000a007263706731323542320af32068656c090020627705b06c647d0a800fa0")
    text = b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    assert decompressed(packed(content, len(text))) == text


def test_what_is_repeated_while_it_is_written_is_unpacked() -> None:
    # "WXYZ" and then ten bytes from where it begins, which is four bytes back.
    content = b"\x10WXYZ" + struct.pack(">H", 207 << 4 | 8) + struct.pack(">H", 221 << 4)
    assert decompressed(packed(content, 14)) == b"WXYZWXYZWXYZWX"


@pytest.mark.parametrize("data", [b"", b"\0" * 16, b"x" * 100])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(NotCompressedRtfError):
        decompressed(data)


def test_cut_off_anywhere_it_gives_what_there_is() -> None:
    content = b"\x10WXYZ" + struct.pack(">H", 207 << 4 | 8)
    for end in range(len(content)):
        assert b"WXYZWXYZ".startswith(decompressed(packed(content[:end], 14)))
