"""P-07 and P-08: broken and malicious PDF files, and a crash of the native reader."""

import sys
import zlib
from pathlib import Path

import pytest

from desktop_rag.ingest.parsing.parser_process import ParserProcess
from tests.faults.outcomes import MEGABYTE, Read, is_ended, reason, text
from tests.unit.ingest.read.samples import make_pdf


def pdf_with(page: str, objects: str, trailer: str = "") -> bytes:
    """A hand-written PDF with one page and without a cross-reference table."""
    return (
        "%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R /Outlines 4 0 R >>\nendobj\n"
        f"2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n3 0 obj\n{page}\nendobj\n"
        f"{objects}\ntrailer\n<< /Root 1 0 R /Size 99 {trailer} >>\n%%EOF\n"
    ).encode("latin-1")


def page_of(content: int, more: str = "/MediaBox [0 0 595 842]") -> str:
    font = "/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    return f"<< /Type /Page /Parent 2 0 R {more} {font} /Contents {content} 0 R >>"


def stream(number: int, data: bytes, fields: str) -> str:
    return (
        f"{number} 0 obj\n<< /Length {len(data)} {fields} >>\nstream\n"
        f"{data.decode('latin-1')}\nendstream\nendobj"
    )


WORDS = stream(5, b"BT /F1 12 Tf 50 800 Td (words) Tj ET", "")


def stacked(content: bytes) -> bytes:
    """A PDF whose page is compressed twice."""
    packed = zlib.compress(zlib.compress(content, 9), 9)
    return pdf_with(page_of(5), stream(5, packed, "/Filter [/FlateDecode /FlateDecode]"))


def test_p07_stacked_compression_is_bounded(read_alone: Read) -> None:
    assert "words" in text(read_alone("a.pdf", stacked(b"BT /F1 12 Tf 50 800 Td (words) Tj ET")))
    poison = stacked(b"BT /F1 12 Tf (x) Tj ET " * 10 * MEGABYTE)
    assert len(poison) < 10_000
    assert reason(read_alone("a.pdf", poison)) == "too large"


@pytest.mark.parametrize(
    "poison",
    [
        make_pdf(["words"]).replace(b"/Info", b"/Prev 9 /Info"),
        pdf_with(page_of(5), WORDS, "/Prev 9"),
        pdf_with(page_of(5), f"{WORDS}\n4 0 obj\n<< /First 6 0 R >>\nendobj\n6 0 obj\n"
                 "<< /Title (a) /Next 6 0 R /First 6 0 R >>\nendobj"),
        pdf_with("<< /Type /Pages /Kids [3 0 R 2 0 R] /Count 9 >>", WORDS),
        pdf_with(page_of(5, "/MediaBox [nan inf -1e99 0]"), WORDS),
        make_pdf(["words"]).replace(b"/Count 1", b"/Count 1000000"),
        pdf_with(page_of(5), WORDS, "/Encrypt << /Filter /Standard /V 5 /R 6 /Length 99999999 >>"),
        pdf_with(page_of(5), stream(5, b"\x80x" * 50_000, "/Filter /RunLengthDecode")),
        b"%PDF-1.7\n" + b"[" * 1_000_000,
        b"%PDF-1.7\n" + b"1 0 obj<<" * 100_000,
    ],
    ids=["table loop", "loop", "outline", "tree", "box", "pages", "keys", "runs", "lists", "dicts"],
)  # fmt: skip
def test_p07_a_broken_pdf_is_an_error_or_a_text(read: Read, poison: bytes) -> None:
    assert is_ended(read("a.pdf", poison))


def test_p07_a_pdf_cut_at_every_kilobyte_is_an_error_or_a_text(read: Read) -> None:
    whole = make_pdf([f"page {n} " + "words " * 40 for n in range(12)])
    for end in range(0, len(whole), 1024):
        assert is_ended(read("a.pdf", whole[:end]))


CRASHING = """
import os, sys
import pypdfium2
from desktop_rag.ingest.parsing import parser_child

class Crashing(pypdfium2.PdfDocument):
    def __init__(self, *_arguments, **_fields):
        os.abort()

pypdfium2.PdfDocument = Crashing
sys.exit(parser_child.main())
"""


def test_p08_after_a_crash_in_native_code_the_slower_reader_has_its_turn(tmp_path: Path) -> None:
    script = tmp_path / "child.py"
    script.write_text(CRASHING)
    (tmp_path / "a.pdf").write_bytes(make_pdf(["words"]))
    (tmp_path / "good.txt").write_text("good words")
    process = ParserProcess([sys.executable, str(script)])
    try:
        assert "words" in process.parse(tmp_path / "a.pdf").text
        assert process.parse(tmp_path / "good.txt").text == "good words"
    finally:
        process.close()
