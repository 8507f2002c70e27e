import subprocess
import sys
from pathlib import Path

import pytest

from desktop_rag.ingest.read.formats import detect, supported_suffixes
from desktop_rag.ingest.read.source import SourceFile, Unreadable
from tests.unit.ingest.read.samples import (
    cell,
    make_docx,
    make_pdf,
    make_xlsx,
    make_zip,
    paragraph,
    parse,
)

PAGE = b"<!DOCTYPE html><html><body>words</body></html>"
XLSX = make_xlsx({"S": f'<row r="1">{cell("A1", "words")}</row>'})
DOCX = make_docx(paragraph("words"))


@pytest.mark.parametrize(
    ("name", "content", "format_name"),
    [
        ("a.txt", b"words", "text"),
        ("a.unknown", b"words", "text"),
        ("README", b"words", "text"),
        ("a.py", b"words = 1", "text"),
        ("a.md", b"# words", "Markdown"),
        ("a.HTML", b"<p>words", "HTML"),
        ("a.csv", b"words,more", "CSV"),
        ("a.xml", b"<?xml version='1.0'?><html>words</html>", "text"),
        ("a.pdf", make_pdf(["words"]), "PDF"),
        ("a.docx", DOCX, "Word"),
        ("a.xlsx", XLSX, "spreadsheet"),
        # Names that lie.
        ("a.txt", make_pdf(["words"]), "PDF"),
        ("a.txt", PAGE, "HTML"),
        ("a.xls", PAGE, "HTML"),
        ("a.pdf", PAGE.decode().encode("utf-16"), "HTML"),
        ("a.md", PAGE, "Markdown"),
        ("a.doc", DOCX, "Word"),
        ("a.docx", XLSX, "spreadsheet"),
        ("a.xls", b"words\tmore", "text"),
        ("a.txt", b"BM is short for benchmark", "text"),
        ("mail.md", b"The header %PDF-1.7 starts every file", "Markdown"),
    ],
)
def test_content_decides_then_the_name(name: str, content: bytes, format_name: str) -> None:
    document = parse(name, content)
    assert document.format == format_name
    assert document.text.strip()


def test_a_name_that_lies_is_mentioned() -> None:
    assert parse("a.txt", make_pdf(["words"])).warnings == (
        "The content is PDF, though the name ends in .txt.",
    )
    assert parse("a.log", b"words").warnings == ()


@pytest.mark.parametrize(
    ("name", "content", "reason", "title"),
    [
        ("a.pdf", b"", "empty", "Empty file"),
        ("a.txt", b"", "empty", "Empty file"),
        ("a.txt", b" \n\t\n", "no text", "No text found"),
        ("a.png", b"\x89PNG\r\n\x1a\n", "unsupported", "Not supported: picture"),
        ("a.rtf", b"{\\rtf1 words}", "unsupported", "Not supported: Rich Text"),
        ("a.eml", b"From: me\n\nwords", "unsupported", "Not supported: e-mail"),
        ("a.txt", b"MZ\x90\0\3\0\0\0" * 99, "unsupported", "Not supported: program"),
        ("a.txt", bytes(range(256)), "unsupported", "Not a text file"),
        ("a.docx", bytes(range(256)), "damaged", "The file is damaged"),
        ("a.pdf", b"%PDF-1.7\n1 0 obj", "damaged", "The file is damaged"),
        ("a.zip", make_zip({"x": "y"}), "unsupported", "Not supported: archive"),
        ("a.docx", b"PK\3\4 cut off", "damaged", "The file is damaged"),
        (
            "a.pptx",
            make_zip({"[Content_Types].xml": "", "ppt/presentation.xml": ""}),
            "unsupported",
            "Not supported: PowerPoint",
        ),
        (
            "a.epub",
            make_zip({"mimetype": "application/epub+zip"}),
            "unsupported",
            "Not supported: EPUB",
        ),
        (
            "a.pages",
            make_zip({"Index/Document.iwa": ""}),
            "unsupported",
            "Not supported: Apple iWork",
        ),
    ],
)
def test_what_is_not_read_is_named(name: str, content: bytes, reason: str, title: str) -> None:
    with pytest.raises(Unreadable) as caught:
        parse(name, content)
    assert (caught.value.reason, caught.value.title) == (reason, title)


def ole_file(*names: str) -> bytes:
    """An old Office container with these streams at its top, all empty."""
    header = bytearray(512)
    header[:8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
    header[30:32] = (9).to_bytes(2, "little")
    header[48:52] = (1).to_bytes(4, "little")
    header[76:80] = (0).to_bytes(4, "little")
    fat = b"\xfd\xff\xff\xff" + b"\xfe\xff\xff\xff" + b"\xff\xff\xff\xff" * 126
    entries = b""
    for index, name in enumerate(["Root Entry", *names]):
        encoded = name.encode("utf-16-le")
        right = index + 1 if 0 < index < len(names) else 0xFFFFFFFF
        child = 1 if index == 0 else 0xFFFFFFFF
        links = b"".join(n.to_bytes(4, "little") for n in (0xFFFFFFFF, right, child))
        fields = encoded.ljust(64, b"\0") + (len(encoded) + 2).to_bytes(2, "little") + b"\2\1"
        entries += (fields + links).ljust(128, b"\0")
    return bytes(header) + fat + entries.ljust(512, b"\0")


@pytest.mark.parametrize(
    ("streams", "reason", "title"),
    [
        (["WordDocument", "1Table"], "unsupported", "Not supported: Word 97-2003"),
        (["x", "PowerPoint Document"], "unsupported", "Not supported: PowerPoint 97-2003"),
        (["EncryptionInfo", "EncryptedPackage"], "encrypted", "Encrypted: a password is needed"),
        (["whatever"], "unsupported", "Not supported: old Office file"),
    ],
)
def test_old_office_files_are_told_apart(streams: list[str], reason: str, title: str) -> None:
    with pytest.raises(Unreadable) as caught:
        detect(SourceFile(Path("a.docx"), ole_file(*streams)))
    assert (caught.value.reason, caught.value.title) == (reason, title)


def test_an_old_workbook_is_one() -> None:
    assert detect(SourceFile(Path("a.xls"), ole_file("Workbook"))) == "spreadsheet"


def test_asking_for_suffixes_loads_no_format_library() -> None:
    code = (
        "import sys\n"
        "import desktop_rag.ingest.worker\n"
        "from desktop_rag.ingest.read.formats import supported_suffixes\n"
        "assert '.pdf' in supported_suffixes()\n"
        "heavy = {'lxml', 'pypdf', 'pypdfium2', 'markdown_it', 'charset_normalizer',"
        " 'python_calamine'}\n"
        "assert not heavy & set(sys.modules)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_suffixes_are_those_of_the_readers() -> None:
    assert {
        ".txt",
        ".md",
        ".html",
        ".pdf",
        ".docx",
        ".xlsx",
        ".ods",
        ".csv",
    } <= supported_suffixes()
    assert not {".png", ".exe", ".zip", ".eml"} & supported_suffixes()
    assert all(suffix == suffix.lower() and suffix[0] == "." for suffix in supported_suffixes())
