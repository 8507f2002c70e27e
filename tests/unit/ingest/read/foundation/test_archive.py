import struct
import zipfile
from pathlib import Path

import pytest

from desktop_rag.ingest.read.foundation.encryption import open_archive
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from tests.unit.ingest.read.samples import make_docx, make_zip, paragraph, parse


def refusal(content: bytes) -> tuple[str, str]:
    with pytest.raises(Unreadable) as caught:
        open_archive(SourceFile(Path("a.docx"), content))
    return caught.value.reason, caught.value.hint


def with_declared_size(content: bytes, size_bytes: int) -> bytes:
    """The archive with another size of its first entry in both of its headers."""
    patched = bytearray(content)
    struct.pack_into("<I", patched, content.index(b"PK\x03\x04") + 22, size_bytes)
    struct.pack_into("<I", patched, content.index(b"PK\x01\x02") + 24, size_bytes)
    return bytes(patched)


def test_a_harmless_archive_opens() -> None:
    content = make_zip({"a.xml": "text " * 1000, "b": b"stored"})
    with open_archive(SourceFile(Path("a.docx"), content)) as archive:
        assert archive.namelist() == ["a.xml", "b"]


def test_one_that_grows_too_much_is_refused() -> None:
    assert refusal(make_zip({"a": b"0" * 20_000_000})) == (
        "too large",
        "Unpacked it grows more than 200 times.",
    )


def test_one_that_lies_about_its_size_is_refused() -> None:
    content = with_declared_size(make_zip({"a": b"0" * 20_000_000}), 100)
    assert refusal(content)[0] == "too large"


def test_one_with_too_many_entries_is_refused() -> None:
    content = make_zip({f"f{n}": b"" for n in range(10_001)}, zipfile.ZIP_STORED)
    assert refusal(content) == ("too large", "It holds 10,001 parts.")


def test_an_encrypted_one_says_so() -> None:
    content = bytearray(make_zip({"a": b"x"}))
    content[content.index(b"PK\x01\x02") + 8] |= 1
    assert refusal(bytes(content))[0] == "encrypted"


def test_every_truncation_is_reported() -> None:
    content = make_docx(paragraph("some text"))
    for length in range(4, len(content), 131):
        with pytest.raises(Unreadable) as caught:
            parse("a.docx", content[:length])
        assert caught.value.reason == "damaged"


def test_names_that_climb_out_are_never_written(tmp_path: Path) -> None:
    body = make_docx(paragraph("fine"))
    target = tmp_path / "a.docx"
    target.write_bytes(body)
    with zipfile.ZipFile(target, "a") as archive:
        for name in ("../outside.txt", "..\\outside.txt", "/outside.txt"):
            archive.writestr(name, "x")
    assert parse(str(target), target.read_bytes()).text == "fine"
    assert list(tmp_path.iterdir()) == [target]
