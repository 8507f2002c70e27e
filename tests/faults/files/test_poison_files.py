"""P-11 to P-16: texts, mail and images that are deep, odd, empty, locked or lying.

P-09 and P-10 test the parser process itself, in `unit/ingest/parsing/test_parser_process.py`.
"""

import io
import json
import zlib
from pathlib import Path

import pytest

from desktop_rag.ingest.parsing.parser_process import ParseFailed, ParserProcess
from desktop_rag.ingest.parsing.protocol import Limits
from tests.faults.outcomes import LIMIT_S, MEGABYTE, Read, attempt, is_ended, reason, text
from tests.unit.ingest.read.samples import make_docx, make_pdf, make_xlsx, paragraph


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.html", b"<div>" * 100_000 + b"words" + b"</div>" * 100_000),
        ("a.html", b"<table><tr><td>" * 20_000 + b"words"),
        ("a.txt", b"words " * 200_000),
        ("a.md", b"words " * 200_000),
        ("a.md", b"[" * 60_000 + b"words"),
        ("a.md", b">" * 20_000 + b"words"),
        ("a.md", b"*a_ " * 20_000 + b"words"),
        ("a.md", b"- " * 20_000 + b"words"),
        ("a.json", b"[" * 10_000 + b'"words"' + b"]" * 10_000),
        ("a.json", json.dumps({"words": "x" * 1_000_000}).encode()),
        ("a.xml", b"<a>" * 100_000 + b"words" + b"</a>" * 100_000),
        ("a.csv", b'"' * 60_001 + b"words"),
        ("a.tex", b"\\section{" * 60_000 + b"words"),
        ("a.rst", b"=" * 60_000 + b"\nwords\n" + b"=" * 60_000),
        ("a.py", b"(" * 60_000 + b"words"),
    ],
)
def test_p11_deep_and_long_files_are_read(read: Read, name: str, content: bytes) -> None:
    outcome = read(name, content)
    assert "words" in text(outcome)


def nested_mail(levels: int) -> bytes:
    lines = [b"From: a@b.example", b"Subject: nested", b"MIME-Version: 1.0"]
    for level in range(levels):
        lines += [b'Content-Type: multipart/mixed; boundary="b%d"' % level, b"", b"--b%d" % level]
    return b"\n".join([*lines, b"Content-Type: text/plain", b"", b"words"])


MAIL = b"From: a@b.example\nSubject: words\nMIME-Version: 1.0\n"


@pytest.mark.parametrize(
    "content",
    [
        nested_mail(3000),
        MAIL + b"X-Long: " + b"x" * 10 * MEGABYTE + b"\n\nbody",
        MAIL + b"Received: a\n" * 100_000 + b"\nbody",
        MAIL + b'Content-Type: text/plain; charset="no-such"\n\nbody',
        MAIL + b"Content-Type: text/plain; charset=rot13\n\nbody",
        MAIL + b"Content-Transfer-Encoding: base64\n\n" + b"QUFB" * 10 * MEGABYTE,
    ],
    ids=["nested", "long header", "many headers", "charset", "codec", "base64"],
)
def test_p12_odd_mail_is_bounded(read: Read, content: bytes) -> None:
    assert is_ended(read("a.eml", content))


@pytest.mark.parametrize("size_mb", [190, 1024])
def test_p12_mail_of_a_gigabyte_is_refused(tmp_path: Path, size_mb: int) -> None:
    """Below the limit for files, and far above."""
    mail, good = tmp_path / "a.eml", tmp_path / "good.txt"
    with mail.open("wb") as file:
        file.write(MAIL + b"Content-Transfer-Encoding: base64\n\n")
        for _ in range(size_mb):
            file.write(b"QUFB" * (MEGABYTE // 4))
    good.write_text("good words")
    parser = ParserProcess(limits=Limits(base_s=LIMIT_S))
    try:
        assert reason(attempt(parser, mail)) == "too large"
        assert text(attempt(parser, good)) == "good words"
    finally:
        parser.close()
        mail.unlink()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.pdf", make_pdf([""])),
        ("a.html", b"<html><body><div>" * 9 + b"<img src='x.png'><script>x()</script>"),
        ("a.docx", make_docx(paragraph(""))),
        ("a.xlsx", make_xlsx({"S": ""})),
        ("a.txt", b"\0\0 \n"),
        ("a.txt", b" \n\t\xef\xbb\xbf"),
    ],
)
def test_p13_a_file_without_text_says_so(read: Read, name: str, content: bytes) -> None:
    assert reason(read(name, content)) == "no text"


@pytest.mark.parametrize(
    ("name", "content", "shown"),
    [
        ("a.txt", make_pdf(["words"]), "words"),
        ("a.docx", b"MZ\x90\0\3\0\0\0" * 99, "unsupported"),
        ("a.txt", b"", "empty"),
        ("a.txt", "größere words".encode("utf-16-le"), "größere words"),
        ("a.txt", "größere words".encode("utf-16-be"), "größere words"),
        ("a.txt", b"gr\xc3\xb6\xc3\x9fer und gr\xf6\xdfer", "größer und größer"),
        ("a.md", b"be\0fore words", "be\N{REPLACEMENT CHARACTER}fore words"),
        ("a.txt", b"half \xed\xa0\x80 words", "words"),
        ("a.json", b'{"a": "\\ud800 words"}', "words"),
        ("a.html", b"<p>&#xD800; &#0; words", "words"),
    ],
)
def test_p14_odd_bytes_become_text_or_a_reason(
    read: Read, name: str, content: bytes, shown: str
) -> None:
    outcome = read(name, content)
    assert shown in text(outcome) or reason(outcome) == shown
    # Characters that a database would reject.
    assert text(outcome).encode("utf-8").count(b"\0") == 0


def locked_pdf() -> bytes:
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(make_pdf(["words"]))))
    writer.encrypt("secret", algorithm="RC4-128")
    output = io.BytesIO()
    writer.write(output)
    return output.getvalue()


def test_p15_a_file_with_a_password_says_so(read: Read) -> None:
    from tests.unit.ingest.read.test_detection import ole_file

    assert reason(read("a.pdf", locked_pdf())) == "encrypted"
    locked = ole_file("EncryptionInfo", "EncryptedPackage")
    assert reason(read("a.docx", locked)) == "encrypted"


def png(width: int, height: int) -> bytes:
    """An image that claims this size and contains one line, cut where it is long."""
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\0\0\0\0"

    def chunk(kind: bytes, data: bytes) -> bytes:
        length, check = len(data), zlib.crc32(kind + data)
        return length.to_bytes(4, "big") + kind + data + check.to_bytes(4, "big")

    line = zlib.compress(b"\0" * min(width + 1, 100_000))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", line) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.png", png(60_000, 60_000)),
        ("a.png", png(2**31 - 1, 2**31 - 1)[:64]),
        (
            "a.gif",
            b"GIF89a\xff\xff\xff\xff\x80\0\0" + b"\0" * 6 + b",\0\0\0\0\1\0\1\0\0\2" * 50_000,
        ),
        ("a.tif", b"II*\0\x08\0\0\0" + b"\xff" * 5000),
        ("a.svg", b"<svg><script>x()</script><image href='file:///etc/passwd'/></svg>"),
    ],
    ids=["pixels", "header", "animation", "fields", "script"],
)
def test_p16_a_picture_is_decoded_within_limits_or_not_at_all(
    read: Read, name: str, content: bytes
) -> None:
    outcome = read(name, content)
    assert isinstance(outcome, ParseFailed)
    assert reason(outcome) in {"unsupported", "too large", "damaged", "no text"}
