import importlib.util
import io
import zlib
from pathlib import Path
from typing import Any

import pytest

from desktop_rag.core.parsed import ParsedDocument
from desktop_rag.ingest.parsing.parser_process import ParserProcess
from desktop_rag.ingest.read.formats import detect, read_as
from desktop_rag.ingest.read.foundation.ocr import Ocr
from desktop_rag.ingest.read.foundation.source_file import SourceFile, Unreadable
from desktop_rag.ingest.read.pdf.pdf_page_image import encode_png
from tests.unit.ingest.read.pdf_samples import changed, make_scan, rendered, turned
from tests.unit.ingest.read.samples import MAX_CHARS, make_pdf, parse

TEXT = "The treasurer keeps the keys\nof the shed behind the hall"
WORDS = TEXT.split()

needs_ocr = pytest.mark.skipif(
    importlib.util.find_spec("rapidocr") is None, reason="the extra `ocr` is not installed"
)


@pytest.fixture(scope="module")
def ocr() -> Ocr:
    """Loading its models takes a second."""
    return Ocr(threads=1)


def read(ocr: Ocr, name: str, content: bytes, pictures: int = 9) -> ParsedDocument:
    ocr.start_file(pictures, lambda _place, _text: None)
    source = SourceFile(Path(name), content)
    return read_as(detect(source), source, MAX_CHARS, ocr=ocr)


def picture_file(kind: str, turns: int = 0, **options: Any) -> bytes:
    from PIL import Image

    width, height, rgb = rendered(TEXT)
    image = Image.frombytes("RGB", (width, height), rgb).crop((0, 0, width, 400))
    image = image.rotate(turns * 90, expand=True)
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def test_without_ocr_a_picture_says_what_reads_it() -> None:
    png = b"\x89PNG\r\n\x1a\n" + b"\0" * 50
    with pytest.raises(Unreadable) as caught:
        parse("a.png", png)
    assert caught.value.reason == "no text"
    assert "To have them read" in caught.value.hint


@needs_ocr
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "BMP", "WEBP", "GIF"])
def test_the_text_in_a_picture_is_read(ocr: Ocr, kind: str) -> None:
    document = read(ocr, f"a.{kind.lower()}", picture_file(kind))
    assert document.text.split() == WORDS
    assert document.text.count("\n") == 1
    assert document.warnings[0].startswith("Text was read from pictures")


@needs_ocr
@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_turned_picture_is_turned_back(ocr: Ocr, turns: int) -> None:
    assert read(ocr, "a.png", picture_file("PNG", turns)).text.split() == WORDS


@needs_ocr
def test_pages_of_a_fax_are_pages(ocr: Ocr) -> None:
    from PIL import Image

    first = Image.open(io.BytesIO(picture_file("PNG")))
    blank = Image.new("RGB", (300, 300), "white")
    buffer = io.BytesIO()
    first.save(buffer, "TIFF", save_all=True, append_images=[blank, first])
    document = read(ocr, "fax.tif", buffer.getvalue())
    assert [mark.anchor.page for mark in document.marks] == [1, 3]
    assert document.text.split() == WORDS * 2
    short = read(ocr, "fax.tif", buffer.getvalue(), pictures=2)
    assert "Only 2 of its 3 pages were read." in short.warnings


@needs_ocr
@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "damaged"),
        ("a.jpg", b"\xff\xd8\xff\xe0 no more", "damaged"),
    ],
)
def test_a_damaged_picture_is_said_to_be(ocr: Ocr, name: str, content: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read(ocr, name, content)
    assert caught.value.reason == reason


@needs_ocr
def test_a_picture_of_too_many_pixels_is_not_unpacked(ocr: Ocr) -> None:
    small = encode_png(b"\0\0\0", 1, 1, 3)
    header = b"IHDR" + (60_000).to_bytes(4, "big") * 2 + small[24:29]
    bomb = small[:12] + header + zlib.crc32(header).to_bytes(4, "big") + small[33:]
    with pytest.raises(Unreadable) as caught:
        read(ocr, "bomb.png", bomb)
    assert caught.value.reason == "too large"


@needs_ocr
def test_a_picture_without_words_has_no_text(ocr: Ocr) -> None:
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (200, 200), "blue").save(buffer, "PNG")
    with pytest.raises(Unreadable) as caught:
        read(ocr, "a.png", buffer.getvalue())
    assert caught.value.reason == "no text"


@needs_ocr
def test_only_pages_without_text_are_read_from_their_picture(ocr: Ocr) -> None:
    scan = make_scan([rendered(TEXT), rendered("another page of words")])
    both = changed(make_pdf(["typed words"]), lambda writer: writer.append(io.BytesIO(scan)))
    pictures: list[str] = []
    ocr.start_file(9, lambda place, _text: pictures.append(place))
    document = read_as("PDF", SourceFile(Path("a.pdf"), both), MAX_CHARS, ocr=ocr)
    assert pictures == ["#2", "#3"]
    assert document.text.split() == ["typed", "words", *WORDS, "another", "page", "of", "words"]
    assert [mark.anchor.page for mark in document.marks] == [1, 2, 3]
    assert document.warnings[0].endswith("Pages: 2-3.")


@needs_ocr
def test_only_so_many_pages_are_read_from_their_picture(ocr: Ocr) -> None:
    scan = make_scan([rendered(TEXT), rendered(TEXT)])
    document = read(ocr, "a.pdf", turned(scan, 90), pictures=1)
    assert document.text.split() == WORDS
    assert "Pages without text that may be scanned pictures: 2." in document.warnings


@needs_ocr
def test_the_parser_process_reads_a_scan_within_its_limits(tmp_path: Path) -> None:
    path = tmp_path / "scan.pdf"
    path.write_bytes(make_scan([rendered(TEXT)]))
    process = ParserProcess()
    assert process.parse(path).text.split() == WORDS
    process.uses_ocr = False
    with pytest.raises(Exception, match="No text found"):
        process.parse(path)
    process.close()
